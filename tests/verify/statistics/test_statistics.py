"""The p-values against scipy.stats, against exact sums, and far out in the tail."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.verify.statistics import hypotheses

COUNTS = st.lists(st.integers(0, 200), min_size=2, max_size=30)
TIED = st.lists(st.integers(-3, 3), min_size=2, max_size=40)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_nothing_imports_scipy_stats_which_is_slow_to_import():
    program = "import sys, harness.verify.statistics.laws; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("distance_by_root_n", [1.2, 1.8, 2.6])
@pytest.mark.parametrize("n", [20, 100, 1000])
def test_the_one_sample_ks_p_value_is_exact_up_to_1000(n, distance_by_root_n):
    distance = distance_by_root_n / np.sqrt(n)
    sample = np.clip((np.arange(n) + 0.5) / n - distance + 0.5 / n, 0, 1)  # F_n exceeds F by `distance`
    found = hypotheses.ks_one_sample(np.sort(sample))
    assert found.p_value == pytest.approx(stats.kstwo.sf(found.distance, n), rel=0.01)


def test_the_one_sample_ks_p_value_is_close_beyond_1000():
    for seed in range(5):
        sample = np.sort(rng(seed).random(20_000) ** (1 + 0.02 * seed))
        found, known = hypotheses.ks_one_sample(sample), stats.ks_1samp(sample, stats.uniform.cdf)
        assert found.distance == pytest.approx(known.statistic)
        assert found.p_value == pytest.approx(known.pvalue, rel=0.05)
        assert sample[found.where] == pytest.approx(known.statistic_location)


def test_slack_takes_the_step_of_a_grid_off_the_ks_distance():
    grid = np.sort(rng().integers(0, 50, 20_000) / 50)
    assert hypotheses.ks_one_sample(grid).p_value < 1e-6
    assert hypotheses.ks_one_sample(grid, 1 / 50).p_value > 0.01


@given(TIED, TIED)
def test_the_two_sample_ks_distance_is_scipys_with_ties_too(a, b):
    found = hypotheses.ks_two_samples(np.array(a), np.array(b))
    assert found.distance == pytest.approx(stats.ks_2samp(a, b, method="asymp").statistic)


@pytest.mark.parametrize(("n", "m", "factor"), [(20, 2000, 9.0), (50, 80, 4.0), (256, 256, 2.0), (5000, 5000, 1.2)])
def test_the_two_sample_ks_p_value_is_never_too_small_in_the_tail(n, m, factor):
    a = rng().random(n)
    b = rng(1).random(m) + 2.4 * np.sqrt((n + m) / (n * m))
    exact = stats.ks_2samp(a, b, method="exact" if n < 5000 else "asymp").pvalue
    assert exact < 0.01
    assert exact * 0.99 <= hypotheses.ks_two_samples(a, b).p_value <= exact * factor


def test_ks_works_row_by_row():
    a, b = rng().random((3, 50)), rng(1).random((3, 70))
    together = hypotheses.ks_two_samples(a, b).p_value
    assert together.tolist() == [float(hypotheses.ks_two_samples(x, y).p_value) for x, y in zip(a, b, strict=True)]


def test_holm_adjusts_step_by_step():
    adjusted = hypotheses.holm(np.array([0.04, 0.01, 0.03, 0.005]))
    assert adjusted.tolist() == pytest.approx([0.06, 0.03, 0.06, 0.02])
    assert hypotheses.holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]


@given(st.integers(1, 300), st.floats(0.001, 0.999), st.data())
def test_binomial_tails_are_exact(trials, share, data):
    successes = data.draw(st.integers(0, trials))
    above, below = stats.binom.sf(successes - 1, trials, share), stats.binom.cdf(successes, trials, share)
    assert hypotheses.binomial_tail(successes, trials, share) == pytest.approx(above, rel=1e-6, abs=1e-200)
    two_sided = hypotheses.binomial_p(np.array(successes), np.array(trials), np.array(share))
    assert two_sided == pytest.approx(min(1.0, 2 * min(above, below)), rel=1e-6, abs=1e-200)


def test_a_value_of_probability_0_is_impossible_and_one_of_probability_1_certain():
    assert hypotheses.binomial_p(np.array(1), np.array(10), np.array(0.0)) == 0.0
    assert hypotheses.binomial_p(np.array(10), np.array(10), np.array(1.0)) == 1.0
    assert hypotheses.binomial_p(np.array(9), np.array(10), np.array(1.0)) == 0.0


@pytest.mark.parametrize(("successes", "trials"), [(0, 256), (3, 100), (99, 100)])
def test_the_upper_bound_on_a_share_is_clopper_and_pearsons(successes, trials):
    known = stats.binomtest(successes, trials, alternative="less").proportion_ci(0.95, method="exact").high
    assert hypotheses.binomial_upper_bound(successes, trials) == pytest.approx(known)


def test_if_everything_fails_the_upper_bound_is_1():
    assert hypotheses.binomial_upper_bound(7, 7) == 1.0


@pytest.mark.parametrize("count", [0, 1, 5, 40])
def test_the_poisson_tail_is_exact(count):
    assert hypotheses.poisson_tail(count, 4.5) == pytest.approx(stats.poisson.sf(count - 1, 4.5))


@given(COUNTS.filter(any), st.floats(1, 50))
def test_pooled_groups_are_neighbours_and_expect_enough(counts, minimum):
    groups = hypotheses.pool(np.array(counts, dtype=float), minimum)
    assert set(np.diff(groups).tolist()) <= {0, 1}
    sums = np.bincount(groups, counts)
    assert len(sums) == 1 or sums.min() >= minimum


def test_the_g_statistic_is_scipys_divided_by_williams_correction():
    observed = np.array([210, 305, 395, 90])
    probabilities = np.array([0.2, 0.3, 0.4, 0.1])
    known = stats.power_divergence(observed, 1000 * probabilities, lambda_="log-likelihood").statistic
    williams = 1 + ((1 / probabilities).sum() - 1) / (6 * 1000 * 3)
    found = hypotheses.g_test(observed, probabilities)
    assert found.statistic == pytest.approx(known / williams)
    assert (found.freedom, found.p_value) == (3, pytest.approx(stats.chi2.sf(known / williams, 3)))


def test_the_g_statistic_of_two_samples_is_scipys_divided_by_williams_correction():
    a, b = np.array([100, 200, 300]), np.array([130, 190, 480])
    known = stats.chi2_contingency([a, b], lambda_="log-likelihood", correction=False)
    rows, columns, total = np.array([600, 800]), a + b, 1400
    williams = 1 + ((total / rows).sum() - 1) * ((total / columns).sum() - 1) / (6 * total * 2)
    found = hypotheses.g_test_two_samples(a, b)
    assert found.statistic == pytest.approx(known.statistic / williams)
    assert found.freedom == known.dof


def test_a_table_that_pools_to_one_cell_tests_nothing():
    assert hypotheses.g_test(np.array([2, 3]), np.array([0.5, 0.5])) == (0.0, 0, 1.0)
    assert hypotheses.g_test_two_samples(np.array([2, 3]), np.array([3, 2])) == (0.0, 0, 1.0)


@pytest.mark.parametrize("count", [5, 8, 12, 60, 66, 72])
def test_the_g_test_holds_in_the_tail_of_the_rarest_cell_that_it_keeps(count):
    """Where Pearson's chi-square is wrong by a factor of a hundred and more."""
    n, share = 20_000, hypotheses.MINIMUM_EXPECTED / 20_000
    exact = hypotheses.binomial_p(np.array(count), np.array(n), np.array(share))
    found = hypotheses.g_test(np.array([count, n - count]), np.array([share, 1 - share])).p_value
    assert exact / 3 < found < exact * 3


@given(TIED)
def test_midranks_are_scipys(values):
    assert hypotheses.midranks(np.array(values)).tolist() == stats.rankdata(values).tolist()


def test_midranks_work_row_by_row():
    values = rng().integers(0, 5, (4, 30))
    assert hypotheses.midranks(values).tolist() == stats.rankdata(values, axis=1).tolist()


def rank_correlation(a: np.ndarray, b: np.ndarray) -> hypotheses.Shift:
    return hypotheses.correlation(hypotheses.rank_scores(a), hypotheses.rank_scores(b))


def test_the_rank_correlation_is_spearmans_and_its_p_value_slightly_above():
    x = rng().random(4000)
    for noise in (15.0, 12.0, 9.0):
        y = x + noise * rng(1).random(4000)
        found, known = rank_correlation(x, y), stats.spearmanr(x, y)
        assert found.z / np.sqrt(4000) == pytest.approx(known.statistic)
        assert known.pvalue <= found.p_value
        assert np.log(found.p_value) < 0.8 * np.log(known.pvalue) + 1


def test_a_few_coincidences_of_rare_events_are_no_dependence():
    """Planted fault of the normal tail: two events of one in a thousand that coincide once are 7 deviations away."""
    x, y = np.zeros((2, 20_000))
    x[:20], y[19:39] = 1, 1
    found = rank_correlation(x, y)
    assert found.z > 6
    assert found.p_value > 0.05


def test_bernsteins_bound_is_never_below_the_normal_tail_and_near_it_for_small_terms():
    z = np.linspace(0, 12, 50)
    normal = 2 * stats.norm.sf(z)
    assert (hypotheses.bernstein_p(z, 0.05) >= normal).all()
    assert np.log(hypotheses.bernstein_p(np.array(6.0), 0.01)) < 0.8 * np.log(2 * stats.norm.sf(6.0))
    assert hypotheses.bernstein_p(np.array(np.inf), 0.01) == 0.0


def test_correlation_at_each_lag_is_the_sum_of_products():
    later, earlier = hypotheses.rank_scores(rng().random((2, 101)))
    found = hypotheses.correlation_at_lags(later, earlier)
    direct = [(earlier[:-lag] * later[lag:]).sum() / np.sqrt(101 - lag) for lag in range(1, 51)]
    assert found.z == pytest.approx(direct)


def test_correlation_at_each_distance_is_the_sum_of_products():
    left, right = rng().standard_normal((2, 3, 6))
    pairs = hypotheses.pairs_at_distances(np.ones((3, 6), bool))
    found = hypotheses.correlation_at_distances(left, right, pairs)
    direct = [(left[:, :-far] * right[:, far:]).sum() / np.sqrt(3 * (6 - far)) for far in range(1, 6)]
    assert pairs.tolist() == [15, 12, 9, 6, 3]
    assert found.z == pytest.approx(direct)


def test_waves_are_nothing_on_average_and_orthogonal():
    waves = hypotheses.waves((np.arange(1000) + 0.5) / 1000, 4)
    assert waves.mean(axis=-1) == pytest.approx(np.zeros(4), abs=1e-12)
    assert 2 * waves @ waves.T / 1000 == pytest.approx(np.eye(4), abs=1e-12)


def test_the_shift_of_ranks_is_mann_whitneys_test_with_ties():
    a, b = rng().integers(0, 20, 300), rng(1).integers(1, 21, 200)
    known = stats.mannwhitneyu(a, b, use_continuity=False, method="asymptotic")
    found = hypotheses.shift(hypotheses.midranks(np.concatenate([a, b])), 300)
    assert 2 * stats.norm.sf(abs(found.z)) == pytest.approx(known.pvalue)


def test_the_shift_of_squared_distances_from_the_middle_is_moods_test():
    a, b = rng().normal(0, 1, 300), rng(1).normal(0, 1.2, 200)
    scores = hypotheses.rank_scores(np.concatenate([a, b]))
    assert hypotheses.shift(scores**2, 300).z == pytest.approx(stats.mood(a, b).statistic, rel=1e-2)


def test_constants_have_neither_scores_nor_shift():
    same = np.full(10, 3.0)
    assert hypotheses.rank_scores(same).tolist() == [0.0] * 10
    assert hypotheses.shift(same, 5).p_value == 1.0
    assert rank_correlation(same, same).p_value == 1.0
    assert not hypotheses.standardised(np.full((3, 1000), [[0.1], [1 / 3], [1e9 / 7]])).any(), "not even by rounding"
