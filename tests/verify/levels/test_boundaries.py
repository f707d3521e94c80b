"""Limits are found to the last bit, and both sides are compared on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model import Leaf
from harness.verdict import CheckResult, Outcome, Verdict
from harness.verify.adjacent import number_at, place_of, smallest, turning_points, without_tiny
from harness.verify.levels import boundaries
from harness.verify.levels.boundaries import Turn, spread
from harness.verify.levels.rows import STRAIGHT, Row, Start, rows_from
from tests.verify.levels.conftest import Walk

FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64")]
HONEST = '        "terminated": jnp.abs(state["place"]) > 5.0,\n'


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_adjacent_floats_have_adjacent_places(dtype: np.dtype) -> None:
    least = dtype.type(smallest(dtype))
    for value in (
        least,
        dtype.type(0.1),
        dtype.type(-2.4),
        dtype.type(1),
        np.finfo(dtype).max / 2,
        -np.finfo(dtype).max,
    ):
        place = place_of(value, dtype)
        assert number_at(place, dtype) == value and number_at(place, dtype).dtype == dtype
        above = np.nextafter(value, dtype.type(np.inf))
        assert place_of(above, dtype) == place + 1
    assert [number_at(place, dtype) for place in (-1, 0, 1)] == [-least, 0, least]
    assert not np.signbit(number_at(0, dtype))


@given(st.lists(st.floats(allow_nan=False, allow_subnormal=False), min_size=2, max_size=2))
def test_places_are_in_the_order_of_numbers(values: list[float]) -> None:
    dtype = np.dtype("float64")
    one, other = without_tiny(np.array(values))
    assert (place_of(one, dtype) < place_of(other, dtype)) == (one < other)
    assert number_at(place_of(one, dtype), dtype) == one


def test_what_is_smaller_than_any_place_counts_as_zero() -> None:
    tiny = np.array([1e-310, -0.0, -1e-200, 1e-100, 0.5])
    assert without_tiny(tiny).tolist() == [0.0, 0.0, 0.0, 1e-100, 0.5]
    assert not np.signbit(without_tiny(tiny)).any()
    assert [place_of(value, tiny.dtype) for value in tiny[:3]] == [0, 0, 0]
    whole = np.array([0, -3], np.int8)
    assert without_tiny(whole) is whole


LIMITS = [2.4, -0.2, 12 * 2 * np.pi / 360, 1e-9, 1e300, 0.0]


def test_a_search_ends_at_the_two_floats_beside_the_limit() -> None:
    dtype = np.dtype("float64")
    ends = [(place_of(-1e305, dtype), place_of(1e305, dtype)), (place_of(1e305, dtype), place_of(-1e305, dtype))] * 6
    limits = [limit for limit in LIMITS for _ in range(2)]
    rounds = []

    def at_first_end(asked: Sequence[tuple[int, int]]) -> list[bool | None]:
        rounds.append(len(asked))
        return [
            bool(number_at(place, dtype) > limits[search]) == (ends[search][0] > ends[search][1])
            for search, place in asked
        ]

    for limit, found in zip(limits, turning_points(ends, at_first_end), strict=True):
        assert found is not None
        below, above = sorted(found)
        assert above == below + 1
        assert number_at(below, dtype) <= limit < number_at(above, dtype)
    assert max(rounds) == 12 and len(rounds) <= 64


def test_a_search_in_which_a_state_is_refused_is_left_out_and_the_others_go_on() -> None:
    def at_first_end(asked: Sequence[tuple[int, int]]) -> list[bool | None]:
        return [None if search == 1 else (place <= 37) == (search != 2) for search, place in asked]

    ends = [(0, 100), (0, 100), (100, 0), (37, 38)]
    assert turning_points(ends, at_first_end) == [(37, 38), None, (38, 37), (37, 38)]


LEAVES = {
    "state/x": Leaf("state/x", "float64", (2,), -1.0, [1.0, np.inf]),
    "state/n": Leaf("state/n", "int8", (), 0, 5),
    "state/free": Leaf("state/free", "float32"),
    "state/flag": Leaf("state/flag", "bool"),
}


def a_start(x: tuple[float, float], n: int, free: float) -> Start:
    state = {
        "state/x": np.array(x),
        "state/n": np.array(n, np.int8),
        "state/free": np.array(free, np.float32),
        "state/flag": np.array(False),
    }
    return Start(state, {"action": np.array(0)}, 3)


def test_rows_lead_to_the_bounds_of_each_number_and_to_another_state() -> None:
    start, other = a_start((0.5, 0.25), 2, 7.0), a_start((-0.5, 4.0), 4, 9.0)
    rows = [row for seed in range(8) for row in rows_from(start, other, LEAVES, np.random.default_rng(seed), 99)]
    reached = {
        (row.path, row.index, float(np.ravel(row.state_at(row.end)[row.path])[row.index]))
        for row in rows
        if row.path != STRAIGHT
    }
    assert reached == {
        ("state/x", 0, -1.0), ("state/x", 0, 1.0), ("state/x", 0, -0.5), ("state/x", 0, 0.0), ("state/x", 1, -1.0),
        ("state/x", 1, 4.0), ("state/x", 1, 0.0), ("state/n", 0, 0.0), ("state/n", 0, 5.0), ("state/free", 0, 9.0),
        ("state/free", 0, 0.0),
    }  # fmt: skip
    for row in rows:
        begun = row.state_at(row.begin)
        assert {path: array.tolist() for path, array in begun.items()} == {
            path: array.tolist() for path, array in start.state.items()
        }
        assert {path: array.dtype for path, array in begun.items()} == {
            path: np.dtype(leaf.dtype) for path, leaf in LEAVES.items()
        }
    straight = next(row for row in rows if row.path == STRAIGHT)
    assert straight.state_at(straight.end)["state/x"].tolist() == [-0.5, 4.0]
    assert straight.state_at((straight.begin + straight.end) // 2)["state/x"].tolist() == [0.0, 2.125]
    assert straight.state_at(straight.end)["state/n"] == 2


def test_of_many_turns_each_kind_gets_its_share_and_no_row_is_taken_twice() -> None:
    start = a_start((0.0, 0.0), 0, 0.0)

    def turns(path: str, moved: str, count: int, trend: bool = False) -> list[Turn]:
        rows = [Row(start, moved, 0, 0, 9, lambda place: {}) for _ in range(count)]
        return [Turn(row, path, 0.0, 1.0, trend, np.zeros(1)) for row in rows]

    usual, rare = turns("terminated", "state/x", 100), turns("terminated", "state/free", 3)
    trends = turns("state/x", "state/x", 100, trend=True)
    again = [Turn(turn.row, "reward", 0.0, 1.0, False, turn.first) for turn in usual[:5]]
    chosen = spread([*usual, *trends, *rare, *again], 40)
    assert len(chosen) == 40
    assert sum(turn.row.path == "state/free" for turn in chosen) == 3
    assert sum(turn.path == "reward" for turn in chosen) == 5
    assert 5 <= sum(turn.trend for turn in chosen) <= 15
    assert len({id(turn.row) for turn in chosen}) == 40
    assert len(spread(rare, 40)) == 3


def test_of_one_kind_turns_are_taken_on_all_sides_of_the_other_numbers() -> None:
    places = [(x, float(free)) for x in (-1.0, 1.0) for free in (-3, 3)]
    begun = [a_start((x, 0.0), 0, free) for x, free in places]
    usual = [Row(begun[0], "state/n", 0, 0, 9, lambda place: {}) for _ in range(60)]
    others = [Row(start, "state/n", 0, 0, 9, lambda place: {}) for start in begun[1:] for _ in range(20)]
    turns = [Turn(row, "terminated", 0.0, 1.0, False, np.zeros(1)) for row in (*others, *usual)]
    chosen = [turn.row.start for turn in spread(turns, 12)]
    assert [sum(each is start for each in chosen) for start in begun] == [3, 3, 3, 3]


def test_of_one_kind_turns_are_taken_on_both_sides_of_what_is_mostly_zero_and_at_whole_numbers() -> None:
    begun = [a_start((x, 0.0), n, 0.0) for x, n in ((0.0, 0), (-1.0, 0), (1.0, 0), (0.0, 7))]
    usual = [Row(begun[0], "state/free", 0, 0, 9, lambda place: {}) for _ in range(60)]
    others = [Row(start, "state/free", 0, 0, 9, lambda place: {}) for start in begun[1:] for _ in range(4)]
    turns = [Turn(row, "terminated", 0.0, 1.0, False, np.zeros(1)) for row in (*usual, *others)]
    chosen = [turn.row.start for turn in spread(turns, 12)]
    assert [sum(each is start for each in chosen) for start in begun] == [3, 3, 3, 3]


def boundaries_of(verdict: Verdict) -> CheckResult:
    assert verdict.error == "", verdict.error
    [found] = [check for check in verdict.reports[-1].checks if check.name == boundaries.NAME]
    return found


@pytest.mark.slow
def test_an_honest_candidate_passes_and_the_verdict_says_which_boundaries_were_found(walk: Walk) -> None:
    verdict = walk.verify((2,))
    assert verdict.outcome is Outcome.PASS, verdict.to_json()
    found = boundaries_of(verdict)
    assert found.examples > 40
    assert "terminated" in found.detail and "truncated" in found.detail, found.detail
    assert boundaries_of(walk.verify((2,))) == found


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        'jnp.abs(state["place"]) > 5.000000000000001',
        'jnp.abs(state["place"]).astype(jnp.float32) > 5.0',
        '(state["place"] > 5.0) | (state["place"] < -5.0 - jnp.where(state["steps"] > 12, 1e-12, 0.0))',
        '(jnp.abs(state["place"]) > 5.0) & ~jnp.isclose(jnp.abs(state["place"]), 5.0)',
    ],
    ids=["one bit too far", "in float32", "on one side, late in the episode", "what is close counts as equal"],
)
def test_a_limit_that_is_off_by_bits_in_the_step_alone_is_found(walk: Walk, wrong: str) -> None:
    walk.edit("candidate/env.py", [(HONEST, f'        "terminated": {wrong},\n')])
    divergence = walk.verify((2,)).divergences[0]
    assert (divergence.check, divergence.path, divergence.step) == (boundaries.NAME, "terminated", 1)
    assert divergence.module == "ending"
    assert divergence.reproduced


@pytest.mark.slow
def test_states_that_the_reference_refuses_are_left_out(walk: Walk) -> None:
    walk.edit(
        "reference/adapter.py",
        [
            (
                '        self._place, self._steps = float(state["state/place"]), int(state["state/steps"])\n',
                '        self._place, self._steps = float(state["state/place"]), int(state["state/steps"])\n'
                '        if 2.0 < self._place < 2.5:\n            raise ValueError("nobody stands here")\n',
            )
        ],
    )
    found = boundaries_of(walk.verify((2,)))
    assert found.outcome is Outcome.PASS
    assert "terminated" in found.detail
