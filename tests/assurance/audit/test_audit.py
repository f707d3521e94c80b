"""The audit: an honest record has no problem, wherever it lies. test_tampering.py has those that are not honest."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.assurance.audit import AuditReport, audit
from harness.cli import show
from harness.errors import RecordError
from harness.record.keys import PublicKey
from harness.record.store import Store
from tests.assurance.audit.reports import said
from tests.session.standin import finished_session, make_task


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, PublicKey]]:
    """The git directory of a finished session: a failure, then a commit for each of four steps."""
    root = tmp_path_factory.mktemp("honest")
    session = finished_session(make_task(root / "task"), root / "workspace", root / "home")
    yield session.directory.repository, PublicKey.read(root / "home" / "keys" / "ed25519.pub.pem")


def rules(report: AuditReport) -> set[str]:
    return {problem.rule for problem in report.problems}


# Honest records


def test_an_honest_record_has_no_problem_and_a_row_for_each_commit(honest: tuple[Path, PublicKey]) -> None:
    report = audit(honest[0], honest[1])
    assert report.problems == ()
    assert report.ok
    assert report.pinned
    assert report.first_bad is None
    assert [(row.message, row.level, row.module) for row in report.rows] == [
        ("Start", 1, "start"),
        ("Move", 1, "moves"),
        ("Compose", 2, None),
        ("Episodes", 3, None),
    ]
    last = report.rows[-1]
    assert (last.examples, last.episodes, last.steps) == (30, 20, 200)
    assert last.bound == pytest.approx(0.1391, abs=1e-4)
    assert (last.sandbox, last.isolated, last.image) == ("standin", True, "")
    assert last.cases == 1
    assert (report.rows[0].attempts, report.rows[0].dollars) == (2, 0.25)
    assert last.machine["cores"]
    described = json.loads(json.dumps(report.to_json()))
    assert described["ok"] is True
    assert described["rows"][3]["commit"] == last.commit


def test_git_finds_nothing_wrong_with_a_record(honest: tuple[Path, PublicKey]) -> None:
    command = ["git", "--git-dir", str(honest[0]), "fsck", "--strict", "--full", "--no-dangling"]
    checked = subprocess.run(command, check=True, capture_output=True, text=True)
    assert checked.stdout + checked.stderr == ""


def test_clones_checkouts_and_bundles_are_audited_alike(honest: tuple[Path, PublicKey], tmp_path: Path) -> None:
    expected = audit(honest[0])
    with Store(honest[0]) as store:
        store.bundle(tmp_path / "session.bundle")
        assert audit(store) == expected
    assert audit(tmp_path / "session.bundle") == expected
    subprocess.run(["git", "clone", "-q", "--mirror", tmp_path / "session.bundle", tmp_path / "m.git"], check=True)
    assert audit(tmp_path / "m.git") == expected
    subprocess.run(["git", "clone", "-q", honest[0], tmp_path / "checkout"], check=True)
    subprocess.run(
        ["git", "fetch", "-q", "origin", "+refs/lockstep/*:refs/lockstep/*", "+refs/notes/*:refs/notes/*"],
        cwd=tmp_path / "checkout",
        check=True,
    )
    assert audit(tmp_path / "checkout") == expected


def test_a_clone_without_the_log_says_what_to_fetch(honest: tuple[Path, PublicKey], tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", "--bare", honest[0], tmp_path / "bare.git"], check=True)
    report = audit(tmp_path / "bare.git")
    assert rules(report) == {"log"}
    assert "+refs/*:refs/*" in said(report)


def test_without_a_given_key_the_report_says_that_the_record_vouches_for_itself(
    honest: tuple[Path, PublicKey],
) -> None:
    report = audit(honest[0])
    assert report.ok
    assert not report.pinned
    assert report.key == honest[1].id


def test_auditing_writes_nothing(honest: tuple[Path, PublicKey], tmp_path: Path) -> None:
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--mirror", "--no-hardlinks", str(honest[0]), str(clone)], check=True)

    def contents() -> set[tuple[str, int]]:
        return {(str(path), path.stat().st_mtime_ns) for path in clone.rglob("*")}

    before = contents()
    assert audit(clone, honest[1]).ok
    assert contents() == before


def test_what_is_shown_of_a_record_fits_into_a_hundred_columns(honest: tuple[Path, PublicKey]) -> None:
    report = audit(honest[0], honest[1])
    console = Console(width=100, record=True, file=StringIO())
    console.print(show.audit(report))
    text = console.export_text()
    for row in report.rows:
        assert row.commit[:10] in text and str(row.seed) in text
    for shown in (
        "20 episodes, 200 steps",
        "13.91%",
        "$0.25",
        "standin",
        "cores of",
        "everything holds",
    ):
        assert shown in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_directory_that_is_no_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="not a git directory"):
        audit(tmp_path)
    with pytest.raises(RecordError, match="no public key"):
        audit(tmp_path, tmp_path / "nowhere.pem")
