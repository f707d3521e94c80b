"""What the probes take and give, as the protocol's spec has it. Bounds stand in task.toml."""

from __future__ import annotations

from typing import Any

REGISTERS = ("a", "f", "b", "c", "d", "e")
CLOCK = ("seconds", "minutes", "hours", "days", "day_carry", "halted", "fraction")

_REGISTERS = " ".join(name + ":uint8" for name in REGISTERS)
_PROCESSOR = _REGISTERS + " hl:uint16 sp:uint16 pc:uint16 master:bool master_delay:uint8 halted:bool clocks:int64"
_CLOCK = "seconds:uint8 minutes:uint8 hours:uint8 days:uint16 day_carry:bool halted:bool fraction:int64"
_WAITING = "requested:uint8 master:bool master_delay:uint8 halted:bool halted_after_ei:bool"
_TIMER = "counter:uint16 tima:uint8 tma:uint8 tac:uint8"
_LINE = " ".join(name + ":uint8" for name in ("lcdc", "scy", "scx", "wy", "wx", "bgp", "obp0", "obp1", "y", "map"))
_PROBES = {
    "mapper": (
        "kind:int32 addresses:uint16[4] values:uint8[4] read:uint16",
        "byte:uint8 rom_bank:uint16 low_bank:uint16 ram_bank:uint8 ram_enabled:bool",
    ),
    "clock": (
        _CLOCK + " latched:bool clocks:int64 register:uint8 value:uint8 commands:uint8[2]",
        _CLOCK + " latched:bool bytes:uint8[5]",
    ),
    "arithmetic": (
        _REGISTERS + " opcode:uint8 prefixed:bool operand:uint16 hl:uint16 sp:uint16 master:bool",
        _PROCESSOR,
    ),
    "memory": (
        "a:uint8 f:uint8 opcode:uint8 prefixed:bool operand:uint16 bc:uint16 de:uint16 hl:uint16 sp:uint16 fill:uint8",
        _PROCESSOR + " bytes:uint8[9]",
    ),
    "interrupt": (
        _WAITING + " enabled:uint8 clocks:int64",
        _WAITING + " pc:uint16 sp:uint16 pushed:uint8[2] clocks:int64",
    ),
    "timer": (
        _TIMER + " reload_phase:uint8 register:uint8 value:uint8 clocks:int64",
        _TIMER + " reload:uint8 reload_left:uint8 until_event:int64 seen:uint8 requested:uint8",
    ),
    "joypad": ("before:uint8 select:uint8 held:uint8", "stale:uint8 p1:uint8 requested:uint8"),
    "serial": ("data:uint8 control:uint8 clocks:int64", "data:uint8 control:uint8 sending:bool requested:uint8"),
    "line": (
        _LINE + " window_line:int16 window_reached:bool tiles:uint8[4,16] objects:uint8[12,4]",
        "pixels:uint8[160] window_line:int16",
    ),
    "screen": (
        "lcdc:uint8 stat:uint8 lyc:uint8 scx:uint8 wy:uint8 objects:uint8[12,4] clocks:int64",
        "line:uint8 stat:uint8 clock:int64 target:int64 requested:uint8 times:int32 line_high:bool first_frame:bool"
        " window_reached:bool",
    ),
    "dma": ("page:uint8 fill:uint8 clocks:int64", "oam:uint8[160] active:bool done:uint8"),
    "sound": ("register:uint8 value:uint8", "byte:uint8"),
}


def _leaves(text: str) -> dict[str, dict[str, Any]]:
    """`name:dtype` and `name:dtype[sizes]`, as a spec's leaves."""
    leaves = {}
    for part in text.split():
        name, _, kind = part.partition(":")
        dtype, _, sizes = kind.partition("[")
        leaves[name] = {"dtype": dtype, "shape": [int(size) for size in sizes.rstrip("]").split(",") if size]}
    return leaves


SPEC = {name: {"inputs": _leaves(inputs), "outputs": _leaves(outputs)} for name, (inputs, outputs) in _PROBES.items()}
