"""Every face of a candidate in Rust plays the episodes that single instances play, to their terminal observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from harness.candidate.faces.leaf_spaces import action_space, observation_space
from harness.candidate.faces.leaves import nested
from harness.candidate.faces.rust_batch import RustBatch
from harness.candidate.faces.rust_pool import RustPool
from harness.candidate.faces.rust_vector import RustVectorEnv
from tests.candidate.adapters.contracts import DICE

pytestmark = [pytest.mark.slow, pytest.mark.rust]
ENVS, STEPS = 7, 40
LEAVES = DICE["leaves"]
Action = dict[str, Any]


class Single(gymnasium.Env[Any, Any]):
    """One instance as a plain environment of Gymnasium, with the draws that it is asked to make."""

    def __init__(self, module: ModuleType) -> None:
        self._instance = module.environment.instance({})
        self._paths = [path for path, _, _ in module.SPEC["observation"]]
        self.observation_space, self.action_space = observation_space(LEAVES), action_space(LEAVES)
        self.reset_draws: list[Any] = []
        self.step_draws: list[Any] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        timestep = self._instance.reset(0, self.reset_draws)
        return self._shown(timestep)

    def step(self, action: Action) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        given = [np.asarray(action["bet"], np.int64)[None], np.asarray(action["push"], np.float32)[None]]
        timestep = self._instance.step(given, self.step_draws)
        observation, info = self._shown(timestep)
        return observation, float(timestep[1][0]), timestep[2], timestep[3], info

    def _shown(self, timestep: Any) -> tuple[Any, dict[str, Any]]:
        seen = dict(zip(self._paths, timestep[0], strict=True))
        return nested(seen, "observation", np.array), {"legal_actions": seen["legal_actions"]}


class Alone:
    """Single instances under Gymnasium's own `SyncVectorEnv`, which draw what the sub-environments of a batch drew."""

    def __init__(self, module: ModuleType, mode: AutoresetMode, batch: RustBatch) -> None:
        self._singles = [Single(module) for _ in range(batch.count)]
        self._batch = batch
        self._envs = SyncVectorEnv([lambda one=one: one for one in self._singles], autoreset_mode=mode)
        for env_index in range(batch.count):
            batch.vector.watch(env_index, [])

    def reset(self, mask: Any = None) -> Any:
        self._take()
        return self._envs.reset(options=None if mask is None else {"reset_mask": mask})

    def step(self, action: Action) -> Any:
        self._take()
        return self._envs.step(action)

    def _take(self) -> None:
        for env_index, single in enumerate(self._singles):
            single.step_draws, single.reset_draws, _ = self._batch.vector.report(env_index)


def actions(steps: int = STEPS, envs: int = ENVS, seed: int = 2) -> list[Action]:
    rng = np.random.default_rng(seed)
    return [
        {"bet": rng.integers(0, 4, envs), "push": rng.uniform(-1, 1, (envs, 2)).astype(np.float32)}
        for _ in range(steps)
    ]


def difference(envs: RustVectorEnv, module: ModuleType, mode: AutoresetMode) -> str:
    """Where a vector environment first goes another way than single instances do in this mode; empty where it does not."""
    alone = Alone(module, mode, envs.batch)
    found = _unlike(envs.reset(seed=5), alone.reset())
    ends = 0
    for step, action in enumerate(actions()):
        ours = envs.step(action)
        found = found or _unlike(ours, alone.step(action))
        over = ours[2] | ours[3]
        ends += over.sum()
        if mode is AutoresetMode.DISABLED and over.any() and not found:
            found = _unlike(envs.reset(options={"reset_mask": over}), alone.reset(over.copy()), over)
        if found:
            return f"step {step}, {found}"
    assert ends > ENVS
    return ""


def _unlike(ours: Sequence[Any], theirs: Sequence[Any], mask: Any = None) -> str:
    """What of a call's answer differs: a path in it. Of infos only those timesteps count that are said to be there."""
    timesteps = ... if mask is None else mask
    for place, (one, other) in enumerate(zip(ours[:-1], theirs[:-1], strict=True)):
        if not _same(one, other, ...):
            return f"answer {place}"
    infos, expected = ours[-1], theirs[-1]
    if infos.keys() != expected.keys():
        return f"infos {sorted(infos)}, not {sorted(expected)}"
    for name in (name for name in expected if not name.startswith("_")):
        there = expected[f"_{name}"]
        if not np.array_equal(infos[f"_{name}"][timesteps], there[timesteps]) or not _same(
            infos[name], expected[name], there
        ):
            return f"infos {name}"
    return ""


def _same(one: Any, other: Any, timesteps: Any) -> bool:
    if isinstance(other, Mapping):
        return all(_same(one[name], part, timesteps) for name, part in other.items() if not name.startswith("_"))
    if other.dtype == object:
        return all(_same(mine, its, ...) for mine, its in zip(one[timesteps], other[timesteps], strict=True))
    return np.array_equal(one[timesteps], other[timesteps])


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_vector_face_plays_as_gymnasiums_own_around_single_instances(dice: ModuleType, mode: AutoresetMode) -> None:
    for threads in (1, 3):
        envs = RustVectorEnv(dice, LEAVES, ENVS, mode, threads)
        assert envs.metadata["autoreset_mode"] is mode
        assert difference(envs, dice, mode) == ""


class FinalDropped(RustVectorEnv):
    """Hands out the new episode's first observation as the last one of the old."""

    def _final(self, name: str) -> Any:
        return self._seen(name)


class Late(RustVectorEnv):
    """Resets an episode one step after it should."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        later = {AutoresetMode.SAME_STEP: "next_step", AutoresetMode.NEXT_STEP: "disabled"}
        self.batch = RustBatch(arguments[0], self.num_envs, later[self.autoreset_mode], 1)


class Early(RustVectorEnv):
    """Resets an episode at its end."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.batch = RustBatch(arguments[0], self.num_envs, "same_step", 1)


class Unmasked(RustVectorEnv):
    """Says of every action that it is legal."""

    def _seen(self, name: str) -> Any:
        return np.ones((self.num_envs, 4), bool) if name == "legal_actions" else super()._seen(name)


class Everywhere(RustVectorEnv):
    """Resets all instances where some are named."""

    def _begin(self, seeds: Sequence[int | None], mask: Any) -> None:
        super()._begin(seeds, np.ones_like(mask))


@pytest.mark.parametrize(
    ("fault", "mode", "where"),
    [
        (FinalDropped, AutoresetMode.SAME_STEP, "infos final_obs"),
        (Late, AutoresetMode.SAME_STEP, "answer 0"),
        (Late, AutoresetMode.NEXT_STEP, "answer 0"),
        (Early, AutoresetMode.NEXT_STEP, "answer 0"),
        (Unmasked, AutoresetMode.NEXT_STEP, "infos legal_actions"),
        (Everywhere, AutoresetMode.DISABLED, "answer 0"),
    ],
)
def test_a_planted_fault_of_a_face_is_found(
    fault: type[RustVectorEnv], mode: AutoresetMode, where: str, dice: ModuleType
) -> None:
    assert where in difference(fault(dice, LEAVES, ENVS, mode, 1), dice, mode)


def test_a_seed_decides_what_an_instance_does_whatever_stands_beside_it(dice: ModuleType) -> None:
    def play(count: int, seed: Any, columns: list[int]) -> list[Any]:
        envs = RustVectorEnv(dice, LEAVES, count, "SameStep")
        shown = [envs.reset(seed=seed)[0]]
        shown += [envs.step({n: part[columns] for n, part in action.items()})[0] for action in actions(20, 3)]
        return [np.concatenate([one["board"], one["hand"]["total"][:, None]], 1) for one in shown]

    for three, two in zip(play(3, 20, [0, 1, 2]), play(2, [22, 20], [2, 0]), strict=True):
        np.testing.assert_array_equal(three[[2, 0]], two)


def test_a_reset_without_a_seed_begins_other_episodes(dice: ModuleType) -> None:
    envs, others = RustVectorEnv(dice, LEAVES, 3), RustVectorEnv(dice, LEAVES, 3)
    boards = [envs.reset()[0]["board"], envs.reset()[0]["board"], others.reset()[0]["board"]]
    assert len({board.tobytes() for board in boards}) == 3
    assert len(np.unique(boards[0], axis=0)) == 3


def test_a_masked_reset_leaves_the_chance_of_the_others_alone(dice: ModuleType) -> None:
    disturbed, left = (RustVectorEnv(dice, LEAVES, 3, "Disabled") for _ in range(2))
    for envs in (disturbed, left):
        envs.reset(seed=3)
    disturbed.reset(seed=[9, 9, 9], options={"reset_mask": np.array([True, False, True])})
    [action] = actions(1, 3)
    ours, theirs = disturbed.step(action)[0]["board"], left.step(action)[0]["board"]
    np.testing.assert_array_equal(ours[1], theirs[1])
    assert not np.array_equal(ours[0], theirs[0])


def test_without_copies_the_arrays_are_the_batchs_own(dice: ModuleType) -> None:
    for copy in (True, False):
        envs = RustVectorEnv(dice, LEAVES, ENVS, copy=copy)
        observation, _ = envs.reset(seed=0)
        _, reward, terminated, *_ = envs.step(actions(1)[0])
        held = [(observation["board"], envs.batch.seen["observation/board"]), (reward, envs.batch.reward)]
        held.append((terminated, envs.batch.terminated))
        assert [np.shares_memory(*each) for each in held] == [not copy] * 3


def test_gymnasiums_own_wrappers_count_the_same_episodes_in_each_mode(dice: ModuleType) -> None:
    for mode in ("NextStep", "SameStep"):
        envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(RustVectorEnv(dice, LEAVES, 1, mode))
        envs.reset(seed=1)
        lengths: list[int] = []
        while len(lengths) < 3:
            *_, infos = envs.step({"bet": np.array([0]), "push": np.zeros((1, 2), np.float32)})
            if "episode" in infos:
                lengths.append(int(infos["episode"]["l"][0]))
        assert lengths == [8, 8, 8]


def test_the_spaces_of_the_faces_come_from_the_leaves(dice: ModuleType) -> None:
    envs, pool = RustVectorEnv(dice, LEAVES, ENVS), RustPool(dice, LEAVES, ENVS)
    board = spaces.Box(-np.inf, np.inf, (3,), np.float32)
    hand = spaces.Dict({"total": spaces.Discrete(61)})
    assert envs.single_observation_space == pool.observation_space == spaces.Dict({"board": board, "hand": hand})
    assert envs.single_action_space == pool.action_space and pool.action_space["bet"] == spaces.Discrete(4)
    observation, _ = envs.reset(seed=0)
    assert observation in envs.observation_space
    assert envs.step(envs.action_space.sample())[0] in envs.observation_space


def test_the_vector_face_refuses_what_cannot_be(dice: ModuleType) -> None:
    envs = RustVectorEnv(dice, LEAVES, 3, "Disabled")
    with pytest.raises(gymnasium.error.ResetNeeded, match="before the first reset"):
        envs.step({})
    with pytest.raises(gymnasium.error.ResetNeeded, match="must be one of all instances"):
        envs.reset(options={"reset_mask": np.array([True, False, False])})
    with pytest.raises(ValueError, match="3 instances need as many seeds, 2 were given"):
        envs.reset(seed=[1, 2])
    envs.reset(seed=1)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"instances \[0, 1, 2\] have ended"):
        for action in actions(9, 3):
            envs.step(action | {"bet": np.zeros(3, int)})
    with pytest.raises(ValueError, match="shows one reward"):
        RustVectorEnv(dice, LEAVES | {"reward": {"dtype": "float32", "shape": [2]}}, 2)


def pool_difference(pool: RustPool, dice: ModuleType, seed: int = 7) -> str:
    """Where a pool first goes another way than a vector environment that resets in the next step; empty if nowhere."""
    envs = RustVectorEnv(dice, LEAVES, ENVS, AutoresetMode.NEXT_STEP)
    observation, info = pool.reset()
    expected, infos = envs.reset(seed=seed)
    elapsed, over = np.zeros(ENVS, int), np.zeros(ENVS, bool)
    for step, action in enumerate(actions()):
        if not _same(observation, expected, ...) or not np.array_equal(info["legal_actions"], infos["legal_actions"]):
            return f"step {step}, what is seen"
        if info["elapsed_step"].tolist() != elapsed.tolist() or info["env_id"].tolist() != list(range(ENVS)):
            return f"step {step}, info"
        observation, *paid, info = pool.step(action)
        expected, *report, infos = envs.step(action)
        elapsed = np.where(over, 0, elapsed + 1)
        over = report[1] | report[2]
        if not all(map(np.array_equal, paid, report)):
            return f"step {step}, what was paid"
    return ""


def test_the_pool_plays_as_the_vector_face_that_resets_in_the_next_step(dice: ModuleType) -> None:
    assert pool_difference(RustPool(dice, LEAVES, ENVS, seed=7), dice) == ""
    assert pool_difference(RustPool(dice, LEAVES, ENVS, seed=range(7, 7 + ENVS), num_threads=1), dice) == ""


class Forgetful(RustPool):
    """Counts on where a new episode begins."""

    def step(self, action: Any) -> Any:
        self._ended[:] = False
        return super().step(action)


def test_a_planted_fault_of_the_pool_is_found(dice: ModuleType) -> None:
    assert pool_difference(RustPool(dice, LEAVES, ENVS, seed=8), dice) == "step 0, what is seen"
    assert "info" in pool_difference(Forgetful(dice, LEAVES, ENVS, seed=7), dice)
    early = RustPool(dice, LEAVES, ENVS, seed=7)
    early.batch = RustBatch(dice, ENVS, "same_step")
    assert "what is seen" in pool_difference(early, dice)


def test_a_pool_resets_those_that_are_named_and_writes_to_its_own_arrays(dice: ModuleType) -> None:
    pool = RustPool(dice, LEAVES, ENVS, seed=7)
    with pytest.raises(RuntimeError, match=r"reset\(\) comes first: instances \[0, 1, 2, 4, 5, 6\] have not begun"):
        pool.reset([3])
        pool.step(actions(1)[0])
    alone, _ = RustPool(dice, LEAVES, ENVS, seed=7).reset()
    pool.reset([0, 1, 2, 4, 5, 6])
    np.testing.assert_array_equal(pool.batch.seen["observation/board"], alone["board"])
    observation, reward, *_ = pool.step(actions(1)[0])
    assert np.shares_memory(observation["board"], pool.batch.seen["observation/board"]) and reward is pool.batch.reward
    before = observation["board"].copy()
    named, info = pool.reset(np.array([5, 2]))
    assert (info["env_id"].tolist(), info["elapsed_step"].tolist()) == ([5, 2], [0, 0])
    np.testing.assert_array_equal(named["board"], observation["board"][[5, 2]])
    others = [0, 1, 3, 4, 6]
    np.testing.assert_array_equal(observation["board"][others], before[others])
    assert not np.isin(before[[5, 2]], named["board"]).any()
    with pytest.raises(ValueError, match="7 instances need as many seeds, 2 were given"):
        RustPool(dice, LEAVES, ENVS, seed=[1, 2])
