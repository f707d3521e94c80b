"""Where a supervisor runs: the part of a supervised command that differs between this machine and a container."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ._supervisor import cgroup
from ._supervisor.job import Job
from ._supervisor.tree import kill
from .errors import SandboxFailed

MARKER = "LOCKSTEP_SANDBOX"
"""The variable by which what is left of a tree can be found when its supervisor was killed. Drivers whose
commands share the host's process table set it to a random value for each sandbox."""

_SWEEPS = 100
"""Looks for marked processes before giving up on one that the kernel cannot end now."""

_HERE = str(Path(__file__).resolve().parent)
# Appended, so that no module of this package can shadow one of the standard library.
_BOOT = "import sys; sys.path.append(sys.argv[1]); from _supervisor.main import main; main({}, {})"


@dataclass(frozen=True)
class Ends:
    """The supervisor's ends of a command's pipes, as descriptors that the launcher's caller closes."""

    stdin: int
    stdout: int
    stderr: int
    control: int
    report: int


class Launched(Protocol):
    """A supervisor that was started. Its end says that nothing of the tree is left, unless it was lost."""

    def ended(self) -> bool:
        """Whether it is gone, and the report pipe with it."""
        ...

    def wait(self, timeout: float | None) -> None:
        """Return when it is gone, or after `timeout` seconds."""
        ...

    def kill(self) -> None:
        """End a supervisor that does not answer."""
        ...

    def watchable(self) -> int | None:
        """A descriptor, to be closed by the caller, that becomes readable at the end; None if that was before."""
        ...

    def host_pid(self, pid: int) -> int:
        """The host's number for a process that the supervisor calls `pid`."""
        ...

    def lost(self) -> str:
        """End what a supervisor that did not report has left behind, and say how it was lost."""
        ...


Launch = Callable[[Ends, Job], Launched]


class Here:
    """A supervisor as a process of this machine."""

    def __init__(self, ends: Ends, job: Job) -> None:
        """Start it. Raises SandboxFailed."""
        self._token = job.token
        self._marker = job.environment.get(MARKER)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT.format(ends.control, ends.report), _HERE],
                stdin=ends.stdin,
                stdout=ends.stdout,
                stderr=ends.stderr,
                pass_fds=(ends.control, ends.report),
                # Away from the terminal's Ctrl-C: the harness decides when a tree ends.
                start_new_session=True,
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                cwd="/",
            )
        except OSError as error:
            raise SandboxFailed(f"cannot start the supervisor with {sys.executable!r}: {error}") from error

    def ended(self) -> bool:
        """See `Launched`."""
        return self._process.poll() is not None

    def wait(self, timeout: float | None) -> None:
        """See `Launched`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)

    def kill(self) -> None:
        """See `Launched`."""
        self._process.kill()

    def watchable(self) -> int | None:
        """See `Launched`."""
        try:
            return os.pidfd_open(self._process.pid)
        except ProcessLookupError:
            return None

    def host_pid(self, pid: int) -> int:
        """See `Launched`."""
        return pid

    def lost(self) -> str:
        """See `Launched`."""
        cgroup.sweep(self._token)
        if self._marker is not None:
            _kill_marked(self._marker)
        return f"the supervisor was lost (exit status {self._process.returncode}) before the command ended"


def _kill_marked(marker: str) -> None:
    """Kill every process that was started with the marker in its environment, until a look finds none."""
    wanted = f"{MARKER}={marker}".encode()
    for _ in range(_SWEEPS):
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdecimal():
                with contextlib.suppress(OSError):
                    environment = Path("/proc", entry, "environ").read_bytes()
                    if wanted in environment.split(b"\0"):
                        found.append(int(entry))
        if not found:
            return
        kill(found)
