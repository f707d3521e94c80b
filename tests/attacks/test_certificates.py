"""The attack: a certificate that is read as more than was certified."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness.operations.certification
from harness.assurance.audit import audit
from harness.assurance.certify.recheck import Recheck
from harness.cli.main import main
from harness.record.certificate import CERTIFIED, VERDICT, claims
from harness.session.session import Session
from tests.assurance.certify.test_forged import draft, record
from tests.session.standin import finished_session


class Embellished:
    """A session whose certificates show other figures beside the summary that is signed."""

    def __init__(self, session: Session, figures: dict[str, Any]) -> None:
        self._session = session
        self._figures = figures
        self.key = session.key

    def record(self, kind: str, **fields: Any) -> None:
        if kind == CERTIFIED:
            fields["detail"] = fields["detail"] | {"figures": fields["detail"]["figures"] | self._figures}
        self._session.record(kind, **fields)


@pytest.mark.parametrize("figures", [{}, {"divergence_bound_95": 1e-9}, {"levels": {"4": "PASS"}}, {"more": 1}])
def test_the_figures_that_a_reader_sees_are_those_of_the_summary(
    figures: dict[str, Any], task: Path, workspace: Path, home: Path
) -> None:
    finished_session(task, workspace, home)
    with Session.open(workspace, home) as session:
        embellished: Any = Embellished(session, figures)
        record(embellished, draft(session))
        problems = [problem.what for problem in audit(session.store).problems]
    assert len(problems) == bool(figures)
    assert all(what.endswith("it shows other figures than its summary claims") for what in problems)


def _better_outcome(verdict: dict[str, Any]) -> None:
    verdict["levels"][0]["outcome"] = "FAIL"
    verdict["levels"][0]["divergence_bound_95"] = None


def _better_level(verdict: dict[str, Any]) -> None:
    verdict["levels"][0]["checks"][0]["outcome"] = "FAIL"


def _better_bound(verdict: dict[str, Any]) -> None:
    verdict["levels"][0]["divergence_bound_95"] = 1e-9


def _another_level(verdict: dict[str, Any]) -> None:
    """Nothing was compared in it."""
    verdict["levels"].append(verdict["levels"][0] | {"level": 4, "checks": []})


@pytest.mark.parametrize("embellish", [_better_outcome, _better_level, _better_bound, _another_level])
def test_a_verdict_says_what_follows_from_its_checks(
    embellish: Callable[[dict[str, Any]], None], task: Path, workspace: Path, home: Path
) -> None:
    """Everything else in the certificate agrees with it."""
    finished_session(task, workspace, home)
    with Session.open(workspace, home) as session:
        made = draft(session)
        embellish(made.parts[VERDICT])
        claimed = claims(made.parts)
        made.predicate |= {name: claimed[name] for name in ("verificationResult", "verifiedLevels")}
        made.predicate["lockstep"] |= {name: claimed[name] for name in ("parts", "figures")}
        record(session, made)
        problems = [problem.what for problem in audit(session.store).problems]
    assert len(problems) == 1
    assert "its verdict " in problems[0]


def test_whoever_checks_a_certificate_is_told_what_it_covers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of level 1 alone is reproduced, too."""
    figures = {"levels": {"1": "PASS"}, "divergence_bound_95": None}
    found = Recheck(3, "0" * 40, "PASS", figures, "key", False, ())
    monkeypatch.setattr(harness.operations.certification, "check", lambda *given, **named: found)
    sent = tmp_path / "sent.bundle"
    sent.touch()
    assert main(["certify", str(sent), "--check"]) == 0
    assert "levels: 1 PASS" in capsys.readouterr().out
