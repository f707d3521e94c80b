"""The audit: an honest record has no problem, and every way to tamper with one is named."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.audit import AuditReport, audit
from harness.errors import RecordError
from harness.record.attest import SUMMARY_FILE
from harness.record.keys import PublicKey, SigningKey, load_or_create
from harness.record.log import (
    EVENT_FILE,
    EVENTS,
    MAIN,
    NOTES,
    PAYLOAD_TYPE,
    SIGNATURE_FILE,
    WORKSPACE,
    Event,
    event_commits,
    event_file,
)
from harness.record.objects import FILE, Commit, Entry, identity
from harness.record.store import Store
from harness.session import Session
from tests.session.standin import Agent, FileComparison, factory, make_task

WHO = identity("Somebody <s@example.invalid>", 1_700_000_000)
Tree = dict[str, Entry]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, PublicKey]]:
    """The git directory of a finished session: a failure, then a commit for each of four steps."""
    root = tmp_path_factory.mktemp("honest")
    made: list[FileComparison] = []
    with Session.start(make_task(root / "task"), root / "workspace", root / "home", verifier=factory(made)) as session:
        agent = Agent(session, made)
        session.verify(message="A first try")
        agent.get_right()
        session.report_usage(dollars=0.25)
        for words in ("Start", "Move", "Compose", "Episodes"):
            session.verify(message=words)
    yield session.directory.repository, PublicKey.read(root / "home" / "keys" / "ed25519.pub.pem")


class Forger:
    """Somebody with write access to a clone and without the key."""

    def __init__(self, path: Path) -> None:
        self.store = Store(path)
        self.commits = event_commits(self.store, self.refs[EVENTS])
        self.events = [Event.decode(event_file(self.store, c, EVENT_FILE), c) for c in self.commits]
        self.verified = [event for event in self.events if event.commit]

    @property
    def refs(self) -> dict[str, str]:
        return self.store.refs()

    def git(self, *arguments: str) -> str:
        command = ["git", "--git-dir", str(self.store.path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def tree(self, seq: int) -> Tree:
        """An event's entries, the workspace as one of them."""
        tree = self.store.commit(self.commits[seq]).tree
        top = self.store.tree(tree)
        workspace = {WORKSPACE: top[WORKSPACE]} if WORKSPACE in top else {}
        files = {p: e for p, e in self.store.files(tree).items() if not p.startswith(f"{WORKSPACE}/")}
        return files | workspace

    def relink(self, trees: list[tuple[Tree, str | None]]) -> None:
        """Make the log anew from these trees and verified commits, and move every ref that follows from it."""
        parent, holders = None, {}
        for tree, commit in trees:
            parents = tuple(p for p in (parent, commit) if p)
            parent = self.store.put_commit(Commit(self.store.put_tree(tree), parents, WHO, WHO, "forged\n"))
            if commit:
                holders[commit] = parent
        for name in self.refs:
            if name.startswith("refs/lockstep/attestations/"):
                self.git("update-ref", "-d", name)
        for commit, holder in holders.items():
            self.git("update-ref", f"refs/lockstep/attestations/{commit}", holder)
        self.git("update-ref", EVENTS, str(parent))

    def logged(self) -> list[tuple[Tree, str | None]]:
        return [(self.tree(event.seq), event.commit) for event in self.events]

    def file(self, content: bytes) -> Entry:
        return Entry(FILE, self.store.put_file(content))

    def resign(self, key: SigningKey, changed: Callable[[Event], Event] = lambda event: event) -> None:
        """Make the whole log anew, every event signed with another key."""
        trees, previous = [], ""
        for event in self.events:
            content = replace(changed(event), previous=previous).encode()
            previous = Event.decode(content, "").digest
            signature = key.sign(content, PAYLOAD_TYPE)
            tree = self.tree(event.seq) | {EVENT_FILE: self.file(content), SIGNATURE_FILE: self.file(signature)}
            trees.append((tree, event.commit))
        self.relink(trees)


@pytest.fixture
def forger(honest: tuple[Path, PublicKey], tmp_path: Path) -> Iterator[Forger]:
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--mirror", "--no-hardlinks", str(honest[0]), str(clone)], check=True)
    forger = Forger(clone)
    yield forger
    forger.store.close()


@pytest.fixture
def check(forger: Forger, honest: tuple[Path, PublicKey]) -> Callable[[], AuditReport]:
    return lambda: audit(forger.store.path, honest[1])


def rules(report: AuditReport) -> set[str]:
    return {problem.rule for problem in report.problems}


def said(report: AuditReport) -> str:
    return "\n".join(problem.what for problem in report.problems)


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
    assert (last.sandbox, last.isolated) == ("standin", False)
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


def test_auditing_writes_nothing(forger: Forger, check: Callable[[], AuditReport]) -> None:
    def contents() -> set[tuple[str, int]]:
        return {(str(path), path.stat().st_mtime_ns) for path in forger.store.path.rglob("*")}

    before = contents()
    check()
    assert contents() == before


# Tampering


def test_a_flipped_byte_in_an_attestation_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    trees = forger.logged()
    event = forger.verified[1]
    sealed = bytearray(event_file(forger.store, event.id, SUMMARY_FILE))
    sealed[sealed.index(b'"payload": "') + 40] ^= 1
    trees[event.seq][0][SUMMARY_FILE] = forger.file(bytes(sealed))
    forger.relink(trees)
    report = check()
    assert f"{SUMMARY_FILE} of commit {event.commit}: " in said(report)
    assert f"{SUMMARY_FILE} is not what it states" in said(report)
    assert report.first_bad == event.commit


def test_a_flipped_byte_in_a_stored_object_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    event = forger.verified[2]
    blob = forger.tree(event.seq)["attestations/level-2.json"].id
    path = forger.store.path / "objects" / blob[:2] / blob[2:]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(bytes(content))
    report = check()
    assert f"event {event.seq}: the blob {blob} is " in said(report)
    assert report.first_bad == event.commit


def test_a_dropped_event_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    trees = forger.logged()
    del trees[2]  # the verdict on the first try
    forger.relink(trees)
    report = check()
    assert {"order", "chain"} <= rules(report)
    assert "event 3 stands at place 2: the log was rearranged" in said(report)


def test_reordered_events_are_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    trees = forger.logged()
    trees[4:6], trees[6:8] = trees[6:8], trees[4:6]
    forger.relink(trees)
    report = check()
    assert {"order", "chain", "ancestry"} <= rules(report)
    assert "the log was rearranged" in said(report)


def test_a_changed_event_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    trees = forger.logged()
    changed = replace(forger.events[2], outcome="PASS").encode()
    trees[2][0][EVENT_FILE] = forger.file(changed)
    forger.relink(trees)
    report = check()
    assert {"signature", "chain", "contents"} <= rules(report)
    assert "event 2 (verdict): its signature does not verify" in said(report)


def test_an_inserted_event_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    trees = forger.logged()
    trees.insert(4, trees[3])
    forger.relink(trees)
    assert {"order", "chain"} <= rules(check())


def test_a_changed_task_file_in_a_commit_is_named(
    forger: Forger, check: Callable[[], AuditReport], tmp_path: Path
) -> None:
    # The forger even has a key, so that only the task itself gives the change away.
    event = forger.verified[0]
    files = forger.store.files(forger.store.commit(str(event.commit)).tree)
    files["reference/expected/start.txt"] = forger.file(b"easier\n")
    tree = forger.store.put_tree(files)
    trees = forger.logged()
    attempt = event.seq - 1
    trees[attempt][0][WORKSPACE] = Entry("40000", tree)
    forger.relink(trees)
    report = check()
    assert f"event {attempt} (attempt): its workspace is not the one it states" in said(report)
    assert report.first_bad == event.commit

    forger.commits = event_commits(forger.store, forger.refs[EVENTS])
    forger.resign(
        load_or_create(tmp_path),
        lambda e: replace(e, workspace={**e.workspace, "gitTree": tree}) if e.seq == attempt and e.workspace else e,
    )
    report = audit(forger.store.path)
    assert "task or tests are not the session's: changed reference/expected/start.txt" in said(report)


def test_a_commit_that_is_not_the_verified_tree_is_named(forger: Forger, tmp_path: Path) -> None:
    event = forger.verified[-1]
    found = forger.store.commit(str(event.commit))
    files = forger.store.files(found.tree) | {"candidate/env.py": forger.file(b"another = True\n")}
    other = forger.store.put_commit(replace(found, tree=forger.store.put_tree(files)))
    trees = [(tree, other if commit == event.commit else commit) for tree, commit in forger.logged()]
    forger.relink(trees)
    forger.git("update-ref", MAIN, other)
    report = audit(forger.store.path)
    assert "its parents are not as stated" in said(report)
    assert "is at" in said(report)
    assert not report.ok


def test_a_forged_key_is_named_when_the_right_one_is_known(
    forger: Forger, check: Callable[[], AuditReport], tmp_path: Path
) -> None:
    other = load_or_create(tmp_path)

    def with_other_key(event: Event) -> Event:
        return replace(event, detail={**event.detail, "key": other.public.to_json()}) if event.seq == 0 else event

    forger.resign(other, with_other_key)
    report = check()
    assert {"key", "signature"} <= rules(report)
    assert f"the session's key is {other.public.id}, not the one given" in said(report)
    # Without the right key, the attestations still tell, because the forger could not make them.
    assert rules(audit(forger.store.path)) >= {"attestation"}


def test_one_event_signed_by_another_key_is_named(
    forger: Forger, check: Callable[[], AuditReport], tmp_path: Path
) -> None:
    trees = forger.logged()
    content = event_file(forger.store, forger.commits[3], EVENT_FILE)
    trees[3][0][SIGNATURE_FILE] = forger.file(load_or_create(tmp_path).sign(content, PAYLOAD_TYPE))
    forger.relink(trees)
    report = check()
    assert "event 3 (usage): its signature does not verify with the session's key" in said(report)
    assert report.first_bad == forger.verified[0].commit


def test_an_amended_commit_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    head = forger.store.commit(forger.refs[MAIN])
    amended = forger.store.put_commit(replace(head, message="A better story\n"))
    forger.git("update-ref", MAIN, amended)
    report = check()
    assert said(report) == f"{MAIN} is at {amended}, which the log never verified"


def test_a_main_that_was_moved_back_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    forger.git("update-ref", MAIN, str(forger.verified[1].commit))
    report = check()
    assert f"{MAIN} is at {forger.verified[1].commit}, the log's newest is {forger.verified[3].commit}" in said(report)
    assert report.first_bad == forger.verified[3].commit


def test_a_log_that_was_moved_back_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    forger.git("update-ref", EVENTS, forger.verified[1].id)
    report = check()
    assert rules(report) == {"ref"}
    assert "which the log never verified" in said(report)


def test_a_record_that_was_moved_back_as_a_whole_is_named_by_who_knows_a_later_event(
    forger: Forger, check: Callable[[], AuditReport], honest: tuple[Path, PublicKey]
) -> None:
    known = check().last_event
    for event in forger.verified[2:]:
        forger.git("update-ref", "-d", f"refs/lockstep/attestations/{event.commit}")
    forger.git("update-ref", EVENTS, forger.verified[1].id)
    forger.git("update-ref", MAIN, str(forger.verified[1].commit))
    older = next(
        c for c in forger.git("rev-list", NOTES).split() if len(forger.store.tree(forger.store.commit(c).tree)) == 2
    )
    forger.git("update-ref", NOTES, older)
    assert check().ok
    report = audit(forger.store.path, honest[1], known_event=known)
    assert f"the event {known}, known from before, is not in it" in said(report)
    assert audit(forger.store.path, honest[1], known_event=forger.events[0].digest).ok


def test_a_missing_attestation_ref_and_changed_notes_are_named(
    forger: Forger, check: Callable[[], AuditReport]
) -> None:
    event = forger.verified[1]
    forger.git("update-ref", "-d", f"refs/lockstep/attestations/{event.commit}")
    forger.git("update-ref", "-d", NOTES)
    report = check()
    assert f"refs/lockstep/attestations/{event.commit} is missing" in said(report)
    assert f"{NOTES} does not hold what the log says" in said(report)
    assert report.first_bad == event.commit


def test_an_attestation_ref_of_its_own_making_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    forger.git("update-ref", f"refs/lockstep/attestations/{'1' * 40}", forger.verified[0].id)
    assert "which is not what the log says" in said(check())


def test_a_replaced_object_is_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    one, two = str(forger.verified[0].commit), str(forger.verified[1].commit)
    forger.git("update-ref", f"refs/replace/{one}", two)
    assert f"refs/replace/{one} would show another object" in said(check())


def test_trailers_that_claim_more_are_named(forger: Forger, check: Callable[[], AuditReport]) -> None:
    event = forger.verified[-1]
    found = forger.store.commit(str(event.commit))
    other = forger.store.put_commit(replace(found, message=found.message + "Lockstep-Level: 4 passed\n"))
    trees = [(tree, other if commit == event.commit else commit) for tree, commit in forger.logged()]
    changed = replace(event, commit=other).encode()
    trees[event.seq][0][EVENT_FILE] = forger.file(changed)
    forger.relink(trees)
    report = check()
    assert f"commit {other} claims what was not verified" in said(report)
    assert f"{SUMMARY_FILE} is not about commit {other}" in said(report)


def test_garbage_in_place_of_an_event_is_named_and_the_rest_is_still_read(
    forger: Forger, check: Callable[[], AuditReport]
) -> None:
    trees = forger.logged()
    trees[3][0][EVENT_FILE] = forger.file(b'{"schema": 1')
    forger.relink(trees)
    report = check()
    assert "event 3: an event is malformed" in said(report)
    assert len(report.rows) == 4
    assert report.first_bad == forger.verified[0].commit


@pytest.mark.parametrize("missing", [EVENT_FILE, SIGNATURE_FILE, "verdict.json", SUMMARY_FILE])
def test_a_missing_file_of_an_event_is_named(forger: Forger, check: Callable[[], AuditReport], missing: str) -> None:
    trees = forger.logged()
    del trees[forger.verified[1].seq][0][missing]
    forger.relink(trees)
    assert missing in said(check())


def test_a_directory_that_is_no_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no git directory"):
        audit(tmp_path)
    with pytest.raises(RecordError, match="no public key"):
        audit(tmp_path, tmp_path / "nowhere.pem")
