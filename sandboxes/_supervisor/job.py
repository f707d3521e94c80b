"""What the harness asks of a supervisor, and the few bytes by which it is sent."""

from __future__ import annotations

import marshal
import os

ARGUMENTS_FD = 3
"""Where the command finds `Job.arguments`, when it has any."""
STATUS_FD = 4
"""Where a wrapper (bubblewrap) says that the wrapped command ran to its end."""

FILTER_FD = 5
"""Where a wrapper finds `Job.filter`, to install it when it has made its sandbox."""

OWNER = "owner"
"""Reported as the cause when the harness closed the control pipe; why is for the harness to know."""

_LENGTH_BYTES = 8
_FORMAT = 4


class Job:
    """One command with its limits. Sizes in bytes, times in seconds.

    `token` is unique to the job: it names its control group. `overhead` is the number of processes that
    belong to the driver and not to the command. `arguments` is a file for the command at `ARGUMENTS_FD`, and
    says that it is a wrapper which reports on `STATUS_FD`; a wrapper that exits without reporting has failed
    itself. `nice` is added to the command's niceness. The command may have `tmp_bytes` in `temporary`, which it sees at
    `temporary_seen` and which may be a file system of its own in memory; `disk_bytes` in the directories and files
    `writable` together; and `disk_files` entries in each of the two. The disks below them must keep `free_disk_bytes`.
    `filter` is a seccomp program for the command, which a wrapper installs itself.
    `keyctl` is the number of the call by which a new session keyring is joined. `domain` is what Landlock holds
    the command to (`confine.enclose`); a wrapper has none.
    """

    def __init__(
        self,
        *,
        token: str,
        command: list[str],
        environment: dict[str, str],
        workdir: str,
        memory_bytes: int,
        processes: int,
        cpu_seconds: float | None,
        file_bytes: int,
        free_disk_bytes: int,
        tmp_bytes: int,
        disk_bytes: int,
        disk_files: int,
        temporary: str,
        temporary_seen: str,
        temporary_in_memory: bool = False,
        writable: list[str],
        overhead: int = 0,
        arguments: bytes | None = None,
        cgroups: bool = True,
        nice: int = 0,
        filter: bytes | None = None,
        keyctl: int | None = None,
        domain: tuple[int, int, int, list[tuple[str, int]]] | None = None,
    ) -> None:
        self.token = token
        self.command = command
        self.environment = environment
        self.workdir = workdir
        self.memory_bytes = memory_bytes
        self.processes = processes
        self.cpu_seconds = cpu_seconds
        self.file_bytes = file_bytes
        self.free_disk_bytes = free_disk_bytes
        self.tmp_bytes = tmp_bytes
        self.disk_bytes = disk_bytes
        self.disk_files = disk_files
        self.temporary = temporary
        self.temporary_seen = temporary_seen
        self.temporary_in_memory = temporary_in_memory
        self.writable = writable
        self.overhead = overhead
        self.arguments = arguments
        self.cgroups = cgroups
        self.nice = nice
        self.filter = filter
        self.keyctl = keyctl
        self.domain = domain

    def is_temporary(self, path: str) -> bool:
        """Whether a path, as commands see it, lies in their /tmp."""
        return path.startswith(f"{self.temporary_seen}/")

    def packed(self) -> bytes:
        """The job as bytes for `receive`. The other end may be another version of Python, in a container, so
        the format's version is fixed: every one that can run a supervisor reads it."""
        body = marshal.dumps(vars(self), _FORMAT)
        return len(body).to_bytes(_LENGTH_BYTES, "big") + body


def receive(fd: int) -> Job:
    """Read one packed job from a pipe. Raises EOFError if the harness went away meanwhile."""
    length = int.from_bytes(_exactly(fd, _LENGTH_BYTES), "big")
    return Job(**marshal.loads(_exactly(fd, length)))


def _exactly(fd: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = os.read(fd, count - len(data))
        if not chunk:
            raise EOFError("the harness closed the control pipe before the job was sent")
        data += chunk
    return data
