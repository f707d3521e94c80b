"""Where PyBoy is not as the console, programs find and show what PyBoy has (QUIRKS.md)."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from environments.gameboy.assembler import assemble
from lockstep_gameboy_tools import build as crate

pytestmark = [pytest.mark.slow, pytest.mark.rust]
SOURCE = """
title "MODES"
cartridge "rom"
section "timer", rom0[$50]
  ld a, b
  ld [$C000], a
  jr @
section "entry", rom0[$100]
  nop
  jp Start
section "main", rom0[$150]
Start:
  di
  xor a
  ldh [$40], a
  ldh [$0F], a
  ld b, a
{}
.done:
  jr .done
"""
KEEP = "  ld [$C000], a\n"
SCREEN_ON = "  ldh [$40], a\n"


def filled(address: int, value: int, count: int) -> str:
    label = f".fill{address}"
    return f"  ld hl, {address}\n  ld a, {value}\n  ld c, {count}\n{label}:\n  ld [hl+], a\n  dec c\n  jr nz, {label}\n"


def poked(*bytes_at: tuple[int, int]) -> str:
    return "".join(f"  ld a, {value}\n  ld [{address}], a\n" for address, value in bytes_at)


MEMORY = {
    "1: after EI a write to TAC is seen at the end of the slice": (
        "  ld a, $FF\n  ldh [5], a\n  ld a, 4\n  ldh [$FF], a\n  ld a, 5\n  ei\n  ldh [7], a\n" + "  inc b\n" * 250,
        82,
    ),
    "2: HALT with an interrupt pending reads the next byte once": (
        "  ld a, 4\n  ldh [$FF], a\n  ldh [$0F], a\n  halt\n  inc b\n  ld a, b\n" + KEEP, 1,
    ),
    "2: and an operand as well": (
        "  ld a, 4\n  ldh [$FF], a\n  ldh [$0F], a\n  halt\n  db $3E, $14\n" + KEEP, 0x14,
    ),
    "4: SB reads as what arrives": ("  ld a, $55\n  ldh [1], a\n  ldh a, [1]\n" + KEEP, 0xFF),
    "4: a byte takes 1024 clocks": (
        "  ld a, $81\n  ldh [2], a\n.sending:\n  inc b\n  ldh a, [2]\n  bit 7, a\n  jr nz, .sending\n  ld a, b\n" + KEEP,
        29,
    ),
    "9: the select bits of P1 read as 0": ("  ld a, $20\n  ldh [0], a\n  ldh a, [0]\n" + KEEP, 0xCF),
    "9: both halves selected show no button": ("  ld a, $00\n  ldh [0], a\n  ldh a, [0]\n" + KEEP, 0xCF),
    "10: 0xFEA0 is memory": ("  ld a, $12\n  ld [$FEA0], a\n  ld a, [$FEA0]\n" + KEEP, 0x12),
    "16: without a controller there are banks": ("  ld a, 2\n  ld [$2000], a\n  ld a, [$4150]\n" + KEEP, 0xF3),
    "17: most accesses find video memory free": (
        "  ld hl, $8000\n  ld a, $91\n" + SCREEN_ON
        + ".wait:\n  ldh a, [$41]\n  and 3\n  cp 3\n  jr nz, .wait\n  ld [hl], a\n"
        + "  xor a\n  ldh [$40], a\n  ld a, [hl]\n" + KEEP,
        3,
    ),
}  # fmt: skip
BLACK_TILE = filled(0x8010, 0xFF, 16)
WINDOW = "  xor a\n  ldh [$4A], a\n  ld a, 7\n  ldh [$4B], a\n" + filled(0x9C00, 1, 32)
"""A window over the whole screen whose first row of tiles is tile 1."""
OBJECTS = BLACK_TILE + filled(0x8020, 0xFF, 1) + poked((0xFE00, 16), (0xFE01, 8), (0xFE02, 1), (0xFE03, 0x80))
"""An object at the upper left corner, black, behind the background."""
SCREENS = {
    "7: without background there is a window": (
        # PyBoy's window begins with its line 1, so that the eighth is of the next row of tiles.
        BLACK_TILE + WINDOW + "  ld a, $F0\n" + SCREEN_ON, [3] * 7 + [0],
    ),
    "8: the window begins with its line 1": (
        filled(0x8010, 0xFF, 2) + WINDOW + "  ld a, $F1\n" + SCREEN_ON, [0] * 8,
    ),
    "an object behind a background that is off is hidden": (OBJECTS + "  ld a, $92\n" + SCREEN_ON, [0] * 8),
    "an object behind the background does not hide those after it": (
        # The background is colour 1 of tile 0; the second object stands at the same place, before it.
        OBJECTS
        + "".join(poked((0x8000 + at, 0xFF)) for at in range(0, 16, 2))
        + poked((0xFE04, 16), (0xFE05, 8), (0xFE06, 1), (0xFE07, 0))
        + "  ld a, $93\n" + SCREEN_ON,
        [3] * 8,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def gameboy(cargo: None) -> ModuleType:
    return crate.gameboy()


def run(gameboy: ModuleType, folder: Path, lines: str) -> Any:
    source = folder / "program.asm"
    source.write_text(SOURCE.format(lines))
    console = gameboy.Console(assemble(source).image)
    console.run(4, buttons=16, render=False)  # A is held
    console.run(1, buttons=16)
    return console


@pytest.mark.parametrize("case", MEMORY)
def test_what_programs_find(gameboy: ModuleType, tmp_path: Path, case: str) -> None:
    lines, expected = MEMORY[case]
    assert run(gameboy, tmp_path, lines).peek(0xC000) == expected


@pytest.mark.parametrize("case", SCREENS)
def test_what_is_seen(gameboy: ModuleType, tmp_path: Path, case: str) -> None:
    """The first column of the first eight lines."""
    lines, expected = SCREENS[case]
    palettes = "  ld a, $E4\n  ldh [$47], a\n  ld a, $E4\n  ldh [$48], a\n"
    assert run(gameboy, tmp_path, palettes + lines).screen()[:8, 0].tolist() == expected


def test_a_press_asks_for_its_interrupt_whatever_is_selected(gameboy: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "program.asm"
    source.write_text(SOURCE.format("  ld a, $20\n  ldh [0], a\n"))
    console = gameboy.Console(assemble(source).image)
    console.run(5)
    console.run(1, buttons=16)
    assert console.read(0xFF0F) & 16 == 16
