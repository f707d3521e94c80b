"""The report of a specification: made from the record alone, and nothing in it is more than text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.operations import specification
from harness.record.specification import COMPARED, STRENGTH, document_of
from harness.report.document import collect
from harness.report.page import render
from harness.specification.record import SpecificationRecord, located
from tests.home import new_home
from tests.specification.conftest import changed

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def record(task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SpecificationRecord:
    return SpecificationRecord(located(new_home(tmp_path, monkeypatch), task))


def test_a_report_tells_statements_scenarios_rulings_divergences_and_strength(
    record: SpecificationRecord, task: Path
) -> None:
    with record:
        changed(
            task / "specification/RULES.md", "1. One player has one ship.", f"1. One player has {HOSTILE} one ship."
        )
        specification.rule(record, f"half of {HOSTILE} five is three", [15], client=HOSTILE)
        found = {
            "level": 1, "check": "single steps", "address": "state/score", "step": 1, "expected": HOSTILE, "actual": "2",
            "cause": "one step",
        }  # fmt: skip
        missed = {"first": [], "second": [{"scenario": HOSTILE, "where": "", "cites": [15], "misses": []}]}
        compared = {"levels": [{"checks": [{"divergences": [found]}]}], "missed": missed}
        record.record(
            COMPARED, outcome="FAIL", seeds={"run": 7}, attached={document_of("compare"): json.dumps(compared).encode()}
        )
        strength = {
            "reading": "first", "planted": 60, "survived": 3,
            "by_statement": [{"statement": None, "survived": ["x"]}, {"statement": 23, "survived": ["a", "b"]}],
        }  # fmt: skip
        record.record(STRENGTH, attached={document_of("strength"): json.dumps(strength).encode()})
        document = collect(record.store)
    told = document["specification"]
    statements = {one["number"]: one for one in told["statements"]}
    assert len(statements) == 31
    assert "storm 3 takes half, rounded up" in statements[15]["scenarios"]
    assert (statements[31]["rules_on"], statements[31]["scenarios"]) == ([15], [])
    assert (statements[23]["unnoticed"], statements[1]["unnoticed"], told["strength"]["elsewhere"]) == (2, 0, 1)
    assert [(one["statement"], one["on"]) for one in told["rulings"]] == [(31, [15])]
    [comparison] = told["comparisons"]
    assert (comparison["outcome"], comparison["divergences"][0]["address"]) == ("FAIL", "state/score")
    assert told["frozen"] is None
    page = render(document)
    assert HOSTILE not in page and "&lt;script&gt;" in page
    assert 'href="#specification"' in page and "Not to be relied on" in page, "nothing began that was compared"
    for said in ("Level 1, single steps", "3 of 60 faults", "none yet", "does not do as the scenario"):
        assert said in page, said


def test_a_document_that_is_none_is_named_and_hides_nothing_else(record: SpecificationRecord) -> None:
    with record:
        record.record(COMPARED, outcome="???", attached={document_of("compare"): b"{"})
        scenarios = record.place.scenarios / "harbour.toml"
        scenarios.write_text("[[[")
        record.record("spec_number", with_tree=True)
        document = collect(record.store)
    assert [one["outcome"] for one in document["specification"]["comparisons"]] == ["ERROR"]
    assert len(document["specification"]["statements"]) == 30
    told = " ".join(document["damage"])
    assert "scenarios/harbour.toml" in told and "compare.json" in told
    assert "Not to be relied on" in render(document)
