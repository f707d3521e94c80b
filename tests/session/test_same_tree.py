"""An attempt at the very tree of an earlier one is no new chance: which seed it takes, and what is not believed."""

from __future__ import annotations

import pytest

from harness.assurance.audit import audit
from harness.session import attempt
from harness.verdict import Outcome
from tests.session.standin import Agent


def test_an_interrupted_level_4_goes_on_with_its_seed_as_long_as_the_tree_is_the_same(trainer: Agent) -> None:
    trainer.get_right()
    trainer.write("whole.txt", "interrupt")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            trainer.session.verify(4)
    first, again = (seed for _, _, seed in trainer.verifier.calls)
    assert first == again
    trainer.write("whole.txt", "")
    assert trainer.session.verify(4).commit is not None
    assert trainer.verifier.calls[-1][2] != first
    assert audit(trainer.session.store).ok


@pytest.mark.parametrize("level", [2, 3])
def test_a_tree_that_failed_and_left_no_case_is_judged_with_that_seed_again(agent: Agent, level: int) -> None:
    agent.get_right()
    agent.write("whole.txt", "law3")
    assert agent.session.verify(3).verdict.outcome is Outcome.FAIL
    agent.session.verify(level)
    assert agent.session.verify(3).verdict.outcome is Outcome.FAIL
    first, *others = (seed for _, _, seed in agent.verifier.calls)
    assert others == [first, first]
    agent.write("whole.txt", "")
    assert agent.session.verify(3).commit is not None
    assert agent.verifier.calls[-1][2] != first
    assert audit(agent.session.store).ok


def test_a_tree_that_fails_and_then_passes_with_the_same_seed_is_not_believed(agent: Agent) -> None:
    agent.get_right()
    agent.write("whole.txt", "flaky3")
    assert agent.session.verify(3).verdict.outcome is Outcome.FAIL
    for _ in range(2):  # an error is no way out of it
        again = agent.session.verify(3)
        assert again.verdict.outcome is Outcome.ERROR and again.commit is None
        assert "this very tree failed level 3 with this very seed (event 1: " in again.verdict.error
    below = agent.session.verify(2)
    assert below.verdict.outcome is Outcome.PASS and below.commit is not None
    assert agent.session.verify(3).commit is None
    agent.write("whole.txt", "")
    assert agent.session.verify(3).commit is not None
    assert audit(agent.session.store).ok


def test_under_other_conditions_a_tree_that_failed_may_pass(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.get_right()
    agent.write("whole.txt", "flaky3")
    assert agent.session.verify(3).verdict.outcome is Outcome.FAIL
    monkeypatch.setattr(attempt, "conditions", lambda: {"versions": "of a judge that was mended"})
    assert agent.session.verify(3).commit is not None


def test_a_seed_that_was_given_is_not_taken_up_after_an_interruption(trainer: Agent) -> None:
    trainer.get_right()
    trainer.write("whole.txt", "interrupt")
    with pytest.raises(KeyboardInterrupt):
        trainer.session.verify(4, seed=5)
    with pytest.raises(KeyboardInterrupt):
        trainer.session.verify(4)
    assert trainer.verifier.calls[-1][2] != 5
