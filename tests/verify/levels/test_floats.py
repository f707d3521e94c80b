"""Floats that may be off: each step is compared from a given state, and what a candidate keeps beside its state is found."""

from __future__ import annotations

import pytest

from benchmarks.both_sides import both_sides
from harness.task.load import load_task
from harness.verdict import Divergence, Outcome
from harness.verify.deviation_count import DeviationCount
from harness.verify.levels import by_itself
from tests.verify.levels.conftest import MOVE, RESET, Walk

TOLERANT = [
    (
        "[tolerance]\n",
        '[tolerance]\n"state/place" = { ulp = 8, atol = 1e-14 }\nobservation = { ulp = 1, atol = 1e-14 }\n',
    )
]
GUST = 'jnp.where(windy, draws["gust"],'
ROUNDED = (GUST, 'jnp.where(windy, draws["gust"] * (1 + 4e-16),')
"""Where no gust blows a walker stands on whole numbers, exactly where a walk ends: nothing may be off there."""
NARROW = MOVE.replace('state["place"] + move', '(state["place"].astype(jnp.float32) + move).astype(jnp.float64)')
IN_FLOAT32 = (
    "x64 = true\n",
    'x64 = true\nprecision = "float32"\ntolerance = { "state/place" = { atol = 1e-6 }, observation = { atol = 1e-6 } }\n',
)
AGE = [
    (RESET, RESET.replace("}", ', "age": jnp.int32(0)}')),
    ('"steps": state["steps"] + 1}', '"steps": state["steps"] + 1, "age": state["age"] + 1}'),
    (
        "    return state\n\n\ndef decode",
        '    return {path: state[path] for path in ("place", "steps")}\n\n\ndef decode',
    ),
    ("    return leaves\n", '    return leaves | {"age": jnp.int32(0)}\n'),
]
"""What `encode` does not show: how many steps a candidate has taken since it was reset or restored."""

FORKED = (
    "        if action == 2:\n            self._place += self._gust(draws)\n",
    "        if action == 2:\n            self._place += self._gust(draws)\n"
    "            if int(before * 1024) % 256 == 7 and int(np.float64(before).view(np.int64)) % 3 == 0:\n"
    "                self._place += 3e-9\n",
)
"""A gust carries a nanometre further, from few places, by their last digits."""


def found(walk: Walk, levels: tuple[int, ...] = (1, 2, 3)) -> Divergence:
    verdict = walk.verify(levels)
    assert verdict.outcome is Outcome.FAIL, verdict.reason
    return verdict.reports[-1].divergences[0]


@pytest.mark.slow
def test_an_error_within_the_tolerance_of_a_step_passes_however_long_the_episode(walk: Walk) -> None:
    walk.edit("candidate/env.py", [ROUNDED])
    walk.edit("task.toml", TOLERANT)
    verdict = walk.verify()
    assert verdict.outcome is Outcome.PASS, verdict.reports[-1].divergences
    [check] = [check for check in verdict.reports[1].checks if check.name == "boundaries"]
    assert (check.outcome, check.examples > 40) == (Outcome.PASS, True)
    assert check.detail.endswith("; beside them, as state/place may be off by a tolerance")


@pytest.mark.slow
def test_a_candidate_that_computes_in_float32_is_judged_at_its_own_tolerances_and_said_to(walk: Walk) -> None:
    walk.edit("candidate/env.py", [(MOVE, NARROW)])
    walk.edit("task.toml", [*TOLERANT, IN_FLOAT32])
    verdict = walk.verify()
    assert verdict.outcome is Outcome.PASS, verdict.reports[-1].divergences
    assert all(any("computes in float32" in note for note in report.notes) for report in verdict.reports)


@pytest.mark.slow
def test_a_rule_that_is_wrong_in_float32_is_found(walk: Walk) -> None:
    walk.edit("candidate/env.py", [(MOVE, NARROW.replace("+ move)", "+ move * 1.00001)"))])
    walk.edit("task.toml", [IN_FLOAT32])
    assert found(walk, (2,)).path == "state/place"


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["> 5.0 + 1e-9", '> 5.0 + jnp.where(state["steps"] > 12, 1e-7, 0.0)'])
def test_a_limit_that_is_off_by_more_than_the_tolerance_is_found_beside_it(walk: Walk, wrong: str) -> None:
    walk.edit("task.toml", TOLERANT)
    honest = '"terminated": jnp.abs(state["place"]) > 5.0,'
    walk.edit("candidate/env.py", [(honest, honest.replace("> 5.0", wrong))])
    divergence = found(walk, (2,))
    assert (divergence.check, divergence.path, divergence.step) == ("boundaries", "terminated", 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_an_error_within_the_tolerance_is_no_wrong_limit(walk: Walk, seed: int) -> None:
    walk.edit("task.toml", TOLERANT)
    walk.edit("candidate/env.py", [(GUST, f'jnp.where(windy, draws["gust"] * (1 + 4e-16 * {(-1) ** seed}),')])
    assert walk.verify((2,), seed=seed).outcome is Outcome.PASS


@pytest.mark.slow
def test_what_a_candidate_keeps_beside_its_state_is_found(walk: Walk) -> None:
    walk.edit("task.toml", TOLERANT)
    walk.edit(
        "candidate/env.py",
        [
            *AGE,
            (
                MOVE.split("=")[0] + "=",
                '    move = jnp.where(state["age"] >= 25, 2 * move, move)\n' + MOVE.split("=")[0] + "=",
            ),
        ],
    )
    divergence = found(walk)
    assert (divergence.level, divergence.rule, divergence.path) == (3, "restored", "state/place")
    assert (divergence.step, divergence.cause) == (26, by_itself.KEPT)


def test_what_a_candidate_does_in_states_of_its_own_is_found(walk: Walk) -> None:
    walk.edit("task.toml", [(old, new.replace("1e-14", "1e-9")) for old, new in TOLERANT])
    marked = "jnp.floor((state['place'] + move) * 2.0**31) / 2.0**31 + 2.0**-33"
    walk.edit(
        "candidate/env.py",
        [
            (MOVE, MOVE.replace('state["place"] + move', f'jnp.where(windy, {marked}, state["place"] + move)')),
            (
                "    return after, outputs(after, reward)",
                "    own = state['place'] * 2.0**31 % 1 == 0.25\n"
                "    reward = jnp.where(own & (state['steps'] > 3), jnp.float32(100), reward)\n"
                "    return after, outputs(after, reward)",
            ),
        ],
    )
    divergence = found(walk, (2,))
    assert (divergence.rule, divergence.path, divergence.cause) == ("restored", "reward", by_itself.OWN)


@pytest.mark.slow
def test_a_step_that_is_further_off_than_it_may_is_found_where_it_is(walk: Walk) -> None:
    walk.edit("task.toml", TOLERANT)
    walk.edit("candidate/env.py", [(MOVE, NARROW)])
    divergence = found(walk)
    assert (divergence.level, divergence.path, divergence.step) == (1, "state/place", 1)
    assert "float32" in divergence.cause and "the rule of this step is wrong" in divergence.cause


@pytest.mark.slow
def test_a_difference_of_few_units_is_told_with_the_ways_out(walk: Walk) -> None:
    walk.edit("candidate/env.py", [ROUNDED])
    divergence = found(walk)
    assert divergence.rule == "value" and divergence.path == "state/place"
    assert "the rule of this step is wrong" not in divergence.cause
    assert "xla_flags" in divergence.cause and '"state/place" = { ' in divergence.cause


@pytest.mark.slow
def test_a_wrong_flag_beside_a_difference_of_few_units_is_no_rounding(walk: Walk) -> None:
    walk.edit("candidate/env.py", [ROUNDED, ('state["steps"] >= 40', 'state["steps"] >= 30')])
    assert "the rule of this step is wrong" in found(walk).cause


@pytest.mark.slow
@pytest.mark.parametrize(("move", "differ"), [(ROUNDED[1], False), (f"1e-9 + {GUST}", True)], ids=["rounded", "wrong"])
def test_a_benchmark_compares_each_step_from_the_references_state(walk: Walk, move: str, differ: bool) -> None:
    walk.edit("task.toml", TOLERANT)
    walk.edit("candidate/env.py", [(GUST, move)])
    task = load_task(walk.directory)
    with both_sides(task) as both:
        off = DeviationCount(both.task.tolerances)
        expected = both.reference.drive("random", range(1, 9), task.budgets.horizon)
        found = both.differences(expected, off.add)
    assert any(found) == differ
    share = off.table()["state/place"].share
    assert share is not None and (share > 1.0) == differ and share > 0.0


def test_a_small_error_in_some_steps_is_found(walk: Walk) -> None:
    """Twenty-odd units in the last place: the reference comes to that from states beside these."""
    walk.edit("task.toml", TOLERANT)
    some = 'windy & (state["steps"] > 30) & (jnp.abs(after["place"]) < 4.5)'
    off = f'    after["place"] = after["place"] * jnp.where({some}, 1 + 3e-15, 1.0)\n'
    walk.edit("candidate/env.py", [(MOVE, MOVE + off)])
    divergence = found(walk, (2,))
    assert (divergence.path, divergence.rule) == ("state/place", "value")


@pytest.mark.slow
@pytest.mark.parametrize(("tolerance", "outcome"), [("1e-9", Outcome.FAIL), ("1e-8", Outcome.PASS)])
def test_a_step_that_hangs_on_the_last_digits_is_compared_like_any_other(
    walk: Walk, tolerance: str, outcome: Outcome
) -> None:
    """A tolerance has to cover what a reference does by rounding: nothing else does."""
    walk.edit("task.toml", [(old, new.replace("1e-14", tolerance)) for old, new in TOLERANT])
    walk.edit("reference/adapter.py", [FORKED])
    verdict = walk.verify()
    assert verdict.outcome is outcome, verdict.reason


SLIPS = "            self._place += self._gust(draws)\n            if before {} and self._steps % 4 == 3:\n                self._place += 5e-9\n"
"""A gust carries five nanometres further from some places, in every fourth step; a walker often stands on exactly 2.0."""


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "candidate"), [("== 2.0", None), ("> 2.0", ">= 2.0")])
def test_a_rule_that_is_wrong_at_exactly_one_value_is_found(walk: Walk, rule: str, candidate: str | None) -> None:
    """From places beside that one the reference comes to what the candidate comes to."""
    walk.edit("task.toml", [(old, new.replace("1e-14", "1e-9")) for old, new in TOLERANT])
    walk.edit("reference/adapter.py", [("            self._place += self._gust(draws)\n", SLIPS.format(rule))])
    if candidate is not None:
        slips = f'jnp.where(windy & (state["place"] {candidate}) & (state["steps"] % 4 == 3), 5e-9, 0.0)'
        walk.edit("candidate/env.py", [(MOVE, MOVE.replace("+ move", f"+ move + {slips}"))])
    assert found(walk).path == "state/place"
