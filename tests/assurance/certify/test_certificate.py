"""A certificate is issued once, and others come to it again from the record alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.assurance.audit import audit
from harness.assurance.certify.examination import Settings
from harness.assurance.certify.issue import issue
from harness.errors import SessionError
from harness.operations.certification import check
from harness.record.certificate import CERTIFIED, CERTIFYING, PARTS, parts_of
from harness.session.session import Session
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
        issued = issue(session, SMALL, silent)
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
    document = check(clone, silent, lambda part: reported.append(part.part), key=key)
    assert document["ok"] and document["certified"] and document["pinned"], document
    assert {part["part"]: part["match"] for part in document["parts"]} == {
        **dict.fromkeys(PARTS, "exact"),
        "speed": "measured again",
    }
    assert reported == list(PARTS)


def test_nothing_is_certified_before_something_is_verified(tmp_path: Path) -> None:
    with (
        Session.start(WALK, tmp_path / "workspace", tmp_path / "home") as session,
        pytest.raises(SessionError, match="no verified commit yet"),
    ):
        issue(session, SMALL, silent)
