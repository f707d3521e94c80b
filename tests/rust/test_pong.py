"""Pong in Rust: the C's equal bit for bit, one by one and in a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import sandboxes
from harness.model import Array, Case, Leaf, Trajectory
from harness.protocol.environment import Environment
from harness.task.contract import Task
from harness.verify.verifier import Verifier

pytestmark = [pytest.mark.slow, pytest.mark.pong, pytest.mark.rust]
STEPS = 1500


@pytest.fixture(scope="module")
def reference(task: Task) -> Iterator[Environment]:
    with Verifier(task, sandboxes.choose(None)) as verifier:
        yield verifier.reference().first


@pytest.fixture(scope="module")
def games(reference: Environment) -> list[Trajectory]:
    """Whole games of the C code under random actions."""
    rng = np.random.default_rng(11)
    cases = [Case(seed, {"action": rng.integers(0, 3, STEPS)}) for seed in range(8)]
    return reference.rollout(cases)


def tape(game: Trajectory, row: int) -> list[tuple[str, Array]]:
    drawn = (game.draws or ())[row : row + 1]
    return [(draw.name, np.asarray(draw.value)) for draws in drawn for draw in draws]


def difference(pong: Any, game: Trajectory, actions: Array | None = None) -> str | None:
    """Where a game first goes another way in Rust; None where it does not."""
    chosen = game.case.actions["action"] if actions is None else actions
    instance = pong.environment.instance({})
    paths = [path for path, _, _ in pong.SPEC["state"]]
    for row in range(len(game.leaves["reward"])):
        given = tape(game, row)
        if row == 0:
            seen, reward, terminated, truncated, state, _ = instance.reset(0, given)
        else:
            seen, reward, terminated, truncated, state, _ = instance.step([chosen[row - 1 : row]], given)
        report = {f"state/{path}": leaf[()] for path, leaf in zip(paths, state, strict=True)}
        report |= {"observation": seen[0], "reward": reward[0], "terminated": terminated, "truncated": truncated}
        for path, leaf in report.items():
            expected = game.leaves[path][row]
            if np.asarray(leaf, expected.dtype).tobytes() != expected.tobytes():
                return f"row {row}, {path}: {leaf} instead of {expected}"
    return None


def test_every_game_is_that_of_the_c_code_bit_for_bit(pong: ModuleType, games: Sequence[Trajectory]) -> None:
    assert any(game.leaves["terminated"].any() for game in games)
    assert [difference(pong, game) for game in games] == [None] * len(games)


def test_another_action_is_noticed(pong: ModuleType, games: Sequence[Trajectory]) -> None:
    actions = games[0].case.actions["action"].copy()
    actions[40] = (actions[40] + 1) % 3
    found = difference(pong, games[0], actions)
    assert found is not None and found.startswith("row 41, state/")


def test_probes_answer_as_the_c_code_does(pong: ModuleType, reference: Environment, task: Task) -> None:
    rng = np.random.default_rng(5)
    instance = pong.environment.instance({})
    for name, (inputs, outputs) in pong.SPEC["probes"].items():
        declared = task.probes[name].inputs
        given = {path: _anywhere(declared[path], rng, 500) for path, _, _ in inputs}
        answers = [np.zeros((500, *shape), dtype) for _, dtype, shape in outputs]
        instance.probe(name, [given[path] for path, _, _ in inputs], answers)
        expected = reference.probe(name, given)
        for (path, _, _), answer in zip(outputs, answers, strict=True):
            assert answer.tobytes() == expected[path].tobytes(), f"{name}: {path}"


def _anywhere(leaf: Leaf, rng: np.random.Generator, count: int) -> Array:
    if leaf.dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if leaf.dtype.startswith("float"):
        return rng.uniform(leaf.low, leaf.high, count).astype(leaf.dtype)
    return rng.integers(leaf.low, leaf.high, count, np.int64, endpoint=True).astype(leaf.dtype)


def results(pong: ModuleType, count: int) -> tuple[Array, Array, Array, Any]:
    """What is seen, rewards and which episodes ended, and all arrays of a step as the module takes them."""
    seen, reward, endings = np.zeros((2 * count, 8), np.float32), np.zeros(count, np.float32), np.zeros(2 * count, bool)
    return seen[:count], reward, endings[:count], pong.Results([seen], [reward], endings)


def test_sub_envs_play_as_single_instances_do(pong: ModuleType) -> None:
    count, steps = 33, 60
    vector = pong.environment.vector({}, count, "same_step", 2)
    seeds = np.arange(100, 100 + count)
    seen_by_all, reward_of_all, terminated, to = results(pong, count)
    vector.reset(seeds.tolist(), [seen_by_all])
    alone = [pong.environment.instance({}) for _ in seeds]
    for instance, seed in zip(alone, seeds.tolist(), strict=True):
        instance.reset(seed)
    rng = np.random.default_rng(2)
    for _ in range(steps):
        actions = rng.integers(0, 3, count)
        vector.step([actions], to)
        assert not terminated.any()  # so that single instances need no reset
        for env_index, instance in enumerate(alone):
            seen, [reward], *_ = instance.step([actions[env_index : env_index + 1]])
            assert (seen_by_all[env_index].tobytes(), reward_of_all[env_index]) == (seen[0].tobytes(), reward)
    assert np.unique(seen_by_all, axis=0).shape[0] > 1


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        (np.zeros(4, np.int32), r"the array of `action` is int32\(4,\); expected int64\[4\]"),
        (np.zeros(8, np.int64)[::2], "contiguous"),
        (np.zeros(3, np.int64), r"expected int64\[4\]"),
    ],
)
def test_arrays_of_another_form_are_refused_by_name(pong: ModuleType, action: Array, complaint: str) -> None:
    vector = pong.environment.vector({}, 4, "disabled", 1)
    seen, *_, to = results(pong, 4)
    vector.reset([1, 2, 3, 4], [seen])
    with pytest.raises(ValueError, match=complaint):
        vector.step([action], to)


def test_unknown_options_and_modes_are_refused(pong: ModuleType) -> None:
    with pytest.raises(ValueError, match="there is no option `frameskip`"):
        pong.environment.instance({"frameskip": 4})
    with pytest.raises(ValueError, match="there is no auto-reset mode `never`"):
        pong.environment.vector({}, 1, "never", 1)
