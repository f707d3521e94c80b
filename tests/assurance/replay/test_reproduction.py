"""When a verdict that was reached again is the recorded one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from harness.assurance.replay.reproduction import Match, Reproduction, reproduction, verdict_digest
from harness.deviations import Deviation
from harness.model import Case
from harness.occurrences import Occurrences
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict

HERE = {"cpu": "one", "jax": "1", "judge": "a"}
ELSEWHERE = HERE | {"cpu": "another"}


def divergence(address: str = "observation", expected: str = "1.0") -> Divergence:
    import numpy as np

    case = Case(3, {"action": np.array([1, 0])})
    return Divergence(case, 2, address, expected, "2.0", "value", 3, "episodes, random", module="dynamics")


def recorded(**changes: Any) -> dict[str, Any]:
    """A verdict that passed level 1 and failed level 3."""
    first = LevelReport(
        1, None, (CheckResult("probe", Outcome.PASS, "dynamics", 200),), 7, evidence="aa", duration_s=1.5
    )
    found = CheckResult("episodes, random", Outcome.FAIL, examples=8, divergences=(divergence(),))
    third = LevelReport(3, None, (found,), 7, episodes=8, steps=80, evidence="bb")
    verdict = Verdict((first, third), 7, "0" * 64, "bubblewrap", True, 2.5)
    return verdict.to_json() | changes


def passed(difference: float, decision: str = "equivalent") -> dict[str, Any]:
    """A verdict of level 4."""
    row = {"name": "whole", "decision": decision, "difference": difference}
    measured = {"margin": 1.0, "comparisons": [row]}
    report = LevelReport(4, None, (CheckResult("whole", Outcome.PASS),), 7, episodes=60, transfer=measured)
    return Verdict((report,), 7, "0" * 64, "bubblewrap", True).to_json()


def again(changed: dict[str, Any], now: dict[str, Any] = ELSEWHERE) -> Reproduction:
    return reproduction(recorded(), changed, HERE, now)


def test_times_and_places_do_not_matter() -> None:
    other = recorded(duration_s=99.0, sandbox={"driver": "docker", "isolated": True})
    other["levels"][0]["duration_s"] = 4.0
    found = again(other, HERE)
    assert (found.match, found.differences) == (Match.EXACT, ())
    assert found.digest == found.again == verdict_digest(recorded())


def test_nodes_like_the_machine_that_asked_are_the_same_conditions() -> None:
    spread = recorded(nodes={"a node with a random name": HERE})
    assert reproduction(spread, recorded(), HERE, HERE).match is Match.EXACT
    assert again(recorded(nodes={"one": HERE, "two": HERE}), HERE).match is Match.EXACT


def test_nodes_of_another_kind_are_other_conditions() -> None:
    spread = recorded(nodes={"one": HERE, "two": ELSEWHERE})
    spread["levels"][0]["notes"] = ["the reference ran on nodes of 2 kinds"]
    found = reproduction(spread, recorded(), HERE, HERE)
    assert found.match is Match.WITHIN and found.changed["nodes"] == (['{"cpu": "another"}'], [])
    spread["nodes"]["two"] = HERE
    assert reproduction(spread, recorded(), HERE, HERE).match is Match.DIFFERENT


@pytest.mark.parametrize("path", [("seed",), ("levels", 1, "evidence"), ("levels", 0, "checks", 0, "examples")])
def test_under_the_same_conditions_a_single_other_value_is_a_difference(path: tuple[Any, ...]) -> None:
    other = recorded()
    inner = other
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = "cc" if path[-1] == "evidence" else 9
    found = again(other, HERE)
    assert found.match is Match.DIFFERENT
    assert "the very same conditions" in found.because
    assert found.differences[0].startswith("/".join(map(str, path)) + ": ")


def test_under_other_conditions_the_same_claim_with_other_numbers_is_within_tolerance_and_says_why() -> None:
    other = recorded()
    other["levels"][1]["evidence"] = "cc"
    other["levels"][1]["checks"][0]["divergences"][0]["expected"] = "1.0000001"
    found = again(other)
    assert found.match is Match.WITHIN
    assert "cpu" in found.because
    assert found.changed == {"cpu": ("one", "another")}
    assert len(found.differences) == 2


def broken_claims() -> dict[str, dict[str, Any]]:
    """One claim changed in each."""
    kinds = {
        name: recorded()
        for name in ("outcome", "level", "check", "path", "address", "module", "rule", "episodes", "levels that ran")
    }
    kinds["outcome"]["outcome"] = "PASS"
    kinds["level"]["levels"][1]["outcome"] = "PASS"
    kinds["check"]["levels"][0]["checks"][0]["name"] = "sweep"
    for name in ("address", "module", "rule"):
        kinds[name]["levels"][1]["checks"][0]["divergences"][0][name] = "another"
    kinds["path"]["levels"][1]["checks"][0]["divergences"][0] |= {"path": "reward", "address": "reward"}
    kinds["episodes"]["levels"][0]["episodes"] = 12
    kinds["levels that ran"]["levels"][1]["level"] = 2
    return kinds


@pytest.mark.parametrize(("name", "other"), broken_claims().items())
def test_another_claim_is_a_difference_whatever_the_conditions(name: str, other: dict[str, Any]) -> None:
    found = again(other)
    assert found.match is Match.DIFFERENT, name
    assert found.because and "conditions" not in found.because


def test_a_table_of_outcomes_must_be_that_of_what_was_compared() -> None:
    def told(terminated: int, evidence: str = "bb") -> dict[str, Any]:
        document = recorded()
        document["levels"][1]["evidence"] = evidence
        ends = {"terminated": terminated, "truncated": 0, "both": 0}
        document["levels"][1]["occurred"] = Occurrences(8, 80, ends).to_json()
        return document

    forged = reproduction(told(8), told(0), HERE, ELSEWHERE)
    assert forged.match is Match.DIFFERENT
    assert forged.because == "level 3 compared the very same things and tells other outcomes of them"
    assert reproduction(told(8), told(8), HERE, ELSEWHERE).match is Match.EXACT
    assert reproduction(told(8), told(0, "cc"), HERE, ELSEWHERE).match is Match.WITHIN, "other floats, other ends"
    assert reproduction(recorded(), told(8), HERE, ELSEWHERE).match is Match.WITHIN, "an older record tells none"


def test_how_far_floats_were_off_is_no_part_of_the_digest() -> None:
    """It hangs on the portions in which a candidate is asked, and older records do not tell it."""
    other = recorded()
    other["levels"][1]["deviations"] = {"reward": Deviation(8, 8).to_json()}
    assert again(other, HERE).match is Match.EXACT


def test_another_scale_is_another_verdict() -> None:
    found = again(recorded(scales={"reward": 5.0}), HERE)
    assert (found.match, found.differences) == (Match.DIFFERENT, ('scales: null -> {"reward": 5.0}',))


def test_trainings_elsewhere_may_differ_by_the_margin_but_not_decide_otherwise() -> None:
    assert reproduction(passed(0.2), passed(-0.3), HERE, ELSEWHERE).match is Match.WITHIN
    assert reproduction(passed(0.2), passed(-0.3), HERE, HERE).match is Match.DIFFERENT
    assert reproduction(passed(0.2), passed(-0.9), HERE, ELSEWHERE).match is Match.DIFFERENT
    assert reproduction(passed(0.2), passed(0.2, "undecided"), HERE, ELSEWHERE).match is Match.DIFFERENT


def test_an_error_says_nothing_on_either_side() -> None:
    failed = recorded(outcome="ERROR", error="no workers could be started")
    for one, other in ((recorded(), failed), (failed, recorded())):
        found = reproduction(one, other, HERE, HERE)
        assert found.match is Match.NOT_REPEATED
        assert "no workers could be started" in found.because


def test_conditions_that_a_record_does_not_state_are_reported_as_changed() -> None:
    other = copy.deepcopy(recorded())
    other["levels"][1]["evidence"] = "cc"
    assert reproduction(recorded(), other, {}, HERE).changed["jax"] == (None, "1")
