"""The driver that limits but does not isolate: commands are ordinary processes of the person who started
us."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping

from . import checks
from .base import SandboxSpec
from .errors import PathRefused, SpecRefused
from .launch import MARKER
from .local import NICE, PATH, TEMPORARY, LocalSandbox, State, Wrapped, inside, shown

_WARNING = (
    "commands run unisolated, as you: they can read all that you can read, use the network, write outside their"
    " mounts (also those given as read-only), see masked directories and other processes, and end the supervisor"
    " that limits them; install bubblewrap for a sandbox that holds"
)


class ProcessDriver:
    """For machines that allow nothing else. Enforced: limits, a clean environment, a private temporary
    directory, and that the whole tree ends. Not enforced: anything about files, network or other processes; a
    mount is its source's own path, read-only or not (`Sandbox.inside` tells where), and `masked` only binds
    `read_file` and `write_file`.
    """

    name = "process"
    isolated = False
    warning: str | None = _WARNING
    python: str | None = None

    def __init__(self, *, cgroups: bool = True) -> None:
        """With `cgroups` False the limits are kept by watching /proc even where a cgroup could be made."""
        self._cgroups = cgroups

    def unavailable(self) -> str | None:
        """See `Driver.unavailable`."""
        if not os.access(NICE, os.X_OK):
            return f"{NICE} is missing; install coreutils"
        return None

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
            return Wrapped(command, {**standard, **variables, MARKER: marker}, workdir)

        return LocalSandbox(spec, table, state, wrap, cgroups=self._cgroups)
