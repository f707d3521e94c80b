"""Game Boys that step together, and the arrays that they are stepped through. It needs only numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lockstep_gameboy._native import Batch, Snapshot

Array = np.ndarray[Any, Any]

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
        boot_rom: the 256 bytes that run first; without them a console begins where its own boot ROM ends.
        mode: `pyboy`, equal to PyBoy 2.8.0, or `hardware`, nearer to the console (docs/gameboy.md).
        sound: whether programs can read the sound chip, as PyBoy's `sound_emulated`. Nothing is ever heard.
        grayscale: greys (255 white, 153, 85, 0 black) in place of shades (0 white to 3 black).
        downsample: 1, 2, 4, 8 or 16: so many times smaller in both directions, by the mean of each block; needs `grayscale`.
        stack: how many of the newest pictures are seen together, the oldest first.
        ram: addresses of memory whose bytes are read after each step, for rewards and ends of episodes.
        starts: states (as `save` gives them) with which episodes begin, one drawn for each; none is power-on.
        idle_frames: up to so many frames pass before an episode begins.
        random_frames: after them up to so many with buttons at random. All of it follows from the episode's seed.
        threads: on how many threads; 0 takes one for each processor. Results do not depend on it.

    Attributes:
        observation: what is seen, uint8 `[num_envs, lines, columns]`, or `[num_envs, stack, lines, columns]` with a stack.
        ram: the bytes at the addresses, uint8 `[num_envs, addresses]`.

    Raises:
        ValueError: the ROM or another argument is wrong; the message says what was expected.
    """

    def __init__(
        self,
        rom: bytes | str | Path,
        num_envs: int,
        frame_skip: int,
        *,
        boot_rom: bytes | None = None,
        mode: str = "pyboy",
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
        if num_envs < 1 or frame_skip < 1:
            raise ValueError(f"{num_envs} environments of {frame_skip} frames a step; expected at least 1 of each")
        wrong = [address for address in ram if not 0 <= address <= 0xFFFF]
        if wrong:
            raise ValueError(f"{wrong[0]:#x} is no address; expected 0 to 0xFFFF")
        image = rom if isinstance(rom, bytes) else Path(rom).read_bytes()
        self._batch = Batch(
            image, num_envs, frame_skip, boot_rom=boot_rom, mode=mode, sound=sound, grayscale=grayscale,
            downsample=downsample, stack=stack, addresses=list(ram), threads=threads,
        )  # fmt: skip
        pictures, lines, columns = self._batch.shape
        shape = (num_envs, lines, columns) if stack == 1 else (num_envs, pictures, lines, columns)
        self.observation: Array = np.zeros(shape, np.uint8)
        self.ram: Array = np.zeros((num_envs, len(ram)), np.uint8)
        self.set_starts(starts, idle_frames, random_frames)

    def __len__(self) -> int:
        return len(self._batch)

    @property
    def memory_bytes(self) -> int:
        """Bytes that each console takes beside the ROM, which all share, and its rows of the arrays."""
        return self._batch.memory_bytes

    def set_starts(self, states: Sequence[bytes], idle_frames: int = 0, random_frames: int = 0) -> None:
        """Say how episodes begin from now on, as the arguments of the class do.

        Raises:
            ValueError: one of the states cannot be loaded, and nothing has changed.
        """
        self._batch.set_start(list(states), idle_frames, random_frames)

    def reset(self, seeds: int | Iterable[int] = 0, mask: Array | None = None) -> Array:
        """Begin an episode in every console, or where `mask` (bool `[num_envs]`) is true; the other rows stay as they are.

        Args:
            seeds: one for each console (0 <= seed < 2^64), or one number, which the consoles count up from.

        Returns:
            `observation`. A stack holds the first picture everywhere.
        """
        if isinstance(seeds, int):
            seeds = [(seeds + number) % (1 << 64) for number in range(len(self))]
        chosen = np.asarray(list(seeds), np.uint64)
        picked = None if mask is None else np.ascontiguousarray(mask, bool)
        self._batch.reset(chosen, picked, self.observation, self.ram)
        return self.observation

    def step(self, held: Array | Sequence[int]) -> Array:
        """Hold buttons (a bit for each, see `BUTTONS`; uint8 `[num_envs]`) for the frames of a step.

        Returns:
            `observation`, written in place; `ram` is written too.
        """
        self._batch.step(np.ascontiguousarray(held, np.uint8), self.observation, self.ram)
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
