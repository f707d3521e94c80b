"""The first bounds of a new task: those of an observation that shows the state, where the reference goes on from there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.model import Array, Case, Leaf, Trajectory
from harness.reference.install import setup
from harness.reference.start import start_references
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verify.first_bounds import clock_bounds, first_bounds, write_first_bounds
from tests.paths import WALK
from tests.verify.levels.conftest import Walk

LINE = '"state/place" = { dtype = "float64", low = -5.0, high = 5.0 }'
UNBOUNDED = [
    (LINE, LINE.replace(", low = -5.0, high = 5.0", "")),
    ("observation = { dtype = \"float32\", shape = [2] }",
     "observation = { dtype = \"float32\", shape = [2], low = [-5, 0], high = [5, 39] }"),
]  # fmt: skip
RESTORES = '        self._place, self._steps = float(state["state/place"]), int(state["state/steps"])\n'


def a_task(**leaves: Leaf) -> Task:
    return replace(load_task(WALK), leaves={leaf.path: leaf for leaf in leaves.values()})


def told(observation: Array, state: Array) -> Trajectory:
    return Trajectory(Case(1, {}), {"observation": observation, "state/place": state}, None)


@pytest.mark.parametrize(
    ("low", "high", "seen", "found"),
    [
        ([-1.2, -0.07], [0.6, 0.07], lambda state: state.astype(np.float32), ([-1.2, -0.07], [0.6, 0.07])),
        ([-0.07, -1.2], [0.07, 0.6], lambda state: state[:, ::-1].astype(np.float32), ([-1.2, -0.07], [0.6, 0.07])),
        ([-1.2, -np.inf], [0.6, np.inf], lambda state: state.astype(np.float32), None),
        ([-1.2, -0.07], [0.6, 0.07], lambda state: state.astype(np.float32) * np.float32(0.5), None),
        (None, None, lambda state: state.astype(np.float32), None),
    ],
    ids=["as it is", "in another order", "not finite", "another number", "no bounds"],
)
def test_bounds_are_those_of_the_observation_that_shows_the_state(
    low: Sequence[float] | None,
    high: Sequence[float] | None,
    seen: Callable[[Array], Array],
    found: tuple[list[float], list[float]] | None,
) -> None:
    task = a_task(seen=Leaf("observation", "float32", (2,), low, high), state=Leaf("state/place", "float64", (2,)))
    states = np.random.default_rng(1).uniform(-0.05, 0.05, (20, 2))
    bounds = first_bounds(task, [told(seen(states[:9]), states[:9]), told(seen(states[9:]), states[9:])])
    if found is None:
        assert bounds == {}
    else:
        leaf = bounds["state/place"]
        assert (np.asarray(leaf.low).tolist(), np.asarray(leaf.high).tolist()) == found


def test_what_hardly_changes_and_what_has_bounds_is_left_alone() -> None:
    seen = Leaf("observation", "float64", (1,), [-1.0], [1.0])
    rest, states = np.zeros((20, 1)), np.linspace(-1, 1, 20)[:, None]
    assert first_bounds(a_task(seen=seen, state=Leaf("state/place", "float64", (1,))), [told(rest, rest)]) == {}
    bounded = Leaf("state/place", "float64", (1,), [-3.0], [3.0])
    assert first_bounds(a_task(seen=seen, state=bounded), [told(states, states)]) == {}


def counted(*lengths: int, first: int = 0, cut: Sequence[int] = (5,), **others: int) -> list[Trajectory]:
    """Episodes of these lengths with a clock that begins at `first`; those of the lengths `cut` are truncated."""
    played = []
    for length in lengths:
        clock = np.arange(first, first + length + 1, dtype=np.int32)
        ends = {"terminated": np.zeros(length + 1, bool), "truncated": np.zeros(length + 1, bool)}
        ends["truncated" if length in cut else "terminated"][-1] = True
        leaves = {f"state/{name}": clock * by for name, by in others.items()}
        played.append(Trajectory(Case(1, {}), {"state/clock": clock, **leaves, **ends}, None))
    return played


@pytest.mark.parametrize(
    ("played", "bounds"),
    [
        (counted(3, 5, 5), (0, 4)),
        (counted(3, 5, first=1), (1, 5)),
        (counted(3, 4), None),
        (counted(3, 5, cut=(3, 5)), None),
        (counted(3, 5, other=1), None),
        (counted(3, 5, other=2), (0, 4)),
        ([*counted(3, 5), *counted(5, first=2)], None),
    ],
    ids=["a clock", "that begins at 1", "never cut", "cut early", "two clocks", "another counter", "another beginning"],
)
def test_a_clock_has_the_values_up_to_the_limit(played: list[Trajectory], bounds: tuple[int, int] | None) -> None:
    leaves = {path: Leaf(path, "int32") for path in played[0].leaves if path.startswith("state/")}
    found = clock_bounds(replace(load_task(WALK), leaves=leaves), played)
    assert {path: (leaf.low, leaf.high) for path, leaf in found.items()} == (
        {} if bounds is None else {"state/clock": bounds}
    )


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("", ("state/place",)),
        ("        if self._place < -4.5:\n            raise ValueError('nobody stands here')\n", ()),
        ("        self._place = max(self._place, -4.5)\n", ()),
    ],
    ids=["honest", "refuses some", "moves some"],
)
def test_bounds_are_written_where_the_reference_goes_on_within_them(
    tmp_path: Path, planted: str, found: tuple[str, ...]
) -> None:
    walk = Walk(tmp_path / "walk")
    walk.edit("task.toml", UNBOUNDED)
    walk.edit("reference/adapter.py", [(RESTORES, RESTORES + planted)])
    task = load_task(walk.directory)
    before = (walk.directory / "task.toml").read_text()
    with closing(start_references(task, setup(task))) as reference:
        assert write_first_bounds(task, reference) == (found, ())
    after = (walk.directory / "task.toml").read_text()
    assert after == (before.replace(UNBOUNDED[0][1], LINE) if found else before)
    assert load_task(walk.directory).leaves["state/place"].low == (-5.0 if found else None)


@pytest.mark.parametrize(
    ("planted", "lost"),
    [
        ("", ()),
        ("        self._place = 0.0 if 4.999 < abs(self._place) < 5.0 else self._place\n", ("state/place",)),
        ("        self._place = self._place if self._steps < 30 else 0.0\n", ("state/place", "state/steps")),
        ("        if self._steps > 30:\n            raise ValueError('too late')\n", ()),
    ],
    ids=["honest", "moves it", "moves another", "refuses some"],
)
def test_bounds_within_which_a_state_is_not_kept_are_taken_away(
    tmp_path: Path, planted: str, lost: tuple[str, ...]
) -> None:
    walk = Walk(tmp_path / "walk")
    walk.edit("reference/adapter.py", [(RESTORES, RESTORES + planted)])
    task = load_task(walk.directory)
    with closing(start_references(task, setup(task))) as reference:
        assert write_first_bounds(task, reference) == ((), lost)
    after = load_task(walk.directory).state
    assert {path for path, leaf in after.items() if leaf.low is None} == set(lost)
    assert all((leaf.low is None) == (leaf.high is None) for leaf in after.values())
