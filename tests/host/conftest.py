"""Sessions with real hosts in processes of their own, and a look at which processes there are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness import __version__
from harness.host import client, jobs
from harness.host.jobs import Job
from harness.record.directory import SessionDirectory, find
from harness.session.session import Session
from tests.paths import ROOT
from tests.session.standin import factory, make_task

WAIT_S = 60.0


def until(holds: Callable[[], Any], what: str) -> Any:
    """Look until something holds, and give it back."""
    deadline = time.monotonic() + WAIT_S
    while not (found := holds()):
        assert time.monotonic() < deadline, f"in vain: {what}"
        threading.Event().wait(0.01)
    return found


def processes(word: str) -> list[int]:
    """Every process, of this test or not, in whose command line a word stands."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and int(entry) != os.getpid():
            try:
                line = Path("/proc", entry, "cmdline").read_bytes()
                state = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if word.encode() in line and state != "Z":
                found.append(int(entry))
    return found


@dataclass
class Hosted:
    """A session, and the hosts that were started for it here."""

    id: str
    home: Path
    workspace: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def found(self) -> SessionDirectory:
        return find(self.home, self.id)

    def host(self, *, idle_s: float = 600.0, version: str = __version__) -> subprocess.Popen[str]:
        """Start a host with the stand-in verifier and wait until it is ready."""
        command = [sys.executable, "-m", "tests.host.standin_host", self.id, str(self.home), str(idle_s), version]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | {"LOCKSTEP_HOME": str(self.home)}
        )
        self.started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "true\n"
        return process

    def kill(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()

    def ask(self, call: str, *, client_name: str = "tester", **arguments: Any) -> dict[str, Any]:
        return client.ask(self.id, call, arguments, home=self.home, client=client_name)

    def begin(self, call: str, **arguments: Any) -> Job:
        """Ask for a job."""
        return Job.from_json(self.ask(call, **arguments)["job"])

    def job(self, identifier: str) -> Job:
        return jobs.read(identifier, self.home)

    def ended(self, job: Job) -> Job:
        """The job once it has ended."""
        return until(lambda: now if (now := self.job(job.id)).finished else None, f"the end of {job.id}")

    def working(self, job: Job) -> Job:
        """The job once its verifier is at work."""
        return until(lambda: now if (now := self.job(job.id)).what else None, f"the beginning of {job.id}")

    def write(self, name: str, content: str) -> None:
        (self.workspace / "candidate" / name).write_text(content)

    def close(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(WAIT_S)
            finally:
                self.kill(process)
                assert process.stdout is not None
                process.stdout.close()
        if jobs.host_token(self.found):  # one that a call has started: the lock says which process it is
            if (pid := int(self.found.lock.read_text())) != os.getpid():
                os.kill(pid, signal.SIGTERM)
            until(lambda: not jobs.host_token(self.found), "the end of the host")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    place.mkdir(mode=0o700)
    return place


def make_session(place: Path, home: Path, *, trains: bool = False) -> Hosted:
    """A session on the stand-in task, without a host so far; with level 4 if it `trains`."""
    task = make_task(place / "task", trains=trains)
    with Session.start(task, place / "workspace", home, verifier=factory([])) as session:
        return Hosted(session.id, home, place / "workspace")


@pytest.fixture
def hosted(tmp_path: Path, home: Path) -> Iterator[Hosted]:
    """A session on the stand-in task, without a host so far."""
    made = make_session(tmp_path, home)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """One session with a host, for tests that leave nothing behind."""
    place = tmp_path_factory.mktemp("shared")
    (place / "home").mkdir(mode=0o700)
    made = make_session(place, place / "home")
    made.host()
    yield made
    made.close()
