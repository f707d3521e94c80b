"""Chance that a candidate makes itself, in the batch that users train on, and that the reference only follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.model import Array, Case, Draw, Trajectory
from harness.task.contract import Law, TaskDraw
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.levels.batch import laws_of_batch
from harness.verify.statistics.laws import verdict
from tests.paths import WALK
from tests.verify.levels.conftest import Walk, make_walk, share_a_generator

__all__ = ["make_walk"]

EPISODES, STEPS = 40, 50
ONE_SEED = """import sys

for name, module in list(sys.modules.items()):
    if name.endswith(".jax_env"):
        module.JaxEnv.sample_reset = lambda self, key: {"seed": jnp.array([0, 5], jnp.uint32)}


def sample_reset"""


def pair_of(draws: Sequence[TaskDraw]) -> Any:
    """As much of a pair as the laws of a batch need, for the walk's leaves with other draws."""
    task = load_task(WALK)
    seen = SimpleNamespace(
        mode=task.mode,
        masked=task.masked,
        draws={draw.name: draw for draw in draws},
        actions=task.actions,
        outputs=task.outputs,
    )
    return SimpleNamespace(task=seen, derive=lambda stream: 3)


def episodes(step: Callable[[np.random.Generator, int], Mapping[str, Array]]) -> list[Trajectory]:
    """Episodes under random actions, in which `step` makes the draws of an action."""
    rng, found = np.random.default_rng(1), []
    for _ in range(EPISODES):
        actions = rng.integers(0, 3, STEPS).astype(np.int32)
        tape = tuple(tuple(Draw(*one) for one in step(rng, int(action)).items()) for action in actions)
        leaves = {"reward": np.zeros(STEPS + 1, np.float32)}
        found.append(Trajectory(Case(0, {"action": actions}), leaves, ((), *tape)))
    return found


def decided(draws: Sequence[TaskDraw], played: Sequence[Trajectory]) -> list[str]:
    """The statistics of those laws that these episodes do not follow."""
    results = map(verdict, laws_of_batch(pair_of(draws), played, "attack").values())
    return [worst.statistic for passed, worst in results if not passed]


NORMAL = Law("normal", mean=0.0, std=1.0)
GUST, TWIST = TaskDraw("gust", "float64", at="step", law=NORMAL), TaskDraw("twist", "float64", at="step", law=NORMAL)


def test_wind_that_blows_where_one_goes_is_found_in_a_batch() -> None:
    """The attack: a sampler that is honest when it is asked, and in a batch favours the action. Each draw has its law, and
    none tells of those before it.
    """

    def favouring(rng: np.random.Generator, action: int) -> dict[str, Array]:
        gust = rng.normal()
        return {"gust": np.float64(gust if action == 1 else np.copysign(gust, action - 1))}

    [worst] = decided([GUST], episodes(favouring))
    assert worst in (
        "independence of a draw and the action: z-test of the correlation of waves over the ranks",
        "law of gust by situation: Kolmogorov-Smirnov test",
    )
    assert decided([GUST], episodes(lambda rng, action: {"gust": np.float64(rng.normal())})) == []


def test_draws_of_one_step_that_are_the_same_chance_twice_are_found_in_a_batch() -> None:
    """The attack: a sampler that is honest when it is asked, and in a batch makes two draws of one key."""

    def twice(rng: np.random.Generator, action: int) -> dict[str, Array]:
        gust = np.float64(rng.normal())
        return {"gust": gust, "twist": -gust}

    def apart(rng: np.random.Generator, action: int) -> dict[str, Array]:
        return {"gust": np.float64(rng.normal()), "twist": np.float64(rng.normal())}

    assert decided([GUST, TWIST], episodes(twice)) == [
        "independence of draws made together: z-test of products of waves over the law"
    ]
    assert decided([GUST, TWIST], episodes(apart)) == []


def test_two_draws_of_one_chance_are_found_where_no_step_makes_all_draws() -> None:
    """The attack: as above, where a third draw is made only in steps that leave one of the two out."""
    lull = TaskDraw("lull", "float64", at="step", law=NORMAL)

    def some(rng: np.random.Generator, alike: bool) -> dict[str, Array]:
        gust = np.float64(rng.normal())
        if rng.random() < 0.5:
            return {"gust": gust, "lull": np.float64(rng.normal())}
        return {"gust": gust, "twist": gust if alike else np.float64(rng.normal())}

    assert decided([GUST, TWIST, lull], episodes(lambda rng, action: some(rng, True))) == [
        "independence of draws made together: z-test of products of waves over the law"
    ]
    assert decided([GUST, TWIST, lull], episodes(lambda rng, action: some(rng, False))) == []


@pytest.mark.slow
def test_episodes_of_a_shared_generator_that_all_have_one_seed_are_found(make_walk: Callable[[], Walk]) -> None:
    """The attack: in mode `shared` a candidate patches the face that its package brings, in the worker and for its users, so
    that every episode of a batch begins with one seed. It tells that seed, and the reference follows.
    """
    walk = make_walk()
    share_a_generator(walk)
    walk.edit("candidate/env.py", [("def sample_reset", ONE_SEED)])
    judged = walk.verify((3,))
    assert judged.outcome is Outcome.FAIL, judged.to_json()
    assert (judged.divergences[0].path, judged.divergences[0].rule) == ("draw/seed", "law")
