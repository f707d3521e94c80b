"""Every face of a candidate plays the episodes that a single rollout plays, to their terminal observation."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from harness.candidate.adapters.jax.candidate import JaxCandidate
from harness.candidate.faces.jax_env import JaxEnv
from harness.candidate.faces.jax_gymnax import Discrete, GymnaxEnv
from harness.candidate.faces.jax_vector import JaxVectorEnv
from tests.candidate.adapters.contracts import DICE, LCG

STEPS, ENVS = 30, 3


@pytest.fixture
def actions() -> dict[str, Any]:
    rng = np.random.default_rng(2)
    return {
        "bet": rng.integers(0, 4, (STEPS, ENVS)),
        "push": rng.uniform(-1, 1, (STEPS, ENVS, 2)).astype(np.float32),
    }


@pytest.fixture(scope="module")
def vector(dice_env: JaxEnv) -> Any:
    return partial(JaxVectorEnv, dice_env, ENVS)


class Judge:
    """Holds what a face shows of one instance against rollouts of the candidate, one for each of its episodes.

    The faces do not show their draws, so those are found by asking the candidate for the episode's states: it is played
    again from each shown state, for one step, with the wind and the dice that led to the next.
    """

    def __init__(self, dice: JaxCandidate) -> None:
        self._dice = dice

    def check(
        self, before: dict[str, Any], action: dict[str, Any], shown: dict[str, Any], final: dict[str, Any]
    ) -> bool:
        """One step from the observation `before`; returns whether it ended the episode."""
        start = {
            "state/board": np.asarray(before["board"]),
            "state/total": np.asarray(before["hand"]["total"], np.int32),
            "state/turn": np.asarray(before["turn"], np.int32),
        }
        bet, push = int(action["bet"]), np.asarray(action["push"])
        won = int(shown["reward"])
        dice = [["roll", np.int32(won if index == 0 else 0)] for index in range(bet)]
        wind = (np.asarray(final["board"]) - start["state/board"]) / push.sum()
        case = {
            "seed": 0,
            "start": start,
            "actions": {"action/bet": np.array([bet]), "action/push": push[None]},
            "draws": [[], [["wind", wind.astype(np.float32)], *dice]],
        }
        [answer] = self._dice.rollout([case], "batched")
        timestep = {path: array[-1] for path, array in answer["leaves"].items()}
        assert timestep["terminated"] == shown["terminated"] and timestep["truncated"] == shown["truncated"]
        assert timestep["observation/hand/total"] == final["hand"]["total"]
        assert timestep["reward"] == won
        np.testing.assert_allclose(timestep["observation/board"], final["board"], rtol=1e-4, atol=1e-5)
        return bool(timestep["terminated"] | timestep["truncated"])


def of(tree: Any, *index: int) -> Any:
    return jax.tree.map(lambda array: np.asarray(array)[index], tree)


def with_turn(observation: dict[str, Any], turn: int) -> dict[str, Any]:
    return observation | {"turn": turn}


def scanned(dice_env: JaxEnv, step: Any, actions: dict[str, Any]) -> tuple[Any, Any]:
    """First observations `[envs, ...]` and what `step` gives, `[steps, envs, ...]`, vmapped inside a scan."""
    key, reset_key = jax.random.split(jax.random.key(0))
    state, outputs = jax.vmap(dice_env.reset)(jax.random.split(reset_key, ENVS))

    def body(carry: Any, action: Any) -> Any:
        key, state = carry
        key, step_key = jax.random.split(key)
        state, shown = jax.vmap(step)(jax.random.split(step_key, ENVS), state, action)
        return (key, state), shown

    _, timesteps = jax.jit(partial(jax.lax.scan, body))((key, state), actions)
    return outputs["observation"], timesteps


@pytest.mark.slow
def test_the_functional_face_with_auto_reset_keeps_the_terminal_observation(
    dice: JaxCandidate, dice_env: JaxEnv, actions: dict[str, Any]
) -> None:
    first, timesteps = scanned(dice_env, dice_env.step_autoreset, actions)
    judge, ends = Judge(dice), 0
    for env in range(ENVS):
        before, turn = of(first, env), 0
        for t in range(STEPS):
            shown = of(timesteps, t, env)
            ended = judge.check(with_turn(before, turn), of(actions, t, env), shown, shown["final_observation"])
            turn = 0 if ended else turn + 1
            ends += ended
            same = jax.tree.all(jax.tree.map(np.array_equal, shown["observation"], shown["final_observation"]))
            assert same != ended
            assert list(shown["legal_actions"]) == [True, True, *[shown["observation"]["hand"]["total"] <= 20] * 2]
            before = shown["observation"]
    assert ends >= ENVS


@pytest.mark.slow
def test_the_gymnax_face_is_the_functional_one_in_gymnax_s_order(dice_env: JaxEnv, actions: dict[str, Any]) -> None:
    env = GymnaxEnv(dice_env)

    def step(key: Any, state: Any, action: Any) -> Any:
        observation, state, reward, terminated, truncated, info = env.step(key, state, action, env.default_params)
        return state, {
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            **info,
        }

    expected = scanned(dice_env, dice_env.step_autoreset, actions)
    jax.tree.map(np.testing.assert_array_equal, scanned(dice_env, step, actions), expected)
    observation, state = env.reset(jax.random.key(5), env.default_params)
    functional_state, outputs = dice_env.reset(jax.random.key(5))
    jax.tree.map(np.testing.assert_array_equal, (observation, state), (outputs["observation"], functional_state))


def test_gymnax_s_raw_step_does_not_reset(dice_env: JaxEnv) -> None:
    env = GymnaxEnv(dice_env)
    _, state = env.reset(jax.random.key(0))
    action = {"bet": jnp.int32(0), "push": jnp.zeros(2)}
    step = jax.jit(env.step_env)
    for turn in range(1, 9):
        observation, state, reward, terminated, info = step(jax.random.key(turn), state, action, env.default_params)
        assert (bool(terminated), bool(info["truncated"]), float(reward)) == (False, turn == 8, 0.0)
    assert state.turn == 8 and observation["hand"]["total"] == state.total


def test_the_spaces_of_the_gymnax_face_come_from_the_leaves(dice_env: JaxEnv) -> None:
    env = GymnaxEnv(dice_env)
    bet = env.action_space(env.default_params)["bet"]
    assert bet == Discrete(4, 0, np.dtype("int32"))
    assert {int(bet.sample(jax.random.key(seed))) for seed in range(40)} == {0, 1, 2, 3}
    push = env.action_space()["push"]
    assert push.shape == (2,) and push.contains(push.sample(jax.random.key(0)))
    assert env.observation_space()["hand"]["total"].n == 61
    with pytest.raises(TypeError, match="not a range of integers"):
        _ = env.num_actions
    assert GymnaxEnv(JaxEnv(LCG["entry"], LCG)).num_actions == 2


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_vector_face_resets_as_its_mode_says(
    dice: JaxCandidate, vector: Any, actions: dict[str, Any], mode: AutoresetMode
) -> None:
    envs, judge, ends = vector(mode), Judge(dice), 0
    assert envs.metadata["autoreset_mode"] is mode
    before, infos = envs.reset(seed=11)
    assert before in envs.observation_space
    turns, ended = [0] * ENVS, np.zeros(ENVS, bool)
    for t in range(STEPS):
        after, reward, terminated, truncated, infos = envs.step(of(actions, t))
        assert after in envs.observation_space and infos["_legal_actions"].all()
        over = terminated | truncated
        final = dict.fromkeys(range(ENVS))
        for env in range(ENVS):
            if mode is AutoresetMode.NEXT_STEP and ended[env]:
                assert (reward[env], terminated[env], truncated[env]) == (0, False, False)
                assert 2 <= after["hand"]["total"][env] <= 12
                turns[env] = 0
                continue
            final = of(after, env)
            if mode is AutoresetMode.SAME_STEP and over[env]:
                final = infos["final_obs"][env]
                assert infos["_final_obs"][env] and infos["_final_info"][env]
                assert 2 <= after["hand"]["total"][env] <= 12
            shown = {"reward": reward[env], "terminated": terminated[env], "truncated": truncated[env]}
            assert judge.check(with_turn(of(before, env), turns[env]), of(actions, t, env), shown, final) == over[env]
            turns[env] += 1
            if over[env]:
                turns[env], ends = 0, ends + 1
        if mode is AutoresetMode.SAME_STEP:
            assert ("final_obs" in infos) == over.any()
            assert not over.any() or [o is not None for o in infos["final_obs"]] == over.tolist()
        ended = over
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(gymnasium.error.ResetNeeded, match="have ended, and nothing resets them"):
                envs.step(of(actions, t))
            kept = of(after, int(np.flatnonzero(~over)[0])) if not over.all() else None
            after, _ = envs.reset(options={"reset_mask": over})
            if kept is not None:
                jax.tree.map(np.testing.assert_array_equal, of(after, int(np.flatnonzero(~over)[0])), kept)
        before = after
    assert ends >= ENVS


def test_a_seed_decides_what_an_instance_does_whatever_stands_beside_it(
    dice_env: JaxEnv, actions: dict[str, Any]
) -> None:
    def play(envs: JaxVectorEnv, columns: list[int], seed: Any) -> Any:
        observation, _ = envs.reset(seed=seed)
        shown = [observation]
        shown += [envs.step(of(actions, t, columns))[0] for t in range(10)]  # type: ignore[arg-type]
        return shown

    three = play(JaxVectorEnv(dice_env, 3, "SameStep"), [0, 1, 2], 20)
    two = play(JaxVectorEnv(dice_env, 2, "SameStep"), [2, 0], [22, 20])
    for of_three, of_two in zip(three, two, strict=True):
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a[[2, 0]], b), of_three, of_two)


def test_a_masked_reset_leaves_the_chance_of_the_others_alone(vector: Any, actions: dict[str, Any]) -> None:
    disturbed, left = vector("Disabled"), vector("Disabled")
    disturbed.reset(seed=3)
    left.reset(seed=3)
    disturbed.reset(options={"reset_mask": np.array([True, False, True])})
    ours, theirs = disturbed.step(of(actions, 0))[0], left.step(of(actions, 0))[0]
    np.testing.assert_array_equal(ours["board"][1], theirs["board"][1])
    assert not np.array_equal(ours["board"][0], theirs["board"][0])


def test_a_reset_without_a_seed_begins_other_episodes(vector: Any) -> None:
    envs = vector()
    first, _ = envs.reset()
    second, _ = envs.reset()
    assert not np.array_equal(first["board"], second["board"])


def test_the_vector_face_refuses_what_cannot_be(vector: Any, dice_env: JaxEnv) -> None:
    envs = vector()
    with pytest.raises(gymnasium.error.ResetNeeded, match="before the first reset"):
        envs.step({})
    with pytest.raises(gymnasium.error.ResetNeeded, match="must be one of all instances"):
        envs.reset(options={"reset_mask": np.array([True, False, False])})
    with pytest.raises(ValueError, match="3 instances need as many seeds, 2 were given"):
        envs.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="reset_mask must be 3 bools"):
        envs.reset(options={"reset_mask": np.array([1, 0, 0])})
    two_players = DICE | {"leaves": DICE["leaves"] | {"reward": {"dtype": "float32", "shape": [2]}}}
    with pytest.raises(ValueError, match="shows one reward"):
        JaxVectorEnv(JaxEnv(dice_env.module, two_players), 2)


def test_the_spaces_of_the_vector_face_come_from_the_leaves(vector: Any) -> None:
    envs = vector()
    board = spaces.Box(-np.inf, np.inf, (3,), np.float32)
    hand = spaces.Dict({"total": spaces.Discrete(61)})
    assert envs.single_observation_space == spaces.Dict({"board": board, "hand": hand})
    assert envs.single_action_space["bet"] == spaces.Discrete(4)
    assert envs.action_space["push"].shape == (ENVS, 2)
    envs.reset(seed=0)
    envs.step(envs.action_space.sample())


@pytest.mark.slow
def test_gymnasium_s_own_wrappers_count_the_same_episodes_in_each_mode(dice_env: JaxEnv) -> None:
    finished = []
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(JaxVectorEnv(dice_env, 1, mode))
        envs.reset(seed=1)
        lengths = []
        while len(lengths) < 3:
            *_, infos = envs.step({"bet": np.array([0]), "push": np.zeros((1, 2), np.float32)})
            if "episode" in infos:
                lengths.append(int(infos["episode"]["l"][0]))
        finished.append(lengths)
    assert finished == [[8, 8, 8], [8, 8, 8]]


def test_without_the_64_bit_types_that_it_needs_an_environment_is_not_made() -> None:
    with pytest.raises(RuntimeError, match=r'jax\.config\.update\("jax_enable_x64", True\)'):
        JaxEnv(DICE["entry"], DICE | {"x64": True})
