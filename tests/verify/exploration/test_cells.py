"""Cells and the archive, on trajectories made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from harness.model import Case, Trajectory
from harness.task.load import load_task
from harness.verify.exploration import actions, archive, classes
from harness.verify.exploration.archive import Archive
from harness.verify.exploration.cells import Cells
from tests.verify.levels.conftest import WALK

TASK = load_task(WALK)


def walked(places: list[float], ended: bool = False, seed: int = 0) -> Trajectory:
    """A trajectory of the walk through these places."""
    count = len(places)
    place, steps = np.array(places), np.arange(count, dtype=np.int32)
    return Trajectory(
        Case(seed, {"action": np.zeros(count - 1, np.int32)}),
        {
            "state/place": place,
            "state/steps": steps,
            "observation": np.stack([place, steps], axis=1).astype(np.float32),
            "reward": np.diff(place, prepend=place[0]).astype(np.float32),
            "terminated": np.arange(count) == (count - 1 if ended else -1),
            "truncated": np.zeros(count, bool),
        },
    )


def test_classes_keep_apart_what_differs_in_kind() -> None:
    values = np.array([[0.0], [-0.0], [1.0], [-1.0], [5.0], [-5.0], [5.5], [np.inf], [-np.inf], [np.nan], [0.1], [4.0]])
    found = classes.of_floats(values, np.array([-5.0]), np.array([5.0]), np.array([3]))
    assert len(set(found[:, 0].tolist())) == len(values)
    numbers = np.array(
        [[0], [1], [-1], [1000], [1 << 20], [-(1 << 20)], [np.iinfo(np.int64).min], [np.iinfo(np.int64).max]]
    )
    assert len(set(classes.of_integers(numbers)[:, 0].tolist())) == len(numbers)


@pytest.mark.parametrize("values", [np.array([[1e308], [-1e308], [np.inf], [np.nan], [0.0], [3.0]]), np.zeros((4, 1))])
def test_classes_stay_in_their_range(values: np.ndarray) -> None:
    edges = classes.quantile_edges(np.linspace(0, 1, 40)[:, None])
    begins = np.arange(len(values)) == 0
    every = np.array([[np.iinfo(np.int64).min], [-1], [0], [39], [40], [np.iinfo(np.int64).max]])
    for found, most in (
        (classes.of_floats(values, np.array([-1.0]), np.array([1.0]), np.array([0])), classes.CLASSES),
        (classes.changes(values, begins), classes.CLASSES),
        (classes.places(values, edges), classes.COARSE),
        (classes.places(values, classes.quantile_edges(np.ones((3, 1)))), classes.COARSE),
        (classes.of_integers(every), classes.CLASSES),
        (classes.coarse_integers(every), classes.COARSE),
    ):
        assert found.min() >= 0
        assert found.max() < most


def test_a_change_is_seen_and_not_across_trajectories() -> None:
    values = np.array([[0.0], [1.0], [0.0], [7.0], [7.0]])
    found = classes.changes(values, np.array([True, False, False, True, False]))[:, 0]
    assert found[0] == found[3] == found[4]
    assert len(set(found[:3].tolist())) == 3


def test_only_new_timesteps_are_told_of() -> None:
    cells = Cells(TASK, np.random.default_rng(0))
    seen = cells.of([walked([0, 1, 2]), walked([0, 1])], [1, 0], [0, 0])
    assert list(zip(seen.trajectory.tolist(), seen.timestep.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 0), (1, 1)]
    assert seen.cells.max() < cells.most


def test_a_large_leaf_is_looked_at_in_a_few_places() -> None:
    task = load_task(WALK)
    large = {**task.leaves, "observation": type(task.leaves["observation"])("observation", "float32", (144, 160))}
    assert Cells(type(task)(**{**vars(task), "leaves": large}), np.random.default_rng(0)).most < 200 * classes.CLASSES


@pytest.mark.parametrize("restores", [True, False])
def test_the_archive_prefers_what_is_rare(restores: bool) -> None:
    cells = Cells(TASK, np.random.default_rng(0))
    kept = Archive(cells.most, restores=restores)
    common = [walked([0, 1, 0, 1, 0, 1, 0, 1], seed=number) for number in range(40)]
    nil = [0] * len(common)
    kept.add(common, nil, cells.of(common, nil, nil))
    rare = [walked([0, 1, 2, 3, 4.25], seed=99)]
    kept.add(rare, [0], cells.of(rare, [0], [0]))
    assert kept.known > 0
    chosen = kept.choose(np.random.default_rng(0), 200)
    share = np.mean([entry.case.seed == 99 for entry in chosen])
    assert share > 0.4, share
    assert all((entry.case.start is not None) == restores for entry in chosen)
    assert all(restores or entry.case.length for entry in chosen)


def test_what_is_late_is_rare_however_common_it_looks() -> None:
    """The age at which a restored trajectory begins counts, and half of the choice goes by it alone."""
    cells = Cells(TASK, np.random.default_rng(0))
    kept = Archive(cells.most, restores=True)
    early = [walked([0, 1, 0, 1, 0, 1], seed=number) for number in range(40)]
    nil = [0] * len(early)
    kept.add(early, nil, cells.of(early, nil, nil))
    late = [walked([0, 1, 0], seed=99)]
    kept.add(late, [300], cells.of(late, [0], [300]))
    assert {entry.age for entry in kept.entries if entry.case.seed == 99} <= {300, 301, 302}
    chosen = kept.choose(np.random.default_rng(0), 200)
    assert np.mean([entry.age >= 300 for entry in chosen]) > 0.5


def test_the_state_before_an_end_is_kept() -> None:
    cells = Cells(TASK, np.random.default_rng(0))
    kept = Archive(cells.most, restores=True)
    over = [walked([0, 1, 2, 3, 4, 5, 6], ended=True)]
    kept.add(over, [0], cells.of(over, [0], [0]))
    starts = [entry.case.start for entry in kept.entries]
    assert max(float(start["state/place"]) for start in starts if start is not None) == 5


@pytest.mark.parametrize("restores", [True, False])
def test_the_archive_is_bounded(restores: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_ENTRIES", 50)
    monkeypatch.setattr(archive, "MOST_BYTES", 400)
    cells = Cells(TASK, np.random.default_rng(0))
    kept = Archive(cells.most, restores=restores)
    rng = np.random.default_rng(1)
    for number in range(20):
        played = [walked([0, *rng.normal(size=20).tolist()], seed=number)]
        kept.add(played, [0], cells.of(played, [0], [0]))
        assert kept.bytes <= 400
        assert 0 < len(kept.entries) <= 50


def test_actions_persist_and_stay_within_their_bounds() -> None:
    chosen = actions.lasting(TASK.actions, np.random.default_rng(0), 300, 40)["action"]
    assert chosen.shape == (300, 40)
    assert set(np.unique(chosen).tolist()) == {0, 1, 2}
    constant = (chosen == chosen[:, :1]).all(axis=1).mean()
    assert 0.1 < constant < 0.6
    repeats = (chosen[:, 1:] == chosen[:, :-1]).mean(axis=1)
    assert repeats.min() < 0.5


def test_each_legal_action_is_tried_first() -> None:
    rng = np.random.default_rng(0)
    assert actions.first_actions(TASK.actions, {}, rng) == [0, 1, 2]
    legal = {"legal_actions": np.array([True, False, True])}
    assert actions.first_actions(TASK.actions, legal, rng) == [0, 2]
    drawn = [int(actions.random_legal("action", TASK.actions["action"], legal, rng)[0]) for _ in range(50)]
    assert set(drawn) == {0, 2}
