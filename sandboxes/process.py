"""The driver that limits but does not isolate: commands are ordinary processes of the person who started
us."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from . import checks, landlock
from .base import SandboxSpec
from .errors import PathRefused, SpecRefused
from .launch import MARKER
from .local import NICE, PATH, TEMPORARY, LocalSandbox, Shown, State, Wrapped, inside, shown
from .seccomp import program

_WARNING = (
    "commands run unisolated, as you: they can read the system's files, see masked directories and other processes, send"
    " datagrams, and without Landlock also read and write all that you can and end the supervisor that limits them;"
    " install bubblewrap for a sandbox that holds"
)


class ProcessDriver:
    """For machines that allow nothing else. Enforced: limits, a clean environment, a private temporary
    directory, and that the whole tree ends. Where the kernel has Landlock and filters of calls, also: of files, commands
    read the system's and their mounts, and write in writable mounts and the temporary directory; they connect no socket,
    and reach into no process outside. Not enforced: anything else about network or other processes; a mount is its
    source's own path (`Sandbox.inside` tells where), and `masked` only binds `read_file` and `write_file`.
    """

    name = "process"
    isolated = False
    warning: str | None = _WARNING
    python: str | None = None

    def __init__(self, *, cgroups: bool = True, hidden: tuple[Path, ...] = ()) -> None:
        """With `cgroups` False the limits are kept by watching /proc even where a cgroup could be made. `hidden` are
        files and directories that no command reads because something above them is mounted or the system's."""
        self._cgroups = cgroups
        self._hidden = [Path(os.path.realpath(path)) for path in hidden]

    def unavailable(self) -> str | None:
        """See `Driver.unavailable`."""
        if not os.access(NICE, os.X_OK):
            return f"{NICE} is missing; install coreutils"
        return None

    def exposes(self) -> str | None:
        """See `Driver.exposes`."""
        if landlock.version() == 0:
            return "the kernel has no Landlock (Linux 5.13 or newer, with `landlock` among its `lsm`)"
        return program.unavailable()

    def hiding(self, *places: Path) -> ProcessDriver:
        """This driver, with places that are hidden."""
        return ProcessDriver(cgroups=self._cgroups, hidden=places)

    def describe(self) -> Mapping[str, str]:
        """See `Driver.describe`."""
        return {}

    def open(self, spec: SandboxSpec) -> LocalSandbox:
        """See `Driver.open`."""
        checks.spec(spec)
        state = State()
        table = shown(spec, state, at_source=True)
        try:
            workdir = inside(table, spec.workdir)
        except PathRefused:
            workdir = spec.workdir
        if not os.path.isdir(workdir):
            raise SpecRefused(f"workdir: {spec.workdir} ({workdir} on this machine) is not a directory")
        domain = self._domain(spec, table)
        marker = secrets.token_hex(16)

        def wrap(command: list[str], variables: Mapping[str, str]) -> Wrapped:
            temporary = inside(table, TEMPORARY)
            standard = {
                "PATH": PATH,
                "HOME": temporary,
                "TMPDIR": temporary,
                "LANG": "C.UTF-8",
                "PWD": workdir,
            }
            environment = {**standard, **variables, MARKER: marker}
            return Wrapped(command, environment, workdir, domain=domain, connects=spec.network or domain is None)

        return LocalSandbox(spec, table, state, wrap, cgroups=self._cgroups)

    def _domain(self, spec: SandboxSpec, table: list[Shown]) -> landlock.Domain | None:
        if landlock.version() == 0:
            return None
        for row in table:
            for place in self._hidden:
                if row.writable and place.is_relative_to(row.source):
                    raise SpecRefused(f"mounts: {row.source} is given as writable, and holds {place}, which is hidden")
        return landlock.domain([(row.source, row.writable) for row in table], self._hidden, network=spec.network)
