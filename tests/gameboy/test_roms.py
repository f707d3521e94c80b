"""The project's ROMs: that they are built as their README says, and do in PyBoy what it says."""

from __future__ import annotations

import io
import re
import struct
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from environments.gameboy.assembler import assemble

from .console import BOOT_FRAMES, NAMES, ROMS, Console, pyboy, rom, self_checks, with_fault
from .crowds import check_life, check_swarm
from .models import BUSY_RESULTS, arithmetic_checksum, busy_results, busy_total, visits_checksum
from .test_assembler import header_faults

MAPPERS = ("mbc1", "mbc1ram", "mbc2", "mbc3", "mbc5")
SIZES = {"mbc1": 1024, "mbc1ram": 128, "mbc2": 256, "mbc3": 128, "mbc5": 8192, "swarm": 128}
"""KiB; the others have 32."""
GAMES = ("bricks", "meteors")


def test_there_are_the_roms_that_the_readme_lists() -> None:
    listed = re.findall(r"^\| `(\w+)` \|.*KiB", (ROMS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_rom_has_its_size_a_valid_header_and_no_logo(name: str) -> None:
    image = rom(name).image
    assert header_faults(image) == []
    assert len(image) == SIZES.get(name, 32) * 1024
    assert image[0x134:].startswith(b"LOCKSTEP ")
    assert not any(image[0x104:0x134])


def test_building_a_rom_again_gives_the_same_bytes() -> None:
    assert assemble(ROMS / "bricks.asm") == rom("bricks")


def documented_addresses() -> dict[str, list[tuple[str, int]]]:
    """The README's tables: for each ROM the names and addresses that hold for it."""
    found: dict[str, list[tuple[str, int]]] = {name: [] for name in NAMES}
    holds_for: list[str] = []
    for line in (ROMS / "README.md").read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| `\$([0-9A-F]{4})` \| `(\w+)` \|", line)
        if row:
            for name in holds_for:
                found[name].append((row.group(2), int(row.group(1), 16)))
        elif line.startswith("## "):
            holds_for = {"## What every ROM keeps": list(NAMES), "## The games": list(GAMES)}.get(line, [])
        elif re.match(r"`\w+`", line):
            holds_for = [name for name in re.findall(r"`(\w+)`", line.split(":")[0]) if name in NAMES]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_gives_the_addresses_that_the_rom_has(name: str) -> None:
    documented = documented_addresses()[name]
    assert len(documented) >= 6
    symbols = rom(name).symbols
    assert {label: symbols[label].value for label, _ in documented} == dict(documented)


# Each check looks at a ROM's WRAM while it runs and returns what is wrong with it.


def check_busy(console: Console) -> list[str]:
    console.run_to(5)
    pattern = bytes(console.rom.image[0x4000:0x4100])
    rounds = console.word("wFrames")
    found = bytes(console.bytes("wAlu", BUSY_RESULTS))
    # The next round has begun: each of its results may be there already.
    before, after = busy_results(rounds - 1, pattern), busy_results(rounds, pattern)
    wrong = [f"result byte {n} is {found[n]}" for n in range(BUSY_RESULTS) if found[n] not in (before[n], after[n])]
    if console.word("wTotal") != busy_total(rounds, pattern):
        wrong.append("the total differs")
    return wrong + self_checks(console)


def check_sprites(console: Console) -> list[str]:
    wrong: list[str] = []
    crowded = 0
    for frame in range(10, 1100, 109):
        console.run_to(frame)
        frames = console.word("wFrames")
        if console.word("wCopies") != frames:
            wrong.append(f"{console.word('wCopies')} copies in {frames} frames")
        before = console.emulator.memory[0xFE00:0xFEA0]
        speeds = console.bytes("wSpeeds", 80)
        console.run(1)
        shown = console.emulator.memory[0xFE00:0xFEA0]
        moved = [(before[4 * n + 1] + speeds[2 * n + 1]) % 256 for n in range(40)]
        if moved != shown[1::4]:
            wrong.append(f"objects did not move by their speeds in frame {frames}")
        if console.byte("wPhase") in (2, 3, 6):
            crowded = max(crowded, sum(y == shown[0] for y in shown[0::4]))
    if console.word("wSplits") < 90:
        wrong.append(f"{console.word('wSplits')} copies in the middle of a frame")
    if crowded < 20:
        wrong.append(f"at most {crowded} objects on a line")
    if console.byte("wKinds") != 0xF0:
        wrong.append(f"attributes {console.byte('wKinds'):02X}")
    return wrong + self_checks(console)


WINDOW_HITS = (14, 144, 13, 0, 144, 12, 0)


def check_window(console: Console) -> list[str]:
    wrong: list[str] = []
    for phase, hits in enumerate(WINDOW_HITS):
        console.run_to(64 * phase + 20)
        if (console.byte("wPhase"), console.byte("wLastHits")) != (phase, hits):
            wrong.append(f"phase {phase}: {console.byte('wLastHits')} interrupts in phase {console.byte('wPhase')}")
        lines = console.screen
        if phase == 4 and not np.array_equal(lines[0::2], lines[1::2]):
            wrong.append("the lines are not doubled")
        # A line's own interrupt comes after it was drawn, so that what the odd ones ask for is seen on the even ones.
        white = (lines == 255).any(axis=1)
        if phase == 1 and not (white[1::2].all() and not white[2::2].any()):
            wrong.append("not every other line is darker")
    console.run_to(64 * len(WINDOW_HITS))
    if console.byte("wOffs") != 8:
        wrong.append(f"the display was off {console.byte('wOffs')} times")
    return wrong + self_checks(console)


def check_interrupts(console: Console) -> list[str]:
    console.run_to(64)
    wrong: list[str] = []
    for name, value in {"wDeepest": 3, "wEiDelay": 1, "wEiDi": 0, "wSerialIn": 0xFF, "wDepth": 0}.items():
        if console.byte(name) != value:
            wrong.append(f"{name} is {console.byte(name)}, expected {value}")
    if console.bytes("wLog", 5) != [0, 1, 2, 3, 4]:
        wrong.append(f"the order is {console.bytes('wLog', 5)}")
    if not 144 <= console.byte("wStats") <= 148:
        wrong.append(f"{console.byte('wStats')} STAT interrupts in a frame")
    # One in eight frames the ROM raises it itself, and the phases that write all requests may lose a press.
    counts = [console.word("wJoypads")]
    for buttons in ([], ["left"]):
        for _ in range(8):
            console.hold(buttons, 5)
            console.run(4)
        counts.append(console.word("wJoypads"))
    pressed = counts[2] - counts[1] - (counts[1] - counts[0])
    if not 5 <= pressed <= 8:
        wrong.append(f"{pressed} interrupts by eight presses")
    return wrong + self_checks(console)


def check_timers(console: Console) -> list[str]:
    console.run_to(40)
    wrong: list[str] = []
    for rate, clocks in enumerate((1024, 16, 64, 256)):
        turns = console.word("wWaits", 2 * rate)
        if not 16 * clocks <= 40 * turns + 40 < 16 * clocks + 120:
            wrong.append(f"rate {rate}: 16 counts took {turns} turns of 40 clocks")
        # What VBlank's handler hides is at most its length.
        expected = 70224 // (32 * clocks)
        if not 0.9 * expected <= console.byte("wPerFrame", rate) <= expected + 1:
            wrong.append(f"rate {rate}: {console.byte('wPerFrame', rate)} interrupts a frame")
    reads = console.bytes("wReads", 32)
    if not {0xFE, 0xFF, 0x33, 0x34} <= set(reads):
        wrong.append(f"no overflow to be seen in {reads}")
    for table, written in {"wTimaWrites": 0x77, "wTmaWrites": 0x77}.items():
        if written not in console.bytes(table, 32):
            wrong.append(f"no write to be seen in {table}")
    return wrong + self_checks(console)


def check_sound(console: Console) -> list[str]:
    console.run_to(20)
    wrong: list[str] = []
    for channel in range(4):
        # Four steps of 16384 clocks, the first of them under way already.
        turns = console.word("wWaits", 2 * channel)
        if not 3 * 16384 - 200 < 56 * turns < 4 * 16384 + 200:
            wrong.append(f"channel {channel + 1} was on for {turns} turns")
    if not 0 < console.word("wWaits", 8) < console.address("LONGEST"):
        wrong.append(f"the sweep ended after {console.word('wWaits', 8)} turns")
    wave = console.bytes("wWave", 16)
    if [(byte - wave[0]) % 256 for byte in wave] != list(range(16)):
        wrong.append(f"wave memory {wave}")
    if (console.byte("wDac"), console.byte("wRunning"), console.byte("wOnes")) != (0, 15, 0):
        wrong.append(f"{console.bytes('wDac', 3)} of DACs, channels, bits")
    return wrong + self_checks(console)


def visited_banks(name: str) -> list[int]:
    if name == "mbc1":
        return [bank + (bank % 32 == 0) for bank in range(64)]
    if name == "mbc1ram":
        return [1, *range(1, 8), *range(1, 8)]
    if name == "mbc2":
        return [1, *range(1, 16), 3]
    if name == "mbc3":
        return [1, *range(1, 8), 5]
    return [bank + upper for bank in range(1, 41) for upper in (0, 256)] + [511, 255]


LAST_CHAINED = {"mbc1": 31, "mbc1ram": 7, "mbc2": 15, "mbc3": 7, "mbc5": 40}
EXTRA = {
    "mbc1": [0x11, 0x22, 0x11],
    "mbc1ram": [0x3C, 0xC3],
    "mbc2": [0xF7, 0xF7, 5, 0xFF],
    "mbc3": [],
    "mbc5": [0, 3, 1, 0xFF],
}


def check_mapper(name: str) -> Callable[[Console], list[str]]:
    def check(console: Console) -> list[str]:
        console.run_to(10)
        wrong: list[str] = []
        banks = visited_banks(name)
        if console.byte("wVisited") != len(banks) or console.word("wVisits") != visits_checksum(banks):
            wrong.append(f"{console.byte('wVisited')} banks called, checksum {console.word('wVisits'):04X}")
        if console.word("wChain") != sum(range(LAST_CHAINED[name] + 1)):
            wrong.append(f"the chain gave {console.word('wChain')}")
        if console.bytes("wExtra", 8)[: len(EXTRA[name])] != EXTRA[name]:
            wrong.append(f"extra: {console.bytes('wExtra', 8)}")
        if name == "mbc3":
            # Started in round 4, a second before the end of the last day that it can count; latched in round 104.
            console.run_to(110)
            if console.bytes("wExtra", 8) != [4, 0, 0, 0, 0x80, 59, 0x41, 1]:
                wrong.append(f"the clock: {console.bytes('wExtra', 8)}")
        return wrong + self_checks(console)

    return check


def status_line(console: Console) -> list[int]:
    """The status line's tiles, less the font's first."""
    start = console.address("STATUS")
    return [tile - 0x10 for tile in console.emulator.memory[start : start + 20]]


def check_game(name: str) -> Callable[[Console], list[str]]:
    def check(console: Console) -> list[str]:
        wrong: list[str] = []
        console.run(60)
        if console.byte("wState") != 1 or console.byte("wLives") != 3 or console.byte("wGames") != 1:
            wrong.append("the game does not begin by itself")
        # Played by its own state until points have come, then left alone until it is lost.
        scores = [console.word("wScore")]
        for _ in range(200):
            play(console, name)
            scores.append(console.word("wScore"))
            shown = status_line(console)[:4]
            # The line is drawn before the frame's points are counted.
            if not scores[-2] <= int("".join(map(str, shown))) <= scores[-1]:
                return [*wrong, f"the screen shows {shown} for {scores[-1]}"]
        if scores != sorted(scores) or scores[-1] < 8:
            wrong.append(f"score {scores[-1]} after 1600 frames")
        for _ in range(100):
            console.run(60)
            if console.byte("wGameOver"):
                break
        else:
            return [*wrong, "the game is never lost"]
        if console.byte("wState") != 2 or console.byte("wLives") != 0 or console.word("wScore") < scores[-1]:
            wrong.append("lost, but in another state")
        if status_line(console)[6:10] != [16, 10, 18, 14]:
            wrong.append(f"the screen shows {status_line(console)[6:15]} for GAME OVER")
        score = console.word("wScore")
        console.hold(["left", "a"], 30)
        if console.word("wScore") != score or not console.byte("wGameOver"):
            wrong.append("a lost game goes on")
        console.hold(["start"], 10)
        begun = (console.byte("wGameOver"), console.byte("wState"), console.byte("wLives"), console.word("wScore"))
        if begun != (0, 1, 3, 0):
            wrong.append("Start does not begin a new game")
        if console.byte("wGames") != 2:
            wrong.append(f"{console.byte('wGames')} games counted")
        return wrong + self_checks(console)

    return check


def play(console: Console, name: str) -> None:
    """Eight frames of a simple player: under the ball; beside what falls."""
    if name == "bricks":
        distance = console.byte("wBallX") + 2 - (console.byte("wPaddle") + 12)
        console.hold(["right"] if distance > 3 else ["left"] if distance < -3 else ["a"], 8)
        return
    ship = console.byte("wShipX")
    falls = console.bytes("wFall", 64)
    near = [x for y, x in zip(falls[0::4], falls[1::4], strict=True) if 60 < y < 150 and abs(x - ship) < 16]
    if not near:
        console.run(8)
    else:
        console.hold(["left" if near[0] > ship > 20 or ship > 140 else "right"], 8)


CHECKS: dict[str, Callable[[Console], list[str]]] = {
    "busy": check_busy,
    "sprites": check_sprites,
    "window": check_window,
    "interrupts": check_interrupts,
    "timers": check_timers,
    "sound": check_sound,
    "life": check_life,
    "swarm": check_swarm,
    **{name: check_mapper(name) for name in MAPPERS},
    **{name: check_game(name) for name in GAMES},
}


def problems(name: str, directory: Path, image: bytes | None = None) -> list[str]:
    with Console(name, directory, image) as console:
        console.run(BOOT_FRAMES)
        try:
            return CHECKS[name](console)
        except AssertionError as stuck:
            return [str(stuck)]


@pytest.mark.parametrize("name", NAMES)
def test_a_rom_does_in_pyboy_what_the_readme_says(name: str, tmp_path: Path) -> None:
    assert problems(name, tmp_path) == []


FAULTS = [
    ("busy", "Decimal", b"\x27", b"\x00", "DAA left out"),
    ("busy", "Alu", b"\x8b", b"\x83", "ADD instead of ADC"),
    ("busy", "Bits", b"\xcb\x2f", b"\xcb\x3f", "SRL instead of SRA"),
    ("busy", "CopyAndCrc", b"\xee\x21", b"\xee\x20", "another polynomial"),
    ("busy", "Elsewhere", b"\xcd\x40\xe3", b"\xcd\x42\xe3", "into the middle of the code in the echo"),
    ("busy", "StackPointer", b"\x09", b"\x29", "another sum of what was popped"),
    ("sprites", "VBlank", b"\x3e\xdf", b"\x3e\xde", "DMA from another page"),
    ("sprites", "Split", b"\xfe\x07", b"\xfe\x08", "no second DMA"),
    ("sprites", "LineUp", b"\x06\x14", b"\x06\x0a", "ten instead of twenty on a line"),
    ("sprites", "Move", b"\x86\x12\x23\x1c\x1c", b"\x00\x12\x23\x1c\x1c", "nothing moves across"),
    ("window", "Splits", b"\x0f\x43", b"\x10\x43", "two changes on the same line"),
    ("window", "SetupDouble", b"\x06\x20", b"\x06\x08", "mode 0 instead of mode 2"),
    ("window", "OnWave", b"\xcb\x40", b"\xcb\x48", "pairs of darker lines"),
    ("interrupts", "OnTimer", b"\x36\x02", b"\x36\x03", "the timer under another number"),
    ("interrupts", "EnableDelay", b"\xfb\x04", b"\xfb\x00", "INC B left out"),
    ("interrupts", "Serial", b"\x3e\x81", b"\x3e\x80", "no clock for the serial line"),
    ("timers", "Waits", b"\x3e\xf0", b"\x3e\xf8", "half the counts"),
    ("timers", "Divider", b"\x01\x68\x01", b"\x01\x00\x01", "a shorter wait"),
    ("timers", "Reads", b"\x3e\xf8", b"\x3e\x80", "no overflow"),
    ("sound", "FirstLength", b"\x3e\x3c", b"\x3e\x00", "the longest length"),
    ("sound", "Sweep", b"\x3e\x11", b"\x3e\x00", "no sweep"),
    ("sound", "Dac", b"\x3e\xa0", b"\x3e\x00", "a channel without a DAC"),
    ("life", "Neighbours", b"\x11\xdf\xff", b"\x11\xdd\xff", "another cell in place of one above"),
    ("life", "Grow", b"\xfe\x03", b"\xfe\x04", "four that let a cell live"),
    ("life", "CountCell", b"\x81", b"\x3c", "dead cells counted"),
    ("life", "ShowRows", b"\x1a", b"\xaf", "a column that shows nothing"),
    ("life", "Main", b"\xcd", b"\x01", "nothing shown"),
    ("swarm", "Think", b"\xe6\x03", b"\xe6\x01", "two kinds"),
    ("swarm", "Move", b"\x8a", b"\x82", "parts of a pixel that do not carry"),
    ("swarm", "Distance", b"\x2f\x3c", b"\x2f\x00", "a distance that is off by one on one side"),
    ("swarm", "LookAround", b"\x06\x04", b"\x06\x03", "looks at three"),
    ("swarm", "Place", b"\xe6\x03", b"\xe6\x02", "other tiles"),
    ("mbc1", "SelectBank", b"\x0f", b"\x00", "the upper bits in the wrong place"),
    ("mbc1ram", "EnableRam", b"\x3e\x3a", b"\x3e\x3b", "RAM not enabled"),
    ("mbc2", "SelectBank", b"\xea\x00\x21", b"\xea\x00\x20", "address bit 8 clear"),
    ("mbc3", "Extra", b"\x3e\x3b", b"\x3e\x3a", "two seconds before the day's end"),
    ("mbc5", "SelectBank", b"\xea\x00\x30", b"\xea\x00\x40", "the ninth bit at the wrong address"),
    ("bricks", "AddScore", b"\x86", b"\x00", "points that replace the score"),
    ("bricks", "LoseLife", b"\x35", b"\x00", "lives without end"),
    ("meteors", "BeginGame", b"\x34", b"\x00", "games not counted"),
    ("meteors", "AddScore", b"\x27", b"\x00", "a score without decimals"),
]


@pytest.mark.parametrize(
    ("name", "label", "before", "after"),
    [fault[:4] for fault in FAULTS],
    ids=[f"{fault[0]}: {fault[4]}" for fault in FAULTS],
)
def test_a_fault_in_a_rom_is_noticed(name: str, label: str, before: bytes, after: bytes, tmp_path: Path) -> None:
    pyboy()
    assert problems(name, tmp_path, with_fault(name, label, before, after)) != []


@pytest.mark.parametrize("name", NAMES)
def test_buttons_at_random_make_no_self_check_fail(name: str, tmp_path: Path) -> None:
    with Console(name, tmp_path) as console:
        console.run(BOOT_FRAMES)
        before = console.word("wFrames")
        console.mash(7, 600)
        assert self_checks(console) == []
        assert console.word("wFrames") > before


def clock(state: bytes) -> bytes:
    """The clock's registers and the clocks since its last second, from a saved state of PyBoy.

    They stand between two of the host's times, as doubles: now less what the clock shows (at most 512 days), and now.
    """
    now = time.time()
    # It is near the end: the search from there is short.
    for start in range(len(state) - 33, 0, -1):
        first, second = (struct.unpack_from("<d", state, start + offset)[0] for offset in (0, 25))
        if now - 1e8 < first < now + 60 and now - 3600 < second < now + 60:
            return state[start + 8 : start + 25]
    raise AssertionError("no clock in the saved state")


def clock_after(directory: Path, looks: int, image: bytes | None = None) -> bytes:
    """mbc3's clock after 30 frames, each of which ends with so many looks at $A000 from outside.

    PyBoy takes the host's time where a clock register is looked at again in the same cycle.
    """
    with Console("mbc3", directory, image) as console, io.BytesIO() as file:
        console.run(BOOT_FRAMES)
        for _ in range(30):
            console.run(1)
            for _ in range(looks):
                assert console.emulator.memory[0xA000] in range(256)
        console.emulator.save_state(file)
        return clock(file.getvalue())


def test_the_clock_does_not_depend_on_the_time_of_the_host(tmp_path: Path) -> None:
    assert clock_after(tmp_path, looks=2) == clock_after(tmp_path, looks=0)


def test_a_clock_register_that_stays_selected_is_noticed(tmp_path: Path) -> None:
    pyboy()
    image = with_fault("mbc3", "Extra.done", b"\xaf\xea\x00\x40", bytes(4))
    assert clock_after(tmp_path, looks=2, image=image) != clock_after(tmp_path, looks=0, image=image)


@pytest.mark.parametrize("name", GAMES)
def test_the_same_seed_plays_the_same_game_and_another_seed_another(name: str, tmp_path: Path) -> None:
    def screens(seed: int) -> list[bytes]:
        with Console(name, tmp_path) as console:
            console.run(BOOT_FRAMES)
            console.write("wRandom", seed & 0xFF, seed >> 8)
            seen = []
            for block in range(10):
                console.mash(block, 40)
                seen.append(console.screen.tobytes())
            return seen

    first = screens(0x1234)
    assert screens(0x1234) == first
    assert screens(0x4321) != first


@pytest.mark.parametrize("name", GAMES)
def test_a_seed_that_is_planted_before_the_start_is_kept(name: str, tmp_path: Path) -> None:
    def state(seed: int) -> int:
        with Console(name, tmp_path) as console:
            console.write("wRandom", seed & 0xFF, seed >> 8)
            console.run(BOOT_FRAMES)
            console.mash(3, 160)
            return console.word("wRandom")

    assert len({state(seed) for seed in (0x0000, 0x1234, 0x1235, 0xBEEF)}) == 4
    assert state(0x1234) == state(0x1234)


@pytest.mark.parametrize("name", GAMES)
def test_a_seed_of_zero_still_gives_random_numbers(name: str, tmp_path: Path) -> None:
    with Console(name, tmp_path) as console:
        console.run(BOOT_FRAMES)
        console.write("wRandom", 0, 0)
        console.mash(1, 400)
        assert console.word("wRandom") != 0


def test_the_models_of_the_arithmetic_differ_from_round_to_round() -> None:
    assert len({arithmetic_checksum(operand) for operand in range(64)}) == 64
