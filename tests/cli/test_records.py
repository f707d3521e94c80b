"""Records on the command line: keys, bundles, the gate."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.record.keys import PublicKey
from harness.record.rotation import ROTATED
from harness.session.session import Session
from tests.cli.conftest import Result
from tests.session.standin import Agent, FileComparison, factory, make_task
from tests.tools import needs

Run = Callable[..., Result]


@pytest.fixture
def workspace(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a session with one verified commit, judged by the stand-in, in which the command line is given."""
    made: list[FileComparison] = []
    with Session.start(make_task(tmp_path / "task"), tmp_path / "work", home, verifier=factory(made)) as session:
        Agent(session, made).get_right()
        session.verify(message="Start")
    monkeypatch.chdir(session.workspace)
    return session.workspace


@needs("openssl", package="openssl")
def test_a_key_is_shown_with_what_others_need_to_pin_it(home: Path, lockstep: Run) -> None:
    shown = lockstep("key", "show", "--json")
    assert shown.code == 0
    path = Path(shown.document["public_key"])
    assert PublicKey.read(path).id == shown.document["id"]
    der = subprocess.run(["openssl", "pkey", "-pubin", "-in", path, "-outform", "DER"], check=True, capture_output=True)
    digest = subprocess.run(["sha256sum"], input=der.stdout, check=True, capture_output=True).stdout.decode()
    assert shown.document["fingerprint"] == digest.split()[0]
    text = lockstep("key", "show").out
    assert shown.document["id"] in text and str(path) in text and shown.document["fingerprint"] in text


def test_the_key_for_unisolated_sessions_is_shown_and_rotated_too(home: Path, lockstep: Run) -> None:
    assert lockstep("key", "show", "--json").document["unisolated"] is None
    rotated = lockstep("key", "rotate", "--which", "both", "--json").document
    shown = lockstep("key", "show", "--json").document
    assert rotated["id"] == shown["id"] != shown["unisolated"]["id"] == rotated["unisolated"]["id"]
    assert "for sessions that do not isolate" in lockstep("key", "show").out
    only = lockstep("key", "rotate", "--which", "unisolated", "--json").document
    assert only["unisolated"]["retired_now"] == rotated["unisolated"]["id"] and "id" not in only
    path = shown["unisolated"]["public_key"]
    subprocess.run(["openssl", "pkey", "-pubin", "-in", path, "-noout"], check=True)  # past what it says of itself


def test_a_rotated_key_takes_over_when_the_session_is_next_opened(workspace: Path, home: Path, lockstep: Run) -> None:
    before = lockstep("key", "show", "--json").document
    rotated = lockstep("key", "rotate", "--json")
    assert rotated.code == 0
    assert rotated.document["retired_now"] == before["id"]
    assert rotated.document["retired"] == [before["id"]]
    pinned = ("audit", "--key", rotated.document["public_key"])
    too_early = lockstep(*pinned)
    assert too_early.code == 1 and "did not sign it" in too_early.out
    assert lockstep("resume", "--reason", "look").code == 0
    taken = lockstep(*pinned)
    assert taken.code == 0, taken.out
    assert f"by {before['id'][:16]}" in taken.out
    assert ROTATED in [event["kind"] for event in lockstep("history", "--json").document["events"]]


def test_a_bundle_is_the_whole_record_in_one_file(workspace: Path, lockstep: Run, tmp_path: Path) -> None:
    file = tmp_path / "session.bundle"
    written = lockstep("bundle", str(file), "--json")
    assert written.code == 0, written.out
    audited = lockstep("audit", str(file), "--json").document
    assert audited["last_event"] == written.document["last_event"]
    assert audited["session"] == written.document["session"]
    assert written.document["bytes"] == file.stat().st_size
    named = lockstep("bundle", written.document["session"], str(tmp_path / "again.bundle"))
    assert named.code == 0
    assert lockstep("bundle", "one", "two", "three").code == 2
    assert lockstep("bundle", str(tmp_path / "missing" / "file")).code == 3


def test_the_gate_ends_with_1_where_something_stands_in_the_way(workspace: Path, lockstep: Run) -> None:
    asked = lockstep("audit", "--level", "3", "--json")
    assert asked.code == 1
    assert {problem["rule"] for problem in asked.document["problems"]} == {"gate"}
    assert asked.document["gate"] == {"level": 3, "directory": None}
    matching = lockstep("audit", "--matches", ".")
    assert matching.code == 0 and "the gate holds: . is what the newest commit holds" in matching.out
    (workspace / "candidate" / "env.py").write_text("x = 2\n")
    changed = lockstep("audit", "--matches", ".")
    assert changed.code == 1 and "gate: candidate/env.py in . is not what commit" in changed.out


def test_the_record_of_another_session_in_its_place_is_named(workspace: Path, home: Path, lockstep: Run) -> None:
    found = next((home / "sessions").glob("walk-*"))
    os.rename(found, found.with_name("walk-another"))
    audited = lockstep("audit", "walk-another")
    assert audited.code == 1 and "session: it is the record of the session" in audited.out


@needs("ssh-keygen", package="openssh-client")
def test_a_session_begins_with_an_ssh_key_or_says_why_not(
    home: Path, walk: Path, lockstep: Run, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    started = lockstep("start", str(walk), "--workspace", str(tmp_path / "work"), "--ssh-key", str(key), "--json")
    assert started.code == 0, started.out
    events = lockstep("history", started.document["session"], "--json").document["events"]
    assert [event["kind"] for event in events] == ["start"]
    refused = lockstep("start", str(walk), "--workspace", str(tmp_path / "other"), "--ssh-key", str(walk / "task.toml"))
    assert refused.code == 3 and "the SSH key cannot be used" in refused.err
