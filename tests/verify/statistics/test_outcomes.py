"""Episodes of a small environment against themselves, and against versions of it with one thing wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from harness.errors import TaskError
from harness.model import Case, Trajectory
from harness.verify.statistics.comparisons import LawResult, verdict
from harness.verify.statistics.outcomes import compare_outcomes

LEAVES = ("observation", "reward", "terminated", "truncated", "state/flag")


@dataclass(frozen=True)
class Walk:
    """Two coupled random walks and a flag; each field is a way to be wrong."""

    start: float = 0.0
    drift: float = 0.0
    hazard: float = 0.03
    coupling: float = 0.8
    bonus: float = 0.0
    memory: bool = True
    horizon: int = 60
    nan_at: int = -1

    def episode(self, seed: int) -> Trajectory:
        rng = np.random.default_rng(seed)
        timesteps = min(int(rng.geometric(self.hazard)), self.horizon) + 1
        terminated = np.zeros(timesteps, dtype=bool)
        terminated[-1] = timesteps <= self.horizon
        noise = rng.normal(size=(timesteps, 2)) @ np.array([[1.0, self.coupling], [0.0, np.sqrt(1 - self.coupling**2)]])
        if self.memory:
            walk = np.cumsum(noise + self.drift, axis=0)
        else:  # each timestep has the right law, but forgets the timestep before it
            walk = noise * np.sqrt(np.arange(1, timesteps + 1))[:, None]
        walk += self.start
        if 0 <= self.nan_at < timesteps:
            walk[self.nan_at] = np.nan
        reward = np.where(np.arange(timesteps) > 0, 1.0 + self.bonus * rng.random(timesteps), 0.0)
        leaves = {
            "observation": walk,
            "reward": reward,
            "terminated": terminated,
            "truncated": ~terminated & (np.arange(timesteps) == self.horizon),
            "state/flag": rng.random(timesteps) < 0.5,
        }
        return Trajectory(Case(seed, {"action": np.zeros(timesteps - 1, dtype=np.int64)}), leaves)

    def episodes(self, count: int, first: int = 0) -> list[Trajectory]:
        return [self.episode(first + seed) for seed in range(count)]


REFERENCE = Walk()


def guilty(results: Sequence[LawResult]) -> set[str]:
    return {result.name for result in results if result.p_value * len(results) <= 1e-6}


@pytest.mark.slow
def test_an_honest_environment_is_never_accused():
    adjusted = []
    for run in range(20):
        results = compare_outcomes(
            REFERENCE.episodes(200, run * 1000), REFERENCE.episodes(200, run * 1000 + 500), LEAVES
        )
        assert verdict(results)[0]
        adjusted.append(min(r.p_value for r in results) * len(results))
    assert np.mean(np.array(adjusted) < 0.05) <= 0.1


@pytest.mark.parametrize(
    ("wrong", "found_in"),
    [
        (Walk(start=1.0), "row 0: observation[0]"),
        (Walk(drift=0.5), "row 10: observation[1]"),
        (Walk(drift=0.7), "row 1: change of observation[0]"),
        (Walk(hazard=0.1), "episode length"),
        (Walk(hazard=0.1), "end of the episode (1 terminated, 2 truncated, 3 both)"),
        (Walk(bonus=0.5), "return"),
        (Walk(bonus=0.5), "row 5: reward"),
        (Walk(coupling=-0.8), "row 0: observation[0] with row 0: observation[1]"),
        (Walk(memory=False), "row 10: change of observation[0]"),
        (Walk(nan_at=2), "row 2: observation[0]"),
    ],
)  # fmt: skip
def test_an_environment_with_one_thing_wrong_is_found_where_it_shows(wrong: Walk, found_in: str):
    results = compare_outcomes(REFERENCE.episodes(300), wrong.episodes(300, 1000), LEAVES)
    assert not verdict(results)[0]
    assert any(name.startswith(found_in.rsplit("[", 1)[0]) for name in guilty(results))


def test_timesteps_that_few_episodes_reach_are_left_out():
    results = compare_outcomes(Walk(horizon=6).episodes(100), Walk(horizon=6).episodes(100, 500), LEAVES)
    timesteps = {int(r.name.split(":")[0].removeprefix("row ")) for r in results if r.name.startswith("row ")}
    assert timesteps == {0, 1, 2, 5}
    assert verdict(results)[0]


def test_deterministic_environments_that_agree_pass_and_that_differ_fail():
    def episodes(value: float) -> list[Trajectory]:
        leaves = {
            "observation": np.full((3, 2), value),
            "reward": np.zeros(3),
            "terminated": np.array([False, False, True]),
            "truncated": np.zeros(3, dtype=bool),
            "state/flag": np.zeros(3, dtype=bool),
        }
        return [Trajectory(Case(seed, {"action": np.zeros(2)}), leaves) for seed in range(40)]

    assert verdict(compare_outcomes(episodes(1.0), episodes(1.0), LEAVES))[0]
    passed, worst = verdict(compare_outcomes(episodes(1.0), episodes(2.0), LEAVES))
    assert not passed
    assert worst.name == "row 0: observation[0]"


def test_large_leaves_are_compared_at_elements_that_vary():
    def episodes(wrong: bool, first: int) -> list[Trajectory]:
        found = []
        for seed in range(first, first + 60):
            board = np.zeros((2, 50, 50), dtype=np.uint8)
            board[:, 3, 4] = np.random.default_rng(seed).integers(0, 2) + wrong
            leaves = {
                "observation": board,
                "reward": np.zeros(2),
                "terminated": np.array([False, True]),
                "truncated": np.zeros(2, dtype=bool),
            }
            found.append(Trajectory(Case(seed, {"action": np.zeros(1)}), leaves))
        return found

    passed, worst = verdict(compare_outcomes(episodes(False, 0), episodes(True, 100), LEAVES[:4]))
    assert not passed
    assert worst.name == "row 0: observation[3,4]"
    assert verdict(compare_outcomes(episodes(False, 0), episodes(False, 100), LEAVES[:4]))[0]


def test_too_few_episodes_are_an_error_of_the_task_and_not_a_pass():
    with pytest.raises(
        TaskError, match="5 episodes of the reference and 300 of the candidate tell too little"
    ) as error:
        compare_outcomes(REFERENCE.episodes(5), REFERENCE.episodes(300), LEAVES)
    assert "budgets.episodes" in str(error.value)
