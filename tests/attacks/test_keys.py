"""The attack: run unisolated, as the host's user, read the key that signs isolated verdicts, and forge one with it.

A candidate and an agent's command of the driver `process` try every way to the key that is known: its path, links, /proc,
the memory of the process that signs, tracing, signals, devices, and a server of the user that gives away what it is asked.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.agent_sandbox.sandbox import AgentSandbox
from harness.assurance.audit import AuditReport, audit
from harness.cli import show
from harness.errors import RecordError, SessionError
from harness.policy import floor
from harness.record.keyring import Keyring
from harness.session.session import Session
from harness.task.load import load_task
from sandboxes import Mount, SandboxSpec, SandboxUnavailable, landlock
from tests.assurance.audit.forger import Forger
from tests.attacks import spy
from tests.session.standin import FileComparison, factory, make_task


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a key for isolated sessions, where a person lowered the floor."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(floor.VARIABLE, "1")
    _ = Keyring(tmp_path / "home").present
    return tmp_path / "home"


@pytest.fixture
def giver(home: Path, tmp_path: Path) -> Iterator[Path]:
    """The socket of a server that answers every connection with the key, as an engine of containers would."""
    path = tmp_path / "giver"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall((home / "keys" / "ed25519.pem").read_bytes())

        threading.Thread(target=serve, daemon=True).start()
        yield path
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def holder(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the host that has the key in its memory, in its environment, and open."""
    code = (
        "import os, sys; key = open(sys.argv[1], 'rb'); held = key.read(); key.seek(0); print(id(held), flush=True);"
        " sys.stdin.read()"
    )
    key = home / "keys" / "ed25519.pem"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(key)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "HELD": key.read_text()},
    ) as process:
        yield process
        process.communicate()


def asked(home: Path, giver: Path, holder: subprocess.Popen[bytes]) -> list[str]:
    """The program that tries each way, as a command with its arguments."""
    assert holder.stdout is not None
    address = int(holder.stdout.readline())
    told = {"key": str(home / "keys" / "ed25519.pem"), "giver": str(giver), "holder": holder.pid, "address": address}
    return ["-c", Path(spy.__file__).read_text(), json.dumps(told)]


def test_a_candidate_does_not_reach_the_key(
    home: Path, giver: Path, holder: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    spec = SandboxSpec(mounts=(Mount(place, "/work", True), *_python()), workdir="/work")
    with floor.permitted("process").open(spec) as sandbox:
        finished = sandbox.run([os.path.realpath(sys.executable), *asked(home, giver, holder)], timeout=60)
    _held(finished.exit_code, finished.stdout + finished.stderr, home)


def test_a_command_of_an_agent_does_not_reach_the_key(
    home: Path, giver: Path, holder: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with _unisolated(tmp_path, home) as session:
        agent = AgentSandbox(session, load_task(session.task_directory), floor.permitted(session.sandbox))
        with agent as where:
            command = ["python3", *asked(home, giver, holder)]
            finished = where.sandbox.run(command, environment=where.environment, timeout=60)
    _held(finished.exit_code, finished.stdout + finished.stderr, home)


def test_a_reference_that_runs_unisolated_does_not_reach_the_key(
    home: Path, giver: Path, holder: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where bubblewrap does not work, a lowered floor lets references run in `process`."""
    monkeypatch.setattr(type(floor.drivers()["bubblewrap"]), "unavailable", lambda driver: "it is broken")
    place = tmp_path / "place"
    place.mkdir()
    driver = floor.permitted_here()
    assert driver.name == "process"
    with driver.open(SandboxSpec(mounts=(Mount(place, "/work", True), *_python()), workdir="/work")) as sandbox:
        finished = sandbox.run([os.path.realpath(sys.executable), *asked(home, giver, holder)], timeout=60)
    _held(finished.exit_code, finished.stdout + finished.stderr, home)


@pytest.mark.parametrize("whole", ["a mount", "the system"])
def test_what_holds_the_home_does_not_show_it(
    whole: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home below a directory that every command reads, or that a task brings along."""
    (tmp_path / "beside").write_text("seen")
    if whole == "the system":
        monkeypatch.setattr(landlock, "SYSTEM", (*landlock.SYSTEM, str(tmp_path)))
    mounts = (Mount(tmp_path, "/all"),) if whole == "a mount" else ()
    script = 'cat "$1/beside"; cat "$1/home/keys/ed25519.pem" "$1/home/../home/keys/ed25519.pem"; ls "$1/home"; true'
    with floor.permitted("process").open(SandboxSpec(mounts=mounts)) as sandbox:
        finished = sandbox.run(["sh", "-c", script, "sh", str(tmp_path)])
    assert finished.stdout == b"seen"
    # Nor is it given away to be written.
    with pytest.raises(Exception, match="hidden"):
        floor.permitted("process").open(SandboxSpec(mounts=(Mount(tmp_path, "/all", True),)))


def test_without_landlock_no_unisolated_candidate_runs_beside_the_key(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(SandboxUnavailable, match=r"could read the key in .*no Landlock.*LOCKSTEP_HOME"):
        floor.permitted("process")
    # Not by a retired key either: sessions are signed by it.
    old, _ = Keyring(home).rotate()
    (home / "keys" / "ed25519.pem").unlink()
    assert old.id in Keyring(home).retired
    with pytest.raises(SandboxUnavailable):
        floor.permitted("process")


def test_a_home_that_was_exposed_never_makes_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "another"
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))
    with monkeypatch.context() as old_kernel:
        old_kernel.setattr(landlock, "version", lambda: 0)
        assert floor.permitted("process").name == "process"
    with pytest.raises(RecordError, match="could read all its files"):
        _ = Keyring(home).present
    with pytest.raises(RecordError, match="could read all its files"):
        Session.start(make_task(tmp_path / "task"), tmp_path / "work", home, verifier=factory([]))
    with _unisolated(tmp_path, home) as session:
        assert session.key.public == Keyring(home, isolated=False).present.public


# Which key signs what


def test_an_unisolated_session_has_a_key_of_its_own_and_the_audit_says_so(tmp_path: Path, home: Path) -> None:
    record, key = _finished(tmp_path, home, isolated=False)
    isolated = Keyring(home).present.public
    report = audit(record, home / "keys-unisolated" / "ed25519.pub.pem")
    assert report.problems == () and report.pinned and report.isolated is False
    assert report.key == key.id != isolated.id
    assert "signed by key for unisolated sessions" in _shown(report)
    assert [problem.rule for problem in audit(record, isolated).problems] == ["key"]


def test_an_isolated_session_is_said_to_be_one(tmp_path: Path, home: Path) -> None:
    record, key = _finished(tmp_path, home)
    report = audit(record, key)
    assert report.problems == () and report.isolated is True
    assert "unisolated" not in _shown(report)


def test_a_commit_forged_with_the_unisolated_key_is_named(tmp_path: Path, home: Path) -> None:
    """Somebody who holds the unisolated key signs the newest commit of an isolated session anew."""
    record, key = _finished(tmp_path, home)
    other = Keyring(home, isolated=False).present
    forger = Forger(record)
    forger.consistent(other, signed_from=forger.verified[-1].seq)
    forger.publish()
    report = audit(record, key, unisolated=[other.public])
    assert f"signed by the key {other.public.id}, which is for sessions without isolation" in _said(report)
    assert report.first_bad == forger.verified[-1].commit


def test_a_record_that_the_unisolated_key_made_up_is_named(tmp_path: Path, home: Path) -> None:
    """All of it, from a start that claims isolation: by who knows the key, at home or from the file that he was given."""
    record, _ = _finished(tmp_path, home)
    other = Keyring(home, isolated=False)
    public = other.present.public
    forger = Forger(record)
    forger.edit(0, detail={**forger.events[0].detail, "key": public.to_json()})
    forger.consistent(other.present)
    forger.publish()
    for report in (audit(record, other.public_file), audit(record, unisolated=[public])):
        assert f"isolation: event 0 (start): the key {public.id} is for sessions without isolation" in _said(report)


@pytest.mark.parametrize("isolated", [True, False])
def test_a_verdict_of_the_other_kind_is_named(isolated: bool, tmp_path: Path, home: Path) -> None:
    """A start that claims isolation with a verdict of `process`, and the reverse; whoever signed it had the key."""
    record, _ = _finished(tmp_path, home, isolated=isolated)
    forger = Forger(record)
    seq = forger.verified[-1].seq
    forger.edit_verdict(seq, lambda verdict: verdict["sandbox"].update(isolated=not isolated))
    forger.consistent(Keyring(home, isolated=isolated).present)
    forger.publish()
    assert f"isolation: event {seq} (verdict): its sandbox 'standin'" in _said(audit(record))


def test_a_hand_over_does_not_change_what_a_session_is(tmp_path: Path, home: Path) -> None:
    record, _ = _finished(tmp_path, home, isolated=False)
    Keyring(home, isolated=False).rotate()
    Session.open(record.parent.name, home, verifier=factory([])).close()
    assert audit(record).problems == ()
    forger = Forger(record)
    last = forger.events[-1]
    assert last.kind == "rotated"
    forger.edit(last.seq, detail={**last.detail, "isolated": True})
    former = Keyring(home, isolated=False).holding(Keyring(home, isolated=False).public[1])
    forger.consistent(former, signed_from=last.seq)
    forger.publish()
    assert "isolation: event" in _said(audit(record)) and "its session began with False" in _said(audit(record))


def test_a_verdict_of_the_other_kind_is_never_signed(tmp_path: Path, home: Path) -> None:
    made: list[FileComparison] = []
    task = make_task(tmp_path / "task")
    with Session.start(task, tmp_path / "work", home, verifier=factory(made, isolated=False)) as session:
        for name in ("start", "moves"):
            (session.workspace / "candidate" / f"{name}.txt").write_text(f"{name}\n")
        found = session.verify()
        assert found.commit is None and "in a session that isolates" in found.verdict.error
        with pytest.raises(SessionError, match="the key that signs it stands for that"):
            session.driver("process")  # as `certify`, `strength`, `coverage` and `profile` ask for one
    with _unisolated(tmp_path, home) as session:
        assert session.driver().name == "process"
        with pytest.raises(SessionError, match="does not isolate, so that all of it runs"):
            session.driver("bubblewrap")


def test_an_old_unisolated_session_goes_on_under_the_key_for_such(tmp_path: Path, home: Path) -> None:
    """Before records stated their kind, one key signed all: what ran in `process` is handed over when it is opened."""
    record, key = _finished(tmp_path, home)
    forger = Forger(record)
    first = forger.events[0]
    stated = {name: value for name, value in first.detail.items() if name != "isolated"}
    forger.edit(0, detail={**stated, "sandbox": "process"})
    for event in forger.events:
        if event.kind == "verdict":
            forger.edit_verdict(event.seq, lambda verdict: verdict["sandbox"].update(isolated=False))
    forger.consistent(Keyring(home).present)
    forger.publish()
    before = audit(record, key)
    assert before.isolated is None and "isolation" not in {problem.rule for problem in before.problems}
    count = before.events

    Session.open(record.parent.name, home, verifier=factory([], isolated=False)).close()
    after = audit(record)
    assert after.events == count + 1 and after.isolated is False
    assert after.key == Keyring(home, isolated=False).present.public.id != key.id
    # The key that signed both kinds once vouches for nothing of it any more.
    assert f"the key given, {key.id}, does not vouch for it" in _said(audit(record, key))
    assert "does not vouch for it" not in _said(audit(record, Keyring(home, isolated=False).present.public))


def _finished(place: Path, home: Path, *, isolated: bool = True) -> tuple[Path, Any]:
    """The record of a session with two commits, and the public key that signed it."""
    made: list[FileComparison] = []
    with Session.start(
        make_task(place / "task"),
        place / "work",
        home,
        verifier=factory(made, isolated=isolated),
        sandbox=None if isolated else "process",
    ) as session:
        for name in ("start", "moves"):
            (session.workspace / "candidate" / f"{name}.txt").write_text(f"{name}\n")
            assert session.verify().commit is not None
        return session.directory.repository, session.key.public


def _unisolated(place: Path, home: Path) -> Session:
    task = make_task(place / "unisolated-task")
    return Session.start(task, place / "unisolated", home, verifier=factory([], isolated=False), sandbox="process")


def _python() -> tuple[Mount, ...]:
    base = Path(sys.base_prefix).resolve()
    return () if base.is_relative_to("/usr") else (Mount(base, str(base)),)


def _held(exit_code: int | None, said: bytes, home: Path) -> None:
    assert exit_code == 0, said
    ways: dict[str, str] = json.loads(said)
    assert len(ways) == spy.WAYS, ways
    assert {way: found for way, found in ways.items() if found} == {}
    assert Keyring(home).present.public  # it is as it was


def _said(report: AuditReport) -> str:
    return "\n".join(f"{problem.rule}: {problem.what}" for problem in report.problems)


def _shown(report: AuditReport) -> str:
    console = Console(width=200, file=StringIO(), record=True)
    console.print(show.audit(report))
    return console.export_text()
