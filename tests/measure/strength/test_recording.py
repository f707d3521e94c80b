"""A measurement in a session's record and in its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.assurance.audit import audit
from harness.errors import SessionError
from harness.measure.strength import text
from harness.measure.strength.run import Settings
from harness.operations.strength import ATTACHED, STRENGTH, strength_session
from harness.record.store import Store
from harness.report.document import collect
from harness.report.page import render
from tests.measure.strength.test_result import MUTANTS, strength
from tests.report.script import Play


def recorded(directory: Path) -> Path:
    """The record of a session with one measurement in it, as `strength_session` records one."""
    play = Play(directory)
    measured = strength(*MUTANTS, enumerated=40)
    play.session.record(
        STRENGTH,
        arguments={"commit": None},
        outcome="PASS",
        detail={"figures": text.compact(measured), "finding": text.summary(measured)[1]},
        seeds={"run": measured.seed},
        attached={ATTACHED: json.dumps(measured.to_json()).encode()},
    )
    play.session.close()
    return play.record


def test_the_report_shows_rates_levels_and_each_mutant_that_was_not_killed(tmp_path: Path) -> None:
    with Store(recorded(tmp_path)) as store:
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


def test_a_session_without_a_verified_commit_has_nothing_to_measure(tmp_path: Path) -> None:
    play = Play(tmp_path)
    with play.session, pytest.raises(SessionError, match="no verified commit yet"):
        strength_session(play.session, Settings())
