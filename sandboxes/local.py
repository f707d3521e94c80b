"""The sandbox that the drivers of this machine open: its table of mounts, its private /tmp, what runs in it.

A driver adds how a command becomes a job (`Wrap`), and whether commands see mounts at their targets.
"""

from __future__ import annotations

import secrets
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from . import checks
from ._supervisor import space
from ._supervisor.job import Job
from .base import CALLER, Finished, SandboxSpec
from .errors import PathRefused, SandboxClosed, SpaceRefused, SpecRefused
from .execution import Supervised, communicate
from .landlock import Domain
from .launch import Here, Launch
from .paths import View, Views
from .removal import new_directory, remove_tree
from .seccomp import calls, program
from .worker import Worker

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What commands get as PATH: the system's directories, whatever the harness was started with."""

TEMPORARY = "/tmp"

NICE = "/usr/bin/nice"
"""Every command is started through `nice -n 0 --`, which changes nothing but says "no such command" (127) and
"not executable" (126) in one way for all drivers. `env` would do, but takes a name with `=` for a variable."""


@dataclass(frozen=True)
class Shown:
    """One row of the table: the host's `source` is mounted at `target`, and commands find it at `seen`."""

    target: str
    source: Path
    writable: bool
    seen: str
    owner: tuple[int, int] | None = None
    """User and group that files get which `write_file` makes here; None for the harness's own."""


@dataclass(frozen=True)
class Wrapped:
    """How a driver starts a command; the fields are those of `Job`."""

    command: list[str]
    environment: dict[str, str]
    workdir: str
    overhead: int = 0
    arguments: bytes | None = None
    nice: int = 0
    writable: Sequence[str] | None = None
    """What may be written beside /tmp, where the supervisor sees other paths than this machine, and /tmp is in memory."""
    domain: Domain | None = None
    """What Landlock holds the command to."""
    connects: bool = True
    """Whether it may connect sockets."""


Wrap = Callable[[list[str], dict[str, str]], Wrapped]


class State:
    """A directory of the host for one open sandbox; `temporary` is what commands have as /tmp."""

    def __init__(self) -> None:
        self.directory = new_directory("lockstep-sandbox-").resolve()
        self.temporary = self.directory / "tmp"
        self.temporary.mkdir(mode=0o700)
        self.remove = weakref.finalize(self, remove_tree, str(self.directory))


def shown(spec: SandboxSpec, state: State, *, at_source: bool) -> list[Shown]:
    """The table of a specification, /tmp first. `at_source`: commands find each mount where it lies outside.

    Raises SpecRefused.
    """
    rows = [(TEMPORARY, state.temporary, True)]
    rows += [(m.target, checks.source(m), m.writable) for m in checks.mounts(spec)]
    return [
        Shown(target.rstrip("/"), source, writable, str(source) if at_source else target.rstrip("/"))
        for target, source, writable in rows
    ]


def inside(table: Sequence[Shown], target: str) -> str:
    """Where commands see `target`. Raises PathRefused when it is below no mount."""
    if not target.startswith("/") or ".." in target.split("/"):
        raise PathRefused(f"{target}: expected an absolute path without '..', as commands in the sandbox use")
    wanted = checks.components(target)
    for row in sorted(table, key=lambda row: len(checks.components(row.target)), reverse=True):
        above = checks.components(row.target)
        if wanted[: len(above)] == above:
            return "/".join([row.seen, *wanted[len(above) :]])
    mounted = ", ".join(row.target for row in table)
    raise PathRefused(f"{target}: outside everything that the sandbox mounts ({mounted})")


def check_workdir(spec: SandboxSpec, table: Sequence[Shown]) -> None:
    """Where the workdir lies in a mount, it must be there: the sandbox would fail at every command instead.

    Raises SpecRefused.
    """
    try:
        inside(table, spec.workdir)
    except PathRefused:
        return
    names = checks.components(spec.workdir)
    best = max(
        (row for row in table if names[: len(above := checks.components(row.target))] == above),
        key=lambda row: len(checks.components(row.target)),
    )
    host = best.source.joinpath(*names[len(checks.components(best.target)) :])
    if not host.is_dir():
        raise SpecRefused(f"workdir: {spec.workdir} ({host} on this machine) is not a directory")


class LocalSandbox:
    """An open sandbox; see `Sandbox`. Methods may be called from any thread."""

    def __init__(
        self,
        spec: SandboxSpec,
        table: Sequence[Shown],
        state: State,
        wrap: Wrap,
        *,
        cgroups: bool,
        launch: Launch = Here,
    ) -> None:
        self._spec = spec
        self._table = table
        self._state = state
        self._wrap = wrap
        self._cgroups = cgroups
        self._launch = launch
        self._views = Views(
            [View(tuple(checks.components(row.seen)), row.source, row.writable, row.owner) for row in table],
            [path.resolve() for path in spec.masked],
        )
        self._lock = threading.Lock()
        self._closed = False
        self._runs: set[Supervised] = set()
        self._workers: set[Worker] = set()

    def inside(self, target: str) -> str:
        """See `Sandbox.inside`."""
        return inside(self._table, target)

    def run(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """See `Sandbox.run`."""
        limits = self._spec.limits
        job = self._job(command, environment)
        supervised = Supervised(job, stdin=bool(stdin), launch=self._launch)
        with self._lock:
            self._runs.add(supervised)
            if self._closed:
                supervised.ask_to_end(CALLER)
        try:
            return communicate(
                supervised,
                stdin,
                timeout=limits.wall_seconds if timeout is None else min(timeout, limits.wall_seconds),
                keep=limits.output_bytes,
            )
        finally:
            with self._lock:
                self._runs.discard(supervised)

    def spawn(self, command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Worker:
        """See `Sandbox.spawn`."""
        worker = Worker(Supervised(self._job(command, environment), stdin=True, launch=self._launch))
        with self._lock:
            self._workers.add(worker)
            closed = self._closed
        if closed:
            worker.kill()
        return worker

    def read_file(self, target: str) -> bytes:
        """See `Sandbox.read_file`."""
        self._check_open()
        return self._views.read(self.inside(target), self._spec.limits.file_bytes)

    def write_file(self, target: str, data: bytes) -> None:
        """See `Sandbox.write_file`."""
        self._check_open()
        self._demand_room(target, len(data))
        self._views.write(self.inside(target), data)

    def close(self) -> None:
        """See `Sandbox.close`."""
        with self._lock:
            self._closed = True
            runs, workers = list(self._runs), list(self._workers)
            self._workers.clear()
        for worker in workers:
            worker.ask_to_end()
        for supervised in runs:
            supervised.end(CALLER)
        for worker in workers:
            worker.kill()
        self._state.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _job(self, command: Sequence[str], environment: Mapping[str, str] | None) -> Job:
        self._check_open()
        variables = {**self._spec.environment, **(environment or {})}
        checks.environment(variables)
        wrapped = self._wrap([NICE, "-n", "0", "--", *checks.command(command)], variables)
        limits = self._spec.limits
        return Job(
            token=secrets.token_hex(8),
            command=wrapped.command,
            environment=wrapped.environment,
            workdir=wrapped.workdir,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            cpu_seconds=limits.cpu_seconds,
            file_bytes=limits.file_bytes,
            free_disk_bytes=limits.free_disk_bytes,
            tmp_bytes=limits.tmp_bytes,
            disk_bytes=limits.disk_bytes,
            disk_files=limits.disk_files,
            temporary=str(self._table[0].source) if wrapped.writable is None else TEMPORARY,
            temporary_seen=self._table[0].seen,
            temporary_in_memory=wrapped.writable is not None,
            writable=[str(row.source) for row in self._table[1:] if row.writable]
            if wrapped.writable is None
            else list(wrapped.writable),
            overhead=wrapped.overhead,
            arguments=wrapped.arguments,
            cgroups=self._cgroups,
            nice=wrapped.nice,
            filter=program.here(connects=wrapped.connects, locks=self._spec.locks),
            keyctl=calls.number("keyctl"),
            domain=wrapped.domain,
        )

    def _demand_room(self, target: str, wanted: int) -> None:
        """Raises SpaceRefused for a file by which a limit on the disk would not hold; one that shrinks is no such file."""
        limits = self._spec.limits
        source, size = self._views.look(self.inside(target))
        temporary = self._table[0].source
        places = [row.source for row in self._table[1:] if row.writable]
        if source == temporary:
            places, name, most = [temporary], "tmp_bytes", limits.tmp_bytes
        else:
            name, most = "disk_bytes", limits.disk_bytes
        used = space.count([str(place) for place in places], most, limits.disk_files)
        grows = wanted - (size or 0)
        if grows > 0 and used.bytes + grows > most:
            raise SpaceRefused(f"{target}: no room is left for it: {name} allows {most >> 20} MiB")
        if size is None and used.files >= limits.disk_files:
            raise SpaceRefused(f"{target}: no room is left for it: disk_files allows {limits.disk_files}")

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxClosed("this sandbox is closed, and everything in it has ended; open another one")
