"""Level 1 for the Game Boy: what is true of every frame, how to ask the probes, and what episodes should reach."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np

from lockstep import Array, Trajectory, feature, generator, invariant

BRICKS, METEORS, INTERRUPTS, SOUND, MBC3 = 0, 1, 5, 7, 11
ROM_BANKS = np.array([2] * 8 + [64, 8, 16, 8, 2])
RAM_BYTES = np.array([0] * 8 + [0x2000, 0x8000, 0x200, 0x8000, 0])
UNCHECKED = (INTERRUPTS, SOUND)
"""Their self-checks fail, of the one where buttons are pressed, of the other where sound registers read as 0."""
HELD = np.array([0, 1, 2, 4, 8, 16, 32, 64, 128, 17, 18, 33, 34, 20, 255, 240])
FAILURES, OVER, SCORE, LIVES, LEVEL = 0x02, 0x05, 0x06, 0x08, 0x09
LONGEST_FRAME = 2 * 70_224
SCREEN_ON, WINDOW_ON, TALL_OBJECTS = 0x80, 0x20, 0x04
DMA_BYTES = 160
OBJECTS = 12
"""In probes: two more than a line shows."""


def state(trajectory: Trajectory, name: str) -> Array:
    """A leaf of the state over all rows."""
    return trajectory.leaves[f"state/{name}"]


def inserted(trajectory: Trajectory, *cartridges: int) -> Array:
    """The rows in which one of these cartridges is in the console."""
    return np.isin(state(trajectory, "cartridge/inserted"), cartridges)


def memory(trajectory: Trajectory, place: int) -> Array:
    """A byte of work memory over all rows."""
    return state(trajectory, "memory/wram")[:, place].astype(np.int64)


def score(trajectory: Trajectory) -> Array:
    """The score of a game, 0 in the other cartridges."""
    points = memory(trajectory, SCORE) | memory(trajectory, SCORE + 1) << 8
    return np.where(inserted(trajectory, BRICKS, METEORS), points, 0)


def changed(values: Array) -> Array:
    """The rows that differ from the one before; never the first."""
    different = values[1:] != values[:-1]
    return np.concatenate([[False], different.any(axis=tuple(range(1, values.ndim)))])


# --- invariants -------------------------------------------------------------------------------------------------------


@invariant("frame")
def the_selected_banks_are_in_the_cartridge(trajectory: Trajectory) -> Array:
    banks = ROM_BANKS[state(trajectory, "cartridge/inserted")]
    high, low = state(trajectory, "cartridge/rom_bank"), state(trajectory, "cartridge/low_bank")
    return (high < banks) & (low < banks)


@invariant("frame")
def ram_beyond_the_cartridge_stays_empty(trajectory: Trajectory) -> Array:
    size = RAM_BYTES[state(trajectory, "cartridge/inserted")][:, None]
    beyond = np.arange(0x8000) >= size
    return ~(beyond & (state(trajectory, "cartridge/ram") != 0)).any(axis=1) | (trajectory.case.start is not None)


@invariant("frame")
def only_mbc3_has_a_clock(trajectory: Trajectory) -> Array:
    clock = [values for path, values in trajectory.leaves.items() if path.startswith("state/clock/")]
    return inserted(trajectory, MBC3) | ~np.any(clock, axis=0)


@invariant("frame")
def a_frame_takes_time_and_at_most_two_frames_of_it(trajectory: Trajectory) -> Array:
    took = np.diff(state(trajectory, "cpu/clock"), prepend=state(trajectory, "cpu/clock")[0] - 1)
    return (took > 0) & (took <= LONGEST_FRAME)


@invariant("frame")
def the_lower_half_of_f_is_zero(trajectory: Trajectory) -> Array:
    return state(trajectory, "cpu/f") & 0x0F == 0


@invariant("frame")
def a_reload_has_clocks_left_exactly_while_it_goes_on(trajectory: Trajectory) -> Array:
    return (state(trajectory, "timer/reload") == 0) == (state(trajectory, "timer/reload_left") == 0)


@invariant("frame")
def the_actions_buttons_are_held(trajectory: Trajectory) -> Array:
    held = HELD[trajectory.case.actions["action"][: trajectory.steps]]
    return np.concatenate([[True], state(trajectory, "joypad/held")[1:] == held])


@invariant("frame")
def p1_shows_no_select_bits(trajectory: Trajectory) -> Array:
    p1 = state(trajectory, "joypad/p1")
    return (p1 == 0) | (p1 & 0xF0 == 0xC0)


@invariant("frame")
def a_byte_is_sent_only_on_the_own_clock(trajectory: Trajectory) -> Array:
    return ~state(trajectory, "serial/sending") | (state(trajectory, "serial/control") & 0x81 == 0x81)


@invariant("frame")
def the_observation_is_the_screen(trajectory: Trajectory) -> Array:
    fours = state(trajectory, "lcd/screen")[..., None] >> np.array([6, 4, 2, 0], np.uint8) & 3
    return (fours.reshape(-1, 144, 160) == trajectory.leaves["observation"]).all(axis=(1, 2))


@invariant("frame")
def a_frame_ends_before_the_first_line_is_drawn(trajectory: Trajectory) -> Array:
    stat = state(trajectory, "lcd/stat")
    return (stat & 0x80 != 0) & np.isin(stat & 0b11, (0, 2))


@invariant("frame")
def line_0_is_compared_while_the_screen_is_on(trajectory: Trajectory) -> Array:
    on = state(trajectory, "lcd/lcdc") & SCREEN_ON != 0
    equal = state(trajectory, "lcd/stat") & 0b100 != 0
    return ~on | (equal == (state(trajectory, "lcd/lyc") == 0)) | (trajectory.case.start is not None)


@invariant("frame")
def a_running_copy_has_bytes_to_go(trajectory: Trajectory) -> Array:
    return ~state(trajectory, "dma/active") | (state(trajectory, "dma/done") < DMA_BYTES)


@invariant("frame")
def the_cartridge_stays_in_and_the_boot_rom_does_not_come_back(trajectory: Trajectory) -> Array:
    booting = state(trajectory, "booting").astype(np.int64)
    came_back = np.concatenate([[False], booting[1:] > booting[:-1]])
    return ~changed(state(trajectory, "cartridge/inserted")) & ~came_back


@invariant("frame")
def the_reward_is_the_score_gained(trajectory: Trajectory) -> Array:
    gained = np.diff(score(trajectory), prepend=score(trajectory)[0])
    return trajectory.leaves["reward"] == gained


@invariant("frame")
def an_episode_ends_exactly_when_a_game_is_over_and_never_by_time(trajectory: Trajectory) -> Array:
    over = inserted(trajectory, BRICKS, METEORS) & (memory(trajectory, OVER) != 0)
    over[0] = False
    return (trajectory.leaves["terminated"] == over) & ~trajectory.leaves["truncated"]


@invariant("frame")
def no_self_check_of_a_cartridge_fails(trajectory: Trajectory) -> Array:
    failed = memory(trajectory, FAILURES) != 0
    return ~failed | inserted(trajectory, *UNCHECKED) | (trajectory.case.start is not None)


# --- generators -------------------------------------------------------------------------------------------------------

BYTE = st.integers(0, 255)
WORD = st.integers(0, 0xFFFF)


def within(first: int, last: int) -> st.SearchStrategy[int]:
    """An address of a range: each of its ends as often as one anywhere."""
    return st.one_of(st.just(first), st.just(last), st.integers(first, last))


WRITES = st.one_of(
    st.tuples(within(0x0000, 0x1FFF), st.one_of(st.just(0x0A), BYTE)),
    st.tuples(within(0x2000, 0x2FFF), BYTE),
    st.tuples(within(0x3000, 0x3FFF), BYTE),
    st.tuples(within(0x4000, 0x5FFF), BYTE),
    st.tuples(within(0x6000, 0x7FFF), st.integers(0, 1)),
    st.tuples(within(0xA000, 0xBFFF), BYTE),
)
READS = st.one_of(st.integers(0x0000, 0x3FFF), st.integers(0x4000, 0x7FFF), st.integers(0xA000, 0xBFFF))


@generator("mapper")
def writes_to_registers_and_ram() -> st.SearchStrategy[dict[str, Any]]:
    """RAM is enabled first as often as not, and read where it was written."""

    def made(kind: int, enabled: bool, writes: list[tuple[int, int]], read: int, again: bool) -> dict[str, Any]:
        first = [(0x0000, 0x0A), *writes[1:]] if enabled else writes
        place = first[-1][0] if again and first[-1][0] >= 0xA000 else read
        return {"kind": kind, "addresses": [a for a, _ in first], "values": [v for _, v in first], "read": place}

    four = st.lists(WRITES, min_size=4, max_size=4)
    return st.builds(made, st.integers(0, 3), st.booleans(), four, READS, st.booleans())


ACCUMULATE = (*range(0x80, 0xC0), *range(0xC6, 0x100, 8), *range(0x04, 0x40, 8), *range(0x05, 0x40, 8), 0x27)
"""What combines the accumulator with a byte, counts up or down, or adjusts."""
PARTNERS = {
    "pairs": (16, "hl", ("bc", "de", "sp"), (0x09, 0x19, 0x29, 0x39)),
    "offset": (8, "sp", ("bc", "de", "operand"), (0xE8, 0xF8)),
    "bytes": (8, "a", ("bc", "de", "operand"), ACCUMULATE),
}
"""Additions to HL, of an offset to SP, and of bytes: how wide, to what, which operands are at the edge, by which opcodes."""


@generator("arithmetic")
def sums_and_differences_at_the_edge_of_a_carry() -> st.SearchStrategy[dict[str, Any]]:
    """Operands mostly make a sum of all ones in all bits or in those below the half carry, or a difference of zero; or one
    more, or one less.
    """
    near, kinds = st.integers(-1, 1), st.sampled_from([*PARTNERS, "any"])

    def made(kind: str, wanted: tuple[int, int, bool, bool], opcode: int, others: dict[str, Any]) -> dict[str, Any]:
        choice, off, half, less = wanted
        if kind in PARTNERS:
            width, partner, names, opcodes = PARTNERS[kind]
            value, bits = edge_of(others[partner], width, off, half, less)
            each = 1 if width == 16 else 0x101  # in both bytes of a pair
            others |= {name: (others[name] & ~(bits * each)) | value * each for name in names}
            opcode = opcodes[choice % len(opcodes)]
        b, c = divmod(others.pop("bc"), 256)
        d, e = divmod(others.pop("de"), 256)
        prefixed = others.pop("prefixed") and kind == "any"
        return {**others, "b": b, "c": c, "d": d, "e": e, "opcode": opcode, "prefixed": prefixed}

    wanted = st.tuples(st.integers(0, 1023), near, st.booleans(), st.booleans())
    words = dict.fromkeys(("bc", "de", "hl", "sp", "operand"), WORD)
    flags = {"prefixed": st.booleans(), "master": st.booleans()}
    others = st.fixed_dictionaries({"a": BYTE, "f": BYTE, **words, **flags})
    return st.builds(made, kinds, wanted, BYTE, others)


def edge_of(value: int, bits: int, off: int, half: bool, less: bool) -> tuple[int, int]:
    """What makes all ones with a value, or is the same, but for `off`; and the bits that this is about."""
    of_it = (1 << (bits - 4 if half else bits)) - 1
    return ((value if less else ~value) + off) & of_it, of_it


@generator("timer")
def timers_near_an_overflow() -> st.SearchStrategy[dict[str, Any]]:
    near = st.one_of(st.integers(0xFD, 0xFF), BYTE)
    return st.fixed_dictionaries(
        {
            "counter": st.one_of(WORD, st.sampled_from([0xFFFF, 0x0007, 0x01FF, 0x03FF])),
            "tima": near,
            "tma": near,
            "tac": st.one_of(st.integers(4, 7), st.integers(0, 7)),
            "reload_phase": st.one_of(st.just(0), st.integers(0, 8)),
            "register": st.integers(0, 4),
            "value": BYTE,
            "clocks": st.one_of(st.integers(1, 20), st.integers(1, 5000)),
        }
    )


@generator("line")
def lines_with_objects_on_them() -> st.SearchStrategy[dict[str, Any]]:
    """Objects mostly touch the line; the window is mostly reached."""

    def placed(line: int, offsets: list[int], others: dict[str, Any]) -> dict[str, Any]:
        objects = np.array(others["objects"])
        objects[:, 0] = np.clip(line + 16 - np.array(offsets), 0, 255)
        return {**others, "objects": objects, "y": line}

    rows = st.lists(st.tuples(BYTE, st.integers(0, 168), BYTE, BYTE), min_size=OBJECTS, max_size=OBJECTS)
    registers = dict.fromkeys(("lcdc", "scy", "scx", "wy", "bgp", "obp0", "obp1", "map"), BYTE)
    tiles = st.lists(st.lists(BYTE, min_size=16, max_size=16), min_size=4, max_size=4)
    others = st.fixed_dictionaries(
        {
            **registers,
            "wx": st.one_of(st.integers(0, 168), BYTE),
            "window_line": st.integers(-1, 143),
            "window_reached": st.booleans(),
            "tiles": tiles,
            "objects": rows,
        }
    )
    offsets = st.lists(st.integers(-2, 17), min_size=OBJECTS, max_size=OBJECTS)
    return st.builds(placed, st.integers(0, 143), offsets, others)


# --- features ---------------------------------------------------------------------------------------------------------


@feature
def points_in_bricks(trajectory: Trajectory) -> Array:
    return inserted(trajectory, BRICKS) & (trajectory.leaves["reward"] > 0)


@feature
def points_in_meteors(trajectory: Trajectory) -> Array:
    return inserted(trajectory, METEORS) & (trajectory.leaves["reward"] > 0)


@feature
def a_life_is_lost(trajectory: Trajectory) -> Array:
    lives = memory(trajectory, LIVES)
    lost = np.concatenate([[False], lives[1:] == lives[:-1] - 1])
    return inserted(trajectory, BRICKS, METEORS) & lost


@feature
def a_second_level(trajectory: Trajectory) -> Array:
    return inserted(trajectory, BRICKS, METEORS) & (memory(trajectory, LEVEL) >= 2)


@feature
def bricks_is_lost(trajectory: Trajectory) -> Array:
    return inserted(trajectory, BRICKS) & trajectory.leaves["terminated"]


@feature
def meteors_is_lost(trajectory: Trajectory) -> Array:
    return inserted(trajectory, METEORS) & trajectory.leaves["terminated"]


@feature
def the_screen_is_off(trajectory: Trajectory) -> Array:
    return state(trajectory, "lcd/lcdc") & SCREEN_ON == 0


@feature
def a_frame_after_the_screen_was_switched_on(trajectory: Trajectory) -> Array:
    return state(trajectory, "lcd/first_frame")


@feature
def a_window_and_objects_of_16_lines(trajectory: Trajectory) -> Array:
    lcdc = state(trajectory, "lcd/lcdc")
    return (lcdc & WINDOW_ON != 0) | (lcdc & TALL_OBJECTS != 0)


@feature
def the_processor_waits_between_two_frames(trajectory: Trajectory) -> Array:
    return state(trajectory, "cpu/halted")


@feature
def a_byte_is_being_sent(trajectory: Trajectory) -> Array:
    return state(trajectory, "serial/sending")


@feature
def another_bank_than_the_first(trajectory: Trajectory) -> Array:
    return state(trajectory, "cartridge/rom_bank") != 1


@feature
def ram_of_a_cartridge_changes(trajectory: Trajectory) -> Array:
    return changed(state(trajectory, "cartridge/ram"))


@feature
def the_clock_of_mbc3_is_latched_anew(trajectory: Trajectory) -> Array:
    return changed(state(trajectory, "clock/latched_seconds"))
