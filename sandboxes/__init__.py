"""Where candidate code and an agent's commands run: mounted in, limited, watched, and ended with all they
start.

    driver = sandboxes.choose(None)             # bubblewrap where it works, else process: ask `driver.isolated`;
                                                # docker by name
    spec = SandboxSpec(mounts=(Mount(tree, "/candidate"),), workdir="/candidate",
    limits=Limits(processes=64)) with driver.open(spec) as sandbox:
        finished = sandbox.run(["python3", "check.py"], timeout=60)
        worker = sandbox.spawn(["python3", "serve.py"])     # talk over worker.stdin and worker.stdout

What holds for every driver: a command sees a clean environment (PATH, HOME, LANG, PWD, and what the
specification adds); it never makes `run` raise, whatever it does; its output is kept up to a cap and the rest
drained; it keeps to its `Limits` or dies, and `killed_by` names the limit; nothing that it started, daemons
included, outlives it, the sandbox's `close()`, or the death of this process. /tmp is private to the sandbox.
`read_file` and `write_file` are never led out of the mounts by a link.

What only an isolating driver (`isolated`) gives: no network, a read-only system, only the mounts of the
host's files, masked directories empty, no sight of other processes, no way to more privileges. `process`
gives none of this and says so in `warning`; record `driver.name` and `driver.isolated` with whatever was
concluded.

Memory and processes are limited by a control group where one can be made, else by a watchdog that looks at
the tree some fifty times a second: a burst may then overshoot for some hundredths of a second, and shared
memory that no process has mapped is not counted (in bubblewrap /dev/shm is bounded; a memfd is, by
`file_bytes`). What /tmp and the writable mounts hold is counted while a command runs, more often where the disk fills
quickly; what was written between two counts is over the limit. In `docker` /tmp is memory, and the kernel counts.

Exceptions are for the sandbox's own failing; `sandboxes.errors` draws their tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .base import CALLER, Driver, Finished, Limits, Mount, Running, Sandbox, SandboxSpec
from .bubblewrap import BubblewrapDriver
from .containers import DockerDriver
from .errors import (
    PathMissing,
    PathRefused,
    SandboxClosed,
    SandboxError,
    SandboxFailed,
    SandboxUnavailable,
    SpaceRefused,
    SpecRefused,
)
from .process import ProcessDriver

__all__ = [
    "CALLER",
    "UNASKED",
    "BubblewrapDriver",
    "DockerDriver",
    "Driver",
    "Finished",
    "Limits",
    "Mount",
    "PathMissing",
    "PathRefused",
    "ProcessDriver",
    "Running",
    "Sandbox",
    "SandboxClosed",
    "SandboxError",
    "SandboxFailed",
    "SandboxSpec",
    "SandboxUnavailable",
    "SpaceRefused",
    "SpecRefused",
    "choose",
    "drivers",
]

_DRIVERS: Mapping[str, Driver] = MappingProxyType(
    {driver.name: driver for driver in (BubblewrapDriver(), DockerDriver(), ProcessDriver())}
)
UNASKED = ("bubblewrap", "process")
"""What `choose(None)` considers: drivers that need no set-up. Containers are for whoever asks for them."""


def drivers() -> Mapping[str, Driver]:
    """Every driver by its name, the most isolating first, whether or not it works on this machine."""
    return _DRIVERS


def choose(name: str | None = None) -> Driver:
    """The driver called `name`; for None `bubblewrap` if it works, else `process`, which does not isolate.

    Raises SandboxUnavailable if there is no such driver or it does not work here; a driver asked for by name
    is never replaced by another.
    """
    if name is not None and name not in _DRIVERS:
        raise SandboxUnavailable(f"there is no sandbox driver {name!r}; choose one of {', '.join(_DRIVERS)}")
    reasons = []
    for driver in (_DRIVERS[each] for each in (UNASKED if name is None else (name,))):
        reason = driver.unavailable()
        if reason is None:
            return driver
        reasons.append(f"{driver.name}: {reason}")
    raise SandboxUnavailable("; ".join(reasons))
