"""Everything that a sandbox itself can get wrong. What a command did is never an exception: see `Finished`.

SandboxError
├── SandboxUnavailable    the driver cannot work on this machine, or there is no driver of that name
├── SpecRefused           (ValueError) the specification or the command is malformed
├── SandboxFailed         the machinery failed: no namespace, a supervisor lost; says nothing of the command
├── SandboxClosed         used after `close()`
└── PathRefused           a path that `read_file`/`write_file` do not serve: `..`, a link out of the mounts,
    │                     a device, FIFO, socket or directory, a read-only mount, more than `file_bytes`
    ├── SpaceRefused      a file for which a limit on the disk leaves no room
    └── PathMissing       (FileNotFoundError) nothing is there
"""

from __future__ import annotations


class SandboxError(Exception):
    """Root of every exception that this package raises on purpose."""


class SandboxUnavailable(SandboxError):
    """The driver cannot work here; the message says why and what to do about it."""


class SpecRefused(SandboxError, ValueError):
    """A specification, command or environment that no sandbox could honour; nothing was started."""


class SandboxFailed(SandboxError):
    """The sandbox broke before or while the command ran. An infrastructure error, never a verdict."""


class SandboxClosed(SandboxError):
    """The sandbox was closed; open another one."""


class PathRefused(SandboxError):
    """A path inside the sandbox that is not served, and the rule that it breaks."""


class SpaceRefused(PathRefused):
    """A file for which there is no room within `tmp_bytes`, `disk_bytes` or `disk_files`."""


class PathMissing(PathRefused, FileNotFoundError):
    """A path inside the sandbox at which there is nothing."""
