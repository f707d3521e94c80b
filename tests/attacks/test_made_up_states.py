"""The attack: propose a case that begins in a state no episode reaches, and that changes the reference which then judges.

In a reference in C such a state can write where it should not. Here a fault in Python stands for it: one state, outside of
all bounds, after which going right goes left.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.model import Case
from harness.session.session import Session
from harness.verdict import Divergence, Outcome
from tests.sampling import by_day
from tests.session import standin
from tests.verify.levels.conftest import Walk, make_walk, walk

__all__ = ["make_walk", "walk"]

PROPOSED = "proposed case made-up.json (level 2)"
RESTORE, STEP = "        self._word = int(state.get(", "            self._place += 1.0 if action == 1 else -1.0"
FAULT = [
    ("class Walk:\n", "class Walk:\n    faulty = False\n\n"),
    (RESTORE, f"        Walk.faulty |= self._steps == -1234\n{RESTORE}"),
    (STEP, f"{STEP.replace('action == 1', 'action == 1 and not Walk.faulty')}"),
]


def made_up(actions: Sequence[int], steps: int = -1234, origin: str = "") -> str:
    start = {
        "state/place": {"dtype": "float64", "shape": [], "values": [0.0]},
        "state/steps": {"dtype": "int32", "shape": [], "values": [steps]},
    }
    taken = {"dtype": "int32", "shape": [len(actions)], "values": list(actions)}
    return json.dumps({"seed": 1, "start": start, "actions": {"action": taken}, "origin": origin})


def propose(walk: Walk, actions: Sequence[int]) -> None:
    (walk.directory / "proposed" / "cases").mkdir(parents=True, exist_ok=True)
    (walk.directory / "proposed" / "cases" / "made-up.json").write_text(made_up(actions))


def know(walk: Walk, name: str, case: str) -> None:
    (walk.directory / "cases").mkdir(exist_ok=True)
    (walk.directory / "cases" / name).write_text(case)


@pytest.mark.slow
def test_a_made_up_state_reaches_no_reference_that_judges(walk: Walk) -> None:
    """The candidate is right: it fails where the reference has become another one."""
    walk.edit("reference/adapter.py", FAULT)
    propose(walk, [0])
    for _ in range(2):
        verdict = walk.verify((2, 3))
        assert [check.outcome for check in verdict.reports[0].checks if check.name.startswith("proposed")] == ["PASS"]
        assert verdict.outcome is Outcome.PASS


@pytest.mark.slow
@pytest.mark.parametrize("action", by_day([-1, 3, 1 << 30], {3}))
def test_an_action_outside_of_its_bounds_is_taken_by_no_reference(action: int, walk: Walk) -> None:
    (walk.directory / "proposed" / "cases").mkdir(parents=True)
    case = {"seed": 1, "actions": {"action": {"dtype": "int32", "shape": [1], "values": [action]}}}
    (walk.directory / "proposed" / "cases" / "wild.json").write_text(json.dumps(case))
    [check] = [check for check in walk.verify((2,)).reports[0].checks if check.name == "proposed case wild.json"]
    assert check.outcome is Outcome.SKIPPED
    assert "leaves the bounds" in check.detail


@pytest.mark.slow
def test_a_case_that_fails_leaves_no_reference_behind_either(walk: Walk) -> None:
    """It is played again, to be drawn; and a candidate that was right before is right afterwards."""
    walk.edit("reference/adapter.py", FAULT)
    propose(walk, [1])
    verdict = walk.verify((2,))
    assert verdict.outcome is Outcome.FAIL
    assert verdict.divergences[0].check == "proposed case made-up.json"
    (walk.directory / "proposed" / "cases" / "made-up.json").unlink()
    assert walk.verify((2,)).outcome is Outcome.PASS


def test_a_made_up_state_becomes_no_known_case(
    task: Path, workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those run first, in the references that judge, for as long as there is the task."""
    honest = standin._divergence

    def diverge(check: str, start: bool) -> None:
        def divergence(level: int, module: str | None, actual: str) -> Divergence:
            found = honest(level, module, actual)
            case = found.case or Case(1, {"action": np.zeros(1, np.int64)})
            return replace(found, check=check, case=replace(case, start={"state/x": np.zeros(())} if start else None))

        monkeypatch.setattr(standin, "_divergence", divergence)

    with Session.start(task, workspace, home, verifier=standin.factory([])) as session:
        agent = standin.Agent(session, [])
        agent.write("start", "wrong")
        diverge("proposed case made-up.json", True)
        assert session.verify().cases == ()
        diverge("proposed case played.json", False)
        assert len(session.verify().cases) == 1
        diverge("single steps", True)
        assert len(session.verify().cases) == 1


@pytest.mark.slow
@pytest.mark.parametrize("origin", by_day([PROPOSED, "known cases (level 2)"], {PROPOSED}))
def test_nor_does_one_that_an_earlier_version_kept(origin: str, walk: Walk) -> None:
    """A known case says where it comes from. One that failed again, and was kept again, says that alone."""
    walk.edit("reference/adapter.py", FAULT)
    know(walk, "0-made-up.json", made_up([0], origin=origin))
    for _ in range(2):
        verdict = walk.verify((2, 3))
        assert [check.outcome for check in verdict.reports[0].checks if check.name == "known cases"] == ["PASS"]
        assert verdict.outcome is Outcome.PASS


@pytest.mark.slow
def test_a_known_case_that_fails_leaves_no_reference_behind_either(walk: Walk) -> None:
    walk.edit("reference/adapter.py", FAULT)
    know(walk, "0-made-up.json", made_up([1], origin="known cases (level 2)"))
    verdict = walk.verify((2,))
    assert [divergence.check for divergence in verdict.divergences] == ["known cases"]
    (walk.directory / "cases" / "0-made-up.json").unlink()
    assert walk.verify((2,)).outcome is Outcome.PASS


@pytest.mark.slow
def test_whoever_plays_known_cases_the_evidence_is_the_same(walk: Walk) -> None:
    """A recorded verdict that began with such cases is reached again."""
    evidence = []
    for origin in ("", "proposed case made-up.json (level 2)"):
        for number in range(6):
            know(walk, f"{number}.json", made_up([1] * (number + 1), number, origin if number in (1, 2, 4) else ""))
        verdict = walk.verify((2,))
        assert verdict.outcome is Outcome.PASS
        evidence.append(verdict.reports[0].evidence)
    assert len(set(evidence)) == 1
