"""A measurement in a session's record and in its report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.assurance.audit import audit
from harness.errors import SessionError
from harness.measure.strength.rare.curve import Curve
from harness.measure.strength.recorded import Recorded
from harness.measure.strength.result import Strength
from harness.measure.strength.run import Settings
from harness.operations.strength import MUTANTS, RARE, Kind, measure_session
from harness.record.log import event_file, read_events
from harness.record.store import Store
from harness.report.document import collect
from harness.report.page import render
from tests.measure.strength.rare.synthetic import curve
from tests.measure.strength.test_result import MUTANTS as PLANTED
from tests.measure.strength.test_result import strength
from tests.report.script import Play

KILLED = strength(*PLANTED, enumerated=40)


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """A session with a verified commit, and one measurement of it whose figures are known beforehand."""
    play = Play(tmp_path)
    play.attempt(message="A first try")
    with play.session:
        yield play


def measure(play: Play, kind: Kind[Any], measured: Strength | Curve) -> Recorded[Any]:
    known = replace(kind, measure=lambda task, tree, *others, **named: measured)
    return measure_session(known, play.session, Settings())


def test_the_report_shows_rates_levels_and_each_mutant_that_was_not_killed(play: Play) -> None:
    measure(play, MUTANTS, KILLED)
    with Store(play.record) as store:
        document = collect(store)
        assert audit(store).ok
    [shown] = document["strength"]
    assert shown["counts"]["killed"] == 3
    assert shown["rates"]["argued"]["rate"] == 0.6
    assert [each["level"] for each in shown["levels"]] == [1, 2, 3]
    assert [each["status"] for each in shown["survivors"]] == ["survived", "argued", "equivalent", "unjudged"]
    assert shown["survivors"][1]["why"] == "nobody reads it"
    page = render(document)
    for part in ("8 of 40 planted faults, seed 7", "60.0% (3 of 5", "env.py:1", "the same program (lowered)"):
        assert part in page


@pytest.mark.parametrize(
    ("kind", "measured"), [(MUTANTS, KILLED), (RARE, curve())], ids=["mutants", "faults in rare states"]
)
def test_the_record_keeps_figures_and_the_whole_document_with_the_commit_that_was_measured(
    play: Play, kind: Kind[Any], measured: Strength | Curve
) -> None:
    report = measure(play, kind, measured)
    with Store(play.record) as store:
        event = read_events(store)[-1]
        kept = json.loads(event_file(store, event.id, f"{kind.event}.json"))
    assert play.session.head is not None
    assert (report.commit, report.event) == (play.session.head.commit, event.seq)
    assert event.arguments["commit"] == report.commit and event.seeds == {"run": measured.seed}
    assert event.detail["figures"] == kind.figures(measured)
    assert kept == json.loads(json.dumps(replace(report, event=None).to_json()))
    assert kept["commit"] == report.commit


def test_a_session_without_a_verified_commit_has_nothing_to_measure(tmp_path: Path) -> None:
    play = Play(tmp_path)
    with play.session, pytest.raises(SessionError, match="no verified commit yet"):
        measure_session(MUTANTS, play.session, Settings())
