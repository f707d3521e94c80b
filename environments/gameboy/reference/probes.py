"""What single parts of the console answer: each probe brings a console into a state, does one thing and looks.

The console is one that was just switched on, with a cartridge of zeros and no boot ROM; what a probe says of it is
changed, everything else stays. `mapper` has cartridges of its own, whose banks tell their numbers.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from console import Console
from probe_spec import CLOCK, REGISTERS

CODE = 0xC000
MEMORY, MEMORY_SIZE = 0xC000, 0x2000
HIGH_PAGE, HIGH_HALF = 0xFF00, 0x80
ROM_BANK = 0x4000
TILES, SIGNED_TILES, MAPS, MAP_CELLS = 0x0000, 0x1000, 0x1800, 0x800
KINDS = ((0x03, 128, 3), (0x06, 16, 0), (0x13, 128, 3), (0x1B, 512, 4), (0x10, 2, 3))
"""Type, ROM banks and code of RAM size of the controllers that `mapper` knows, MBC1, MBC2, MBC3 without its clock and MBC5;
and of one with that clock."""
WITH_CLOCK = 4
CLOCK_REGISTERS = range(0x08, 0x0D)
P1, SB, SC, DIV, TIMA, SOUND = 0x00, 0x01, 0x02, 0x04, 0x05, 0x10
LCDC, STAT, SCX, LYC, DMA, WY = 0x40, 0x41, 0x43, 0x45, 0x46, 0x4A
PREFIX, NOP = 0xCB, 0x00
NO_INSTRUCTION = frozenset((PREFIX, 0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD))


def ask(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The outputs of a probe for one input."""
    given = {path: value if value.shape else value.item() for path, value in inputs.items()}
    return _PROBES[name](**given)


@functools.lru_cache(maxsize=None)
def probe_console(kind: int | None = None) -> tuple[Console, dict[str, Any]]:
    """A console with the cartridge of a kind, or of zeros, and its fields with the boot ROM gone."""
    console = Console(
        _with_header(np.zeros(2 * ROM_BANK, np.uint8), 0x00, 0) if kind is None else telling(*KINDS[kind])
    )
    return console, dict(console.access.read(resting=False), booting=False)


def telling(controller: int, banks: int, ram: int) -> bytes:
    """A ROM whose even bytes are the lower half of their bank's number, and its odd ones the upper; with a header."""
    return _with_header(np.repeat(np.arange(banks, dtype="<u2"), ROM_BANK // 2).view(np.uint8).copy(), controller, ram)


def _with_header(rom: np.ndarray, controller: int, ram: int) -> bytes:
    rom[0x134:0x150] = 0
    rom[0x147], rom[0x148], rom[0x149] = controller, (len(rom) // (2 * ROM_BANK)).bit_length() - 1, ram
    rom[0x14D] = -(int(rom[0x134:0x14D].sum()) + 0x19) & 0xFF
    return rom.tobytes()


def started(code: bytes = b"", **changes: Any) -> Console:
    """The console with some fields changed and the processor before some code in work memory."""
    console, fields = probe_console()
    fields = dict(fields, **{"cpu/pc": CODE}, **changes)
    memory = fields["memory/wram"]
    console.access.write(dict(fields, **{"memory/wram": code + bytes(memory[len(code) :])}))
    return console


# --- cartridges -------------------------------------------------------------------------------------------------------


def _mapper(kind: int, addresses: np.ndarray, values: np.ndarray, read: int) -> dict[str, Any]:
    console, fields = probe_console(kind)
    console.access.write(fields)
    for address, value in zip(addresses.tolist(), values.tolist(), strict=True):
        console.poke(address, value)
    byte = console.peek(read)
    after = console.access.read(resting=False)
    return dict(_some(after, "cartridge/", "rom_bank", "low_bank", "ram_bank", "ram_enabled"), byte=byte)


def _clock(clocks: int, register: int, value: int, commands: np.ndarray, **time: Any) -> dict[str, Any]:
    console, fields = probe_console(WITH_CLOCK)
    console.access.write(dict(fields, **{"clock/" + name: value for name, value in time.items()}))
    console.access.set_clock(register, value)
    console.access.run_clock(clocks)
    for command in commands.tolist():
        console.access.command_clock(command)
    seen = np.array([console.access.read_clock(register) for register in CLOCK_REGISTERS], np.uint8)
    return dict(_some(console.access.read(resting=False), "clock/", *CLOCK, "latched"), bytes=seen)


# --- the processor ----------------------------------------------------------------------------------------------------


def accesses_memory(opcode: int) -> bool:
    """Whether an instruction reads or writes memory, besides its own bytes. By the fields of the opcode's bits."""
    x, y, z = opcode >> 6, opcode >> 3 & 7, opcode & 7
    if x == 0:
        return z == 2 or opcode in (0x08, 0x34, 0x35, 0x36)
    if x == 1:
        return (y == 6) != (z == 6)
    if x == 2:
        return z == 6
    if z == 2:
        return y >= 4
    return z in (0, 1, 4, 5, 7) and opcode not in (0xE8, 0xE9, 0xF8, 0xF9)


def _instruction(opcode: int, prefixed: bool, operand: int, memory: bool) -> bytes:
    """An instruction's bytes; one of the other kind, and one that is none, becomes NOP."""
    if prefixed:
        return bytes([PREFIX, opcode] if (opcode & 7 == 6) == memory else [NOP])
    if accesses_memory(opcode) != memory or opcode in NO_INSTRUCTION:
        return bytes([NOP])
    return bytes([opcode, operand & 0xFF, operand >> 8])


def _executed(console: Console) -> dict[str, Any]:
    """The registers after one instruction."""
    console.access.run_processor(1)
    after = console.access.read(resting=False)
    names = ("pc", "master", "master_delay", "halted", "sp", "hl", *REGISTERS)
    return dict(_some(after, "cpu/", *names), clocks=after["cpu/clock"])


def _arithmetic(
    opcode: int, prefixed: bool, operand: int, f: int, hl: int, sp: int, master: bool, **registers: int
) -> dict[str, Any]:
    console = started(
        _instruction(opcode, prefixed, operand, memory=False),
        **{"cpu/" + name: value for name, value in registers.items()},
        **{"cpu/f": f & 0xF0, "cpu/hl": hl, "cpu/sp": sp, "cpu/master": master},
    )
    return _executed(console)


def _memory(
    a: int, f: int, opcode: int, prefixed: bool, operand: int, bc: int, de: int, hl: int, sp: int, fill: int
) -> dict[str, Any]:
    # The high page is memory in its upper half only; below are the registers of units.
    if not prefixed and opcode in (0xE0, 0xF0):
        operand |= HIGH_HALF
    elif not prefixed and opcode in (0xE2, 0xF2):
        bc |= HIGH_HALF
    console = started(
        _instruction(opcode, prefixed, operand, memory=True),
        **{"cpu/a": a, "cpu/f": f & 0xF0, "cpu/hl": hl, "cpu/sp": sp},
        **{"cpu/b": bc >> 8, "cpu/c": bc & 0xFF, "cpu/d": de >> 8, "cpu/e": de & 0xFF},
        **{
            "memory/wram": _pattern(MEMORY, MEMORY_SIZE, fill),
            "memory/hram": _pattern(HIGH_PAGE | HIGH_HALF, 0x7F, fill),
        },
    )
    registers = _executed(console)
    pages = [HIGH_PAGE | HIGH_HALF | operand & 0xFF, HIGH_PAGE | HIGH_HALF | bc & 0xFF]
    places = [hl, bc, de, operand, operand + 1, sp - 2, sp - 1, *pages]
    return dict(registers, bytes=np.array([console.peek(place) for place in places], np.uint8))


def _interrupt(clocks: int, **processor: Any) -> dict[str, Any]:
    stack = CODE + 0x1000
    changes = {"cpu/" + name: value for name, value in processor.items()}
    console = started(**changes, **{"cpu/sp": stack})
    console.access.run_processor(clocks)
    after = console.access.read(resting=False)
    names = ("requested", "master", "master_delay", "halted", "halted_after_ei", "pc", "sp")
    pushed = np.array([console.peek(stack - 2), console.peek(stack - 1)], np.uint8)
    return dict(_some(after, "cpu/", *names), pushed=pushed, clocks=after["cpu/clock"])


# --- timer, buttons, serial port, sound -------------------------------------------------------------------------------


def _timer(
    counter: int, tima: int, tma: int, tac: int, reload_phase: int, register: int, value: int, clocks: int
) -> dict[str, Any]:
    # Four clocks before the reload, then four in which TIMA follows TMA.
    reload, left = ((0, 0), (1, reload_phase), (2, reload_phase - 4))[(reload_phase + 3) // 4]
    console = started(**{
        "timer/counter": counter, "timer/tima": tima, "timer/tma": tma, "timer/tac": tac, "timer/reload": reload,
        "timer/reload_left": left,
    })  # fmt: skip
    if register:
        console.poke(HIGH_PAGE | DIV + register - 1, value)
    console.access.wait(clocks)
    seen = console.peek(HIGH_PAGE | TIMA)
    after = console.access.read(resting=False)
    names = ("counter", "tima", "tma", "tac", "reload", "reload_left", "until_event")
    return dict(_some(after, "timer/", *names), seen=seen, requested=after["cpu/requested"])


def _joypad(before: int, select: int, held: int) -> dict[str, Any]:
    console = started(**{"joypad/held": before})
    console.poke(HIGH_PAGE | P1, select)
    console.access.hold(held)
    stale = console.peek(HIGH_PAGE | P1)
    console.poke(HIGH_PAGE | P1, select)
    return {"stale": stale, "p1": console.peek(HIGH_PAGE | P1), "requested": _requested(console)}


def _serial(data: int, control: int, clocks: int) -> dict[str, Any]:
    console = started()
    console.poke(HIGH_PAGE | SB, data)
    console.poke(HIGH_PAGE | SC, control)
    console.access.wait(clocks)
    seen = {"data": console.peek(HIGH_PAGE | SB), "control": console.peek(HIGH_PAGE | SC)}
    after = console.access.read(resting=False)
    return dict(seen, sending=after["serial/sending"], requested=after["cpu/requested"])


def _sound(register: int, value: int) -> dict[str, Any]:
    console = started()
    console.poke(HIGH_PAGE | SOUND + register, value)
    return {"byte": console.peek(HIGH_PAGE | SOUND + register)}


# --- the screen -------------------------------------------------------------------------------------------------------


def _line(y: int, tiles: np.ndarray, objects: np.ndarray, map: int, **registers: Any) -> dict[str, Any]:
    memory = np.zeros(0x2000, np.uint8)
    for first in (TILES, SIGNED_TILES):
        memory[first : first + tiles.size] = tiles.ravel()
    cells = np.arange(MAP_CELLS)
    memory[MAPS:] = (cells ^ cells >> 5) + map & 3
    console = started(
        **{"lcd/" + name: value for name, value in registers.items()},
        **{"lcd/vram": memory, "lcd/oam": _objects(objects)},
    )
    pixels = np.frombuffer(console.access.draw_line(y), np.uint8)
    return {"pixels": pixels, "window_line": console.access.read(resting=False)["lcd/window_line"]}


def _screen(lcdc: int, stat: int, lyc: int, scx: int, wy: int, objects: np.ndarray, clocks: int) -> dict[str, Any]:
    console = started(**{"lcd/oam": _objects(objects)})
    for register, value in ((STAT, stat), (LYC, lyc), (SCX, scx), (WY, wy), (LCDC, lcdc)):
        console.poke(HIGH_PAGE | register, value)
    times = console.access.run_screen(clocks)
    after = console.access.read(resting=False)
    names = ("stat", "clock", "target", "line_high", "first_frame", "window_reached")
    return dict(_some(after, "lcd/", *names), line=console.access.line, requested=after["cpu/requested"], times=times)


def _dma(page: int, fill: int, clocks: int) -> dict[str, Any]:
    console = started(**{"memory/wram": _pattern(MEMORY, MEMORY_SIZE, fill)})
    console.poke(HIGH_PAGE | DMA, page)
    console.access.wait(clocks)
    console.access.copy_objects()
    after = console.access.read(resting=False)
    return dict(_some(after, "dma/", "active", "done"), oam=np.frombuffer(after["lcd/oam"], np.uint8))


# --- shared -----------------------------------------------------------------------------------------------------------


def _some(fields: dict[str, Any], prefix: str, *names: str) -> dict[str, Any]:
    return {name: fields[prefix + name] for name in names}


def _requested(console: Console) -> int:
    return console.access.read(resting=False)["cpu/requested"]


def _pattern(start: int, size: int, fill: int) -> np.ndarray:
    """Memory in which each byte tells its address: both halves of it and `fill`, exclusively ored."""
    places = np.arange(start, start + size)
    return (places & 0xFF ^ places >> 8 ^ fill).astype(np.uint8)


def _objects(first: np.ndarray) -> np.ndarray:
    """Object memory with these at its beginning and none behind; of the tiles there are four."""
    memory = np.zeros(0xA0, np.uint8)
    memory[: first.size] = (first & np.array([255, 255, 3, 255], np.uint8)).ravel()
    return memory


_PROBES = {
    "mapper": _mapper,
    "clock": _clock,
    "arithmetic": _arithmetic,
    "memory": _memory,
    "interrupt": _interrupt,
    "timer": _timer,
    "joypad": _joypad,
    "serial": _serial,
    "sound": _sound,
    "line": _line,
    "screen": _screen,
    "dma": _dma,
}
