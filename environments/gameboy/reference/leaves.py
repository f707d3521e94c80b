"""The leaves of the canonical state: name, dtype and shape of each, and the values that PyBoy's memory can bear."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

FRAME_CLOCKS = 70_224
LAST_CLOCK = 2**62
_U8, _U16, _I16, _I32, _I64, _BOOL = "uint8", "uint16", "int16", "int32", "int64", "bool"


class Field(NamedTuple):
    """One leaf. A state beyond the bounds is refused: PyBoy looks no index up before it uses it."""

    dtype: str
    shape: tuple[int, ...] = ()
    low: int | None = None
    high: int | None = None


SCREEN = "lcd/screen"
INSERTED = "cartridge/inserted"
FIELDS = {
    INSERTED: Field(_I32),
    "booting": Field(_BOOL),
    "cpu/pc": Field(_U16),
    "cpu/sp": Field(_U16),
    "cpu/a": Field(_U8),
    "cpu/f": Field(_U8),
    "cpu/b": Field(_U8),
    "cpu/c": Field(_U8),
    "cpu/d": Field(_U8),
    "cpu/e": Field(_U8),
    "cpu/hl": Field(_U16),
    "cpu/clock": Field(_I64, low=0, high=LAST_CLOCK),
    "cpu/halted": Field(_BOOL),
    "cpu/halted_after_ei": Field(_BOOL),
    "cpu/master": Field(_BOOL),
    "cpu/master_delay": Field(_U8, high=2),
    "cpu/enabled": Field(_U8),
    "cpu/requested": Field(_U8, high=0x1F),
    "timer/counter": Field(_U16),
    "timer/tima": Field(_U8),
    "timer/tma": Field(_U8),
    "timer/tac": Field(_U8, high=7),
    "timer/reload": Field(_U8, high=2),
    "timer/reload_left": Field(_U8, high=4),
    "timer/until_event": Field(_I64, low=0, high=2**31),
    "serial/control": Field(_U8),
    "serial/sending": Field(_BOOL),
    "serial/done_at": Field(_I64, low=0, high=LAST_CLOCK),
    "joypad/held": Field(_U8),
    "joypad/p1": Field(_U8),
    "dma/active": Field(_BOOL),
    "dma/source": Field(_U8),
    "dma/done": Field(_U8, high=0xA0),
    "dma/start": Field(_I64, low=0, high=LAST_CLOCK),
    "lcd/lcdc": Field(_U8),
    "lcd/stat": Field(_U8),
    "lcd/line_high": Field(_BOOL),
    "lcd/lyc": Field(_U8),
    "lcd/scy": Field(_U8),
    "lcd/scx": Field(_U8),
    "lcd/wy": Field(_U8),
    "lcd/wx": Field(_U8),
    "lcd/bgp": Field(_U8),
    "lcd/obp0": Field(_U8),
    "lcd/obp1": Field(_U8),
    "lcd/clock": Field(_I64, low=0, high=2 * FRAME_CLOCKS),
    "lcd/target": Field(_I64, low=0, high=2 * FRAME_CLOCKS),
    "lcd/first_frame": Field(_BOOL),
    "lcd/mode_hidden": Field(_BOOL),
    "lcd/lyc_changed_while_off": Field(_BOOL),
    "lcd/window_line": Field(_I16, low=-1, high=2**15 - 1),
    "lcd/window_reached": Field(_BOOL),
    "cartridge/rom_bank": Field(_U16),
    "cartridge/low_bank": Field(_U16),
    "cartridge/ram_bank": Field(_U8, high=15),
    "cartridge/ram_enabled": Field(_BOOL),
    "cartridge/mode": Field(_U8, high=1),
    "cartridge/lower": Field(_U8, low=1, high=0x1F),
    "cartridge/upper": Field(_U8, high=3),
    "clock/seconds": Field(_U8, high=0x3F),
    "clock/minutes": Field(_U8, high=0x3F),
    "clock/hours": Field(_U8, high=0x1F),
    "clock/days": Field(_U16, high=0x1FF),
    "clock/day_carry": Field(_BOOL),
    "clock/halted": Field(_BOOL),
    "clock/latched": Field(_BOOL),
    "clock/latched_seconds": Field(_U8, high=0x3F),
    "clock/latched_minutes": Field(_U8, high=0x3F),
    "clock/latched_hours": Field(_U8, high=0x1F),
    "clock/latched_days": Field(_U16, high=0x1FF),
    "clock/fraction": Field(_I64, low=0, high=2**22 - 1),
    "clock/seen": Field(_I64, low=0, high=LAST_CLOCK),
    "lcd/oam": Field(_U8, (0xA0,)),
    "lcd/vram": Field(_U8, (0x2000,)),
    "memory/hram": Field(_U8, (0x7F,)),
    "memory/unusable": Field(_U8, (0x60,)),
    "memory/wram": Field(_U8, (0x2000,)),
    "cartridge/ram": Field(_U8, (0x8000,)),
    SCREEN: Field(_U8, (144, 40)),
}
ARRAYS = tuple(name for name, field in FIELDS.items() if field.shape and name != SCREEN)


def described() -> dict[str, dict[str, Any]]:
    """Dtype and shape by path, as the protocol's spec has them."""
    return {"state/" + name: {"dtype": field.dtype, "shape": list(field.shape)} for name, field in FIELDS.items()}


def demand(fields: dict[str, np.ndarray], cartridges: int) -> None:
    """See that PyBoy can bear a state that comes from outside.

    Raises:
        ValueError: it cannot; the message names the leaf.
    """
    limits = dict(FIELDS, **{INSERTED: Field(_I32, low=0, high=cartridges - 1)})
    for name, field in limits.items():
        value = fields[name]
        if (field.low is not None and (value < field.low).any()) or (
            field.high is not None and (value > field.high).any()
        ):
            raise ValueError("state/{} is {}: expected {} to {}".format(name, value, field.low or 0, field.high))
    if (fields["timer/reload"] == 0) != (fields["timer/reload_left"] == 0):
        raise ValueError("state/timer/reload_left is not zero exactly where state/timer/reload is")


def demand_banks(fields: dict[str, np.ndarray], rom_banks: int, has_clock: bool) -> None:
    """See that the selected banks are in the cartridge.

    Raises:
        ValueError: one is not; the message names the leaf.
    """
    for name in ("cartridge/rom_bank", "cartridge/low_bank"):
        if fields[name] >= rom_banks:
            raise ValueError("state/{} is {}: expected at most {}".format(name, fields[name], rom_banks - 1))
    if not has_clock and any(fields[name].any() for name in FIELDS if name.startswith("clock/")):
        raise ValueError("state/clock/... has values, but the cartridge has no clock")
