"""Honest samplers are never accused, planted faults always are."""

from collections.abc import Callable

import numpy as np
import pytest

from harness.model import Array
from harness.task.contract import Law, TaskDraw
from harness.verify.statistics import independence, laws
from harness.verify.statistics.comparisons import ELEMENTS, LawResult, chosen

Sampler = Callable[[np.random.Generator, int], Array]


def uniform(dtype: str = "float64", shape: tuple[int, ...] = (), low: float = -0.05, high: float = 0.05) -> TaskDraw:
    return TaskDraw("start", dtype, shape, law=Law("uniform", low=low, high=high))


def integers(low: int, high: int, dtype: str = "int64") -> TaskDraw:
    return TaskDraw("serve", dtype, law=Law("integers", low=low, high=high))


def categorical(*probabilities: float, shape: tuple[int, ...] = ()) -> TaskDraw:
    return TaskDraw("coin", "int32", shape, law=Law("categorical", probabilities=probabilities))


NORMAL = TaskDraw("push", "float64", law=Law("normal", mean=3.0, std=0.5))
RARE = (0.9, 0.0999, 0.0001)

HONEST: dict[str, tuple[TaskDraw, Sampler]] = {
    "uniform of four": (uniform(shape=(4,)), lambda rng, n: rng.uniform(-0.05, 0.05, (n, 4))),
    "uniform from 52 bits": (uniform(low=0, high=1), lambda rng, n: rng.integers(0, 2**52, n) * 2.0**-52),
    "uniform in float32": (uniform("float32", low=0, high=1), lambda rng, n: rng.random(n, dtype=np.float32)),
    "uniform in coarse float32": (
        uniform("float32", low=100, high=101),  # rounds up to 101 now and then
        lambda rng, n: (100 + rng.random(n)).astype(np.float32),
    ),
    "uniform in float16": (
        uniform("float16", low=0, high=1),
        lambda rng, n: (rng.integers(0, 2**10, n) / 2**10).astype(np.float16),
    ),
    "uniform far from zero": (uniform(low=1e6, high=1e6 + 1), lambda rng, n: rng.uniform(1e6, 1e6 + 1, n)),
    "normal": (NORMAL, lambda rng, n: rng.normal(3.0, 0.5, n)),
    "normal in float32": (
        TaskDraw("push", "float32", law=Law("normal")),
        lambda rng, n: rng.standard_normal(n, dtype=np.float32),
    ),
    "31 bits": (integers(0, 2**31 - 1), lambda rng, n: rng.integers(0, 2**31, n)),
    "all of int64": (
        integers(-(2**63), 2**63 - 1),
        lambda rng, n: rng.integers(-(2**63), 2**63 - 1, n, endpoint=True),
    ),
    "all of uint64": (
        integers(0, 2**64 - 1, "uint64"),
        lambda rng, n: rng.integers(0, 2**64 - 1, n, endpoint=True, dtype=np.uint64),
    ),
    "a range that no power of two divides": (integers(-7, 2992), lambda rng, n: rng.integers(-7, 2993, n)),
    "a die": (integers(1, 6), lambda rng, n: rng.integers(1, 7, n)),
    "a coin as bool": (
        TaskDraw("coin", "bool", law=Law("integers", low=0, high=1)),
        lambda rng, n: rng.random(n) < 0.5,
    ),
    "rare categories": (
        categorical(*RARE, shape=(3,)),
        lambda rng, n: rng.choice(3, (n, 3), p=RARE).astype(np.int32),
    ),
}  # fmt: skip


def judged(samples: Array, draw: TaskDraw, reference: Array | None = None) -> tuple[bool, LawResult]:
    return laws.verdict(laws.test_law(samples, draw, reference))


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_sampler_is_never_accused_and_its_p_values_are_valid(name):
    draw, sampler = HONEST[name]
    families = [laws.test_law(sampler(np.random.default_rng(seed), 2000), draw) for seed in range(40)]
    adjusted = np.array([min(r.p_value for r in results) * len(results) for results in families])
    assert all(laws.verdict(results)[0] for results in families)
    assert np.mean(adjusted < 0.05) <= 0.1


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_sampler_is_not_accused_over_many_samples(name):
    draw, sampler = HONEST[name]
    assert judged(sampler(np.random.default_rng(0), 100_000), draw)[0]


def float32_then_double(rng: np.random.Generator, n: int) -> Array:
    return rng.uniform(-0.05, 0.05, n).astype(np.float32).astype(np.float64)


FAULTS: dict[str, tuple[TaskDraw, int, str, Sampler]] = {
    "a wider range": (uniform(), 200_000, "support", lambda rng, n: rng.uniform(-0.05, 0.0505, n)),
    "a narrower range": (uniform(), 200_000, "extremes", lambda rng, n: rng.uniform(-0.05, 0.0495, n)),
    "the closed end": (
        uniform(), 2000, "upper end", lambda rng, n: np.where(rng.random(n) < 0.01, 0.05, rng.uniform(-0.05, 0.05, n))
    ),
    "not a number": (uniform(), 2000, "support", lambda rng, n: np.where(rng.random(n) < 0.01, np.nan, 0.0)),
    "a skewed uniform": (
        uniform(low=0, high=1), 200_000, "location", lambda rng, n: rng.random(n) ** 1.02
    ),
    "float32 arithmetic": (uniform(), 2000, "float32|lattice", float32_then_double),
    "float32 randomness": (
        uniform(), 2000, "lattice", lambda rng, n: -0.05 + 0.1 * rng.random(n, dtype=np.float32).astype(np.float64)
    ),
    "32 random bits": (
        uniform(low=0, high=1), 2000, "lattice", lambda rng, n: rng.integers(0, 2**32, n) * 2.0**-32
    ),
    "sampling in float16": (
        uniform("float32", low=0, high=1), 2000, "repeated",
        lambda rng, n: rng.random(n).astype(np.float16).clip(0, 0.999).astype(np.float32),
    ),
    "a std of 1.02": (
        TaskDraw("push", "float64", law=Law("normal")), 100_000, "scale", lambda rng, n: rng.normal(0, 1.02, n)
    ),
    "a truncated normal": (
        TaskDraw("push", "float64", law=Law("normal")), 100_000, "extremes",
        lambda rng, n: (draws := rng.normal(0, 1, 2 * n))[np.abs(draws) < 3][:n],
    ),
    "an infinite normal": (NORMAL, 2000, "support", lambda rng, n: np.full(n, np.inf)),
    "a coin of 0.51": (
        categorical(0.5, 0.5), 100_000, "table", lambda rng, n: (rng.random(n) < 0.51).astype(np.int32)
    ),
    "a rare value ten times too often": (
        categorical(*RARE), 20_000, "one value",
        lambda rng, n: rng.choice(3, n, p=(0.9, 0.099, 0.001)).astype(np.int32),
    ),
    "a value that cannot be": (
        categorical(0.5, 0.0, 0.5), 2000, "support", lambda rng, n: rng.integers(0, 3, n).astype(np.int32)
    ),
    "a die that never shows six": (integers(1, 6), 2000, "table|one value", lambda rng, n: rng.integers(1, 6, n)),
    "a die that shows seven": (integers(1, 6), 2000, "support", lambda rng, n: rng.integers(1, 8, n)),
    "low bits of zero": (integers(0, 2**31 - 1), 2000, "bit", lambda rng, n: rng.integers(0, 2**31, n) & ~15),
    "a middle bit of zero": (integers(0, 2**31 - 1), 2000, "each bit", lambda rng, n: rng.integers(0, 2**31, n) & ~4096),
    "two low bits alike": (
        integers(0, 2**31 - 1), 2000, "lowest four",
        lambda rng, n: (v := rng.integers(0, 2**31, n)) & ~2 | (v & 1) << 1,
    ),
    "half the range": (integers(0, 2**31 - 1), 2000, "", lambda rng, n: rng.integers(0, 2**30, n)),
    "the same key for two elements": (
        uniform(shape=(4,)), 2000, "drawn together",
        lambda rng, n: rng.uniform(-0.05, 0.05, (n, 4))[:, [0, 1, 2, 0]],
    ),
    "the same key with another sign": (
        uniform(shape=(2,)), 2000, "drawn together",
        lambda rng, n: np.stack([v := rng.uniform(-0.05, 0.05, n), v * rng.choice([-1, 1], n)], axis=1),
    ),
    "another element twice as far from its middle": (
        uniform(shape=(2,), low=0, high=1), 2000, "drawn together",
        lambda rng, n: np.stack([v := rng.random(n), np.abs(2 * v - 1)], axis=1),
    ),
    "another element three times, cut": (
        uniform(shape=(9,), low=0, high=1), 2000, "drawn together",
        lambda rng, n: np.concatenate([v := rng.random((n, 8)), np.mod(3 * v[:, :1], 1)], axis=1),
    ),
    "another element of the sample before, folded": (
        uniform(shape=(2,), low=0, high=1), 2000, "sample after it",
        lambda rng, n: np.stack([(v := rng.random(n + 1))[1:], np.abs(2 * v[:-1] - 1)], axis=1),
    ),
    "the sample five before, folded": (
        uniform(low=0, high=1), 5000, "serial",
        lambda rng, n: np.stack([v := rng.random((n // 10, 5)), np.abs(2 * v - 1)], axis=1).ravel(),
    ),
    "the next sample's key": (
        uniform(shape=(2,)), 2000, "sample after it",
        lambda rng, n: np.stack([(v := rng.uniform(-0.05, 0.05, n + 1))[1:], v[:-1]], axis=1),
    ),
    "a batch that repeats": (
        categorical(0.5, 0.5), 2000, "serial", lambda rng, n: np.resize(rng.integers(0, 2, 128), n).astype(np.int32)
    ),
    "the same key every time": (uniform(), 2000, "", lambda rng, n: np.full(n, rng.uniform(-0.05, 0.05))),
    "a third that is the sum of two modulo one": (
        uniform(shape=(3,), low=0, high=1), 2000, "sums modulo one of 3",
        lambda rng, n: np.stack([a := rng.random(n), b := rng.random(n), np.mod(a + b, 1)], axis=1),
    ),
    "a fourth that three others decide": (
        uniform(shape=(4,), low=0, high=1), 2000, "sums modulo one of 4",
        lambda rng, n: np.concatenate([v := rng.random((n, 3)), np.mod(v @ [1, -1, 1], 1)[:, None]], axis=1),
    ),
    "a coin that two others decide": (
        categorical(0.5, 0.5, shape=(3,)), 5000, "of 3 elements|neighbours",
        lambda rng, n: np.concatenate([v := rng.integers(0, 2, (n, 2)), v[:, :1] ^ v[:, 1:]], axis=1).astype(np.int32),
    ),
    "a third that a product of two decides": (
        uniform(shape=(3,), low=-1, high=1), 20_000, "of 3 elements|neighbours",
        lambda rng, n: (v := rng.uniform(-1, 1, (2 * n, 3)))[(v.prod(axis=1) > 0) | (rng.random(2 * n) < 0.2)][:n],
    ),
    "every third sample is the sum of the two before it": (
        uniform(low=0, high=1), 12_000, "successive",
        lambda rng, n: np.stack([a := rng.random(n // 3), b := rng.random(n // 3), np.mod(a + b, 1)], axis=1).ravel(),
    ),
    "whole boards that repeat": (
        categorical(0.5, 0.5, shape=(8, 8)), 2000, "repeated",
        lambda rng, n: rng.permutation(np.tile(rng.integers(0, 2, (n // 2, 8, 8)), (2, 1, 1))).astype(np.int32),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_by_the_test_made_for_it(fault):
    draw, n, statistic, sampler = FAULTS[fault]
    for seed in range(3):
        results = laws.test_law(sampler(np.random.default_rng(seed), n), draw)
        assert not laws.verdict(results)[0]
        guilty = [r.statistic for r in results if r.p_value * len(results) <= 1e-6]
        assert any(part in found for found in guilty for part in statistic.split("|"))


def test_a_draw_of_another_law_in_one_situation_is_found_there():
    rng = np.random.default_rng(0)
    draw, may_score = uniform(low=0, high=1), rng.random(2000) < 0.05
    situations = {"state/score": rng.integers(0, 3, 2000).astype(float), "state/ball": np.where(may_score, 7.0, 2.0)}
    honest = rng.random(2000)
    narrow = np.where(may_score, 0.4 + 0.2 * rng.random(2000), honest)
    assert laws.verdict(laws.test_law(honest, draw, situations=situations))[0]
    assert laws.verdict(laws.test_law(narrow, draw))[0], "among all others it does not show"
    passed, worst = laws.verdict(laws.test_law(narrow, draw, situations=situations))
    assert not passed
    assert worst.name == "start where state/ball is 7"


def test_an_honest_draw_follows_its_law_in_every_situation():
    adjusted = []
    for seed in range(40):
        rng = np.random.default_rng(seed + 1000)
        situations = {f"x[{i}]": numbers for i, numbers in enumerate(rng.normal(size=(5, 400)))}
        situations |= {"kind": rng.integers(0, 4, 400).astype(float), "constant": np.zeros(400)}
        results = laws.test_law(rng.uniform(-0.05, 0.05, 400), uniform(), situations=situations, seed=seed)
        assert laws.verdict(results)[0]
        [by_situation] = [r for r in results if "by situation" in r.statistic]
        adjusted.append(by_situation.p_value)
    assert np.mean(np.array(adjusted) < 0.05) <= 0.1


def test_the_result_names_the_element_the_value_and_the_law():
    samples = np.random.default_rng(0).uniform(-0.05, 0.05, (2000, 2, 2))
    samples[7, 1, 0] = 0.25
    passed, worst = judged(samples, uniform(shape=(2, 2)))
    assert not passed
    assert worst == LawResult(
        "start[1,0]", "support of the law", 0.0, "0.25, sample 7; 1 such values", "-0.05 <= value < 0.05", 2000
    )


def test_samples_of_another_dtype_or_shape_fail_without_being_tested():
    [wrong] = laws.test_law(np.zeros((10, 3), np.float32), uniform(shape=(4,)))
    assert (wrong.p_value, wrong.observed, wrong.expected) == (0.0, "float32 [3]", "float64 [4]")


def test_the_bounds_of_a_law_are_meant_in_the_precision_of_the_draw():
    """float32(-0.05) lies below -0.05, and a sampler that gives it does nothing wrong."""
    samples = np.random.default_rng(0).uniform(-0.05, 0.05, 2000).astype(np.float32)
    samples[0] = np.float32(-0.05)
    assert float(samples[0]) < -0.05
    assert judged(samples, uniform("float32"))[0]


def test_a_vector_of_many_elements_is_sampled_by_the_seed():
    draw = uniform(shape=(1000,), low=0, high=1)
    samples = np.random.default_rng(0).random((300, 1000))
    samples[:, 17] = 0.5
    looked_at = [chosen(1000, np.random.default_rng(seed)) for seed in range(100)]
    assert {len(elements) for elements in looked_at} == {ELEMENTS}
    lucky = next(seed for seed, elements in enumerate(looked_at) if 17 in elements)
    unlucky = next(seed for seed, elements in enumerate(looked_at) if 17 not in elements)
    assert not laws.verdict(laws.test_law(samples, draw, seed=lucky))[0]
    assert laws.verdict(laws.test_law(samples, draw, seed=unlucky))[0]


def test_of_many_numbers_the_first_are_compared_by_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(independence, "WAVED", 8000)
    two, rng = uniform(shape=(2,), low=0, high=1), np.random.default_rng(0)
    twins = np.stack([v := rng.random(20_000), np.abs(2 * v - 1)], axis=1)
    [found] = [one for one in laws.test_law(twins, two) if "drawn together: z-test" in one.statistic]
    assert (found.n, found.p_value < 1e-12) == (4000, True)


def test_tiny_samples_neither_fail_nor_crash():
    for draw, sampler in HONEST.values():
        for n in (2, 3, 5, 20):
            assert judged(sampler(np.random.default_rng(n), n), draw)[0]


def test_too_few_samples_and_a_draw_without_any_law_are_refused():
    with pytest.raises(ValueError, match=r"start: 1 samples are too few"):
        laws.test_law(np.zeros(1), uniform())
    with pytest.raises(ValueError, match=r"jump: states no law, so its test needs draws of the reference"):
        laws.test_law(np.zeros(10), TaskDraw("jump", "float64"))


UNSTATED: dict[str, tuple[TaskDraw, Sampler]] = {
    "a mixture with an atom": (
        TaskDraw("jump", "float64"), lambda rng, n: np.where(rng.random(n) < 0.2, 0.0, rng.exponential(size=n))
    ),
    "a shuffle": (TaskDraw("deck", "int64", (5,)), lambda rng, n: rng.permuted(np.tile(np.arange(5), (n, 1)), axis=1)),
    "two numbers": (TaskDraw("pair", "float64", (2,)), lambda rng, n: rng.random((n, 2))),
    "rolls of 32 bits": (TaskDraw("roll", "uint32"), lambda rng, n: rng.integers(0, 2**32, n, dtype=np.uint32)),
    "a flag": (TaskDraw("flag", "bool"), lambda rng, n: rng.random(n) < 0.003),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSTATED)
def test_honest_samples_are_like_the_reference(name):
    draw, sampler = UNSTATED[name]
    adjusted = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        results = laws.test_law(sampler(rng, 2000), draw, sampler(rng, 1000))
        assert laws.verdict(results)[0]
        adjusted.append(min(r.p_value for r in results) * len(results))
    assert np.mean(np.array(adjusted) < 0.05) <= 0.1


STATES = np.repeat(np.arange(8), 300)


@pytest.mark.parametrize("again", [False, True], ids=["honest", "each sample is drawn twice"])
def test_a_law_that_is_not_stated_may_be_another_in_each_situation(again):
    draw, found = TaskDraw("length", "int64"), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        ours, theirs = (rng.integers(0, 4 + 4 * STATES) for _ in range(2))
        ours = np.repeat(ours[::2], 2) if again else ours
        assert not laws.verdict(laws.test_law(ours, draw, theirs))[0], "in their order they depend on each other"
        found.append(laws.verdict(laws.test_law(ours, draw, theirs, alike=STATES))[0])
    assert found == [not again] * 20


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_small_groups_of_samples_accuse_nobody(size):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, max(1, 3000 // size), 3000)
        ours, theirs = (rng.integers(0, 4 + groups) for _ in range(2))
        assert laws.verdict(laws.test_law(ours, TaskDraw("length", "int64"), theirs, alike=np.sort(groups)))[0]


UNLIKE: dict[str, tuple[str, str, Sampler]] = {
    "a smaller atom": (
        "a mixture with an atom", "one value", lambda rng, n: np.where(rng.random(n) < 0.1, 0.0, rng.exponential(size=n))
    ),
    "another scale": (
        "a mixture with an atom", "", lambda rng, n: np.where(rng.random(n) < 0.2, 0.0, 1.3 * rng.exponential(size=n))
    ),
    "float32 values": (
        "a mixture with an atom", "float32",
        lambda rng, n: np.where(rng.random(n) < 0.2, 0.0, rng.exponential(size=n)).astype(np.float32).astype(np.float64),
    ),
    "a deck that repeats cards": ("a shuffle", "dependence", lambda rng, n: rng.integers(0, 5, (n, 5))),
    "rolls without low bits": (
        "rolls of 32 bits", "lowest four", lambda rng, n: rng.integers(0, 2**32, n, dtype=np.uint32) & np.uint32(0xFFFFFFF0)
    ),
    "rolls of 16 bits": (
        "rolls of 32 bits", "repeated", lambda rng, n: rng.integers(0, 2**16, n, dtype=np.uint32) * np.uint32(65_537)
    ),
    "a second number that the first decides by its distance": (
        "two numbers", "dependence", lambda rng, n: np.stack([v := rng.random(n), np.abs(2 * v - 1)], axis=1)
    ),
    "a deck whose order two cards decide": (
        "a shuffle", "neighbours",
        lambda rng, n: np.mod(rng.integers(0, 5, (n, 1)) + rng.integers(1, 5, (n, 1)) * np.arange(5), 5),
    ),
    "a flag in every 50th": ("a flag", "table|one value", lambda rng, n: rng.random(n) < 0.02),
}  # fmt: skip


@pytest.mark.parametrize("fault", UNLIKE)
def test_samples_unlike_the_reference_are_found(fault):
    honest, statistic, sampler = UNLIKE[fault]
    draw, reference = UNSTATED[honest]
    rng = np.random.default_rng(0)
    results = laws.test_law(sampler(rng, 5000), draw, reference(rng, 5000))
    assert not laws.verdict(results)[0]
    guilty = [r.statistic for r in results if r.p_value * len(results) <= 1e-6]
    assert any(part in found for found in guilty for part in statistic.split("|"))


def test_nan_is_a_value_that_is_compared_like_others():
    rng = np.random.default_rng(0)
    reference = np.where(rng.random(2000) < 0.1, np.nan, rng.random(2000))
    honest = np.where(rng.random(2000) < 0.1, np.nan, rng.random(2000))
    infinite = np.where(np.isnan(honest), np.inf, honest)
    assert laws.compare_distributions(reference, honest).p_value > 0.01
    found = laws.compare_distributions(reference, infinite, "x")
    assert found.p_value < 1e-6
    assert (found.name, found.n) == ("x", 2000)
    assert "value inf: 0 times" in found.expected or "value nan: 0 times" in found.observed


def test_two_distributions_with_the_same_mean_and_scale_are_distinguished():
    rng = np.random.default_rng(0)
    two_points = rng.choice([-1.0, 1.0], 2000) + rng.normal(0, 0.1, 2000)
    assert laws.compare_distributions(rng.normal(0, 1, 2000), two_points).p_value < 1e-6
    with pytest.raises(ValueError, match="0 values of the reference and 5 of the candidate"):
        laws.compare_distributions(np.zeros(0), np.zeros(5), "x")


START = TaskDraw("start", "float64", (2,), law=Law("uniform"))
COIN = TaskDraw("coin", "int8", law=Law("integers", 0, 1))


def test_draws_made_together_must_be_independent_of_each_other():
    rng = np.random.default_rng(0)
    honest = {"start": rng.random((2000, 2)), "coin": (rng.random(2000) < 0.5).astype(np.int8)}
    assert laws.verdict(laws.independence_of_draws([START, COIN], honest))[0]
    reused = honest | {"coin": (honest["start"][:, 1] < 0.5).astype(np.int8)}
    passed, worst = laws.verdict(laws.independence_of_draws([START, COIN], reused))
    assert not passed
    assert worst.name == "start[1] with coin"
    assert laws.independence_of_draws([COIN], reused) == []
    # It has the right law, and is decided by how far the other lies from the middle.
    twin = TaskDraw("twin", "float64", (), law=Law("uniform"))
    folded = honest | {"twin": np.abs(2 * honest["start"][:, 0] - 1)}
    passed, worst = laws.verdict(laws.independence_of_draws([START, twin], folded))
    assert (passed, worst.name, worst.n) == (False, "start[0] with twin", 2000)
    assert laws.independence_of_draws([START, COIN], {"start": np.zeros((0, 2)), "coin": np.zeros(0, np.int8)}) == []


def _rolls(rng: np.random.Generator, alike: bool) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Two rolls of which either may come first, and then decides whether the other is made: high ones alone let it."""
    first, second = rng.integers(0, 256, (2, 20_000))
    if alike:
        second = np.where(rng.random(20_000) < 0.3, first, second)
    in_order = rng.random(20_000) < 0.5
    taken = {"hit": in_order | (second > 200), "held": ~in_order | (first > 200)}
    return {"hit": first.astype(np.int32), "held": second.astype(np.int32)}, taken


def test_draws_of_which_the_earlier_decides_whether_the_later_is_made_are_not_accused():
    draws = [TaskDraw(name, "int32", law=Law("integers", 0, 255)) for name in ("hit", "held")]
    for seed in range(20):
        samples, taken = _rolls(np.random.default_rng(seed), alike=False)
        both = taken["hit"] & taken["held"]
        # Where both were made they do not look independent, and are.
        assert abs(np.corrcoef(samples["hit"][both], samples["held"][both])[0, 1]) > 0.4
        assert laws.verdict(laws.independence_of_draws(draws, samples, taken))[0]
    samples, taken = _rolls(np.random.default_rng(0), alike=True)
    assert not laws.verdict(laws.independence_of_draws(draws, samples, taken))[0]


def test_a_verdict_corrects_for_the_number_of_results():
    def result(p_value: float) -> LawResult:
        return LawResult("x", "test", p_value, "", "", 10)

    assert laws.verdict([result(2e-6)])[0]
    assert not laws.verdict([result(5e-7)])[0]
    passed, worst = laws.verdict([result(5e-7), result(0.4), result(1.0)])
    assert passed
    assert worst.p_value == 5e-7
    assert not laws.verdict([result(0.01), result(0.9)], alpha=0.05)[0]


def test_no_results_are_no_pass_and_a_p_value_is_a_number():
    with pytest.raises(ValueError, match="no results to judge"):
        laws.verdict([])
    with pytest.raises(ValueError, match="nan is not a p-value"):
        LawResult("x", "test", float("nan"), "", "", 1)


def test_low_bits_that_follow_a_few_situations_are_seen() -> None:
    """Of 64 states, in two the lowest bit is what it is: as many numbers are even as odd."""
    rng = np.random.default_rng(5)
    states = np.repeat(np.arange(64), 312)
    draw = integers(0, 2**31 - 1, "int32")
    for seed in range(20):
        honest = np.random.default_rng(seed).integers(0, 2**31, len(states)).astype(np.int32)
        assert laws.verdict(laws.test_law(honest, draw, situations={"the start state": states}, seed=seed))[0]
    drawn = rng.integers(0, 2**31, len(states)).astype(np.int32)
    fixed = np.where(states == 40, drawn | 1, np.where(states == 41, drawn & ~1, drawn))
    assert laws.verdict(laws.test_law(fixed, draw))[0], "without the situations nothing is to be seen"
    passed, worst = laws.verdict(laws.test_law(fixed, draw, situations={"the start state": states}))
    assert not passed and "lowest four bits" in worst.statistic and "the start state is 4" in worst.name
