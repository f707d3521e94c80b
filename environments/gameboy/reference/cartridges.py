"""The cartridges of the task, in the order in which the draw `cartridge` counts them, and the boot ROM.

The project's own are assembled here; PyBoy's default ROM was put into the environment by `build.py`.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROMS = HERE.parent / "roms"
sys.path.insert(0, str(HERE.parent))
from assembler import assemble  # noqa: E402

GAMES = ("bricks", "meteors")
DEFAULT = "default"
DEFAULT_ROM = Path(sysconfig.get_path("platlib")) / "pyboy_default_rom.gb"
NAMES = (
    *GAMES,
    "busy",
    "sprites",
    "window",
    "interrupts",
    "timers",
    "sound",
    "mbc1",
    "mbc1ram",
    "mbc2",
    "mbc3",
    DEFAULT,
)
"""`mbc5` is not among them: 128 KiB of RAM are too much for a row. Its controller has the probe `mapper`."""
BOOT_SIZE = 0x100


class Cartridge(NamedTuple):
    """A ROM, and where a game keeps what the environment looks at: None in the others."""

    image: bytes
    score: int | None = None
    over: int | None = None
    random: int | None = None


@functools.lru_cache(maxsize=None)
def cartridge(number: int) -> Cartridge:
    """The cartridge of a number."""
    name = NAMES[number]
    if name == DEFAULT:
        return Cartridge(DEFAULT_ROM.read_bytes())
    rom = assemble(ROMS / (name + ".asm"))
    if name not in GAMES:
        return Cartridge(rom.image)
    score, over, random = (rom.symbols[label].value for label in ("wScore", "wGameOver", "wRandom"))
    return Cartridge(rom.image, score, over, random)


@functools.lru_cache(maxsize=None)
def boot_rom() -> bytes:
    """What runs before any of them."""
    return assemble(HERE / "boot.asm").image[:BOOT_SIZE]
