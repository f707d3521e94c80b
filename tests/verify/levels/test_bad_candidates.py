"""A candidate that does not have the form that its task demands. Those that crash, hang or cheat: tests/cheats."""

from __future__ import annotations

import pytest

from harness.verdict import Outcome
from tests.verify.levels.conftest import Walk


@pytest.mark.slow
def test_a_candidate_of_the_wrong_form_fails_with_every_mistake_named(walk: Walk) -> None:
    walk.edit("candidate/env.py", [(".astype(jnp.float32)}", "}"), ("def decode", "def decoded")])
    verdict = walk.verify()
    assert verdict.outcome is Outcome.FAIL
    [check] = verdict.reports[-1].checks
    assert check.name == "contract"
    rules = {(d.path, d.rule) for d in check.divergences}
    assert ("observation", "dtype") in rules
    assert any("there is no function `decode`" in d.cause for d in check.divergences)
