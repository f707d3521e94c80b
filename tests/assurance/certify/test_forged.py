"""What the audit says of a certificate that claims what was not examined, even where the harness's own key signed it."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from harness.assurance.audit import audit
from harness.measure.coverage.result import Coverage
from harness.measure.strength.result import Strength
from harness.record.attest import SUMMARY, Subject, seal
from harness.record.certificate import (
    CERTIFIED,
    CERTIFYING,
    COVERAGE,
    ENVELOPE,
    PARTS,
    SPEED,
    STRENGTH,
    VERDICT,
    claims,
    path_of,
    seed_of,
)
from harness.report.document import collect
from harness.report.page import render
from harness.session.session import Session
from harness.verdict import CheckResult, LevelReport, Outcome, Verdict
from tests.session.standin import finished_session, make_task

SETTINGS = {"levels": [], "mutants": 0, "batches": []}
DRAWN = 7
EPISODES = 299


@dataclass
class Draft:
    """A certificate before it is signed, as a forger would change it."""

    asked: dict[str, Any]
    subject: Subject
    parts: dict[str, dict[str, Any]]
    predicate: dict[str, Any]
    outcome: str = "PASS"
    seed: int = DRAWN
    begins: bool = True


def draft(session: Session) -> Draft:
    """What an honest certification of the session's newest commit would record."""
    head = session.head
    assert head is not None and head.commit is not None and head.workspace is not None
    start = session.events[0]
    digest, seed = start.detail["task_digest"], seed_of(DRAWN, VERDICT)
    level = LevelReport(1, None, (CheckResult("a check", Outcome.PASS),), seed, episodes=EPISODES)
    verdict = Verdict((level,), seed, digest, "bubblewrap", True).to_json()
    parts: dict[str, dict[str, Any]] = {name: {"outcome": "SKIPPED", "because": "a test"} for name in PARTS}
    parts |= {VERDICT: verdict, SPEED: {"outcome": "PASS", "measurements": []}}
    claimed = claims(parts)
    predicate = {
        "resourceUri": f"lockstep:session/{session.id}",
        "policy": {"uri": f"lockstep:task/{start.arguments['task']}", "digest": {"sha256": digest}},
        "verificationResult": claimed["verificationResult"],
        "verifiedLevels": claimed["verifiedLevels"],
        "lockstep": {
            "seed": DRAWN,
            "settings": dict(SETTINGS),
            "parts": claimed["parts"],
            "figures": claimed["figures"],
        },
    }
    asked = {"commit": head.commit, "sandbox": "process", **SETTINGS}
    subject = Subject(head.commit, head.workspace["gitTree"], head.workspace["dirHash"])
    return Draft(asked, subject, parts, predicate)


def record(session: Session, made: Draft) -> None:
    """Write it into the session's record."""
    if made.begins:
        session.record(CERTIFYING, arguments=made.asked, seeds={"run": DRAWN})
    files = {path_of(name): json.dumps(part).encode() for name, part in made.parts.items()}
    inputs = [{"uri": name, "digest": {"sha256": sha256(content).hexdigest()}} for name, content in files.items()]
    predicate = {"inputAttestations": inputs, **made.predicate}
    files[ENVELOPE] = seal(made.subject, SUMMARY, predicate, session.key)
    session.record(
        CERTIFIED,
        arguments=made.asked,
        outcome=made.outcome,
        detail={"figures": made.predicate["lockstep"]["figures"], "finding": ""},
        seeds={"run": made.seed},
        attached=files,
    )


def other_commit(made: Draft) -> None:
    made.subject = Subject("0" * 40, made.subject.tree, made.subject.digest)


def unverified_commit(made: Draft) -> None:
    made.asked["commit"] = "0" * 40


def failed_part(made: Draft) -> None:
    made.parts[VERDICT]["outcome"] = "FAIL"


def missing_part(made: Draft) -> None:
    del made.parts[SPEED]


def another_part(made: Draft) -> None:
    made.predicate["inputAttestations"] = []


def better_figures(made: Draft) -> None:
    made.predicate["lockstep"]["figures"] = {"divergence_bound_95": 1e-9}


def other_levels(made: Draft) -> None:
    made.predicate["verifiedLevels"] = ["LOCKSTEP_LEVEL_1", "LOCKSTEP_LEVEL_4"]


def chosen_seed(made: Draft) -> None:
    made.seed = made.predicate["lockstep"]["seed"] = DRAWN + 1


def verdict_from_another_seed(made: Draft) -> None:
    made.parts[VERDICT]["seed"] += 1


def no_begin(made: Draft) -> None:
    made.begins = False


def other_task(made: Draft) -> None:
    made.predicate["policy"] = deepcopy(made.predicate["policy"])
    made.predicate["policy"]["digest"]["sha256"] = "0" * 64


def verdict_by_another_task(made: Draft) -> None:
    made.parts[VERDICT]["task_digest"] = "0" * 64


def other_session(made: Draft) -> None:
    made.predicate["resourceUri"] = "lockstep:session/another"


def other_settings(made: Draft) -> None:
    made.predicate["lockstep"]["settings"] = {**SETTINGS, "mutants": None}


def other_outcome(made: Draft) -> None:
    made.outcome = "FAIL"


FORGERIES: dict[Callable[[Draft], None], str] = {
    other_commit: "is not about commit",
    unverified_commit: "which nothing before it verified",
    failed_part: "claims what its parts do not say",
    missing_part: "claims what its parts do not say",
    another_part: "rests on other parts",
    better_figures: "claims what its parts do not say",
    other_levels: "claims what its parts do not say",
    chosen_seed: "not the one that was drawn",
    verdict_from_another_seed: "its verdict is from another seed",
    no_begin: "no certification began",
    other_task: "names another task",
    verdict_by_another_task: "its verdict is by another task",
    other_session: "is of another session",
    other_settings: "states other settings",
    other_outcome: "does not follow from its parts",
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return finished_session(make_task(tmp_path / "task"), tmp_path / "workspace", tmp_path / "home")


def problems(session: Session, made: Draft) -> list[tuple[str, str]]:
    with Session.open(session.workspace, session.directory.path.parents[1]) as opened:
        record(opened, made)
        return [(problem.rule, problem.what) for problem in audit(opened.store).problems]


def test_an_honest_certificate_stands(session: Session) -> None:
    made = draft(session)
    assert problems(session, made) == []
    assert Outcome(made.outcome) is Outcome.PASS


def test_the_report_shows_a_certificate(session: Session) -> None:
    with Session.open(session.workspace, session.directory.path.parents[1]) as opened:
        record(opened, draft(opened))
        document = collect(opened.store)
    [shown] = document["certificates"]
    assert (shown["outcome"], shown["seed"]) == ("PASS", DRAWN)
    assert shown["bound"] == pytest.approx(1 - 0.05 ** (1 / EPISODES))
    assert session.head is not None and shown["commit"] == session.head.commit
    page = render(document)
    assert "<h3>Certificates</h3>" in page and "at most 1%" in page


def test_the_report_tells_strength_and_coverage_from_the_certificate(session: Session) -> None:
    nothing = Strength(
        task="walk", task_digest="", candidate="", seed=5, settings={"sample": None, "every_level": False}, sandbox="",
        isolated=True, baseline={1: 0.5}, judged=(), enumerated=0, resumed=0, duration_s=1.0, machine={},
    )  # fmt: skip
    covered = Coverage(not_measured=("a native module",))
    with Session.open(session.workspace, session.directory.path.parents[1]) as opened:
        made = draft(opened)
        made.parts |= {
            name: part.to_json() | {"outcome": "PASS"} for name, part in ((STRENGTH, nothing), (COVERAGE, covered))
        }
        record(opened, made)
        document = collect(opened.store)
        event = opened.events[-1].seq
    assert [(each["event"], each["certified"], each["seed"]) for each in document["strength"]] == [(event, True, 5)]
    assert document["reached"]["certified"] == event and document["damage"] == []
    page = render(document)
    assert "for its certificate" in page and "This record holds no measurement of it" not in page
    assert f"As the certificate of event {event} measured it" in page and "a native module" in page


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_certificate_that_claims_too_much_is_named(forge: Callable[[Draft], None], session: Session) -> None:
    made = draft(session)
    forge(made)
    found = problems(session, made)
    assert {rule for rule, _ in found} <= {"certificate", "malformed"}
    assert any(FORGERIES[forge] in what for _, what in found), found
