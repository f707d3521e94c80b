"""A ROM of the project, running in PyBoy, and what its WRAM says."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from environments.gameboy.assembler import Rom, assemble
from tests.paths import ENVIRONMENTS

ROMS = ENVIRONMENTS / "gameboy" / "roms"
NAMES = tuple(sorted(path.stem for path in ROMS.glob("*.asm")))
BOOT_FRAMES = 90
"""PyBoy's own boot ROM has handed over by then."""


@cache
def rom(name: str) -> Rom:
    return assemble(ROMS / f"{name}.asm")


def pyboy() -> Any:
    """PyBoy's module, or a skipped test. Its import warns of the SDL library that it brings along."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(
            "pyboy", reason="runs ROMs in PyBoy, which is not here: `make setup` installs it under Python before 3.14"
        )


class Console:
    """`image` (or the ROM as assembled) in PyBoy, without window and saved files."""

    def __init__(self, name: str, directory: Path, image: bytes | None = None) -> None:
        module = pyboy()
        self.rom = rom(name)
        file = directory / f"{name}.gb"
        file.write_bytes(self.rom.image if image is None else image)
        # Without emulated sound all its registers read as zero.
        sound = name == "sound"
        self.emulator = module.PyBoy(str(file), window="null", cgb=False, sound_emulated=sound, log_level="ERROR")
        self.emulator.set_emulation_speed(0)

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *_: object) -> None:
        self.emulator.stop(save=False)

    def run(self, frames: int) -> None:
        self.emulator.tick(frames, True)

    def run_to(self, frame: int) -> None:
        """Until the ROM's own counter has that value; AssertionError where it stands still for 120 frames."""
        waited, latest = 0, self.word("wFrames")
        while latest < frame:
            self.emulator.tick(1, True)
            found = self.word("wFrames")
            waited = 0 if found > latest else waited + 1
            latest = max(latest, found)
            if waited == 120:
                raise AssertionError(f"no frame {frame}: the counter stands at {found}")

    def hold(self, buttons: Iterable[str], frames: int) -> None:
        held = list(buttons)
        for button in held:
            self.emulator.button_press(button)
        self.run(frames)
        for button in held:
            self.emulator.button_release(button)

    def mash(self, seed: int, frames: int) -> None:
        """A button at random every eight frames."""
        chance = random.Random(seed)
        for _ in range(frames // 8):
            self.hold([chance.choice(("left", "right", "up", "down", "a", "start"))], 8)

    def address(self, name: str) -> int:
        return self.rom.symbols[name].value

    def byte(self, name: str, offset: int = 0) -> int:
        return self.emulator.memory[self.address(name) + offset]

    def word(self, name: str, offset: int = 0) -> int:
        return self.byte(name, offset) | self.byte(name, offset + 1) << 8

    def bytes(self, name: str, size: int) -> list[int]:
        """At least one."""
        address = self.address(name)
        return list(self.emulator.memory[address : address + size])

    def write(self, name: str, *values: int) -> None:
        for offset, value in enumerate(values):
            self.emulator.memory[self.address(name) + offset] = value

    @property
    def screen(self) -> np.ndarray:
        """(144, 160), uint8: 255 is white."""
        return self.emulator.screen.ndarray[:, :, 0].copy()


def with_fault(name: str, label: str, before: bytes, after: bytes) -> bytes:
    """The ROM's image with the first `before` behind a label replaced: a fault that a check has to notice."""
    built = rom(name)
    symbol = built.symbols[label]
    start = (symbol.bank or 0) * 0x4000 + symbol.value % 0x4000
    found = built.image.index(before, start)
    assert found < start + 200, f"{before.hex()} is not near {label}"
    assert len(before) == len(after)
    return built.image[:found] + after + built.image[found + len(before) :]


def self_checks(console: Console) -> list[str]:
    failures = console.byte("wFailures")
    return [f"{failures} self-checks failed, number {console.byte('wFailed')} first"] if failures else []
