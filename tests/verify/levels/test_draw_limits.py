"""Limits inside chance are found to the last bit, where no number of episodes meets them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from harness.model import Case, Draw
from harness.task.contract import Law, TaskDraw
from harness.task.law_values import at_quantile, ends
from harness.verdict import CheckResult, Outcome, Verdict
from harness.verify.adjacent import number_at, place_of
from harness.verify.levels import draw_limits
from tests.verify.levels.conftest import Walk

# One gust in 10,000 brings hail, which is drawn, too, and alone says how far the walker goes.
HAIL = [
    ('{"gust": dict(number, at="step")}', '{"gust": dict(number, at="step"), "hail": dict(number, at="step")}'),
    (
        '        if draws is None:\n            value = self._rng.normal()\n        else:\n'
        '            if [name for name, _ in draws] != ["gust"]:\n'
        '                raise ValueError("one gust is drawn here")\n            value = float(draws[0][1])\n'
        '        self._taken.append(("gust", np.float64(value)))\n        return value\n',
        '        value = self._rng.normal() if draws is None else float(draws[0][1])\n'
        "        hails = value < -3.7\n"
        '        if draws is not None and [name for name, _ in draws] != ["gust", "hail"][: 1 + hails]:\n'
        '            raise ValueError("gust and hail belong together")\n'
        '        self._taken.append(("gust", np.float64(value)))\n'
        "        if not hails:\n            return value\n"
        "        hail = self._rng.uniform() if draws is None else float(draws[1][1])\n"
        '        self._taken.append(("hail", np.float64(hail)))\n'
        "        return 3.0 if hail > 0.995 else hail\n",
    ),
]  # fmt: skip
CANDIDATE = [
    (
        '    return {"gust": jax.random.normal(key, dtype=jnp.float64)}\n',
        "    gust, hail = jax.random.split(key)\n"
        '    return {"gust": jax.random.normal(gust, dtype=jnp.float64), "hail": jax.random.uniform(hail, dtype=jnp.float64)}\n',
    ),
    ("    windy = action == 2\n", '    windy = action == 2\n    hails = windy & (draws["gust"] < -3.7)\n'),
    (
        'jnp.where(windy, draws["gust"],',
        'jnp.where(hails, jnp.where(draws["hail"] > 0.995, 3.0, draws["hail"]), draws["gust"])\n'
        "    move = jnp.where(windy, move,",
    ),
    ('"draws_used": {"gust": windy.astype(jnp.int32)}', '"draws_used": {"gust": windy + 0, "hail": hails + 0}'),
]
STATED = 'law = { kind = "normal", mean = 0.0, std = 1.0 }\n'
HAILS = '\n[randomness.draws.hail]\ndtype = "float64"\nat = "step"\nlaw = { kind = "uniform", low = 0.0, high = 1.0 }\n'


def hail(walk: Walk) -> None:
    """Edit a walk so that it hails, on both sides."""
    walk.edit("task.toml", [(STATED, STATED + HAILS)])
    walk.edit("reference/adapter.py", HAIL)
    walk.edit("candidate/env.py", CANDIDATE)


def the_check(verdict: Verdict) -> CheckResult:
    """The check of limits of draws."""
    [check] = [check for report in verdict.reports for check in report.checks if check.name == draw_limits.NAME]
    return check


@pytest.mark.slow
def test_an_honest_candidate_passes_at_its_limits(make_walk: Callable[[], Walk]) -> None:
    walk = make_walk()
    hail(walk)
    check = the_check(walk.verify((2,)))
    assert check.outcome is Outcome.PASS, check
    assert "gust" in check.detail and "hail" in check.detail
    assert check.examples > 40


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        ('(draws["gust"] < -3.7)', '(draws["gust"] <= -3.7)'),
        ('(draws["gust"] < -3.7)', '(draws["gust"] < -3.701)'),
        ('(draws["hail"] > 0.995', '(draws["hail"] >= 0.995'),
        ('(draws["hail"] > 0.995', '(draws["hail"].astype(jnp.float32) > jnp.float32(0.995)'),
    ],
    ids=["adjacent", "a little off", "adjacent in a rare draw", "float32"],
)
def test_a_fault_that_chance_hardly_ever_shows_is_found(make_walk: Callable[[], Walk], fault: tuple[str, str]) -> None:
    walk = make_walk()
    hail(walk)
    walk.edit("candidate/env.py", [fault])
    check = the_check(walk.verify((2,)))
    assert check.outcome is Outcome.FAIL
    assert check.divergences[0].level == 2


def test_a_candidate_of_32_bits_is_compared_beside_limits() -> None:
    dtype = np.dtype("float64")
    limit, begin, end = (place_of(np.float64(value), dtype) for value in (0.006, 0.5, 0.0))
    case = Case(1, {"action": np.zeros(1)}, draws=((), (Draw("it", np.array(0.5)),)))
    search = draw_limits.Search(case, draw_limits.Slot(1, 0, 0), "it", dtype, begin, end)
    assert draw_limits.around(search, (limit, limit - 1), beside=False) == [limit - 2, limit - 1, limit, limit + 1]
    below, above = (number_at(place, dtype) for place in draw_limits.around(search, (limit, limit - 1), beside=True))
    assert np.float32(below) < np.float32(0.006) < np.float32(above)
    assert below > 0.00599 and above < 0.00601


@pytest.mark.slow
def test_where_no_law_is_stated_no_number_is_moved(make_walk: Callable[[], Walk]) -> None:
    walk = make_walk()
    walk.edit("task.toml", [(STATED, "")])
    checks = [check.name for report in walk.verify((2,)).reports for check in report.checks]
    assert checks and draw_limits.NAME not in checks


@pytest.mark.slow
def test_where_nothing_turns_over_there_is_nothing_to_compare(make_walk: Callable[[], Walk]) -> None:
    walk = make_walk()
    walk.edit(
        "reference/adapter.py", [("self._place += self._gust(draws)", "self._place += 0.5 + 0.0 * self._gust(draws)")]
    )
    walk.edit("candidate/env.py", [('windy, draws["gust"],', "windy, 0.5,")])
    assert the_check(walk.verify((2,))).outcome is Outcome.SKIPPED


LAWS = [
    (Law("uniform", -1.0, 2.0), "float32", -1.0, np.nextafter(np.float32(2), np.float32(0))),
    (Law("integers", 3, 9), "int8", 3, 9),
    (Law("integers", 0, 2.0**63), "int32", 0, 2**31 - 1),
    (Law("categorical", probabilities=(0.0, 0.25, 0.75, 0.0)), "int64", 1, 2),
]


@pytest.mark.parametrize(("law", "dtype", "low", "high"), LAWS, ids=lambda value: getattr(value, "kind", None))
def test_values_are_those_of_the_law(law: Law, dtype: str, low: float, high: float) -> None:
    draw = TaskDraw("it", dtype, law=law)
    assert ends(draw) == (low, high)
    values = [at_quantile(draw, quantile) for quantile in (0.0, 1e-9, 0.2, 0.5, 0.9, 1 - 1e-9, 1.0)]
    assert values == sorted(values) and (values[0], values[-1]) == (low, high)
    assert {Draw("it", np.asarray(value)).value.dtype for value in values} == {np.dtype(dtype)}


def test_of_a_normal_law_values_are_far_out() -> None:
    draw = TaskDraw("it", "float64", law=Law("normal", mean=1.0, std=2.0))
    low, high = ends(draw)
    assert -14 < low < -12 and 14 < high < 16
    assert at_quantile(draw, 0.5) == 1.0
