"""What the probes say of things that everybody agrees on, and that an answer depends on nothing that was asked before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.model import Leaf, Leaves
from harness.protocol.environment import Environment
from harness.task.contract import Task

pytestmark = pytest.mark.slow

REGISTERS = {"a": 0x12, "f": 0x00, "b": 0, "c": 0, "d": 0, "e": 0, "hl": 0x0FFF, "sp": 0xFFF8}


def given(task: Task, probe: str, **values: Any) -> Leaves:
    """One input of a probe; what is not named is 0."""
    inputs = task.probes[probe].inputs
    return {
        name: np.broadcast_to(np.asarray(values.get(name, 0), leaf.dtype), (1, *leaf.shape)).copy()
        for name, leaf in inputs.items()
    }


def ask(gameboy: Environment, task: Task, probe: str, **values: Any) -> dict[str, Any]:
    return {name: array[0].tolist() for name, array in gameboy.probe(probe, given(task, probe, **values)).items()}


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ({"opcode": 0x80, "b": 0x0E}, {"a": 0x20, "f": 0x20, "clocks": 4}),  # add b
        ({"opcode": 0x97}, {"a": 0x00, "f": 0xC0, "clocks": 4}),  # sub a
        ({"opcode": 0x27, "a": 0x9A}, {"a": 0x00, "f": 0x90}),  # daa
        ({"opcode": 0x23}, {"hl": 0x1000, "clocks": 8}),  # inc hl
        ({"opcode": 0xF8, "operand": 0x08}, {"hl": 0x0000, "f": 0x30, "clocks": 12}),  # ld hl, sp+8
        ({"opcode": 0x37, "prefixed": True}, {"a": 0x21, "f": 0x00, "clocks": 8}),  # swap a
        ({"opcode": 0xC3, "operand": 0x4321}, {"pc": 0x4321, "clocks": 16}),  # jp
        ({"opcode": 0x18, "operand": 0xFE}, {"pc": 0xC000, "clocks": 12}),  # jr -2
        ({"opcode": 0xFB}, {"master": False, "master_delay": 1}),  # ei
        ({"opcode": 0x76}, {"halted": True, "pc": 0xC000}),  # halt
    ],
)
def test_an_instruction_between_registers(
    gameboy: Environment, task: Task, instruction: dict[str, Any], expected: dict[str, Any]
) -> None:
    answer = ask(gameboy, task, "arithmetic", **{**REGISTERS, **instruction})
    assert {name: answer[name] for name in expected} == expected


@pytest.mark.parametrize("opcode", [0xCB, 0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD, 0x34, 0xC9])
def test_an_opcode_of_another_kind_or_of_none_is_nop(gameboy: Environment, task: Task, opcode: int) -> None:
    answer = ask(gameboy, task, "arithmetic", **{**REGISTERS, "opcode": opcode})
    assert (answer["pc"], answer["clocks"], answer["a"]) == (0xC001, 4, 0x12)


def test_every_opcode_belongs_to_exactly_one_of_the_two_kinds(gameboy: Environment, task: Task) -> None:
    """One of both probes takes it for NOP; those that are none, and NOP, are that in both."""
    places = {"bc": 0xC200, "de": 0xC300, "hl": 0xC400, "sp": 0xC500, "operand": 0xC600, "fill": 0x5A}
    passed = []
    for opcode in range(256):
        plain = ask(gameboy, task, "arithmetic", opcode=opcode, operand=0x0101, sp=0x1000, hl=0x2000, a=1)
        far = ask(gameboy, task, "memory", opcode=opcode, **places)
        idle = [answer["clocks"] == 4 and answer["pc"] == 0xC001 for answer in (plain, far)]
        assert any(idle), hex(opcode)
        if all(idle):
            passed.append(opcode)
    nothing = {0x00, 0xCB, 0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD}
    assert nothing <= set(passed)


def test_memory_is_written_and_read_where_the_registers_point(gameboy: Environment, task: Task) -> None:
    places = {"bc": 0xC200, "de": 0xC300, "hl": 0xC400, "sp": 0xC500, "operand": 0xC680, "fill": 0}
    pushed = ask(gameboy, task, "memory", a=0x77, opcode=0xC5, **places)  # push bc
    assert (pushed["sp"], pushed["bytes"][5:7], pushed["clocks"]) == (0xC4FE, [0x00, 0xC2], 16)
    stored = ask(gameboy, task, "memory", a=0x77, opcode=0x12, **places)  # ld [de], a
    assert (stored["bytes"][2], stored["clocks"]) == (0x77, 8)
    high = ask(gameboy, task, "memory", a=0x77, opcode=0xE0, **places)  # ldh [$80], a
    assert (high["bytes"][7], high["clocks"]) == (0x77, 12)
    counted = ask(gameboy, task, "memory", opcode=0x34, **{**places, "hl": 0xC43B})  # inc [hl], which is 0xC4 ^ 0x3B
    assert (counted["bytes"][0], counted["f"]) == (0x00, 0xA0)


def test_the_first_of_several_interrupts_is_taken(gameboy: Environment, task: Task) -> None:
    taken = ask(gameboy, task, "interrupt", requested=0x1C, enabled=0x1C, master=True, clocks=4)
    assert (taken["pc"], taken["requested"], taken["master"], taken["clocks"]) == (0x50, 0x18, False, 20)
    assert (taken["pushed"], taken["sp"]) == ([0x00, 0xC0], 0xCFFE)


def test_the_timer_reloads_four_clocks_after_its_overflow(gameboy: Environment, task: Task) -> None:
    state = {"counter": 0x000F, "tima": 0xFF, "tma": 0x42, "tac": 5}
    after = {clocks: ask(gameboy, task, "timer", **state, clocks=clocks) for clocks in (1, 4, 5, 9)}
    assert [after[clocks]["seen"] for clocks in (1, 4, 5, 9)] == [0, 0, 0x42, 0x42]
    assert [after[clocks]["requested"] for clocks in (1, 4, 5, 9)] == [0, 0, 4, 4]


@pytest.mark.parametrize(
    ("kind", "writes", "bank"),
    [
        (0, [(0x2000, 0x00), (0x4000, 0x02)], 0x41),
        (1, [(0x2100, 0x0B)], 0x0B),
        (2, [(0x2000, 0x7F)], 0x7F),
        (3, [(0x2000, 0x23), (0x3000, 0x01)], 0x123),
    ],
    ids=["MBC1", "MBC2", "MBC3", "MBC5"],
)
def test_a_bank_tells_its_number(
    gameboy: Environment, task: Task, kind: int, writes: list[tuple[int, int]], bank: int
) -> None:
    four = [*writes, *[(0xA000, 0)] * (4 - len(writes))]
    asked = {"kind": kind, "addresses": [place for place, _ in four], "values": [value for _, value in four]}
    halves = [ask(gameboy, task, "mapper", **asked, read=read)["byte"] for read in (0x5000, 0x5001)]
    assert halves[0] | halves[1] << 8 == bank


def test_the_clock_of_mbc3_goes_round_after_512_days(gameboy: Environment, task: Task) -> None:
    last = {"seconds": 59, "minutes": 59, "hours": 23, "days": 511, "fraction": 2**22 - 1}
    assert ask(gameboy, task, "clock", **last, clocks=1, register=0x09, value=59) == {
        "seconds": 0,
        "minutes": 0,
        "hours": 0,
        "days": 0,
        "day_carry": True,
        "halted": False,
        "fraction": 0,
        "latched": False,
        "bytes": [0, 0, 0, 0, 0x80],
    }


def test_the_clock_of_mbc3_is_read_as_it_was_latched_by_0_and_then_1(gameboy: Environment, task: Task) -> None:
    time = {"seconds": 7, "minutes": 8, "hours": 9, "days": 0x10A, "clocks": 1, "register": 0x08, "value": 5}
    new = ask(gameboy, task, "clock", **time, latched=True, commands=[0, 1])
    assert (new["bytes"], new["latched"]) == ([5, 8, 9, 0x0A, 0x01], True)
    old = ask(gameboy, task, "clock", **time, latched=True, commands=[1, 1])
    assert old["bytes"] == [0, 0, 0, 0, 0]


def test_the_eleventh_object_on_a_line_does_not_show(gameboy: Environment, task: Task) -> None:
    objects = [[16, 8 + 8 * number, 1, 0] for number in range(12)]
    tiles = [[0] * 16, [0xFF] * 16, [0] * 16, [0] * 16]
    drawn = ask(gameboy, task, "line", lcdc=0x83, obp0=0xE4, tiles=tiles, objects=objects)
    assert drawn["pixels"] == [3] * 80 + [0] * 80


def test_a_frame_has_154_lines_of_456_clocks(gameboy: Environment, task: Task) -> None:
    lines = [ask(gameboy, task, "screen", lcdc=0x80, clocks=clocks)["line"] for clocks in range(500, 70_000, 4_560)]
    assert lines == list(range(1, 154, 10))


def anything(leaf: Leaf, rng: np.random.Generator, count: int) -> np.ndarray:
    if leaf.dtype == "bool":
        return rng.integers(0, 2, (count, *leaf.shape)).astype(bool)
    return rng.integers(leaf.low, np.asarray(leaf.high) + 1, (count, *leaf.shape)).astype(leaf.dtype)


def test_an_answer_does_not_depend_on_what_was_asked_before(gameboy: Environment, task: Task) -> None:
    rng = np.random.default_rng(2)
    for name, probe in task.probes.items():
        inputs = {path: anything(leaf, rng, 60) for path, leaf in probe.inputs.items()}
        forwards = gameboy.probe(name, inputs)
        backwards = gameboy.probe(name, {path: values[::-1].copy() for path, values in inputs.items()})
        for path, values in forwards.items():
            assert np.array_equal(values, backwards[path][::-1]), (name, path)
