"""The calls of a candidate's worker besides `rollout`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.candidate.adapters.jax.candidate import SAMPLE_CHUNK, JaxCandidate
from tests.candidate.adapters.contracts import DICE, assert_equal, dice_case, lcg_expected


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_the_spec_is_the_contract(dice: JaxCandidate, lcg: JaxCandidate) -> None:
    spec = dice.spec()
    assert spec["leaves"] == DICE["leaves"]
    assert spec["draws"]["roll"] == {"dtype": "int32", "shape": [], "at": "step"}
    assert spec["capabilities"] == ["restore", "probe", "draws", "force_draws", "vector"]
    assert lcg.spec()["capabilities"] == ["restore", "vector"]


@pytest.mark.slow
def test_reset_and_steps_add_up_to_the_rollout(dice: JaxCandidate, rng: Any) -> None:
    case = dice_case(rng, 5, seed=3)
    for tape in (case["draws"], None):
        [whole] = dice.rollout([case | {"draws": tape}])
        timesteps = [dice.reset(3, None if tape is None else tape[0])]
        for index in range(len(whole["leaves"]["reward"]) - 1):
            action = {path: array[index] for path, array in case["actions"].items()}
            timesteps.append(dice.step(action, None if tape is None else tape[index + 1]))
        leaves = {
            path: np.concatenate([timestep["leaves"][path] for timestep in timesteps])
            for path in timesteps[0]["leaves"]
        }
        assert_equal(leaves, whole["leaves"])
        assert str([timestep["draws"][0] for timestep in timesteps]) == str(whole["draws"])


def test_a_restored_state_shows_its_observation_and_goes_on(dice: JaxCandidate, rng: Any) -> None:
    case = dice_case(rng, 4)
    case["actions"]["action/bet"][:] = 1
    case["draws"][1:] = [[wind, ["roll", np.int32(1)]] for wind, *_ in case["draws"][1:]]
    [whole] = dice.rollout([case])
    state = {path: array[2] for path, array in whole["leaves"].items() if path.startswith("state/")}
    restored = dice.restore(state)["leaves"]
    for path, array in whole["leaves"].items():
        expected = np.zeros_like(array[2:3]) if path == "reward" else array[2:3]
        np.testing.assert_array_equal(restored[path], expected, err_msg=path)
    stepped = dice.step({path: array[2] for path, array in case["actions"].items()}, case["draws"][3])["leaves"]
    assert_equal(stepped, {path: array[3:4] for path, array in whole["leaves"].items()})


def test_a_step_before_any_reset_is_refused() -> None:
    candidate = JaxCandidate()
    candidate.open(DICE)
    with pytest.raises(ValueError, match="a step before the first reset"):
        candidate.step({"action/bet": np.int64(1), "action/push": np.zeros(2, np.float32)})


def test_a_probe_answers_each_input_in_its_place(dice: JaxCandidate) -> None:
    totals = np.arange(45, dtype=np.int32)
    legal = dice.probe("rules", {"total": totals})["legal"]
    assert legal.shape == (45, 4)
    np.testing.assert_array_equal(legal[:, 3], totals <= 20)
    assert legal[:, 0].all()


def test_a_probe_refuses_unknown_names_and_inputs_that_do_not_fit(dice: JaxCandidate) -> None:
    with pytest.raises(ValueError, match=r"no probe 'rule'; expected one of \['rules'\]"):
        dice.probe("rule", {"total": np.zeros(1, np.int32)})
    with pytest.raises(ValueError, match=r"float64\[1\] was given for the leaf 'total'"):
        dice.probe("rules", {"total": np.zeros(1)})


def test_samples_are_many_independent_and_repeatable(dice: JaxCandidate) -> None:
    count = SAMPLE_CHUNK + 100
    samples = dice.sample("reset", 5, count)
    assert {name: array.shape for name, array in samples.items()} == {"deck": (count, 2), "wind": (count, 3)}
    again, other = dice.sample("reset", 5, 50), dice.sample("reset", 6, 50)
    np.testing.assert_array_equal(samples["wind"][:50], again["wind"])
    assert not np.array_equal(other["wind"], again["wind"])
    assert len(np.unique(samples["wind"][:, 0])) > 0.99 * count
    assert set(np.unique(samples["deck"])) == set(range(1, 7))


def test_samples_of_a_step_have_a_slot_axis_and_the_state_is_given_or_not(dice: JaxCandidate, rng: Any) -> None:
    case = dice_case(rng, 1)
    [answer] = dice.rollout([case])
    state = {path: array[0] for path, array in answer["leaves"].items() if path.startswith("state/")}
    action = {path: array[0] for path, array in case["actions"].items()}
    for samples in (dice.sample("step", 1, 10, state, action), dice.sample("step", 1, 10)):
        assert {name: array.shape for name, array in samples.items()} == {"roll": (10, 3), "wind": (10, 3)}
        assert samples["roll"].dtype == np.int32


@pytest.mark.slow
def test_the_auto_resetting_batch_is_made_of_episodes_that_rollouts_repeat(dice: JaxCandidate, rng: Any) -> None:
    steps, envs = 40, 5
    actions = {
        "action/bet": rng.integers(0, 4, (steps, envs)),
        "action/push": rng.uniform(-1, 1, (steps, envs, 2)).astype(np.float32),
    }
    answer = dice.autoreset(9, envs, steps, actions)
    leaves = answer["leaves"]
    ended = leaves["terminated"] | leaves["truncated"]
    assert ended.sum() > 3 * envs and leaves["terminated"].any() and leaves["truncated"].any()
    for env in range(envs):
        begin = 0
        for end in np.flatnonzero(ended[:, env]).tolist():
            case = {
                "seed": 0,
                "actions": {path: array[begin:end, env] for path, array in actions.items()},
                "draws": [
                    timestep_of(answer, "reset", begin, env),
                    *(timestep_of(answer, "step", t, env) for t in range(begin, end)),
                ],
            }
            [alone] = dice.rollout([case])
            assert str(alone["draws"]) == str(case["draws"])
            for path, array in alone["leaves"].items():
                seen = leaves[path][begin : end + 1, env].copy()
                if path in ("reward", "terminated", "truncated"):
                    seen[0] = 0
                else:
                    seen[-1] = leaves[f"final/{path}"][end, env]
                np.testing.assert_allclose(seen, array, rtol=1e-5, atol=1e-6, err_msg=path)
            begin = end
    same = ~ended
    np.testing.assert_array_equal(leaves["final/observation/board"][same], leaves["observation/board"][same])


def timestep_of(answer: dict[str, Any], moment: str, timestep: int, env: int) -> list[list[Any]]:
    """The draws of one timestep of an auto-resetting batch, in the order in which the task names them."""
    draws = []
    for name, values in answer[f"{moment}_draws"].items():
        count = answer[f"{moment}_used"][name][timestep, env]
        slots = values[timestep, env].reshape(-1, *DICE["draws"][name]["shape"])
        draws += [[name, slot] for slot in slots[:count]]
    return sorted(draws, key=lambda draw: list(DICE["draws"]).index(draw[0]))


def test_in_mode_shared_the_batch_reports_the_seed_of_each_reset(lcg: JaxCandidate) -> None:
    actions = {"action": np.ones((12, 3), np.int64)}
    answer = lcg.autoreset(2, 3, 12, actions)
    seeds = answer["reset_draws"]["seed"]
    assert seeds.shape == (13, 3, 2) and (seeds[..., 0] == 0).all() and (seeds[..., 1] < 1 << 31).all()
    for env in range(3):
        expected = lcg_expected(int(seeds[0, env, 1]), [1] * 12)
        end = len(expected["reward"]) - 1
        np.testing.assert_array_equal(answer["leaves"]["state/place"][:end, env], expected["state/place"][:end])
        assert answer["leaves"]["final/state/place"][end, env] == expected["state/place"][end]
        assert answer["leaves"]["state/place"][end, env] == 0
