"""A candidate as its users run it, where floats may be off: each step is judged from the state that their program shows."""

from __future__ import annotations

import pytest

from harness.verdict import CheckResult, Outcome
from harness.verify.levels.as_used import USED
from tests.verify.levels.conftest import MOVE, RESET, Edits, Walk

CALM = [
    ('mode = "tape"\n\n[randomness.draws.gust]\ndtype = "float64"\nat = "step"\n', 'mode = "none"\n'),
    ('law = { kind = "normal", mean = 0.0, std = 1.0 }\n', ""),
    ("[tolerance]\n", '[tolerance]\n"state/place" = { atol = 1e-9 }\nobservation = { atol = 1e-6 }\n'),
]
EXPORTED = 'EXPORTED = "harness.candidate.adapters.jax.candidate" not in sys.modules\n'
"""What a candidate sees that wants to be another one for its users."""
REWARD = "    return after, outputs(after, reward)"
PARTING = (MOVE, MOVE.replace("+ move", "+ move + 8e-10 * EXPORTED"))
"""Each step of the users' program is off by what it may be, and after a few steps no place is the batch's."""


@pytest.fixture
def calm(walk: Walk) -> Walk:
    """The walk without gusts, whose places may be off by a billionth in each step."""
    walk.edit("task.toml", CALM)
    walk.edit(
        "reference/adapter.py", [('without=(), chance="tape"', 'without=("draws", "force_draws"), chance="none"')]
    )
    walk.edit(
        "candidate/env.py",
        [
            ('draws["gust"]', "0.25"),
            (' | {"draws_used": {}}', ""),
            (' | {"draws_used": {"gust": windy.astype(jnp.int32)}}', ""),
            ("import jax\n", f"import sys\n\nimport jax\n\n{EXPORTED}ASKED = []\n"),
            ("    return state\n\n\ndef decode", "    ASKED.append(1)\n    return state\n\n\ndef decode"),
        ],
    )
    return walk


def used(walk: Walk, edits: Edits) -> CheckResult:
    walk.edit("candidate/env.py", edits)
    [check] = [check for check in walk.verify((3,)).reports[0].checks if check.name == USED]
    return check


def test_a_program_that_parts_from_the_batch_by_what_each_step_may_be_off_passes(calm: Walk) -> None:
    check = used(calm, [PARTING])
    assert (check.outcome, check.detail) == (Outcome.PASS, "each step from the state that the program shows")


WRONG = {
    "a reward": (REWARD, f"    reward += EXPORTED & (state['steps'] > 30)\n{REWARD}"),
    "a jump": (MOVE, MOVE.replace("+ move", "+ move + 8e-10 * EXPORTED + 1e-3 * (EXPORTED & (state['steps'] == 30))")),
    "a reward, until somebody asks for states": (
        REWARD,
        f"    reward += EXPORTED & (not ASKED) & (state['steps'] > 30)\n{REWARD}",
    ),
    "a begin": (RESET, RESET.replace("jnp.float64(0)", "jnp.float64(0.5 * EXPORTED)")),
    "a state that is not the one": (
        "    return state\n\n\ndef decode",
        "    return state | {'place': state['place'] * (1 - EXPORTED)}\n\n\ndef decode",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_for_users_after_many_steps_is_found(calm: Walk, wrong: str) -> None:
    old, new = WRONG[wrong]
    check = used(calm, [(old, new)] if old == MOVE else [(old, new), PARTING])
    assert check.outcome is Outcome.FAIL
    [divergence] = check.divergences
    assert (divergence.rule, divergence.path) == ("exported", "reward" if "reward" in wrong else "state/place")
