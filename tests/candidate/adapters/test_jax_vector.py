"""Sub-environments of a candidate: the episodes that its rollouts play, with or without a tape, and what is drawn in
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.candidate.adapters.jax.candidate import JaxCandidate
from tests.candidate.adapters.contracts import dice_case

SEEDS = [3, 2**40 + 1, 5]
STEPS = 10


def actions(rng: np.random.Generator, count: int = 3) -> dict[str, Any]:
    return {
        "action/bet": rng.integers(0, 4, count),
        "action/push": rng.uniform(-1, 1, (count, 2)).astype(np.float32),
    }


@pytest.mark.slow
def test_a_sub_env_plays_what_a_rollout_from_its_seed_plays(dice: JaxCandidate) -> None:
    rng = np.random.default_rng(0)
    first = dice.vector(SEEDS, state=True)
    timesteps, draws, chosen = [first["leaves"]], [first["draws"]], []
    for _ in range(STEPS):
        chosen.append(actions(rng))
        answer = dice.advance(chosen[-1])
        timesteps.append(answer["leaves"])
        draws.append(answer["draws"])
    for env_index, seed in enumerate(SEEDS):
        case = {"seed": seed, "actions": {p: np.stack([a[p][env_index] for a in chosen]) for p in chosen[0]}}
        [expected] = dice.rollout([case])
        length = len(expected["leaves"]["reward"])
        assert length < STEPS + 1, "no episode has ended"
        for path, array in expected["leaves"].items():
            np.testing.assert_array_equal(
                np.stack([timestep[path][env_index] for timestep in timesteps[:length]]), array, err_msg=path
            )
        assert str([timestep[env_index] for timestep in draws[:length]]) == str(expected["draws"])
        assert not any(timestep[env_index] for timestep in draws[length:]), (
            "a sub-environment that is over draws nothing"
        )


def test_a_sub_env_follows_its_tape_and_then_its_own_chance(dice: JaxCandidate) -> None:
    rng = np.random.default_rng(2)
    case = dice_case(rng, 4)
    [expected] = dice.rollout([case])
    first = dice.vector([9, 9], draws=[case["draws"], None], state=True)
    assert str(first["draws"][0]) == str(case["draws"][0]) and str(first["draws"][1]) != str(case["draws"][0])
    for timestep in range(1, len(expected["leaves"]["reward"])):
        step = {path: np.stack([array[timestep - 1]] * 2) for path, array in case["actions"].items()}
        answer = dice.advance(step)
        for path, array in expected["leaves"].items():
            np.testing.assert_array_equal(answer["leaves"][path][0], array[timestep], err_msg=path)
        assert str(answer["draws"][0]) == str(case["draws"][timestep])
    if not answer["leaves"]["terminated"][0]:
        beyond = dice.advance({path: array[:1].repeat(2, 0) for path, array in case["actions"].items()})
        assert [name for name, _ in beyond["draws"][0]].count("wind") == 1


@pytest.mark.slow
def test_an_ended_sub_env_begins_anew_from_its_next_seed(dice: JaxCandidate) -> None:
    rng = np.random.default_rng(1)
    dice.vector(SEEDS, state=True)
    begun = 0
    for step in range(30):
        following = [100 * step + env_index for env_index in range(3)]
        answer = dice.advance(actions(rng), following)
        ended = answer["leaves"]["terminated"] | answer["leaves"]["truncated"]
        assert answer["ended"] == np.flatnonzero(ended).tolist()
        assert len(answer["next_draws"]) == len(answer["ended"])
        for place, env_index in enumerate(answer["ended"]):
            fresh = dice.reset(following[env_index])
            for path in ("observation/board", "observation/hand/total", "legal_actions", "state/turn"):
                np.testing.assert_array_equal(answer["leaves"][path][env_index], fresh["leaves"][path][0], err_msg=path)
            assert answer["final"]["state/turn"][place] > 0
            assert str(answer["next_draws"][place]) == str(fresh["draws"][0])
            begun += 1
    assert begun > 3


def test_a_shared_seed_is_a_sub_env_s_own(lcg: JaxCandidate) -> None:
    seeds = [1, 2**33 + 7]
    lcg.vector(seeds, state=True)
    timesteps = [lcg.advance({"action": np.array([1, 0])})["leaves"] for _ in range(4)]
    for env_index, (seed, action) in enumerate(zip(seeds, (1, 0), strict=True)):
        [expected] = lcg.rollout([{"seed": seed, "actions": {"action": np.full(4, action)}}])
        played = np.stack([timestep["state/chance"][env_index] for timestep in timesteps])[
            : len(expected["leaves"]["reward"]) - 1
        ]
        np.testing.assert_array_equal(played, expected["leaves"]["state/chance"][1:])


def test_state_is_reported_only_where_it_is_asked_for(dice: JaxCandidate) -> None:
    assert not any(path.startswith("state/") for path in dice.vector([1])["leaves"])
    with pytest.raises(ValueError, match="a seed each"):
        dice.vector([])
    with pytest.raises(ValueError, match="next seeds"):
        dice.advance(actions(np.random.default_rng(0), 1), [1, 2])
