"""Game Boys that step together, and the arrays that they are stepped through. It needs only numpy."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lockstep_gameboy._native import BOOT, Batch, Snapshot
from lockstep_gameboy.checks import addresses_of, counted_up, mask_of, whole, whole_array

Array = np.ndarray[Any, Any]
_MOST_FRAMES = (1 << 32) - 1

BUTTONS = {"right": 1, "left": 2, "up": 4, "down": 8, "a": 16, "b": 32, "select": 64, "start": 128}
"""The bit of each button."""


def buttons(*names: str) -> int:
    """The number that holds these buttons.

    Raises:
        ValueError: there is no such button.
    """
    held = 0
    for name in names:
        if name not in BUTTONS:
            raise ValueError(f"there is no button {name!r}; expected one of {', '.join(BUTTONS)}")
        held |= BUTTONS[name]
    return held


class VecGameBoy:
    """Consoles that step together into arrays that are allocated once, with Python's lock released.

    Args:
        rom: the ROM's bytes, or the file that holds them. All consoles share it.
        num_envs: how many consoles.
        frame_skip: frames of a step. The buttons are held for all of them, and the last one alone is drawn.
        boot_rom: the 256 bytes that run first: the project's own program, with which PyBoy plays the same. With None a
            console begins as the monochrome one does where its own boot ROM ends.
        sound: whether programs can read the sound chip, as PyBoy's `sound_emulated`. Nothing is ever heard.
        grayscale: greys (255 white, 153, 85, 0 black) in place of shades (0 white to 3 black).
        downsample: 1, 2, 4, 8 or 16: so many times smaller in both directions, by the mean of each block; needs `grayscale`.
        stack: how many of the newest pictures are seen together, the oldest first.
        ram: addresses of memory whose bytes are read after each step, for rewards and ends of episodes.
        starts: states (as `save` gives them) with which episodes begin, one drawn for each; none is power-on.
        idle_frames: up to so many frames pass before an episode begins.
        random_frames: after them up to so many with buttons at random. All of it follows from the episode's seed.
        threads: on how many threads; 0 takes one for each processor. Results do not depend on it. Of more than 256 and
            processors the rest is left out, with a warning.

    A step or a reset that is interrupted (Ctrl-C), or fails, leaves some consoles further on than others; all must then be
    reset. In a process that was forked, the threads are started anew.

    Attributes:
        observation: what is seen, uint8 `[num_envs, lines, columns]`, or `[num_envs, stack, lines, columns]` with a stack.
        ram: the bytes at the addresses, uint8 `[num_envs, addresses]`.

    Raises:
        TypeError, ValueError: the ROM or another argument is wrong; the message says what was expected.
        MemoryError: so many consoles would take more memory than there is; the message says how much.
    """

    def __init__(
        self,
        rom: bytes | str | Path,
        num_envs: int,
        frame_skip: int,
        *,
        boot_rom: bytes | None = BOOT,
        sound: bool = True,
        grayscale: bool = False,
        downsample: int = 1,
        stack: int = 1,
        ram: Sequence[int] = (),
        starts: Sequence[bytes] = (),
        idle_frames: int = 0,
        random_frames: int = 0,
        threads: int = 0,
    ) -> None:
        num_envs = whole("num_envs", num_envs, 1, sys.maxsize)
        frame_skip = whole("frame_skip", frame_skip, 1, _MOST_FRAMES)
        threads = whole("threads", threads, 0, sys.maxsize)
        downsample, stack = whole("downsample", downsample, 1, 16), whole("stack", stack, 1, 1 << 16)
        image = rom if isinstance(rom, bytes) else Path(rom).read_bytes()
        self._count = num_envs
        self._batch = Batch(
            image, num_envs, frame_skip, boot_rom=boot_rom, sound=sound, grayscale=grayscale,
            downsample=downsample, stack=stack, addresses=addresses_of("ram", ram), threads=threads,
        )  # fmt: skip
        pictures, lines, columns = self._batch.shape
        shape = (num_envs, lines, columns) if stack == 1 else (num_envs, pictures, lines, columns)
        self.observation: Array = np.zeros(shape, np.uint8)
        self.ram: Array = np.zeros((num_envs, len(ram)), np.uint8)
        self.set_starts(starts, idle_frames, random_frames)

    def __len__(self) -> int:
        return self._count

    @property
    def memory_bytes(self) -> int:
        """Bytes that each console takes beside the ROM, which all share, and its rows of the arrays."""
        return self._batch.memory_bytes

    @property
    def threads(self) -> int:
        """On how many threads the consoles step."""
        return self._batch.threads

    def set_starts(self, states: Sequence[bytes], idle_frames: int = 0, random_frames: int = 0) -> None:
        """Say how episodes begin from now on, as the arguments of the class do.

        Raises:
            TypeError, ValueError: one of the states or numbers is wrong, and nothing has changed.
        """
        idle_frames = whole("idle_frames", idle_frames, 0, _MOST_FRAMES)
        random_frames = whole("random_frames", random_frames, 0, _MOST_FRAMES)
        self._batch.set_start(list(states), idle_frames, random_frames)

    def reset(self, seeds: int | Iterable[int] = 0, mask: Array | None = None) -> Array:
        """Begin an episode in every console, or where `mask` (bool `[num_envs]`) is true; the other rows stay as they are.

        Args:
            seeds: one for each console (0 <= seed < 2^64), or one number, which the consoles count up from.

        Returns:
            `observation`. A stack holds the first picture everywhere.

        Raises:
            TypeError, ValueError: the seeds or the mask are wrong, and nothing has changed.
        """
        if isinstance(seeds, Iterable):
            chosen = whole_array("seeds", seeds, self._count, np.uint64)
        else:
            chosen = counted_up(seeds, self._count)
        picked = None if mask is None else mask_of(mask, self._count)
        self._batch.reset(chosen, picked, self.observation, self.ram)
        return self.observation

    def step(self, held: Array | Sequence[int]) -> Array:
        """Hold buttons (a bit for each, see `BUTTONS`; 0 to 255, `[num_envs]`) for the frames of a step.

        Returns:
            `observation`, written in place; `ram` is written too.

        Raises:
            TypeError, ValueError: the buttons are wrong, and nothing has changed.
            RuntimeError: an earlier call was interrupted, or another thread is at it.
        """
        self._batch.step(whole_array("buttons", held, self._count, np.uint8), self.observation, self.ram)
        return self.observation

    def peek(self, number: int, address: int, length: int = 1) -> bytes:
        """Bytes of a console's memory, whether a program could read them now or not.

        Raises:
            ValueError: there is no such console, or registers are among the addresses (0xFF00 to 0xFF7F, 0xFFFF).
        """
        return self._batch.peek(number, address, length)

    def registers(self, number: int) -> dict[str, int]:
        """A console's registers by name, and `clock`, the clocks since it was switched on."""
        return self._batch.registers(number)

    def save(self, number: int) -> bytes:
        """The whole state of a console, with a version and a checksum."""
        return self._batch.save(number)

    def load(self, number: int, state: bytes) -> None:
        """Put a state into a console; its rows are written, and a stack holds its picture everywhere.

        Raises:
            ValueError: the state is damaged, or of another cartridge, boot ROM or option; nothing has changed.
        """
        self._batch.load(number, state, self.observation, self.ram)

    def snapshot(self, number: int) -> Snapshot:
        """A console as it is now, kept in memory: what `restore` takes, in microseconds."""
        return self._batch.snapshot(number)

    def restore(self, number: int, snapshot: Snapshot) -> None:
        """Put a snapshot into a console of this or of another batch of its kind, as `load` does.

        Raises:
            ValueError: the snapshot is of another cartridge, boot ROM or option.
        """
        self._batch.restore(number, snapshot, self.observation, self.ram)
