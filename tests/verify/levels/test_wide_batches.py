"""Batches as wide as users make them: faults of some lanes, chance that is not independent from lane to lane, samplers that
know the batch around them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.model import Array
from harness.task.contract import Law, Mode, TaskDraw
from harness.verdict import Outcome, Verdict
from harness.verify.levels import alone, wide
from tests.verify.levels.conftest import Walk

LANES, STEPS, SEEDS = 4096, 6, 5
START = TaskDraw("start", "float64", (4,), at="reset", law=Law("uniform", low=-0.05, high=0.05))
SERVE = TaskDraw("serve", "int32", at="step", law=Law("integers", low=0, high=2147483647))
COIN = TaskDraw("coin", "int8", at="step", law=Law("integers", low=0, high=1))

Spoiled = Callable[[Array], Array]
"""Positions in the law `[timesteps, lanes, elements]`, spoiled."""


def lanes_of(draw: TaskDraw, positions: Array, rng: np.random.Generator) -> Array:
    assert draw.law is not None
    if draw.law.kind == "uniform":
        return (draw.law.low + positions * (draw.law.high - draw.law.low)).astype(draw.dtype)
    span = int(draw.law.high) + 1
    return np.minimum((positions[..., 0] * span).astype(np.int64), span - 1).astype(draw.dtype)


def judged(draw: TaskDraw, spoiled: Spoiled, seed: int) -> Any:
    """The check of chance across lanes, of a batch in which a third of all steps (or resets) draws."""
    rng = np.random.default_rng(seed)
    positions = spoiled(rng.random((STEPS + 1, LANES, int(np.prod(draw.shape)))))
    values = lanes_of(draw, positions, rng)
    taken = rng.random((STEPS + 1, LANES)) < 1 / 3
    used = np.where(draw.at == "reset", 1, taken).astype(np.int32)
    count = STEPS + (draw.at == "reset")
    chance = {
        f"{draw.at}_draws": {draw.name: values[:count]},
        f"{draw.at}_used": {draw.name: used[:count]},
        "lanes": {"ended": taken},
    }
    task = SimpleNamespace(mode=Mode.TAPE, draws={draw.name: draw})
    pair: Any = SimpleNamespace(task=task, derive=lambda stream: seed)
    return wide.check_chance(pair, {wide.LARGEST: {"lanes": chance}})


def antithetic(distance: int) -> Spoiled:
    def spoil(u: Array) -> Array:
        later = np.arange(LANES) % (2 * distance) >= distance
        return np.where(later[:, None], 1 - np.roll(u, distance, axis=1), u)

    return spoil


DEPENDENT: dict[str, Spoiled] = {
    "antithetic neighbours": antithetic(1),
    "antithetic lanes at distance 64": antithetic(64),
    "antithetic halves": antithetic(LANES // 2),
    "one key for all lanes": lambda u: u[:, :1] + np.zeros_like(u),
    "one of 4 draws in each lane": lambda u: u[:, np.arange(LANES) % 4],
    "halves that are equal": lambda u: u[:, np.arange(LANES) % (LANES // 2)],
    "lanes in ascending order": lambda u: np.sort(u, axis=1),
    "a law for odd lanes": lambda u: (u + (np.arange(LANES) % 2)[:, None]) / 2,
    "a law for the first quarter": lambda u: np.where((np.arange(LANES) < LANES // 4)[:, None], u / 2, u),
}


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("draw", [START, SERVE, COIN], ids=lambda draw: draw.name)
def test_lanes_that_draw_independently_pass(draw: TaskDraw, seed: int) -> None:
    result = judged(draw, lambda u: u, seed)
    assert result.outcome is Outcome.PASS, result.divergences


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("fault", DEPENDENT)
@pytest.mark.parametrize("draw", [START, SERVE, COIN], ids=lambda draw: draw.name)
def test_lanes_that_depend_on_each_other_are_found(draw: TaskDraw, fault: str, seed: int) -> None:
    result = judged(draw, DEPENDENT[fault], seed)
    assert result.outcome is Outcome.FAIL
    assert (result.divergences[0].path, result.divergences[0].rule) == (f"draw/{draw.name}", "law")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("distance", [1, 64])
@pytest.mark.parametrize("draw", [START, SERVE], ids=lambda draw: draw.name)
def test_a_lane_that_takes_how_far_another_one_is_from_the_middle_is_found(
    draw: TaskDraw, distance: int, seed: int
) -> None:
    later = (np.arange(LANES) % (2 * distance) >= distance)[:, None]
    result = judged(draw, lambda u: np.where(later, np.abs(2 * np.roll(u, distance, axis=1) - 1), u), seed)
    assert result.outcome is Outcome.FAIL
    assert (result.divergences[0].path, result.divergences[0].rule) == (f"draw/{draw.name}", "law")


def test_the_first_and_the_last_lane_and_one_beyond_each_power_of_two_are_looked_at() -> None:
    for envs, count in ((8192, 32), (4001, 32), (3, 32), (2, 2), (8192, 4)):
        looked = wide.looked_at(envs, count, np.random.default_rng(0))
        assert {0, envs - 1} <= set(looked.tolist()) and len(looked) == min(count, envs)
        assert (np.diff(looked) > 0).all()
        powers = [1 << bit for bit in range((envs - 1).bit_length())]
        assert count < len(powers) or all(((looked >= p) & (looked < 2 * p)).any() for p in powers)


def test_lanes_are_told_of_as_pairs_where_not_all_are() -> None:
    assert wide.lanes(6, 9).tolist() == [0, 1, 2, 3, 4, 5]
    assert wide.lanes(100, 6).tolist() == [0, 1, 2, 50, 51, 52]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_may_differ_in_their_last_places_and_integers_not_at_all(dtype: Any) -> None:
    one = np.linspace(-1, 1, 8, dtype=dtype).reshape(4, 2)
    assert alone._first_difference(one, np.nextafter(one, dtype(9))) is None
    assert alone._first_difference(np.full_like(one, np.nan), np.full_like(one, np.nan)) is None
    other = one.copy()
    other[2, 1] += 100 * np.finfo(dtype).eps
    assert alone._first_difference(one, other) == 2
    assert alone._first_difference(np.arange(4), np.array([0, 1, 2, 4])) == 3


# --- planted in the walk ----------------------------------------------------------------------------------------------

RULE = """@jax.custom_batching.custom_vmap
def {name}(value):
    return value


@{name}.def_vmap
def _(size, batched, value):
    lane = jnp.arange(size)
    return value + ({wrong}).astype(value.dtype), True


def encode(state):"""
LANE_FAULTS = {
    "beyond lane 600": ("lane > 600", wide.LARGEST),
    "lane 0 of a batch above 1024": ("(lane == 0) & (size > 1024)", wide.LARGEST),
    "the last lane of a batch above 1024": ("(lane == size - 1) & (size > 1024)", wide.LARGEST),
    "an odd size above 2500": ("lane >= 0 * lane + (0 if size % 2 and size > 2500 else size)", wide.ODD),
}
SAMPLER_FAULTS = {
    "a sampler that knows the size": "size / 7919.0",
    "a sampler that is another one in odd batches": "1.0 * (size % 2)",
    "a sampler that is another one in small batches": "1.0 * (size < 10)",
    "a sampler that is another one in a batch": "1e-9 + 0.0 * lane",
    "a sampler that is another one in the last lane": "1.0 * (lane == size - 1)",
    "a sampler that is another one beyond lane 1000": "1.0 * (lane > 1000)",
}


def plant(walk: Walk, wrong: str, old: str, new: str) -> None:
    walk.edit(
        "candidate/env.py",
        [(old, new), ("def encode(state):", RULE.format(name="spoiled", wrong=f"jnp.asarray({wrong})"))],
    )


def found_by(verdict: Verdict) -> list[str]:
    assert verdict.error == "", verdict.error
    return [check.name for check in verdict.reports[-1].checks if check.outcome is Outcome.FAIL]


@pytest.mark.slow
@pytest.mark.parametrize("fault", LANE_FAULTS)
def test_a_fault_of_some_lanes_of_a_wide_batch_is_found(fault: str, walk: Walk) -> None:
    wrong, check = LANE_FAULTS[fault]
    plant(walk, wrong, '        "reward": reward,', '        "reward": spoiled(reward),')
    assert found_by(walk.verify((3,), seed=3)) == [check]


@pytest.mark.slow
@pytest.mark.parametrize("fault", SAMPLER_FAULTS)
def test_a_sampler_that_knows_the_batch_around_it_is_found(fault: str, walk: Walk) -> None:
    honest = "jax.random.normal(key, dtype=jnp.float64)"
    plant(walk, SAMPLER_FAULTS[fault], honest, f"spoiled({honest})")
    assert alone.NAME in found_by(walk.verify((1,)))
