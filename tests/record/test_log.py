"""The event log: a chain of signed commits, from which every other ref follows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import RecordError, SessionLocked
from harness.record.directory import SessionDirectory, find
from harness.record.event import PAYLOAD_TYPE, Event
from harness.record.keyring import Keyring
from harness.record.lock import Lock
from harness.record.log import EVENTS, MAIN, NOTES, EventLog, cases_added, event_file, read_events
from harness.record.objects import Commit, identity
from harness.record.snapshot import Snapshot, snapshot
from harness.record.store import Store
from harness.support.files import write_durably
from tests.paths import ROOT

WHO = identity("A Person <a@example.invalid>", 1_700_000_000)


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return Keyring(tmp_path / "home")


@pytest.fixture
def log(store: Store, ring: Keyring) -> EventLog:
    return EventLog(store, ring)


def begin(log: EventLog, workspace: Snapshot | None = None) -> Event:
    return log.append(
        "start", arguments={"task": "walk"}, detail={"key": log.key.public.to_json()}, workspace=workspace
    )


def commit_of(store: Store, taken: Snapshot, *parents: str) -> str:
    return store.put_commit(Commit(taken.tree, parents, WHO, WHO, "verified\n"))


def verify_event(log: EventLog, store: Store, taken: Snapshot, *parents: str) -> Event:
    commit = commit_of(store, taken, *parents)
    return log.append(
        "verdict", workspace=taken, commit=commit, outcome="PASS", attached={"attestations/summary.json": b"{}"}
    )


def test_what_is_appended_is_read_back(log: EventLog, store: Store, workspace: Path) -> None:
    taken = snapshot(workspace, store)
    begin(log, taken)
    second = log.append(
        "attempt",
        arguments={"level": 1, "message": "ü\n"},
        seeds={"run": 2**63 - 1},
        duration_s=1.23456,
        usage={"dollars": 0.25},
        detail={"note": None},
        attached={"cases/one.json": b"{}"},
    )
    events = read_events(store)
    assert events == log.events
    assert [event.seq for event in events] == [0, 1]
    assert events[0].workspace == {"gitTree": taken.tree, "dirHash": taken.digest}
    assert events[1].previous == events[0].digest
    assert events[1].seeds == {"run": 2**63 - 1}
    assert events[1].duration_s == 1.235
    assert store.blob(cases_added(store, second)["cases/one.json"].id) == b"{}"


def test_every_event_is_signed(log: EventLog, store: Store) -> None:
    event = begin(log)
    content = event_file(store, event.id, "event.json")
    assert log.key.public.verifies(content, PAYLOAD_TYPE, event_file(store, event.id, "event.sig"))


def test_a_verified_commit_is_on_main_in_the_notes_and_behind_the_log(
    log: EventLog, store: Store, workspace: Path
) -> None:
    taken = snapshot(workspace, store)
    begin(log, taken)
    event = verify_event(log, store, taken)
    refs = store.refs()
    assert refs[MAIN] == event.commit
    assert refs[EVENTS] == event.id
    assert refs[f"refs/lockstep/attestations/{event.commit}"] == event.id
    assert store.commit(event.id).parents[1] == event.commit
    shown = subprocess.run(
        ["git", "--git-dir", store.path, "log", "--notes=lockstep", "--format=%s|%N", "main"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert shown.stdout.strip() == "verified|{}"


def test_refs_that_fell_behind_are_made_again_on_opening(
    log: EventLog, store: Store, ring: Keyring, workspace: Path
) -> None:
    taken = snapshot(workspace, store)
    begin(log, taken)
    first = verify_event(log, store, taken)
    (workspace / "candidate" / "env.py").write_text("x = 2\n")
    second = verify_event(log, store, snapshot(workspace, store), str(first.commit))
    expected = store.refs()
    for name in (MAIN, NOTES, f"refs/lockstep/attestations/{second.commit}"):
        subprocess.run(["git", "--git-dir", store.path, "update-ref", "-d", name], check=True)
    store.move_refs({MAIN: (str(first.commit), None)})
    EventLog(store, ring)
    found = store.refs()
    assert found.keys() == expected.keys()
    assert found[MAIN] == second.commit
    assert store.commit(found[NOTES]).tree == store.commit(expected[NOTES]).tree


def test_a_main_that_the_log_does_not_know_is_not_moved_but_named(
    log: EventLog, store: Store, ring: Keyring, workspace: Path
) -> None:
    taken = snapshot(workspace, store)
    begin(log, taken)
    event = verify_event(log, store, taken)
    other = commit_of(store, taken, str(event.commit))
    store.move_refs({MAIN: (other, event.commit)})
    with pytest.raises(RecordError, match=f"{MAIN} is at {other}, which the log never verified"):
        EventLog(store, ring)
    assert store.refs().get(MAIN) == other


def test_a_log_that_was_moved_back_is_named(log: EventLog, store: Store, ring: Keyring, workspace: Path) -> None:
    taken = snapshot(workspace, store)
    start = begin(log, taken)
    event = verify_event(log, store, taken)
    store.move_refs({EVENTS: (start.id, event.id)})
    with pytest.raises(RecordError, match="which the log never verified"):
        EventLog(store, ring)


def test_another_writer_is_noticed(log: EventLog, store: Store, ring: Keyring) -> None:
    begin(log)
    other = EventLog(store, ring)
    log.append("one")
    with pytest.raises(RecordError, match="git says"):
        other.append("two")
    assert [event.kind for event in read_events(store)] == ["start", "one"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"schema": 2}',
        b'{"schema": 1}',
        Event(0, "t", "k").encode().replace(b'"seq": 0', b'"seq": "0"'),
        Event(0, "t", "k").encode().replace(b'"usage"', b'"used"'),
    ],
)
def test_a_malformed_event_is_named(content: bytes) -> None:
    with pytest.raises(RecordError, match="an event is malformed"):
        Event.decode(content, "1" * 40)


def test_a_repository_without_a_log_says_what_to_fetch(store: Store) -> None:
    with pytest.raises(RecordError, match=r"there is no refs/lockstep/events") as caught:
        read_events(store)
    assert "refs/lockstep/*" in caught.value.next_step


def test_a_second_holder_of_a_lock_is_reported_who_has_it(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock", "the session s-1")
    with pytest.raises(SessionLocked, match=f"the session s-1 is in use by process {os.getpid()}"):
        Lock(tmp_path / "lock", "the session s-1")
    lock.release()
    lock.release()
    Lock(tmp_path / "lock", "the session s-1").release()


def test_what_the_holder_of_a_lock_runs_is_told_and_for_how_long(tmp_path: Path) -> None:
    program, path = tmp_path / "holder", tmp_path / "lock"
    program.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path\n"
        "from harness.record.lock import Lock\n"
        f"lock = Lock(Path({str(path)!r}), 'it')\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, str(program), "certify", "a secret"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdin is not None
        assert child.stdout.readline() == b"held\n"
        taken = path.stat().st_mtime - 4800
        os.utime(path, (taken, taken))
        said = rf"it is in use by process {child.pid} \(holder certify\), for 1 hour 20 minutes\n"
        with pytest.raises(SessionLocked, match=said):
            Lock(path, "it")
        child.stdin.close()
    Lock(path, "it").release()


def test_a_lock_passed_to_a_child_outlives_its_holder(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock", "it")
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock.descriptor,)
    ) as child:
        lock.release()
        with pytest.raises(SessionLocked):
            Lock(tmp_path / "lock", "it")
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.close()
        child.wait()
    Lock(tmp_path / "lock", "it").release()


def test_a_damaged_session_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "s-1"
    path.mkdir(parents=True)
    SessionDirectory(path, tmp_path / "w", "walk", "2026").write()
    assert find(tmp_path, "s-1").workspace == tmp_path / "w"
    write_durably(path / "session.json", b"{")
    with pytest.raises(RecordError, match=r"session\.json cannot be read"):
        find(tmp_path, "s-1")
