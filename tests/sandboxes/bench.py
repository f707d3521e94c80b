"""What a behaviour is checked with: a driver, a directory of the host, a Python to run inside, a sign of
life."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandboxes import Driver, Finished, Limits, Mount, Sandbox, SandboxSpec

WORK = "/workspace"
"""Where the writable mount of every bench sandbox is."""

_PREFIX = Path(sys.base_prefix).resolve()
PYTHON = os.path.realpath(sys.executable)
# The system's own Python is there anyway; another one is mounted at its own path, as its files expect.
PYTHON_MOUNTS = () if _PREFIX.is_relative_to("/usr") else (Mount(_PREFIX, str(_PREFIX)),)

SPAN = 20.0
"""Seconds after which something that should have happened at once counts as not happening."""

ROOMY = Limits(free_disk_bytes=0)


@dataclass(frozen=True)
class Bench:
    """A driver under test. `source` is an expression that makes it in another process, after
    `import sandboxes`; `patience` is how long a command may run that a limit should end."""

    driver: Driver
    source: str
    directory: Path
    patience: float = SPAN

    @property
    def work(self) -> Path:
        """The directory of the host that is mounted, writable, at `WORK`."""
        path = self.directory / "work"
        path.mkdir(exist_ok=True)
        return path

    def spec(
        self,
        *,
        mounts: Sequence[Mount] = (),
        limits: Limits = ROOMY,
        masked: tuple[Path, ...] = (),
        environment: dict[str, str] | None = None,
        workdir: str = WORK,
    ) -> SandboxSpec:
        """A specification with Python, the writable directory, and what is asked for beside."""
        return SandboxSpec(
            mounts=(*PYTHON_MOUNTS, Mount(self.work, WORK, writable=True), *mounts),
            workdir=workdir,
            environment=environment or {},
            limits=limits,
            masked=masked,
        )

    @contextlib.contextmanager
    def open(
        self,
        *,
        mounts: Sequence[Mount] = (),
        limits: Limits = ROOMY,
        masked: tuple[Path, ...] = (),
        environment: dict[str, str] | None = None,
        workdir: str = WORK,
    ) -> Iterator[Sandbox]:
        """A sandbox of that specification."""
        spec = self.spec(mounts=mounts, limits=limits, masked=masked, environment=environment, workdir=workdir)
        with self.driver.open(spec) as sandbox:
            yield sandbox

    @contextlib.contextmanager
    def pulse(self, name: str = "pulse") -> Iterator[Pulse]:
        """A FIFO in the writable mount by which a process inside shows from when until when it lives."""
        path = self.work / name
        os.mkfifo(path)
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            yield Pulse(fd, name)
        finally:
            os.close(fd)


@dataclass(frozen=True)
class Pulse:
    """The reading end. The kernel closes the other one with the process that holds it, wherever that
    lives."""

    fd: int
    name: str

    def begun(self) -> bool:
        """Whether a process inside has written, within `SPAN`."""
        return self._ready() and os.read(self.fd, 1) == b"+"

    def stopped(self) -> bool:
        """Whether the last process that held it is gone, within `SPAN`."""
        while self._ready():
            if not os.read(self.fd, 64):
                return True
        return False

    def _ready(self) -> bool:
        return bool(select.select([self.fd], [], [], SPAN)[0])


def python(sandbox: Sandbox, code: str, *arguments: str, timeout: float = SPAN, stdin: bytes = b"") -> Finished:
    """Run a Python program inside."""
    return sandbox.run([PYTHON, "-I", "-S", "-c", code, *arguments], timeout=timeout, stdin=stdin)


def said(finished: Finished) -> str:
    """What a program that must succeed wrote."""
    assert finished.exit_code == 0, finished
    return finished.stdout.decode().strip()


LIVE = """
import os, signal, sys
pulse = os.open(sys.argv[1], os.O_WRONLY)
os.write(pulse, b"+")
signal.pause()
"""
"""Show a pulse (argument 1) and wait for ever."""

DAEMON = """
import os, signal, sys
reported, teller = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        for fd in (0, 1, 2):
            os.close(fd)
        os.environ.clear()
        pulse = os.open(sys.argv[1], os.O_WRONLY)
        os.write(pulse, b"+")
        os.write(teller, b"+")
        signal.pause()
    os._exit(0)
os.wait()
os.read(reported, 1)
if sys.argv[2] == "stay":
    print("staying", flush=True)
    signal.pause()
"""
"""Start a daemon that shows a pulse (argument 1) and left its parent, session and group; then stay or
leave."""


@dataclass(frozen=True)
class Behaviour:
    """One promise. `isolating`: only a driver that declares itself isolated makes it. `guarding`: only one that exposes
    nothing (`Driver.exposes`)."""

    name: str
    check: Callable[[Bench], None]
    isolating: bool
    guarding: bool = False


BEHAVIOURS: list[Behaviour] = []


def behaviour(check: Callable[[Bench], None]) -> Callable[[Bench], None]:
    """Register a promise that every driver makes."""
    BEHAVIOURS.append(Behaviour(check.__name__, check, isolating=False))
    return check


def isolating(check: Callable[[Bench], None]) -> Callable[[Bench], None]:
    """Register a promise that only isolated drivers make."""
    BEHAVIOURS.append(Behaviour(check.__name__, check, isolating=True))
    return check


def guarding(check: Callable[[Bench], None]) -> Callable[[Bench], None]:
    """Register a promise that every driver makes where the machine has what it takes."""
    BEHAVIOURS.append(Behaviour(check.__name__, check, isolating=False, guarding=True))
    return check
