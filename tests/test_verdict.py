"""A verdict is the same after it was written as JSON; whatever else is read names what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from harness.course import Course
from harness.grids import grid
from harness.model import Case
from harness.record.event import VERDICT_FILE
from harness.record.log import event_file, read_events
from harness.record.received import opened
from harness.record.verdicts import verdict_of
from harness.support.document import DocumentError
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict
from tests.paths import RECORDED_SESSIONS
from tests.test_occurrences import TABLES

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="[]"), max_size=8)
WHOLE = st.integers(0, 1 << 62)
CASES = st.builds(
    lambda seed, moves: Case(seed, {"action": np.array(moves, np.int32)}), WHOLE, st.lists(st.integers(0, 3))
)
COURSE = Course(3, (0.5, None, 1.0), (0.5, 0.75, -1.0))
GRID = grid(np.eye(3), np.ones((3, 3)), np.eye(3) == 0)
DIVERGENCES = st.builds(
    Divergence, case=st.none() | CASES, step=WHOLE, path=WORDS, expected=WORDS, actual=WORDS, rule=WORDS,
    level=st.integers(0, 4), check=WORDS, index=st.lists(st.integers(0, 99), max_size=3).map(tuple),
    module=st.none() | WORDS, cause=WORDS, probe=st.none() | WORDS, inputs=st.none(),
    reproduced=st.sampled_from([None, True, False]), grid=st.none() | st.just(GRID),
    course=st.none() | st.just(COURSE),
)  # fmt: skip
CHECKS = st.builds(
    CheckResult, name=WORDS, outcome=st.sampled_from(Outcome), module=st.none() | WORDS, examples=WHOLE, detail=WORDS,
    divergences=st.lists(DIVERGENCES, max_size=2).map(tuple), failure=st.none(),
)  # fmt: skip
REPORTS = st.builds(
    LevelReport, level=st.integers(1, 4), module=st.none() | WORDS, checks=st.lists(CHECKS, max_size=2).map(tuple),
    seed=WHOLE, episodes=WHOLE, steps=WHOLE, features=st.dictionaries(WORDS, WHOLE, max_size=2),
    notes=st.lists(WORDS, max_size=2).map(tuple), duration_s=st.floats(0, 1e6), evidence=WORDS,
    transfer=st.none() | st.just({"comparisons": []}), occurred=st.none() | TABLES,
)  # fmt: skip
VERDICTS = st.builds(
    Verdict, reports=st.lists(REPORTS, max_size=2).map(tuple), seed=WHOLE, task_digest=WORDS, sandbox=WORDS,
    isolated=st.booleans(), duration_s=st.floats(0, 1e6), error=WORDS, image=WORDS, frames=st.just({}), failure=st.none(),
)  # fmt: skip


@given(VERDICTS)
def test_a_verdict_is_the_same_after_it_was_written(verdict: Verdict) -> None:
    written = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    read = Verdict.from_json(written)
    assert read.to_json() == written
    assert (read.outcome, read.seed, read.passed) == (verdict.outcome, verdict.seed, verdict.passed)
    assert [found.index for found in read.divergences] == [found.index for found in verdict.divergences]


def written() -> dict[str, Any]:
    """A verdict that found one difference, as JSON."""
    case = Case(3, {"action": np.array([1, 0])})
    found = Divergence(case, 2, "observation/board", "1", "2", "value", 1, "single steps", (3, 4))
    check = CheckResult("single steps", Outcome.FAIL, "moves", 64, divergences=(found,))
    return Verdict((LevelReport(1, None, (check,), 7),), 7, "ab", "process", isolated=False).to_json()


def test_a_divergence_tells_path_index_and_the_file_of_its_case() -> None:
    [found] = written()["levels"][0]["checks"][0]["divergences"]
    assert (found["path"], found["index"], found["address"]) == ("observation/board", [3, 4], "observation/board[3,4]")
    again = Divergence.from_json(found)
    assert again.counterexample is not None and found["case_file"] == again.counterexample[0]


def test_an_older_divergence_has_both_in_its_address() -> None:
    document = written()
    [found] = document["levels"][0]["checks"][0]["divergences"]
    for name in ("path", "index", "case_file"):
        del found[name]
    [read] = Verdict.from_json(document).divergences
    assert (read.path, read.index) == ("observation/board", (3, 4))


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        ((), [], r"verdict is \[\]; expected an object"),
        (("seed",), "7", "verdict.seed is '7'; expected a whole number"),
        (("sandbox", "isolated"), 1, "verdict.sandbox.isolated is 1; expected true or false"),
        (("outcome",), "PASS", "verdict.outcome is PASS; its levels say FAIL"),
        (("levels", 0, "outcome"), "PASS", r"verdict.levels\[0\].outcome is PASS; its checks say FAIL"),
        (
            ("levels", 0, "checks", 0, "divergences", 0, "path"),
            "reward",
            r"address is 'observation/board\[3,4\]'; its path and index say 'reward\[3,4\]'",
        ),
        (("levels", 0, "checks"), None, r"verdict.levels\[0\].checks is None; expected a list"),
        (("levels", 0, "checks", 0, "outcome"), "GOOD", r"verdict.levels\[0\].checks\[0\].outcome: 'GOOD'"),
        (("levels", 0, "features"), {"a": True}, r"verdict.levels\[0\].features.a is True; expected a whole number"),
        (("levels", 0, "occurred"), {"ends": []}, r"verdict.levels\[0\].occurred.ends is \[\]; expected an object"),
        (("levels", 0, "checks", 0, "divergences", 0, "case"), {"seed": 1}, r"divergences\[0\].case: KeyError"),
        (("levels", 0, "checks", 0, "divergences", 0, "index"), [0.5], r"divergences\[0\].index\[0\] is 0.5"),
    ],
)
def test_what_is_no_verdict_is_named(place: tuple[Any, ...], value: Any, complaint: str) -> None:
    document: Any = {"": written()}
    inner, name = document, ""
    for part in place:
        inner, name = inner[name], part
    inner[name] = value
    with pytest.raises(DocumentError, match=complaint):
        Verdict.from_json(document[""])


def test_an_index_that_no_array_has_is_a_part_of_the_path() -> None:
    [found] = written()["levels"][0]["checks"][0]["divergences"]
    older = {name: value for name, value in found.items() if name not in ("path", "index")} | {
        "address": f"a[{'9' * 5000}]"
    }
    assert (Divergence.from_json(older).index, Divergence.from_json(older).path) == ((), older["address"])


def test_a_missing_field_is_named() -> None:
    document = written()
    del document["levels"][0]["seed"]
    with pytest.raises(DocumentError, match=r"verdict.levels\[0\] has no 'seed'; expected a whole number"):
        Verdict.from_json(document)


@pytest.mark.parametrize(("name", "lacks"), [("cartpole", ()), ("pong", ("path", "index", "case_file"))])
def test_recorded_verdicts_are_read(name: str, lacks: tuple[str, ...]) -> None:
    """Pong's were made before path and index stood apart: all else is as it was recorded."""
    with opened(RECORDED_SESSIONS / f"{name}.bundle") as store:
        events = [event for event in read_events(store) if VERDICT_FILE in event.attached]
        assert len(events) > 5
        for event in events:
            recorded = json.loads(event_file(store, event.id, VERDICT_FILE))
            again = verdict_of(store, event).to_json()
            for report in again["levels"]:
                for found in (each for check in report["checks"] for each in check["divergences"]):
                    for new in lacks:
                        del found[new]
            assert again == recorded


def test_an_error_tells_its_reason_wherever_it_stands() -> None:
    def reason(*checks: CheckResult, error: str = "") -> str:
        return Verdict((LevelReport(1, None, checks, 7),), 7, "ab", "process", isolated=False, error=error).reason

    passed, failed = CheckResult("resets", Outcome.PASS), CheckResult("steps", Outcome.FAIL)
    broken = CheckResult("workers", Outcome.ERROR, detail="the reference, call `drive`: RuntimeError: no board")
    assert reason(passed, failed) == ""
    assert reason(passed, broken) == broken.detail
    assert reason(passed, CheckResult("workers", Outcome.ERROR)) == "workers"
    assert reason(broken, error="the sandbox is gone") == f"the sandbox is gone; {broken.detail}"


def test_both_values_are_in_the_line_that_tells_a_divergence_however_long_one_is() -> None:
    told = str(Divergence(None, 3, "draws", "1" * 5000 + "end", "2" * 5000, "draws", 3, "episodes"))
    assert len(told) < 600
    assert "111 … 1" in told and "end, got 222" in told
