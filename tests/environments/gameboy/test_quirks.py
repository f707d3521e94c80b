"""The quirks that environments/gameboy/QUIRKS.md lists, in its order, each shown on the real PyBoy."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.protocol.environment import Environment
from harness.reference.install import Installed
from harness.task.contract import Task
from tests.environments.gameboy.conftest import BARE
from tests.environments.gameboy.game import NOTHING, inserted, play, run_python

pytestmark = pytest.mark.slow

Bare = Callable[[str], Any]


def column(values: list[int] | np.ndarray, dtype: str) -> np.ndarray:
    """One input of a probe, or several."""
    return np.asarray(values, dtype)


def test_interrupts_are_looked_at_between_slices_only(bare: Bare) -> None:
    """Quirk 1: in a slice of 400 clocks a timer's interrupt, requested after 20 of them, is not taken; in the next it is."""
    within, requested, taken = bare("""
        program = bytes([0x00] * 8 + [0xF0, 0x05] + [0x00] * 90)  # reading TIMA brings the timer up to date
        timer = {"timer/tac": 5, "timer/tima": 255}
        console = started(program, **{"cpu/master": True, "cpu/enabled": 4, "cpu/sp": 0xDFF0}, **timer)
        console.access.run_processor(400)
        after = console.access.read(resting=False)
        console.access.run_processor(4)
        answer = [after["cpu/pc"], after["cpu/requested"], console.access.read(resting=False)["cpu/pc"]]
    """)
    assert (0xC000 < within < 0xC100, requested, taken) == (True, 4, 0x50)


def test_there_is_no_halt_bug(bare: Bare) -> None:
    """Quirk 2: HALT with an interrupt pending and the master enable off; a console executes the next byte twice."""
    assert bare("""
        console = started(bytes([0x76, 0x04, 0x00, 0x00]), **{"cpu/requested": 1, "cpu/enabled": 1})
        for _ in range(3):
            console.access.run_processor(4)
        after = console.access.read(resting=False)
        answer = [after["cpu/b"], after["cpu/halted"]]
    """) == [1, False]


def test_an_opcode_that_does_not_exist_hangs_pyboy(task: Task, installed: Installed, tmp_path: Path) -> None:
    """Quirk 3: neither the program counter nor the clock moves on, so the call never returns."""
    code = """
import resource
used = resource.getrusage(resource.RUSAGE_SELF)
console = started(bytes([0xD3]))
seconds = int(used.ru_utime + used.ru_stime) + 2
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
console.access.run_processor(4)
"""
    assert run_python(task, installed, BARE + code, tmp_path).returncode == -signal.SIGXCPU


def test_a_serial_bit_takes_128_clocks_and_only_ones_come_in(gameboy: Environment) -> None:
    """Quirk 4: a byte is over after 1,024 clocks, on a console after 4,096, and reads as 0xFF before that too."""
    clocks = column([1023, 1024], "int64")
    sent = gameboy.probe(
        "serial", {"data": column([0x12] * 2, "uint8"), "control": column([0x81] * 2, "uint8"), "clocks": clocks}
    )
    assert sent["data"].tolist() == [0xFF, 0xFF]
    assert sent["sending"].tolist() == [True, False]
    assert sent["requested"].tolist() == [0, 8]


def test_a_copy_to_object_memory_is_made_up_for_when_it_is_looked_at(gameboy: Environment, bare: Bare) -> None:
    """Quirk 5: a byte each four clocks from the twelfth on, and the processor keeps all of its memory meanwhile."""
    clocks = column([12, 15, 16, 100, 651, 652], "int64")
    same = {"page": column([0xC1] * 6, "uint8"), "fill": column([0] * 6, "uint8")}
    assert gameboy.probe("dma", {**same, "clocks": clocks})["done"].tolist() == [0, 0, 1, 22, 159, 160]
    before, now, seen = bare("""
        console = started(bytes([0x3E, 0xC0, 0xE0, 0x46, 0xFA, 0x00, 0xC0]))
        console.access.run_processor(20)
        before = console.access.read(resting=False)
        console.access.run_processor(16)
        after = console.access.read(resting=False)
        answer = [before["dma/done"], after["dma/active"], after["cpu/a"]]
    """)
    assert (before, now, seen) == (0, True, 0x3E)


def test_a_line_is_drawn_at_once_when_its_mode_0_begins(bare: Bare) -> None:
    """Quirk 6: what is written in its mode 3 holds for all of it."""
    untouched, moved = bare("""
        def drawn(moved):
            memory = bytearray(0x2000)
            memory[0x10:0x20] = bytes([0xF0, 0x00] * 8)  # tile 1: half of it dark
            memory[0x1800:0x1C00] = bytes([1]) * 0x400
            console = started(**{"lcd/vram": memory, "lcd/bgp": 0xE4})
            console.poke(0xFF40, 0x91)
            while not (console.access.line == 2 and console.peek(0xFF41) & 3 == 3):
                console.access.run_screen(4)
            console.access.run_screen(100)  # the beam is in the middle of the line
            console.poke(0xFF43, moved)
            while console.peek(0xFF41) & 3 == 3:
                console.access.run_screen(4)
            return list(console.access.screen()[0][2 * 160 : 3 * 160])
        answer = [drawn(0), drawn(4)]
    """)
    assert untouched == [1, 1, 1, 1, 0, 0, 0, 0] * 20
    assert moved == [0, 0, 0, 0, 1, 1, 1, 1] * 20


def line(**changes: Any) -> dict[str, np.ndarray]:
    """An input of the probe `line`: dark tiles, the window from the left edge on, no objects."""
    registers = dict.fromkeys(("scy", "scx", "wy", "obp0", "obp1", "y", "map"), 0)
    given = {**registers, "lcdc": 0xB0, "bgp": 0xE4, "wx": 7, "window_line": 0, "window_reached": True, **changes}
    arrays = {
        name: column([value], "int16" if name == "window_line" else "bool" if name == "window_reached" else "uint8")
        for name, value in given.items()
    }
    return {**arrays, "tiles": np.full((1, 4, 16), 255, np.uint8), "objects": np.zeros((1, 12, 4), np.uint8)}


def test_bit_0_of_lcdc_hides_the_background_but_not_the_window(gameboy: Environment) -> None:
    """Quirk 7."""
    assert set(gameboy.probe("line", line())["pixels"][0].tolist()) == {3}
    assert set(gameboy.probe("line", line(lcdc=0x90))["pixels"][0].tolist()) == {0}


def test_the_windows_line_begins_at_1_and_is_reset_by_line_143_alone(gameboy: Environment) -> None:
    """Quirk 8."""
    assert gameboy.probe("line", line())["window_line"].tolist() == [1]
    assert gameboy.probe("line", line(y=143, window_line=20))["window_line"].tolist() == [-1]
    assert gameboy.probe("line", line(y=142, window_line=20, window_reached=False))["window_line"].tolist() == [20]


def test_p1_is_computed_when_it_is_written(gameboy: Environment) -> None:
    """Quirk 9: a button that goes down later does not show; with both halves selected none does, nor the select bits."""
    ask = {"before": [0, 0], "select": [0x20, 0x00], "held": [0x01, 0xFF]}
    seen = gameboy.probe("joypad", {name: column(values, "uint8") for name, values in ask.items()})
    assert seen["stale"].tolist() == [0xCF, 0xCF]
    assert seen["p1"].tolist() == [0xCE, 0xCF]
    assert seen["requested"].tolist() == [16, 16]


def test_what_lies_behind_object_memory_is_memory(bare: Bare) -> None:
    """Quirk 10."""
    assert (
        bare("""
        console = started()
        console.poke(0xFEA5, 0x42)
        answer = console.peek(0xFEA5)
    """)
        == 0x42
    )


def test_the_clock_of_mbc3_takes_the_hosts_time_when_it_is_looked_at_twice_in_one_clock(bare: Bare) -> None:
    """Quirk 11: with no clock of the console passed, what passed on the host is added."""
    fraction = bare("""
        console = Console(cartridge(NAMES.index("mbc3")).image)
        read = lambda: console.access.read(resting=False)["clock/fraction"]
        console.access.run_clock(100)
        first = read()
        while read() == first:
            console.access.run_clock(0)
        answer = [first, read()]
    """)
    assert fraction[0] == 100
    assert fraction[1] > 100


def test_a_saved_state_forgets_the_ninth_bit_of_a_bank_and_five_facts(bare: Bare) -> None:
    """Quirk 12: so the adapter copies PyBoy's attributes instead."""
    bank, lost = bare("""
        import io
        from probes import KINDS, telling
        large = Console(telling(*KINDS[3]))
        large.poke(0x2000, 0x23)
        large.poke(0x3000, 0x01)
        saved = io.BytesIO()
        large.emulator.save_state(saved)
        saved.seek(0)
        large.emulator.load_state(saved)
        bank = large.access.read(resting=False)["cartridge/rom_bank"]

        facts = {"lcd/window_line": 50, "lcd/line_high": True, "lcd/lyc_changed_while_off": True, "lcd/mode_hidden": True,
                 "cpu/halted_after_ei": True}
        console = started(**facts)
        before, saved = console.access.read(), io.BytesIO()
        console.emulator.save_state(saved)
        saved.seek(0)
        other = started()
        other.emulator.load_state(saved)
        after = other.access.read()
        answer = [bank, sorted(name for name in before if before[name] != after[name])]
    """)
    assert bank == 0x23
    assert lost == [
        "cpu/halted_after_ei",
        "lcd/line_high",
        "lcd/lyc_changed_while_off",
        "lcd/mode_hidden",
        "lcd/window_line",
    ]


def test_without_emulated_sound_its_registers_read_as_0(gameboy: Environment) -> None:
    """Quirk 13."""
    registers = column(np.arange(48), "uint8")
    assert not gameboy.probe("sound", {"register": registers, "value": np.full(48, 0xFF, np.uint8)})["byte"].any()


def test_a_frame_is_cut_short_where_the_screen_is_switched_on(gameboy: Environment) -> None:
    """Quirk 14."""
    clock = play(gameboy, inserted("window", [NOTHING] * 100)).leaves["state/cpu/clock"]
    assert np.diff(clock).min() < 70_000
    assert 70_224 - 24 <= np.median(np.diff(clock)) <= 70_224 + 24


def test_after_eight_minutes_without_a_byte_to_send_slices_last_4_clocks(gameboy: Environment) -> None:
    """Quirk 15: `NEVER` is clock 2**31. What a program sees stays the same; PyBoy is slower."""
    early = play(gameboy, inserted("timers", [NOTHING] * 80))
    state, late = early.state(40), 2**31
    shifted = {path: state[path] + late for path in ("state/cpu/clock", "state/dma/start")}
    late_state = {**state, **{path: value.astype(np.int64) for path, value in shifted.items()}}
    assert late_state["state/serial/done_at"] < late_state["state/cpu/clock"]
    cases = [inserted("timers", [NOTHING] * 20)] * 2
    soon, later = gameboy.rollout(
        [replace(case, draws=None, start=start) for case, start in zip(cases, (state, late_state), strict=True)]
    )
    for path in ("observation", "state/memory/wram", "state/cpu/pc", "state/timer/counter"):
        assert np.array_equal(soon.leaves[path], later.leaves[path]), path


def test_without_a_controller_two_banks_can_be_switched(bare: Bare) -> None:
    """Quirk 16."""
    assert (
        bare("""
        console = started()
        console.poke(0x2000, 2)
        answer = console.access.read(resting=False)["cartridge/rom_bank"]
    """)
        == 0
    )


def test_only_three_instructions_find_video_memory_locked(bare: Bare) -> None:
    """Quirk 17: `ld a, [hl]` and `ld a, [de]` read 0xFF in mode 3, `ld [de], a` is lost; every other access gets through."""
    read, written = bare("""
        def executed(opcode, *operand):
            memory = bytes([0x42]) * 0x2000
            registers = {"cpu/a": 0x17, "cpu/c": 0x17, "cpu/hl": 0x8000, "cpu/d": 0x80, "cpu/e": 0x00}
            console = started(bytes([opcode, *operand]), **{"lcd/vram": memory}, **registers)
            console.poke(0xFF40, 0x91)
            while console.peek(0xFF41) & 3 != 3:
                console.access.run_screen(4)
            console.access.run_processor(1)
            after = console.access.read(resting=False)
            return after["cpu/a"], after["lcd/vram"][0]
        far = (0x00, 0x80)
        reads = {"[hl]": (0x7E,), "[de]": (0x1A,), "[hl+]": (0x2A,), "[a16]": (0xFA, *far)}
        writes = {"[hl]": (0x77,), "[de]": (0x12,), "[hl+]": (0x22,), "[a16]": (0xEA, *far)}
        answer = [{name: executed(*code)[0] for name, code in reads.items()},
                  {name: executed(*code)[1] for name, code in writes.items()}]
    """)
    assert read == {"[hl]": 0xFF, "[de]": 0xFF, "[hl+]": 0x42, "[a16]": 0x42}
    assert written == {"[hl]": 0x17, "[de]": 0x42, "[hl+]": 0x17, "[a16]": 0x17}
