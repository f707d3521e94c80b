"""The contract that every driver keeps: what is asked for, what comes back, and who may be asked.

A driver opens a sandbox from a `SandboxSpec`. A sandbox runs commands to their end (`run`) or keeps a worker
talking over pipes (`spawn`), and reads and writes files in what was mounted. `tests/sandboxes/conformance.py`
states each promise as a behaviour that a driver must show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30

STDERR_TAIL_BYTES = 16 << 10
"""How much of a spawned worker's standard error `Running.stderr_tail` keeps."""

CALLER = "caller"
"""`killed_by` of a command that its owner ended, by `Running.kill` or `Sandbox.close`."""


@dataclass(frozen=True)
class Mount:
    """A file or directory of the host, shown inside at the absolute path `target`.

    Read-only unless `writable`. A target may lie below another mount's target if that directory has, or may
    be given, an entry of that name.
    """

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Limits:
    """What one command, with every process that it starts, may use. Breaking one kills the whole tree.

    The field's name is what `killed_by` then says, except for `output_bytes`, which cuts and flags instead.
    """

    memory_bytes: int = 4 * GIBIBYTE
    """Resident memory of the whole tree together."""
    processes: int = 256
    """Processes alive at once, the command's own included. Threads are not counted."""
    wall_seconds: float = 600.0
    """Longest time that a `run` may take. A spawned worker has no clock: its owner ends it."""
    cpu_seconds: float | None = None
    """CPU time of the whole tree together; None for no limit."""
    output_bytes: int = MEBIBYTE
    """How much of stdout, and as much of stderr, is kept; what is over is drained, dropped and flagged."""
    file_bytes: int = GIBIBYTE
    """Largest file that may be written. A program that handles the error (EFBIG) is not killed."""
    tmp_bytes: int = 2 * GIBIBYTE
    """How much /tmp may hold. In `docker` it lies in memory, and holds `memory_bytes` at most."""
    disk_bytes: int = 4 * GIBIBYTE
    """How much all writable mounts together may hold, what was there before included. As in /tmp, what is allocated counts:
    a sparse file as far as it is written, a file with two names once. A command that begins when there is more can
    remove files, but write none."""
    disk_files: int = 200_000
    """How many files, directories and links /tmp may hold, and as many all writable mounts together."""
    free_disk_bytes: int = 128 * MEBIBYTE
    """The tree is killed when a file system on which it may write has less than this left; 0 for no limit."""


@dataclass(frozen=True)
class SandboxSpec:
    """What a sandbox shows and allows. `masked` directories of the host appear empty wherever they would be
    seen."""

    mounts: tuple[Mount, ...] = ()
    workdir: str = "/tmp"
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    masked: tuple[Path, ...] = ()
    gpus: int = 0
    """How many NVIDIA GPUs commands may use. Only `docker` gives them one by one: those that CUDA_VISIBLE_DEVICES in
    `environment` names, else the first ones. `bubblewrap` shows all where some are asked for, `process` always."""
    network: bool = False
    """Whether commands reach the network, as what builds and downloads must. Only `bubblewrap` gives it and takes it away;
    `docker` refuses to give it, and `process` cannot take it away."""
    locks: bool = True
    """Whether commands may lock files. A lock on a file that two sandboxes show read-only is seen in both: what is judged
    does without, so that it cannot talk. Cargo, git and databases do not."""
    purpose: str = ""
    """For whom it is opened, in a few words: containers carry it as a label."""


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    `exit_code` follows the shell: 127 no such command, 126 not executable, 128 + n ended by signal n. It is
    None exactly when the sandbox ended the command, and `killed_by` then names the limit (a field of
    `Limits`) or is `"caller"`. `stdout` and `stderr` hold what was written until then, each cut at
    `output_bytes`.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    killed_by: str | None
    stdout_truncated: bool
    stderr_truncated: bool
    duration_s: float


class RawWriter(Protocol):
    """The unbuffered writing end of a pipe."""

    def write(self, data: bytes | bytearray | memoryview, /) -> int | None: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class RawReader(Protocol):
    """The unbuffered reading end of a pipe: `read` returns what is there, and `b""` at the end."""

    def read(self, size: int = -1, /) -> bytes | None: ...
    def readinto(self, buffer: bytearray | memoryview, /) -> int | None: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class Running(Protocol):
    """A worker that lives until it ends, is killed, breaks a limit, or its sandbox is closed."""

    @property
    def stdin(self) -> RawWriter: ...
    @property
    def stdout(self) -> RawReader: ...
    @property
    def pid(self) -> int:
        """The host's number for the outermost process of the worker."""
        ...

    @property
    def killed_by(self) -> str | None:
        """As in `Finished`; None while it runs."""
        ...

    def stderr_tail(self) -> str:
        """The last `STDERR_TAIL_BYTES` written to standard error; it is always drained, so it never
        blocks."""
        ...

    def poll(self) -> int | None:
        """The exit code, or None while it runs and for ever when the sandbox killed it (see `killed_by`).

        Raises SandboxFailed when the sandbox could not start or lost the worker.
        """
        ...

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end, at most `timeout` seconds, then as `poll`."""
        ...

    def ask_to_end(self) -> None:
        """Begin what `kill` completes: it stays readable until then. Idempotent."""
        ...

    def kill(self) -> None:
        """End the worker and everything that it started; returns when all of it is gone, its pipes closed. Idempotent."""
        ...


class Sandbox(Protocol):
    """An open sandbox. `/tmp` is its own: private, writable, kept from one command to the next, gone on
    close."""

    def inside(self, target: str) -> str:
        """The path at which commands see the mount target `target`, or a path below one.

        Raises PathRefused when no mount shows it.
        """
        ...

    def run(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run `command` to its end, at most `timeout` seconds (never more than `wall_seconds`).

        `environment` is added to the specification's. Raises SpecRefused, SandboxClosed or SandboxFailed, and
        nothing for what the command did.
        """
        ...

    def spawn(self, command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Running:
        """Start a worker that talks over its pipes. Raises as `run`."""
        ...

    def read_file(self, target: str) -> bytes:
        """The content of the regular file that commands see at `target`. Raises PathRefused, PathMissing."""
        ...

    def write_file(self, target: str, data: bytes) -> None:
        """Replace or create the file at `target`, with missing directories; an existing file keeps its
        mode."""
        ...

    def close(self) -> None:
        """Kill everything that still runs and remove `/tmp`. Idempotent."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Driver(Protocol):
    """A way to make sandboxes. `isolated` is recorded with every verdict; it must not be claimed lightly."""

    @property
    def name(self) -> str: ...
    @property
    def isolated(self) -> bool: ...
    @property
    def warning(self) -> str | None:
        """What an unisolated driver cannot promise, in words for a person; None if `isolated`."""
        ...

    @property
    def python(self) -> str | None:
        """The interpreter, inside, that has JAX and numpy already; None where the harness mounts its own."""
        ...

    def describe(self) -> Mapping[str, str]:
        """What is to be recorded beside the driver's name: for `docker` the image, its digest, its
        Python distributions (`packages`, as `name==version` with spaces between), and the engine's version.

        Raises SandboxUnavailable.
        """
        ...

    def unavailable(self) -> str | None:
        """None if it works on this machine, else one line: why not, and what to do."""
        ...

    def exposes(self) -> str | None:
        """None if no command reads files of this machine that are neither the system's nor mounted, or reaches into
        processes outside; else one line: what this machine lacks for that."""
        ...

    def open(self, spec: SandboxSpec) -> Sandbox:
        """Open a sandbox. Raises SpecRefused or SandboxUnavailable."""
        ...
