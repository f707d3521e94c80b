"""The attack: fill the disk of the host by workspaces that are refused, and try again without end."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from harness.errors import LockstepError, SessionError
from harness.policy.quota import VARIABLE
from harness.record.bounds import MAX_FILE_BYTES, MAX_TOTAL_BYTES
from harness.record.store import Store
from tests.session.standin import Agent


def stored(agent: Agent) -> set[str]:
    """The objects of the record."""
    objects = agent.session.directory.repository / "objects"
    return {str(path.relative_to(objects)) for path in objects.rglob("*") if path.is_file()}


def sparse(path: Path, size_bytes: int) -> None:
    with path.open("wb") as file:
        file.truncate(size_bytes)


def blobs(agent: Agent, contents: bytes) -> bool:
    """Whether the record holds an object with this content."""
    answer = subprocess.run(
        ["git", "hash-object", "-t", "blob", "--stdin"], input=contents, capture_output=True, check=True
    )
    name = answer.stdout.decode().strip()
    return f"{name[:2]}/{name[2:]}" in stored(agent)


def test_of_a_workspace_that_is_too_large_nothing_is_stored(agent: Agent) -> None:
    place = agent.session.workspace / "candidate"
    (place / "a-first.txt").write_text("read before the large one")
    sparse(place / "large", MAX_FILE_BYTES + 1)
    with pytest.raises(SessionError, match="larger than 64 MiB"):
        agent.session.verify()
    assert not blobs(agent, b"read before the large one")
    (place / "large").unlink()
    for number in range(MAX_TOTAL_BYTES // MAX_FILE_BYTES + 1):
        sparse(place / f"part{number}", MAX_FILE_BYTES)
    with pytest.raises(SessionError, match="more than 512 MiB"):
        agent.session.verify()
    assert not blobs(agent, b"read before the large one")


def test_of_a_workspace_that_cannot_be_recorded_nothing_is_stored(agent: Agent) -> None:
    place = agent.session.workspace / "candidate"
    (place / "a-first.txt").write_text("read before the link")
    (place / "z-last").symlink_to("env.py")
    with pytest.raises(SessionError, match="is a symbolic link"):
        agent.session.verify()
    assert not blobs(agent, b"read before the link")
    (place / "z-last").unlink()
    agent.session.verify()
    assert blobs(agent, b"read before the link")  # the check can fail


def test_refusals_use_up_the_iterations(agent: Agent) -> None:
    limit = agent.session.status()["limits"]["iterations"]
    (agent.session.workspace / "conftest.py").write_text("")
    for _ in range(limit):
        with pytest.raises(SessionError, match="belong to the verifier"):
            agent.session.verify()
    with pytest.raises(SessionError, match=f"{limit} iterations"):
        agent.session.verify()


def test_a_session_has_a_quota(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "3")
    (agent.session.workspace / "candidate" / "noise").write_bytes(os.urandom(1 << 20).hex().encode())
    agent.session.verify()
    before = len(stored(agent))
    (agent.session.workspace / "candidate" / "noise").write_bytes(os.urandom(1 << 20).hex().encode())
    with pytest.raises(SessionError, match="of the 3 MiB that it may fill") as refused:
        agent.session.verify()
    assert VARIABLE in refused.value.next_step
    assert len(stored(agent)) < before + 8  # the refusal's own event, and no file of the workspace
    monkeypatch.setenv(VARIABLE, "plenty")
    with pytest.raises(LockstepError, match="expected: a number of MiB"):
        agent.session.verify()
    monkeypatch.delenv(VARIABLE)
    agent.session.verify()


def test_old_refused_trees_are_collected_and_nothing_of_the_record_is(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.get_right()
    agent.session.verify(message="Start")
    (agent.session.workspace / "conftest.py").write_text("refused")
    with pytest.raises(SessionError, match="belong to the verifier"):
        agent.session.verify()
    assert blobs(agent, b"refused")
    monkeypatch.setattr("harness.record.store.PACK_ABOVE", 0)
    repository = agent.session.directory.repository
    with Store(repository) as store:
        store.pack()
        assert blobs(agent, b"refused")  # young: somebody may be about to name it
        old = time.time() - 7200
        for path in (repository / "objects").rglob("*"):
            os.utime(path, (old, old))
        store.pack()
    assert not blobs(agent, b"refused")
    subprocess.run(["git", "-C", str(repository), "fsck", "--full", "--strict"], check=True, capture_output=True)
    (agent.session.workspace / "conftest.py").unlink()
    agent.session.verify(message="Move")
