"""The host with the real levels: its workers are warm, and none outlives a cancelled job or a killed host."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import operations
from harness.host import client, jobs
from harness.support.home import lockstep_home
from tests.host.conftest import Hosted, processes, until
from tests.paths import WALK

RIGHT, WRONG = "jnp.where(action == 1, 1.0, -1.0)", "jnp.where(action == 1, 1.0, -2.0)"

pytestmark = pytest.mark.slow


@pytest.fixture
def hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosted]:
    """A session on the walk, with hosts of its own and the reference environments of this machine."""
    shared = lockstep_home() / "envs"
    shared.mkdir(exist_ok=True)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "envs").symlink_to(shared)
    started = operations.start(str(WALK), tmp_path / "work", home)
    made = Hosted(started["session"], home, tmp_path / "work")
    yield made
    made.close()


def workers_below(pid: int) -> set[int]:
    """Every process that a host has started, or that those have, but for the git that reads its record."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                parents[int(entry)] = int(Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    below = {pid}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    return {each for each in below - {pid} if b"cat-file" not in command_line(each)}


def command_line(pid: int) -> bytes:
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return b""


def alive(pids: set[int]) -> set[int]:
    found = set()
    for pid in pids:
        try:
            state = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.add(pid)
    return found


def host_of(hosted: Hosted) -> int:
    return int(hosted.found.lock.read_text())


def test_a_candidate_is_verified_compared_and_explained_by_one_warm_host(hosted: Hosted) -> None:
    entry = hosted.workspace / "candidate" / "env.py"
    entry.write_text(entry.read_text().replace(RIGHT, WRONG))
    failed = hosted.ended(hosted.begin("verify", message="A first translation"))
    assert failed.result is not None and failed.result["outcome"] == "FAIL", failed
    pid = host_of(hosted)
    case = failed.result["case"]
    shown = hosted.ended(hosted.begin("compare", case=case))
    assert shown.result is not None and shown.result["difference"]["path"] == "state/place", shown
    hosted.ask("edit_file", path="candidate/env.py", old=WRONG, new=RIGHT)
    passed = hosted.ended(hosted.begin("verify"))
    assert passed.result is not None and passed.result["commit"], passed
    same = hosted.ended(hosted.begin("compare", case=case))
    assert same.result is not None and same.result["difference"] is None
    unknown = hosted.ended(hosted.begin("compare", policy="nobody"))
    assert unknown.state == "failed" and "has no policy 'nobody'" in (unknown.error or {})["what"]
    assert host_of(hosted) == pid
    kinds = [event["kind"] for event in hosted.ask("history")["events"]]
    assert kinds == ["start", "attempt", "verdict", "compare", "edit_file", "attempt", "verdict", "compare", "compare"]
    workers = workers_below(pid)
    assert workers
    client.release(hosted.id, hosted.home)
    until(lambda: not alive(workers), "the end of its workers")


@pytest.mark.parametrize("how", ["killed", "terminated"])
def test_no_worker_outlives_a_host_that_ends_in_a_verification(hosted: Hosted, how: str) -> None:
    job = hosted.working(hosted.begin("verify", level=1))
    command = hosted.begin("run_command", command="sleep 654321.9")
    until(lambda: processes("sleep\000654321.9"), "the command's process")
    pid = host_of(hosted)
    workers = until(lambda: len(found := workers_below(pid)) > 3 and found, "its workers")
    os.kill(pid, signal.SIGKILL if how == "killed" else signal.SIGTERM)
    until(lambda: not jobs.host_token(hosted.found), "its end")
    assert hosted.job(job.id).state == "lost"
    assert hosted.job(command.id).state == "lost"
    until(lambda: not alive(workers), "the end of its workers")
    assert not processes("sleep\000654321.9")
    again = hosted.ended(hosted.begin("verify", level=1, module="ending"))
    assert again.result is not None and again.result["commit"], again


def test_a_cancelled_verification_leaves_no_worker_and_the_next_one_passes(hosted: Hosted) -> None:
    job = hosted.begin("verify", level=1)
    until(lambda: hosted.job(job.id).what.startswith("level 1"), "the first check")
    workers = workers_below(host_of(hosted))
    hosted.ask("cancel", job=job.id)
    assert hosted.ended(job).state == "cancelled"
    until(lambda: not alive(workers), "the end of what was at work")
    passed = hosted.ended(hosted.begin("verify", module="ending", level=1))
    assert passed.result is not None and passed.result["commit"], passed


def test_a_cancelled_comparison_leaves_no_worker(hosted: Hosted) -> None:
    hosted.ask("list_files")
    pid = host_of(hosted)
    job = hosted.begin("compare", steps=40)
    workers = until(lambda: len(found := workers_below(pid)) > 2 and found, "its workers")
    hosted.ask("cancel", job=job.id)
    assert hosted.ended(job).state in ("cancelled", "done")
    until(lambda: not alive(workers), "their end")


def test_a_cancelled_profile_leaves_no_worker_and_stands_in_the_record(hosted: Hosted) -> None:
    hosted.ask("list_files")
    pid = host_of(hosted)
    job = hosted.begin("profile", batch_sizes=[16], peers=False)
    workers = until(lambda: len(found := workers_below(pid)) > 2 and found, "its workers")
    hosted.ask("cancel", job=job.id)
    assert hosted.ended(job).state == "cancelled"
    until(lambda: not alive(workers), "their end")
    events = hosted.ask("history")["events"]
    assert [(event["kind"], event["outcome"]) for event in events] == [("start", ""), ("profile", "cancelled")]
    assert list(hosted.found.exports.iterdir()) == []
