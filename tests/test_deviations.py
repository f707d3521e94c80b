"""How far floats were off: counted as a hand counts, in whatever portions, and told in few lines."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from harness.compare import compare_floats, compare_many
from harness.deviations import Deviation, OpenLoop, Spread, told
from harness.model import Case, Leaf, Trajectory
from harness.support.document import DocumentError
from harness.task.contract import Tolerance
from harness.verify.deviation_count import DeviationCount

LEAVES = {"state/x": Leaf("state/x", "float64", (2,)), "n": Leaf("n", "int32")}
TOLERANCES = {"state/x": Tolerance(atol=1e-6)}


def both(steps: int, off: np.ndarray[Any, Any]) -> tuple[Trajectory, Trajectory]:
    """A trajectory, and one whose `state/x` is off by this."""
    rng = np.random.default_rng(steps)
    leaves = {"state/x": rng.uniform(1, 2, (steps + 1, 2)), "n": np.zeros(steps + 1, np.int32)}
    case = Case(0, {"action": np.zeros(steps)})
    return Trajectory(case, leaves), Trajectory(case, leaves | {"state/x": leaves["state/x"] + off})


def counted(pairs: list[tuple[Trajectory, Trajectory]]) -> dict[str, Deviation]:
    count = DeviationCount(TOLERANCES)
    for expected, actual in pairs:
        compare_many([expected], [actual], LEAVES, TOLERANCES, count.add)
    return count.table()


def test_the_distribution_is_that_of_the_largest_element_of_each_timestep() -> None:
    rng = np.random.default_rng(3)
    off = 10.0 ** rng.uniform(-13, -7, (2000, 2))
    off[:700] = 0.0
    off[5, 1] = 9e-7
    expected, actual = both(1999, off)
    found = counted([(expected, actual)])["state/x"]
    apart = np.abs(actual.leaves["state/x"] - expected.leaves["state/x"]).max(axis=1)
    assert (found.timesteps, found.equal) == (2000, int((apart == 0).sum()))
    assert found.absolute is not None and found.ulps is not None
    assert found.absolute.largest == apart.max()
    assert found.ulps.largest == round(apart.max() / np.spacing(1.0))
    for given, share in ((found.absolute.median, 0.5), (found.absolute.most, 0.999)):
        exact = np.sort(apart)[int(np.ceil(share * 2000)) - 1]
        assert exact <= given <= exact * 1.125
    assert found.share == pytest.approx(apart.max() / 1e-6)


def test_a_leaf_of_which_nothing_was_compared_is_not_told() -> None:
    count = DeviationCount(TOLERANCES)
    count.add("state/x", np.zeros((0, 2), bool), np.zeros(0), np.zeros(0))
    assert count.table() == {}


def test_portions_make_no_difference() -> None:
    pairs = [both(steps, 1e-9 * np.arange(2 * steps + 2).reshape(-1, 2)) for steps in (3, 8, 1)]
    count = DeviationCount(TOLERANCES)
    compare_many(*map(list, zip(*reversed(pairs), strict=True)), LEAVES, TOLERANCES, count.add)
    assert count.table() == counted(pairs)


def test_leaves_that_are_equal_bit_by_bit_have_no_distribution() -> None:
    found = counted([both(5, np.zeros((6, 2)))])
    assert found == {"state/x": Deviation(6, 6, share=0.0)}
    assert told(found) == [("floats", "bit-equal: all")]
    assert told({}) == []


def test_subnormal_distances_are_told_apart_from_none() -> None:
    count = DeviationCount({})
    for distance in (2e-313, 0.0, 3e-320):
        compare_floats("x", np.array([-0.0]), np.array([distance]), count.add)
    found = count.table()["x"]
    assert found.absolute is not None and found.absolute.largest == 2e-313
    assert (found.timesteps, found.equal) == (3, 0) and 0 < found.absolute.median < 1e-308


def test_what_is_no_number_is_no_distance_away() -> None:
    off = np.array([[np.nan, 1e-9], [np.inf, 0.0]])
    found = counted([both(1, off)])["state/x"]
    assert found.absolute is not None and found.absolute.largest == pytest.approx(1e-9)


def test_the_share_of_a_tolerance_is_that_of_what_forgives_most() -> None:
    count = DeviationCount({"x": Tolerance(atol=1e-12, ulp=100), "y": Tolerance(rtol=1e-3)})
    one = np.array([1.0, 4.0])
    compare_floats("x", one, one + 25 * np.spacing(one), count.add)
    compare_floats("y", one, one * (1 + 5e-4), count.add)
    compare_floats("z", one, one * 2, count.add)
    compare_floats("n", one.astype(np.int32), one.astype(np.int32), count.add)
    compare_floats("narrow", one, one.astype(np.float32), count.add)
    table = count.table()
    assert table["x"].share == pytest.approx(25 * np.spacing(4.0) / 1e-12)
    assert table["y"].share == pytest.approx(0.5)
    assert table["z"].share is None and set(table) == {"x", "y", "z"}


def test_readers_are_told_first_of_the_leaf_that_uses_most_of_its_tolerance() -> None:
    spread = Spread(1e-12, 2e-11, 5e-10)
    table = {
        "a": Deviation(1000, 10, spread, Spread(4.0, 96.0, 2048.0), 0.02),
        "b": Deviation(1000, 1000),
        "c": Deviation(1000, 10, spread, Spread(4.0, 96.0, 2048.0), 0.6),
    }
    lines = [said for _, said in told(table, resynchronised=True, open_loop=OpenLoop(20, 48.0, 51.0))]
    assert [line.split(":")[0] for line in lines[2:]] == ["c", "a", "bit-equal"]
    assert lines[0].startswith("resynchronised")
    assert lines[1].startswith("open loop agreed for 48 steps in the median of 20 episodes")
    assert lines[1].endswith("parts from itself after 51")
    assert lines[2] == (
        "c: off by 5e-10 (2.05e+03 ulp) at most, 2e-11 (96 ulp) in 99.9% of 1,000 timesteps, 1e-12 (4 ulp) in half of "
        "them; 60.0% of its tolerance"
    )
    many = {f"leaf{n}": table["a"] for n in range(20)}
    assert told(many)[-1] == ("floats", "and 8 more leaves were off by less of their tolerances")


TABLES = [
    Deviation(5, 5),
    Deviation(5, 2, Spread(0.0, 1.5, 1.5), Spread(0.0, 3.0, 3.0), 0.25),
]


@pytest.mark.parametrize("table", TABLES)
def test_it_is_read_back_from_json(table: Deviation) -> None:
    assert Deviation.from_json(json.loads(json.dumps(table.to_json()))) == table
    loop = OpenLoop(3, 4.5, 7.0)
    assert OpenLoop.from_json(json.loads(json.dumps(loop.to_json()))) == loop


@pytest.mark.parametrize(
    "change",
    [
        {"equal": 6}, {"equal": -1}, {"timesteps": 0, "equal": 0}, {"timesteps": 1 << 63}, {"ulps": None},
        {"timesteps": 1.5}, {"share": "much"}, {"more": 1},
        {"absolute": {"median": 2.0, "most": 1.0, "largest": 3.0}}, {"ulps": {"median": 0.0}},
    ],
)  # fmt: skip
def test_what_is_no_such_table_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DocumentError):
        Deviation.from_json(TABLES[1].to_json() | change)
