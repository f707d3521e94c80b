"""Level 4's rule: its errors over thousands of simulated runs, its parts against scipy.stats, and its limits."""

import numpy as np
import pytest
from scipy import stats

from benchmarks import transfer_errors
from harness.verify.statistics import equivalence
from harness.verify.statistics.equivalence import Decision, Interval

LOOKS = (6, 10, 16)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def decision(values: np.ndarray, margin: float = 1.0, level: float = 0.025) -> Decision:
    return equivalence.decide(equivalence.of_pairs(values, margin, level), margin)


@pytest.fixture(scope="module", params=transfer_errors.SCHEDULES, ids=str)
def errors(request: pytest.FixtureRequest) -> list[dict]:
    return transfer_errors.table(request.param)


@pytest.mark.slow
def test_2000_levels_at_the_margin_pass_wrongly_at_most_5_percent_of_the_time_for_every_law(errors):
    """The sequential rule is in force; laws are skewed both ways, discrete, and like CartPole's returns."""
    assert len(errors) >= 40
    for row in errors:
        wrong = {name: share for name, share in row.items() if name.endswith("wrong") and share != ""}
        assert wrong and max(wrong.values()) <= 5.0, row


@pytest.mark.slow
def test_equal_laws_pass_when_trainings_differ_by_less_than_the_margin(errors):
    for row in errors:
        if row["spread"] == "0.25":
            assert min(row["differing: right"], row["apart: right"]) > 90.0, row


def test_a_plain_t_interval_would_pass_wrongly_far_too_often():
    """What the unseen seeds are for: without them a skewed law passes three times as often as it may."""
    values = 1.0 + (rng().exponential(size=(4000, 16)) - 1.0)
    half = -stats.t.ppf(0.05, 15) * values.std(axis=1, ddof=1) / 4.0
    inside = (values.mean(axis=1) + half < 1.0) & (values.mean(axis=1) - half > -1.0)
    assert inside.mean() > 0.1


def test_levels_of_one_look_are_the_whole_and_of_several_rise_to_almost_the_whole():
    assert equivalence.levels((16,)) == pytest.approx((0.025,), abs=1e-6)
    found = equivalence.levels(LOOKS)
    assert list(found) == sorted(found)
    assert found[-1] == pytest.approx(0.0235, abs=0.0005)


def test_all_looks_together_spend_alpha():
    """Brownian motion observed at the looks crosses one of the bounds as often as was promised."""
    steps = rng().standard_normal((400_000, 16)).cumsum(axis=1)
    z = np.stack([steps[:, look - 1] / np.sqrt(look) for look in LOOKS])
    bounds = stats.norm.isf(equivalence.levels(LOOKS))[:, None]
    assert (z > bounds).any(axis=0).mean() == pytest.approx(equivalence.ALPHA, abs=0.001)


def test_levels_for_equal_steps_are_the_published_ones():
    """Lan and DeMets' bounds of O'Brien and Fleming's kind for five equal looks and 2.5% on one side."""
    bounds = stats.norm.isf(equivalence.levels((2, 4, 6, 8, 10)))
    assert bounds == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=0.002)


def test_the_interval_is_wider_than_students_and_about_as_wide_for_many_seeds():
    for n, ratio in ((10, 3.0), (5000, 1.05)):
        values = 0.3 * rng().standard_normal(n)
        student = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
        found = equivalence.of_pairs(values, 1.0, 0.025)
        assert 1.0 < 2.0 * found.half_width / (student[1] - student[0]) < ratio * (3.5 if n == 10 else 1.0)


def test_sixteen_equal_differences_are_equivalent_and_six_are_too_few():
    assert decision(np.zeros(16)) is Decision.EQUIVALENT
    assert decision(np.zeros(6)) is Decision.UNDECIDED


def test_a_difference_far_beyond_the_margin_is_different():
    assert decision(5.0 + 0.1 * rng().standard_normal(16)) is Decision.DIFFERENT
    assert decision(-5.0 + 0.1 * rng().standard_normal(16)) is Decision.DIFFERENT


def test_a_difference_at_the_margin_is_undecided():
    values = rng().standard_normal(16)
    assert decision(1.0 + 0.2 * (values - values.mean())) is Decision.UNDECIDED


def test_the_forecast_is_where_the_rule_decides():
    interval = equivalence.of_pairs(0.8 * rng(3).standard_normal(16), 1.0, 0.025)
    needed = equivalence.seeds_to_decide(interval, 16, 1.0)
    assert needed is not None and needed > 16
    apart = float(abs(interval.difference))
    spread = float(interval.error) * 4.0
    passes = [
        equivalence.decide(Interval(np.array(mean), np.array(half), np.array(0.0)), 1.0) is Decision.EQUIVALENT
        for mean in apart + spread / np.sqrt(needed) * rng().standard_normal(2000)
        for half in [stats.t.isf(0.025, needed - 1) * spread / np.sqrt(needed)]
    ]
    assert np.mean(passes) == pytest.approx(equivalence.POWER, abs=0.05)


def test_no_number_of_seeds_decides_a_difference_at_the_margin():
    interval = Interval(np.array(1.0), np.array(0.5), np.array(0.25))
    assert equivalence.seeds_to_decide(interval, 16, 1.0) is None


def test_a_margin_below_the_noise_of_the_reference_is_named_as_such():
    returns = 100.0 * rng().standard_normal(16)
    assert equivalence.noise_floor(returns, 16, 10.0) > 10.0
    assert equivalence.noise_floor(0.02 * returns, 16, 10.0) < 10.0


def test_the_effect_size_is_hedges_g():
    first, second = rng().standard_normal(12) + 1.0, rng(1).standard_normal(9)
    pooled = np.sqrt((11 * first.var(ddof=1) + 8 * second.var(ddof=1)) / 19)
    expected = (first.mean() - second.mean()) / pooled * (1 - 3 / (4 * 21 - 9))
    assert equivalence.effect_size(first, second) == pytest.approx(expected)
    assert equivalence.effect_size(np.ones(3), np.ones(3)) == 0.0
    assert equivalence.effect_size(np.ones(3), np.zeros(3)) is None


def test_ties_count_half_in_the_probability_of_improvement():
    assert equivalence.probability_of_improvement(np.array([1.0, 2.0]), np.array([1.0])) == 0.75


def test_the_middle_mean_leaves_out_the_outer_quarters():
    assert equivalence.middle_mean(np.array([-100.0, 1.0, 2.0, 3.0, 4.0, 100.0, 5.0, 6.0])) == pytest.approx(3.5)


def test_bootstrap_intervals_cover_the_difference_as_students_interval_does():
    differences = 1.0 + 0.1 * rng(1).standard_normal(200)
    found = equivalence.bootstrap_of_pairs(differences, rng())
    middle = equivalence.bootstrap_of_pairs(differences, rng(), middle=True)
    student = stats.t.interval(0.95, 199, differences.mean(), stats.sem(differences))
    assert (found.low, found.high) == pytest.approx(student, abs=0.003)
    assert found.low < 1.0 < found.high and middle.low < 1.0 < middle.high
