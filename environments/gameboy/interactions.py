"""Level 2 for the Game Boy: small programs where units meet, and the cartridges from power-on.

A program is made of snippets, lies in work memory and begins again when it is over. It runs with the boot ROM in place,
whose interrupt handlers only count, so that nothing leads it astray; what it reads it writes down behind itself.
"""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from typing import Any

import hypothesis.strategies as st
import numpy as np

from lockstep import Task, sequence

Sequence = st.SearchStrategy[dict[str, Any]]
Snippet = st.SearchStrategy[bytes]

POWER_ON = {
    "state/booting": True,
    "state/serial/control": 0x7E,
    "state/serial/done_at": 2**31,
    "state/lcd/stat": 0x80,
    "state/lcd/bgp": 0xFC,
    "state/lcd/obp0": 0xFF,
    "state/lcd/obp1": 0xFF,
    "state/lcd/target": 70_224,
    "state/cartridge/rom_bank": 1,
    "state/cartridge/lower": 1,
    "state/lcd/screen": 0xFF,
}
"""What is not zero in a console that was just switched on."""
CARTRIDGES = 13
BRICKS, MBC1, MBC1RAM, MBC2 = 0, 8, 9, 10
MBC2_CELLS = 0x200
CODE, NOTES, TURNS_MADE, STACK = 0xC000, 0xD000, 0xD100, 0xDFF0
LEAST_SNIPPETS, MOST_SNIPPETS = 6, 24
P1, SB, SC, DIV, TIMA, TMA, TAC, IF = 0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x0F
LCDC, STAT, SCY, SCX, LY, LYC, DMA, BGP, WY, WX, IE = 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x4A, 0x4B, 0xFF
BOOT_ROM = 0xFF50
"""Whoever writes 1 to it takes the handlers of interrupts away."""
EDGES = (
    0xFEA0, 0xFEFF, 0xFF03, 0xFF08, 0xFF0E, 0xFF0F, 0xFF10, 0xFF3F, 0xFF40, 0xFF4B, 0xFF4C, 0xFF7F, 0xFF80, 0xFFFE, 0xFFFF,
)  # fmt: skip
TIMED = tuple(0xFF00 + register for register in (SC, DIV, TIMA, TMA, TAC, IF, LCDC, STAT, LYC, DMA))
"""Where it matters at which clock something is read or written."""
BYTE = st.integers(0, 255)
OAM = st.integers(0xFE00, 0xFE9F)
HIGH = st.integers(0xFF00, 0xFFFF).filter(lambda address: address != BOOT_ROM)


def start(task: Task, **changes: Any) -> dict[str, Any]:
    """A console at power-on with some leaves changed; `lcd__scx` is `state/lcd/scx`."""
    state: dict[str, Any] = {path: np.zeros(leaf.shape, leaf.dtype) for path, leaf in task.state.items()}
    named = {f"state/{name.replace('__', '/')}": value for name, value in changes.items()}
    for path, value in {**POWER_ON, **named}.items():
        state[path] = np.full(task.leaves[path].shape, value, task.leaves[path].dtype)
    return state


# --- snippets: a few instructions each --------------------------------------------------------------------------------


def set_high(register: int, values: st.SearchStrategy[int] = BYTE) -> Snippet:
    """`ld a, VALUE`, `ldh [REGISTER], a`."""
    return values.map(lambda value: bytes([0x3E, value, 0xE0, register]))


def note_high(*registers: int) -> Snippet:
    """`ldh a, [REGISTER]`, and a note of it."""
    return st.sampled_from(registers).map(lambda register: bytes([0xF0, register, *NOTE]))


def set_far(addresses: st.SearchStrategy[int], values: st.SearchStrategy[int] = BYTE) -> Snippet:
    """`ld a, VALUE`, `ld [ADDRESS], a`."""
    return st.tuples(addresses, values).map(lambda both: bytes([0x3E, both[1], 0xEA, both[0] & 0xFF, both[0] >> 8]))


def carried(sources: st.SearchStrategy[int], targets: st.SearchStrategy[int]) -> Snippet:
    """`ldh a, [SOURCE]`, `ldh [TARGET], a`: nothing comes between the two."""
    return st.tuples(sources, targets).map(lambda both: bytes([0xF0, both[0] & 0xFF, 0xE0, both[1] & 0xFF]))


def note_far(addresses: st.SearchStrategy[int]) -> Snippet:
    """`ld a, [ADDRESS]`, and a note of it."""
    return addresses.map(lambda address: bytes([0xFA, address & 0xFF, address >> 8, *NOTE]))


def note_by_hl(addresses: st.SearchStrategy[int]) -> Snippet:
    """`ld hl, ADDRESS`, `ld a, [hl]`, and a note of it: one of the reads that find memory locked (QUIRKS.md, 17)."""
    return addresses.map(lambda address: bytes([0x21, address & 0xFF, address >> 8, 0x7E, *NOTE]))


def set_by_de(addresses: st.SearchStrategy[int], values: st.SearchStrategy[int]) -> Snippet:
    """`push de`, `ld de, ADDRESS`, `ld a, VALUE`, `ld [de], a`, `pop de`: the one write that memory is locked against."""
    return st.tuples(addresses, values).map(
        lambda both: bytes([0xD5, 0x11, both[0] & 0xFF, both[0] >> 8, 0x3E, both[1], 0x12, 0xD1])
    )


def of_two_bytes(addresses: st.SearchStrategy[int]) -> Snippet:
    """A push to two bytes, a pop of them with notes, or SP written to them; without interrupts, which would push there."""

    def made(address: int, way: int) -> bytes:
        if way == 0:
            return bytes([0xF3, 0x08, address & 0xFF, address >> 8])
        place = (address + (2 if way == 1 else 0)) & 0xFFFF
        does = b"\xc5" if way == 1 else b"\xc1\x79" + NOTE + b"\x78" + NOTE
        return bytes([0xF3, 0x31, place & 0xFF, place >> 8, *does, 0x31, STACK & 0xFF, STACK >> 8])

    return st.builds(made, addresses.filter(lambda address: address not in (BOOT_ROM - 1, BOOT_ROM)), st.integers(0, 2))


def until(read: bytes, mask: int, is_zero: bool) -> bytes:
    """A loop that reads until a bit of a mask is set, or none is."""
    turn = bytes([*read, 0xE6, mask, 0x20 if is_zero else 0x28])  # and MASK; jr nz or z, the beginning
    return turn + bytes([0xFF - len(turn)])


def until_by_hl(address: int, mask: int, is_zero: bool) -> bytes:
    """`ld hl, ADDRESS`, such a loop with `ld a, [hl]`, and a note of what ended it."""
    return bytes([0x21, address & 0xFF, address >> 8]) + until(b"\x7e", mask, is_zero) + NOTE


def wait_for(
    addresses: st.SearchStrategy[int],
    masks: st.SearchStrategy[int],
    is_zero: st.SearchStrategy[bool] | None = None,
) -> Snippet:
    """Waits for what is read at an address with `ld a, [hl]`, with `ld a, [ADDRESS]`, or high up with `ldh`.

    Nothing else happens in a turn, or a byte of memory counts them.
    """

    def made(address: int, mask: int, way: int, is_zero: bool) -> bytes:
        low, high = address & 0xFF, address >> 8
        if way == 0:
            return until_by_hl(address, mask, is_zero)
        read = bytes([0xF0, low]) if way < 3 and high == 0xFF else bytes([0xFA, low, high])
        if way == 1:  # ld hl, TURNS_MADE; inc [hl] in each turn
            return bytes([0x21, TURNS_MADE & 0xFF, TURNS_MADE >> 8]) + until(b"\x34" + read, mask, is_zero) + NOTE
        return until(read, mask, is_zero) + NOTE

    return st.builds(made, addresses, masks, st.integers(0, 3), st.booleans() if is_zero is None else is_zero)


def wait_as_screen_begins(masks: st.SearchStrategy[int]) -> Snippet:
    """The screen goes off, gets a line to compare with, goes on; later a loop on STAT is entered by a jump back.

    It comes to the loop as one that has made a turn of it (`and 0`), and has not read the mode that STAT hides once.
    """

    def made(line: int, turns: int, mask: int) -> bytes:
        loop = until(bytes([0xF0, STAT]), mask, False)
        before = bytes([0x3E, 0, 0xE0, LCDC, 0x3E, line, 0xE0, LYC, 0x3E, 0x91, 0xE0, LCDC]) + waiting(turns)
        before += bytes([0xE6, 0x00])
        to_it, past_it = bytes([0x18, len(loop) + 2]), bytes([0x18, len(before) + 2])  # jr
        return to_it + loop + past_it + before + bytes([0x18, 0x100 - len(loop + past_it + before) - 2]) + NOTE

    return st.builds(made, st.integers(0, 153), st.integers(1, 255), masks)


def pushed_onto_itself(requested: st.SearchStrategy[int]) -> Snippet:
    """Interrupts are requested with SP behind IE or IF: what is pushed there first takes them back."""

    def made(at: int, bits: int) -> bytes:
        return bytes([0x31, at & 0xFF, at >> 8, 0xFB, 0x3E, bits, 0xE0, IF, 0x00])

    return st.builds(made, st.sampled_from([0x0000, 0xFF00 + IF + 1]), requested)


def note_as_dma_ends(pages: st.SearchStrategy[int]) -> Snippet:
    """`ld hl, ADDRESS`, a copy begins and lasts for some 650 clocks, a read of object memory by HL or not, a note.

    By HL with `ld a, [hl]`, or with `ld b, [hl]`, `ld a, b`.
    """
    to_hl = OAM.map(lambda address: bytes([0x21, address & 0xFF, address >> 8]))
    reads = st.one_of(st.sampled_from([b"\x7e" + NOTE, b"\x46\x78" + NOTE]), note_far(OAM))
    snippets = (to_hl, set_high(DMA, pages), st.just(waiting(39)), st.integers(0, 4).map(bytes), reads)
    return st.tuples(*snippets).map(b"".join)


def waiting(turns: int) -> bytes:
    """`ld b, TURNS`; `dec b`; `jr nz, -3`: 16 clocks a turn."""
    return bytes([0x06, turns, 0x05, 0x20, 0xFD])


NOTE = bytes([0x12, 0x1C])  # ld [de], a; inc e: notes go round in a page
IDLE = st.integers(1, 60).map(bytes)  # nop
TURNS = BYTE.map(waiting)
EI, DI, HALT = st.just(b"\xfb"), st.just(b"\xf3"), st.just(b"\x76")
PAUSES = st.one_of(IDLE, TURNS)
WAITING = st.one_of(PAUSES, EI, DI, HALT)
ENABLES = st.one_of(st.just(0x1F), st.integers(0, 0x1F))
INTERRUPTS = st.one_of(set_high(IE, ENABLES), set_high(IF, st.integers(0, 0x1F)), note_high(IF, IE), EI, HALT)


RUNNING = {
    "cpu__pc": CODE,
    "cpu__sp": STACK,
    "cpu__d": NOTES >> 8,
    "cpu__enabled": 0x1F,
    "lcd__lcdc": 0x93,
    "lcd__stat": 0x86,
    "lcd__target": 80,
    "lcd__window_reached": True,
    "lcd__bgp": 0xE4,
    "lcd__obp0": 0xE4,
    "lcd__obp1": 0x1B,
}
"""A program about to run, at the beginning of a frame, with the screen on."""


def program(snippets: Ordered[bytes]) -> np.ndarray[Any, Any]:
    """Work memory with the snippets, and a jump back to the first of them."""
    code = b"".join(snippets) + bytes([0xC3, CODE & 0xFF, CODE >> 8])
    memory = np.zeros(0x2000, np.uint8)
    memory[: len(code)] = np.frombuffer(code, np.uint8)
    return memory


def programs(task: Task, actions: int, *kinds: Snippet, **changes: st.SearchStrategy[Any]) -> Sequence:
    """Programs of these kinds of snippets, in states in which these leaves are drawn, under any buttons."""
    made = st.lists(st.one_of(*kinds), min_size=LEAST_SNIPPETS, max_size=MOST_SNIPPETS).map(program)
    drawn = {"memory__wram": made, "cpu__master": st.booleans(), **changes}
    state = st.fixed_dictionaries(drawn).map(lambda values: start(task, **{**RUNNING, **values}))
    return st.fixed_dictionaries(
        {"start": state, "actions": st.lists(st.integers(0, 15), min_size=1, max_size=actions)}
    )


# --- sequences --------------------------------------------------------------------------------------------------------

RATES = st.one_of(st.integers(4, 7), st.integers(0, 7))
NEAR_OVERFLOW = st.one_of(st.integers(0xF0, 0xFF), BYTE)
SCREEN_ON = st.one_of(st.sampled_from([0x91, 0x93, 0xB1, 0xF3, 0xE7]), st.integers(0x80, 0xFF), st.just(0x11))
PAGES = st.one_of(st.integers(0xC0, 0xDF), BYTE)


@sequence("timer, interrupts and HALT")
def timer_and_interrupts(task: Task) -> Sequence:
    return programs(
        task,
        4,
        set_high(TIMA, NEAR_OVERFLOW),
        set_high(TMA, NEAR_OVERFLOW),
        set_high(TAC, RATES),
        set_high(DIV),
        note_high(TIMA, DIV, TAC, IF),
        INTERRUPTS,
        WAITING,
        timer__counter=st.integers(0, 0xFFFF),
        timer__tac=RATES,
    )


@sequence("a byte on the serial line, and its interrupt")
def serial(task: Task) -> Sequence:
    control = st.sampled_from([0x81, 0x80, 0x01, 0x00])
    return programs(task, 3, set_high(SC, control), set_high(SB), note_high(SB, SC, IF), INTERRUPTS, WAITING)


@sequence("DMA while the screen is drawn")
def dma_and_screen(task: Task) -> Sequence:
    return programs(
        task,
        3,
        set_high(DMA, PAGES),
        set_high(LCDC, SCREEN_ON),
        set_far(OAM),
        note_far(OAM),
        note_high(DMA, LY, STAT),
        WAITING,
        lcd__vram=noise(0x2000),
        lcd__oam=noise(0xA0),
    )


@sequence("DMA that is about to end")
def end_of_dma(task: Task) -> Sequence:
    return programs(task, 2, note_as_dma_ends(PAGES), lcd__oam=noise(0xA0))


@sequence("window, scrolling and palettes in the middle of a frame")
def window_and_scroll(task: Task) -> Sequence:
    return programs(
        task,
        4,
        set_high(LCDC, SCREEN_ON),
        *(set_high(register) for register in (SCX, SCY, WX, WY, BGP)),
        set_high(LYC, st.integers(0, 153)),
        set_high(STAT, st.sampled_from([0x40, 0x20, 0x10, 0x08, 0x78, 0x00])),
        note_high(LY, STAT, LCDC),
        INTERRUPTS,
        WAITING,
        lcd__vram=noise(0x2000),
        lcd__oam=noise(0xA0),
    )


@sequence("memory that the screen keeps to itself")
def locked_memory(task: Task) -> Sequence:
    """Without HALT, after which it would always be open."""
    places = st.one_of(st.integers(0x8000, 0x9FFF), OAM)
    return programs(
        task,
        3,
        set_by_de(places, BYTE),
        note_by_hl(places),
        set_far(places),
        note_far(places),
        note_high(STAT),
        PAUSES,
        lcd__vram=noise(0x2000),
        lcd__oam=noise(0xA0),
    )


@sequence("banks that are switched and read")
def banks(task: Task) -> Sequence:
    """Not with MBC3, whose clock may take the host's time (QUIRKS.md, 11)."""
    memory = st.one_of(st.integers(0xA000, 0xA1FF), within(0xA000, 0xBFFF))
    return programs(
        task,
        2,
        set_far(within(0x0000, 0x1FFF), st.one_of(st.just(0x0A), BYTE)),
        set_far(within(0x2000, 0x3FFF), st.one_of(st.just(0x00), BYTE)),
        set_far(within(0x4000, 0x5FFF), st.one_of(st.integers(0, 3), BYTE)),
        set_far(within(0x6000, 0x7FFF), st.integers(0, 1)),
        set_far(memory),
        note_far(memory),
        note_far(st.integers(0x0100, 0x7FFF)),
        INTERRUPTS,
        WAITING,
        cartridge__inserted=st.sampled_from([BRICKS, MBC1, MBC1RAM, MBC2]),
        cartridge__ram=noise(MBC2_CELLS).map(lambda cells: np.pad(cells, (0, 0x8000 - MBC2_CELLS))),
    )


@sequence("every register, and memory that is none")
def every_register(task: Task) -> Sequence:
    places = st.one_of(st.sampled_from(EDGES), st.sampled_from(TIMED), HIGH, st.integers(0xFEA0, 0xFEFF))
    return programs(
        task,
        3,
        note_far(places),
        note_by_hl(places),
        set_far(places),
        of_two_bytes(places),
        of_two_bytes(st.sampled_from(TIMED)),
        places.map(lambda address: bytes([0xF0, address & 0xFF, *NOTE])),
        INTERRUPTS,
        WAITING,
        memory__hram=noise(0x7F),
        memory__unusable=noise(0x60),
    )


@sequence("a register is read, and another written at once")
def two_registers(task: Task) -> Sequence:
    """With a timer that counts: what one access has brought up to date, the next one finds so."""
    timed = st.sampled_from(TIMED)
    return programs(
        task,
        3,
        carried(HIGH, HIGH),
        carried(timed, timed),
        carried(timed, st.integers(0xFF10, 0xFF3F)),
        INTERRUPTS,
        WAITING,
        timer__tac=RATES,
    )


@sequence("loops that wait for a unit")
def waiting_loops(task: Task) -> Sequence:
    """Some wait for what never comes."""
    registers = st.sampled_from([0xFF00 + register for register in (P1, SC, DIV, TIMA, IF, STAT, LY, DMA)])
    memory = st.one_of(st.integers(0x8000, 0x9FFF), OAM, st.integers(0xA000, 0xBFFF))
    return programs(
        task,
        4,
        wait_for(registers, st.sampled_from([0x01, 0x02, 0x03, 0x04, 0x10, 0x80])),
        wait_for(memory, st.sampled_from([0x01, 0x81, 0xFF])),
        set_high(LCDC, SCREEN_ON),
        set_high(SC, st.sampled_from([0x81, 0x80])),
        set_high(TAC, RATES),
        set_high(DMA, PAGES),
        set_high(LYC, st.integers(0, 153)),
        INTERRUPTS,
        WAITING,
        timer__tac=RATES,
        lcd__vram=noise(0x2000),
        lcd__oam=noise(0xA0),
    )


@sequence("an interrupt that takes itself back")
def taken_back(task: Task) -> Sequence:
    """It leads to address 0, where the boot ROM begins: the rest is the cartridge from power-on."""
    return programs(task, 3, pushed_onto_itself(st.integers(0, 0x1F)), INTERRUPTS, WAITING)


@sequence("loops that wait for the screen, a copy or a count, which come")
def loops_that_end(task: Task) -> Sequence:
    """Video memory is empty, so that it reads as something else while it is locked; so is what is copied."""
    modes = wait_for(st.just(0xFF00 + STAT), st.integers(1, 3))
    counts = wait_for(st.sampled_from([0xFF00 + DIV, 0xFF00 + LY]), st.sampled_from([0x01, 0x02, 0x04, 0x10]))
    locked = st.builds(until_by_hl, st.integers(0x8000, 0x9FFF), st.integers(1, 255), st.booleans())
    copied = st.tuples(set_high(DMA, st.integers(0xC2, 0xCF)), wait_for(OAM, st.integers(1, 255), st.just(True)))
    return programs(
        task,
        4,
        modes,
        counts,
        locked,
        copied.map(b"".join),
        wait_as_screen_begins(st.integers(1, 3)),
        set_high(LYC, st.integers(0, 153)),
        PAUSES,
        lcd__oam=noise(0xA0),
    )


@sequence("buttons and their interrupt")
def buttons(task: Task) -> Sequence:
    select = st.sampled_from([0x00, 0x10, 0x20, 0x30])
    return programs(task, 12, set_high(P1, select), note_high(P1, IF), INTERRUPTS, WAITING)


@sequence("a cartridge from power-on")
def from_power_on(task: Task) -> Sequence:
    state = st.integers(0, CARTRIDGES - 1).map(lambda number: start(task, cartridge__inserted=number))
    length = task.budgets.sequence_length
    actions = st.lists(st.integers(0, 15), min_size=length // 2, max_size=length)
    return st.fixed_dictionaries({"start": state, "actions": actions})


def within(first: int, last: int) -> st.SearchStrategy[int]:
    """An address of a range: each of its ends as often as one anywhere."""
    return st.one_of(st.just(first), st.just(last), st.integers(first, last))


def noise(size: int) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    """Memory of any content."""
    return st.integers(0, 2**32 - 1).map(
        lambda seed: np.random.default_rng(seed).integers(0, 256, size).astype(np.uint8)
    )
