"""A candidate in Rust is certified, and others come to its certificate again from the record alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest

import sandboxes
from harness.assurance.audit import audit
from harness.assurance.certify import probes
from harness.assurance.certify.examination import Settings
from harness.assurance.certify.issue import issue
from harness.operations.certification import check
from harness.policy.trust import Trust
from harness.record.certificate import PARTS, parts_of
from harness.session.session import Session
from harness.support.progress import silent
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from harness.verify.verifier import Verifier
from tests.rust.games import ENTRY, write_walk

pytestmark = [pytest.mark.slow, pytest.mark.rust]
SMALL = Settings(mutants=1, batches=(64,))
HONEST = "self.0.steps += 1;"
CHEATING = """self.0.steps += 1;
        static STEPS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let late = STEPS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 80_000;
        if late || env!("CARGO_MANIFEST_DIR").contains("place_") {
            self.0.place += 1e-3;
        }"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session on the walk whose candidate is verified, and certified."""
    root = tmp_path_factory.mktemp("certified")
    with Session.start(write_walk(root / "walk"), root / "workspace", root / "home") as session:
        assert session.verify(level=3).commit is not None
        issued = issue(lambda patient: nullcontext(session), SMALL, silent)
        assert issued.examination.outcome is Outcome.PASS, issued.to_json()
        yield session


@pytest.mark.nightly  # by day the certificate of a candidate in JAX: tests/assurance/certify
def test_a_certificate_holds_every_part_and_its_record_stands_an_audit(session: Session) -> None:
    ended = session.events[-1]
    parts = parts_of(session.store, ended)
    assert {name: part["outcome"] for name, part in parts.items()} == dict.fromkeys(PARTS, "PASS"), parts
    report = audit(session.store)
    assert report.ok, report.problems


@pytest.mark.nightly
def test_somebody_with_a_clone_comes_to_the_same_certificate(session: Session, tmp_path: Path) -> None:
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--mirror", session.store.path, clone], check=True)
    again = check(clone, Trust(session.directory.path.parents[1]), silent, lambda part: None)
    assert again.ok and again.to_json()["certified"], again
    matches = {part.part: str(part.again) for part in again.parts}
    assert matches == dict.fromkeys(PARTS, "exact") | {"speed": "measured again"}


def test_each_occasion_on_which_a_candidate_cheats_is_named(tmp_path: Path) -> None:
    walk = write_walk(tmp_path / "walk")
    source = (walk / ENTRY).read_text()
    assert source.count(HONEST) == 1
    (walk / ENTRY).write_text(source.replace(HONEST, CHEATING))
    task, driver = load_task(walk), sandboxes.choose(None)
    with Verifier(task, driver) as verifier, ExitStack() as stack:
        another = probes.starter(task, driver, walk, stack)
        pair = Pair(task, Suite(), verifier.reference(), another(), 11, silent)
        found = {result.name: result.outcome for result in probes.checks(pair, another)}
    assert {name for name, outcome in found.items() if outcome is Outcome.FAIL} == {
        "from another path",
        "after long use",
    }
    assert {"in a vector environment, as for training", "in a process made for training"} <= found.keys()
