"""What `rust/gameboy/src` is compiled to."""

from collections.abc import Sequence
from typing import Any, TypeAlias, final

import numpy as np

BOOT: bytes
"""The project's own boot program, 256 bytes."""

Array: TypeAlias = np.ndarray[Any, Any]

@final
class Console:
    """One console with a cartridge in it."""

    def __new__(
        cls,
        rom: bytes,
        *,
        boot_rom: bytes | None = BOOT,
        sound: bool = True,
        shortcuts: bool = True,
    ) -> Console:
        """A console that was just switched on."""

    def run(self, frames: int = 1, buttons: int = 0, render: bool = True) -> None:
        """Run so many frames with these buttons held (a bit for each); the last is drawn if `render`."""

    def screen(self) -> Array:
        """The screen, uint8 `[144, 160]`: shades from 0 (white) to 3 (black)."""

    def registers(self) -> dict[str, int]:
        """The registers by name, with the clock since power-on and how the processor is."""

    def take_mark(self) -> dict[str, int] | None:
        """The registers as they were at the last `ld b, b` since this was last asked; None where there was none."""

    def take_serial(self) -> bytes:
        """The bytes that were sent over the serial port since this was last asked."""

    def read(self, address: int) -> int:
        """Read an address as a program does, with what that does to the console."""

    def write(self, address: int, value: int) -> None:
        """Write an address as a program does."""

    def peek(self, address: int) -> int | None:
        """The byte of memory at an address, whether a program could read it now or not; None where a register is."""

    def save(self) -> bytes:
        """The whole state as bytes."""

    def load(self, state: bytes) -> None:
        """Take on a state that `save` gave for the same cartridge and options."""

    @property
    def title(self) -> str:
        """The title in the cartridge's header."""

    @property
    def memory_bytes(self) -> int:
        """Bytes that the console takes beside the ROM."""

@final
class Snapshot:
    """A console as it was. It can be pickled: with its ROM and its whole state."""

    def __new__(cls, rom: bytes, boot_rom: bytes | None, sound: bool, state: bytes) -> Snapshot:
        """A console of these parts in a state that was saved."""

@final
class Batch:
    """Consoles that step together."""

    def __new__(
        cls,
        rom: bytes,
        count: int,
        frame_skip: int,
        *,
        boot_rom: bytes | None,
        sound: bool,
        grayscale: bool,
        downsample: int,
        stack: int,
        addresses: Sequence[int],
        threads: int,
    ) -> Batch:
        """Consoles that were just switched on."""

    def __len__(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int, int]:
        """Pictures, lines and columns of an observation."""

    @property
    def memory_bytes(self) -> int:
        """Bytes that each console takes beside the ROM."""

    @property
    def threads(self) -> int:
        """On how many threads they step."""

    def set_start(self, states: Sequence[bytes], idle_frames: int, random_frames: int) -> None:
        """Say how episodes begin."""

    def reset(self, seeds: Array, mask: Array | None, pictures: Array, memory: Array) -> None:
        """Begin an episode in every console, or in those of a mask, each from its seed."""

    def step(self, buttons: Array, pictures: Array, memory: Array) -> None:
        """Hold buttons for the frames of a step."""

    def save(self, number: int) -> bytes:
        """The whole state of a console as bytes."""

    def load(self, number: int, state: bytes, pictures: Array, memory: Array) -> None:
        """Put a state into a console."""

    def snapshot(self, number: int) -> Snapshot:
        """A console as it is now, kept in memory."""

    def restore(self, number: int, snapshot: Snapshot, pictures: Array, memory: Array) -> None:
        """Put a snapshot into a console."""

    def peek(self, number: int, address: int, length: int) -> bytes:
        """Bytes of a console's memory."""

    def registers(self, number: int) -> dict[str, int]:
        """A console's registers by name, with its clock."""
