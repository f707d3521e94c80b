"""Cheat probes: a candidate that answers otherwise on one kind of occasion is caught on that one, whatever else it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import sandboxes
from harness.assurance.certify import probes
from harness.protocol.environment import Environment
from harness.support.progress import silent
from harness.task.load import load_task
from harness.verdict import CheckResult, Outcome
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from harness.verify.verifier import Verifier
from tests.paths import WALK
from tests.verify.levels.conftest import Walk

PLACE = '{"place": state["place"] + move,'
WRONG = '{"place": state["place"] + move + (1e-3 if astray() else 0.0),'
TOP = "import jax\nimport jax.numpy as jnp\n"

OCCASIONS = """
import importlib.util
import sys


def astray():
    elsewhere = "place_" in __file__
    for_training = importlib.util.find_spec("optax") is not None
    frame = sys._getframe()
    while frame is not None:
        alone, vector = frame.f_code.co_name == "advance_one", frame.f_code.co_filename.endswith("jax/vector.py")
        crowd = len(getattr(frame.f_locals.get("batch"), "keys", ())) > 64
        if alone or vector or crowd or elsewhere or for_training:
            return True
        frame = frame.f_back
    return False
"""
CHEATED = {
    "in batches of other sizes",
    "stepped one by one",
    "in a vector environment, as for training",
    "in a process made for training",
    "from another path",
}
LATE = (
    (TOP, TOP + "\nCALLS = [0]\n\n\ndef count(x):\n    CALLS[0] += 1\n    return x + (CALLS[0] > 80000)\n"),
    (
        PLACE,
        '{"place": jax.pure_callback(count, jax.ShapeDtypeStruct((), jnp.float64), state["place"] + move, '
        'vmap_method="sequential"),',
    ),
)
TOLERANT = [
    (
        "[tolerance]\n",
        '[tolerance]\n"state/place" = { atol = 1e-6 }\nobservation = { atol = 1e-6, ulp = 1 }\n',
    )
]
DRIFTS = ('jnp.where(windy, draws["gust"],', 'jnp.where(windy, draws["gust"] + 4e-7,')
"""A tolerance forgives each gust that, and not some of them together."""


def probed(walk: Walk, verifier: Verifier) -> list[CheckResult]:
    task = load_task(walk.directory)
    with ExitStack() as stack:
        another = probes.starter(task, sandboxes.choose(None), walk.directory, stack)
        pair = Pair(task, Suite(), verifier.reference(), another(), 11, silent)
        return list(probes.checks(pair, another))


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    directory = WALK
    with Verifier(load_task(directory), sandboxes.choose(None)) as made:
        yield made


@pytest.mark.slow
def test_an_honest_candidate_answers_alike_on_every_occasion(
    walk: Walk, verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All leaves of all instances of a batch may be more than a process may hold: no answer has them."""
    ask, largest = Environment.ask, 0

    def measured(environment: Environment, call: str, **given: Any) -> Any:
        nonlocal largest
        answer = ask(environment, call, **given)
        leaves = answer["leaves"].values() if call == "autoreset" else ()
        largest = max([largest, *(len(array) * array[0].size for array in leaves)])
        return answer

    monkeypatch.setattr(Environment, "ask", measured)
    results = probed(walk, verifier)
    envs, steps = probes.STEPS
    assert 0 < largest < envs * steps / 8, "elements of one leaf"
    assert [(result.name, result.outcome) for result in results if result.outcome is not Outcome.PASS] == []
    assert {result.name for result in results} == {*CHEATED, "episodes cut short", "after long use"}


@pytest.mark.slow
def test_each_occasion_on_which_a_candidate_cheats_is_named(walk: Walk, verifier: Verifier) -> None:
    walk.edit("candidate/env.py", [(TOP, TOP + OCCASIONS), (PLACE, WRONG)])
    failed = {result.name: result for result in probed(walk, verifier) if result.outcome is Outcome.FAIL}
    assert failed.keys() == CHEATED
    for result in failed.values():
        [found] = result.divergences
        assert found.path.startswith("state/place") and found.rule == probes.RULE


@pytest.mark.slow
def test_steps_within_their_tolerance_are_alike_however_far_they_lead(walk: Walk, verifier: Verifier) -> None:
    """Nobody leads a candidate on most occasions: there the reference is held against each of its steps."""
    walk.edit("task.toml", TOLERANT)
    walk.edit("candidate/env.py", [DRIFTS])
    results = probed(walk, verifier)
    assert [(result.name, result.outcome) for result in results if result.outcome is not Outcome.PASS] == []


@pytest.mark.slow
def test_each_occasion_is_named_where_steps_have_a_tolerance_too(walk: Walk, verifier: Verifier) -> None:
    walk.edit("task.toml", TOLERANT)
    walk.edit("candidate/env.py", [(TOP, TOP + OCCASIONS), (PLACE, WRONG)])
    failed = {result.name for result in probed(walk, verifier) if result.outcome is Outcome.FAIL}
    assert failed >= CHEATED  # steps that are led make a crowd of any part


@pytest.mark.slow
def test_a_candidate_that_waits_until_it_has_been_asked_often_is_caught(walk: Walk, verifier: Verifier) -> None:
    walk.edit("candidate/env.py", LATE)
    failed = [result.name for result in probed(walk, verifier) if result.outcome is Outcome.FAIL]
    assert "after long use" in failed and "episodes cut short" not in failed
