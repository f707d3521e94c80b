"""A certificate is issued once, and others come to it again from the record alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from harness.assurance.audit import audit
from harness.assurance.certify.examination import Examination, Settings
from harness.assurance.certify.issue import Certificate, issue
from harness.errors import SessionError, SessionLocked
from harness.operations.certification import check
from harness.policy.trust import Trust
from harness.record.certificate import CERTIFIED, CERTIFYING, PARTS, parts_of
from harness.session.session import Session, SessionView
from harness.support.document import DocumentError
from harness.support.progress import silent
from harness.verdict import Outcome
from tests.verify.levels.conftest import WALK

SMALL = Settings(mutants=2, batches=(8,))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session on the walk whose candidate is verified, and certified."""
    root = tmp_path_factory.mktemp("certified")
    with Session.start(WALK, root / "workspace", root / "home") as session:
        assert session.verify(level=3).commit is not None
        issued = issue(lambda patient: nullcontext(session), SMALL, silent)
        assert issued.examination.outcome is Outcome.PASS, issued.to_json()
        yield session


@pytest.mark.slow
def test_a_certificate_holds_every_part_and_its_record_stands_an_audit(session: Session) -> None:
    begun, ended = session.events[-2:]
    assert (begun.kind, ended.kind, ended.outcome) == (CERTIFYING, CERTIFIED, "PASS")
    assert begun.seeds == ended.seeds and session.head is not None
    assert ended.arguments["commit"] == session.head.commit
    parts = parts_of(session.store, ended)
    assert list(parts) == list(PARTS)
    assert {name: part["outcome"] for name, part in parts.items()} == dict.fromkeys(PARTS, "PASS")
    figures = ended.detail["figures"]
    assert figures["levels"] == {"1": "PASS", "2": "PASS", "3": "PASS"}
    assert figures["strength"]["all"]["total"] <= SMALL.mutants
    assert {"lines", "branches", "features_reached"} <= figures["coverage"].keys()
    assert figures["speed"]["candidate"] > 0
    report = audit(session.store)
    assert report.ok, report.problems


@pytest.mark.slow
def test_somebody_with_a_bundle_and_the_public_key_comes_to_the_same_certificate(
    session: Session, tmp_path: Path
) -> None:
    bundle = tmp_path / "session.bundle"
    session.bundle(bundle)
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--mirror", bundle, clone], check=True)
    key = session.directory.path.parents[1] / "keys" / "ed25519.pub.pem"
    reported: list[str] = []
    again = check(
        clone, Trust(session.directory.path.parents[1]), silent, lambda part: reported.append(part.part), key=key
    )
    assert again.ok and again.to_json()["certified"] and again.pinned, again
    assert {part.part: str(part.again) for part in again.parts} == {
        **dict.fromkeys(PARTS, "exact"),
        "speed": "measured again",
    }
    assert reported == list(PARTS)


def test_nothing_is_certified_before_something_is_verified(tmp_path: Path) -> None:
    with (
        Session.start(WALK, tmp_path / "workspace", tmp_path / "home") as session,
        pytest.raises(SessionError, match="no verified commit yet"),
    ):
        issue(lambda patient: nullcontext(session), SMALL, silent)


@pytest.mark.slow
@pytest.mark.nightly
def test_others_may_work_on_the_session_while_it_is_examined_but_nobody_else_certifies_it(tmp_path: Path) -> None:
    with Session.start(WALK, tmp_path / "workspace", tmp_path / "home") as session:
        commit = session.verify(level=1).commit
    opened: list[bool] = []

    def opening(patient: bool) -> Session:
        opened.append(patient)
        return Session.open(tmp_path / "workspace", tmp_path / "home")

    def meanwhile(part: str, document: Mapping[str, Any], seconds: float) -> None:
        with opening(False) as session:
            session.record("tool", arguments={"part": part})
        with pytest.raises(SessionLocked, match=r"the certification of walk-.* is in use by process"):
            issue(opening, SMALL, silent)

    issued = issue(opening, Settings(levels=(1,), mutants=0, batches=(8,)), silent, meanwhile)
    assert issued.commit == commit
    assert (opened[0], opened[-1]) == (False, True)
    with SessionView(tmp_path / "workspace", tmp_path / "home") as view:
        kinds = [event.kind for event in view.events]
        assert kinds.index(CERTIFYING) < kinds.index("tool") < kinds.index(CERTIFIED) == len(kinds) - 1
        assert audit(view.store).ok


VERIFIED = {"outcome": "PASS", "levels": [{"level": 1, "outcome": "PASS", "divergence_bound_95": 0.01, "checks": []}]}
ISSUED = Certificate(
    session="walk-1",
    event=9,
    commit="c0",
    examination=Examination(
        seed=5,
        settings=SMALL,
        parts={name: {"outcome": "SKIPPED", "because": "a test"} for name in PARTS} | {"verdict": VERIFIED},
        seconds={"verdict": 1.25, "probes": 0.0},
    ),
)


def test_a_certificate_is_read_as_it_was_written() -> None:
    written = json.dumps(ISSUED.to_json(), allow_nan=False)
    assert json.dumps(Certificate.from_json(json.loads(written)).to_json()) == written


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (("event",), "9", r"certificate\.event is '9'; expected a whole number"),
        (("settings",), None, r"certificate\.settings is None; expected an object"),
        (("settings", "levels"), [1, "2"], r"certificate\.settings\.levels\[1\] is '2'; expected a whole number"),
        (("parts", "speed"), 7, r"certificate\.parts\.speed is 7; expected an object"),
        (("parts", "speed", "outcome"), "FINE", r"certificate\.parts\.speed\.outcome: 'FINE' is not a valid Outcome"),
        (("seconds", "verdict"), "long", r"certificate\.seconds\.verdict is 'long'; expected a number"),
    ],
)
def test_a_malformed_certificate_names_the_field(field: tuple[str, ...], value: Any, words: str) -> None:
    document = json.loads(json.dumps(ISSUED.to_json()))
    inner = document
    for part in field[:-1]:
        inner = inner[part]
    inner[field[-1]] = value
    with pytest.raises(DocumentError, match=words):
        Certificate.from_json(document)
