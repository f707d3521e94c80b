"""What a measurement of coverage came to is the same after it was written; whatever else is read names what is wrong."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from harness.measure.coverage.result import Coverage, File, Level
from harness.operations.coverage import CoverageReport
from harness.record.event import Event
from harness.session.coverage import known
from harness.support.document import DocumentError
from harness.verdict import Outcome

WORDS = st.text(st.characters(codec="utf-8"), max_size=6)
FILES = st.sampled_from(["a/walk.py", "b.rs"])
LINES = st.frozensets(st.integers(1, 30), max_size=8)
BRANCHES = st.frozensets(st.builds("{}->{}".format, st.integers(1, 30), st.integers(1, 30)), max_size=4)
WHOLE = st.integers(0, 1000)
LEVELS = st.builds(
    Level, lines=st.dictionaries(FILES, LINES), branches=st.dictionaries(FILES, BRANCHES),
    features=st.dictionaries(WORDS, WHOLE, max_size=2), asked=WHOLE, repeated=WHOLE,
    whole=st.dictionaries(FILES, st.tuples(WHOLE, WHOLE, WHOLE, WHOLE)), seconds=st.floats(0, 1e4), error=WORDS,
)  # fmt: skip
COVERAGES = st.builds(
    Coverage,
    files=st.dictionaries(
        FILES,
        st.builds(File, lines=LINES, branches=BRANCHES, text=st.dictionaries(st.integers(1, 30), WORDS, max_size=9)),
    ),
    modules=st.dictionaries(WORDS, st.lists(st.tuples(FILES, WHOLE, WHOLE), max_size=2).map(tuple), max_size=2),
    levels=st.dictionaries(st.integers(1, 3), LEVELS, max_size=2),
    not_measured=st.lists(WORDS, max_size=2).map(tuple),
)
REPORTS = st.builds(
    CoverageReport, outcome=st.sampled_from(Outcome), task=WORDS, seed=st.integers(0, 1 << 62), reference=COVERAGES,
    bound=st.none() | st.floats(0, 1), remarks=st.lists(WORDS, max_size=2).map(tuple), candidate=st.none() | COVERAGES,
    session=st.none(), commit=st.none(), event=st.none(),
)  # fmt: skip


@given(COVERAGES, st.booleans())
def test_a_coverage_is_the_same_after_it_was_written(reached: Coverage, text: bool) -> None:
    written = json.dumps(reached.to_json(text=text), allow_nan=False)
    assert json.dumps(Coverage.from_json(json.loads(written)).to_json(text=text)) == written


@given(REPORTS)
def test_a_report_is_the_same_after_it_was_written(report: CoverageReport) -> None:
    written = json.dumps(report.to_json(), allow_nan=False)
    assert json.dumps(CoverageReport.from_json(json.loads(written)).to_json()) == written


def test_of_a_session_a_report_keeps_commit_and_event() -> None:
    report = CoverageReport(
        outcome=Outcome.PASS, task="walk", seed=5, reference=Coverage(), session="walk-1", commit="c0", event=7
    )
    assert list(report.to_json())[-3:] == ["session", "commit", "event"]
    assert CoverageReport.from_json(report.to_json()) == report


RECORDED: dict[str, Any] = {
    "outcome": "PASS", "task": "walk", "seed": 5,
    "together": {"lines": [2, 3], "branches": [1, 2], "features_reached": [0, 1]},
    "levels": [{
        "level": 1, "lines": [2, 3], "branches": [1, 2], "features_reached": [0, 1], "adds_lines": 2, "adds_branches": 1,
        "asked": 9, "repeated": 4, "seconds": 0.25, "error": "", "features": {"it rained": 0},
        "whole": {"walk.py": [3, 4, 1, 2]}, "reached": {"walk.py": "1-2"}, "taken": {"walk.py": ["1->2"]},
    }],
    "modules": [{"name": "moves", "places": [["walk.py", 2, 3]], "lines": [1, 2], "branches": [0, 0]}],
    "never": [{"file": "walk.py", "first": 3, "last": 3}], "never_count": 1, "untaken": ["walk.py:1->3"],
    "unreached_features": ["it rained"], "not_measured": ["b.rs: not counted"],
    "files": [{
        "name": "walk.py", "lines": "1-3", "branches": ["1->2", "1->3"],
        "figures": {"lines": [2, 3], "branches": [1, 2]},
    }],
    "divergence_bound_95": 0.01,
}  # fmt: skip
"""The detail of an event, as sessions have recorded it from the first."""


def test_a_recorded_coverage_is_read_and_written_as_it_was() -> None:
    reached = known([Event(3, "", "coverage", detail={"coverage": RECORDED})]).coverage
    assert reached.lines() == (2, 3) and reached.levels[1].whole == {"walk.py": (3, 4, 1, 2)}
    report = CoverageReport(outcome=Outcome.PASS, task="walk", seed=5, reference=reached, bound=0.01)
    assert json.dumps(report.recorded()) == json.dumps(RECORDED)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("levels",), {}, r"coverage\.levels is {}; expected a list"),
        (("levels", 0, "level"), "1", r"coverage\.levels\[0\]\.level is '1'; expected a whole number"),
        (
            ("levels", 0, "reached", "walk.py"),
            "1-x",
            r"levels\[0\]\.reached\.walk\.py is '1-x'; expected numbers of lines",
        ),
        (("levels", 0, "reached", "walk.py"), "1-99999999", r"levels\[0\]\.reached\.walk\.py is '1-99999999'"),
        (("levels", 0, "taken", "walk.py"), [3], r"levels\[0\]\.taken\.walk\.py\[0\] is 3; expected a text"),
        (("levels", 0, "whole", "walk.py"), [1, 2], r"levels\[0\]\.whole\.walk\.py has 2 numbers; expected 4"),
        (
            ("modules", 0, "places"),
            [["walk.py", 2]],
            r"coverage\.modules\[0\]\.places\[0\] is not a place; expected a file",
        ),
        (("never", 0, "text"), ["lost()"], r"coverage\.never\[0\]\.text has 'lost\(\)'; expected a line such as"),
        (("files", 0, "branches"), "1->2", r"coverage\.files\[0\]\.branches is '1->2'; expected a list"),
    ],
)
def test_a_malformed_coverage_names_place_and_form(place: tuple[Any, ...], value: Any, words: str) -> None:
    document = json.loads(json.dumps(RECORDED))
    inner = document
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    with pytest.raises(DocumentError, match=words):
        Coverage.from_json(document)
    assert known([Event(3, "", "coverage", detail={"coverage": document})]).coverage == Coverage()
