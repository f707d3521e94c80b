"""What is wrong with a specification or a command, found before anything is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .base import Limits, Mount, SandboxSpec
from .errors import SpecRefused

_RESERVED = ("/proc", "/dev")


def components(path: str) -> list[str]:
    """The names in an absolute path."""
    return [name for name in path.split("/") if name]


def spec(spec: SandboxSpec) -> None:
    """Raises SpecRefused, naming the field, if no sandbox could honour `spec`."""
    mounts(spec)
    environment(spec.environment)
    _limits(spec.limits)
    if not _plain(spec.workdir):
        raise SpecRefused(f"workdir: {spec.workdir!r} is not an absolute path without '..'")
    if spec.gpus < 0:
        raise SpecRefused(f"gpus: {spec.gpus}; expected zero or more")
    for path in spec.masked:
        # A mask that names nothing is a typing error, and to ignore it would show what was to be hidden.
        if not path.is_dir():
            raise SpecRefused(f"masked: {path} is not a directory of this machine; correct it or leave it out")


def without_network(spec: SandboxSpec, driver: str) -> None:
    """Raises SpecRefused if the network is asked of a driver that never gives it."""
    if spec.network:
        raise SpecRefused(f"network: {driver} gives commands no network; use the driver 'bubblewrap'")


def mounts(spec: SandboxSpec) -> list[Mount]:
    """The mounts, outermost target first, so that each can be made on top of those above it."""
    seen = set()
    for mount in spec.mounts:
        names = tuple(components(mount.target))
        if not _plain(mount.target) or not names:
            raise SpecRefused(f"mounts: target {mount.target!r} is not an absolute path below / without '..'")
        if f"/{names[0]}" in _RESERVED:
            raise SpecRefused(f"mounts: target {mount.target!r} lies in /{names[0]}, which the sandbox makes itself")
        if names in seen:
            raise SpecRefused(f"mounts: two mounts have the target {mount.target!r}; keep one")
        seen.add(names)
        source(mount)
    return sorted(spec.mounts, key=lambda mount: len(components(mount.target)))


def source(mount: Mount) -> Path:
    """The host's file or directory, free of links. Raises SpecRefused if there is none."""
    try:
        return mount.source.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise SpecRefused(
            f"mounts: source {mount.source} of {mount.target!r} is not there: {error}; create it first"
        ) from error


def command(command: Sequence[str]) -> list[str]:
    """The command as a list. Raises SpecRefused for what the kernel could not even be asked to start."""
    if isinstance(command, str) or not command:
        raise SpecRefused(f"command: expected a program and its arguments as a sequence, got {command!r}")
    for argument in command:
        if not isinstance(argument, str) or "\0" in argument:
            raise SpecRefused(f"command: {argument!r} is not a string free of NUL characters")
    return list(command)


def environment(variables: Mapping[str, str]) -> None:
    """Raises SpecRefused for a name or a value that cannot be an environment variable's."""
    for name, value in variables.items():
        if not name or "=" in name or "\0" in name:
            raise SpecRefused(f"environment: {name!r} cannot be a variable's name")
        if not isinstance(value, str) or "\0" in value:
            raise SpecRefused(f"environment: the value of {name} is not a string free of NUL characters")


def _limits(limits: Limits) -> None:
    for name in ("memory_bytes", "processes", "wall_seconds", "file_bytes", "tmp_bytes", "disk_bytes", "disk_files"):
        if getattr(limits, name) <= 0:
            raise SpecRefused(f"limits: {name} is {getattr(limits, name)}; expected more than zero")
    for name in ("output_bytes", "free_disk_bytes"):
        if getattr(limits, name) < 0:
            raise SpecRefused(f"limits: {name} is {getattr(limits, name)}; expected zero or more")
    if limits.cpu_seconds is not None and limits.cpu_seconds <= 0:
        raise SpecRefused(f"limits: cpu_seconds is {limits.cpu_seconds}; expected more than zero, or None")


def _plain(path: str) -> bool:
    return path.startswith("/") and ".." not in path.split("/") and "\0" not in path
