"""The attack: fill the disk of the host by workspaces that are refused, by files that a command writes, and without end."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.agent_sandbox import AgentSandbox, Cancel, CommandResult, edit_file, run, write_file
from harness.errors import LockstepError, SessionError
from harness.policy.quota import VARIABLE
from harness.record.bounds import MAX_FILE_BYTES, MAX_TOTAL_BYTES
from harness.record.store import Store
from harness.task.load import load_task
from sandboxes._supervisor import space
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


# What an agent's commands and tools write. Each attempt ends by itself after some times the limit.

FILL = """
import signal
for number in range(64):
    with open(f"{PLACE}/part{number}", "wb") as file:
        file.write(bytes(1 << 20))
signal.pause()
"""


@pytest.fixture
def place(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentSandbox]:
    """The agent's sandbox, where a session may fill 16 MiB."""
    monkeypatch.setenv(VARIABLE, "16")
    driver = sandboxes.drivers()["bubblewrap"]
    with AgentSandbox(agent.session, load_task(agent.session.task_directory), driver) as made:
        yield made


def command(place: AgentSandbox, *words: str) -> CommandResult:
    cancel = Cancel()
    try:
        return run(place, list(words), timeout_s=20, stdin="", cancel=cancel)
    finally:
        cancel.close()


def test_an_agent_s_command_fills_no_more_than_the_quota(place: AgentSandbox) -> None:
    done = command(place, "python3", "-c", FILL.replace("{PLACE}", "candidate"))
    assert (done.killed_by, done.exit_code) == ("disk_bytes", None)
    again = command(place, "sh", "-c", "echo more > candidate/more")
    assert (again.killed_by, again.exit_code) == ("disk_bytes", None)
    with pytest.raises(SessionError, match="disk_bytes allows 16 MiB") as refused:
        write_file(place, "candidate/more", "more")
    assert "remove files" in refused.value.next_step
    with pytest.raises(SessionError, match="disk_bytes allows 16 MiB"):
        edit_file(place, "candidate/env.py", "x = 1", "x = 1  # a little longer")
    assert command(place, "sh", "-c", "rm candidate/part*").exit_code == 0
    write_file(place, "candidate/more", "more")


def test_an_agent_s_tools_are_not_led_past_the_quota_by_a_link(place: AgentSandbox) -> None:
    filled = "head -c 17M /dev/zero > candidate/full; ln -s /workspace/candidate/more /tmp/link"
    command(place, "sh", "-c", "ln -s /workspace/candidate/more /tmp/link")
    command(place, "sh", "-c", filled)
    with pytest.raises(SessionError, match="disk_bytes allows"):
        write_file(place, "/tmp/link", "more")


def test_a_tree_that_is_deep_closed_and_hidden_behind_names_is_counted_as_it_lies(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    (top / "file").write_bytes(bytes(1 << 20))
    os.link(top / "file", top / "again")
    (top / "away").symlink_to("/usr")
    sparse(top / "holes", 1 << 30)
    here = os.open(top, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    with open(os.open("last", os.O_CREAT | os.O_WRONLY, dir_fd=here), "wb") as file:
        file.write(bytes(1 << 20))
    os.close(here)
    used = space.count([str(top), str(top)], 1 << 40, 1 << 30)
    assert used.files == 1 + 4 + 400 + 1 + 1  # the directory itself, named twice, is looked into once
    assert 2 << 20 <= used.bytes < 5 << 20
    few = space.count([str(top)], 1 << 40, 100)
    assert few.files < 300


def test_a_directory_that_its_owner_closed_is_looked_into_and_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file").write_bytes(bytes(1 << 20))
    closed.chmod(0o050)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may look into every directory
    assert space.count([str(tmp_path)], 1 << 40, 1 << 30).bytes > 1 << 20
    assert closed.stat().st_mode & 0o7777 == 0o050
