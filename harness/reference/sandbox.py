"""Where what a task brings is run: its reference and its peers.

A person vouched for the task. Still, a fault in it stays inside, and so does what a state that an agent made up does to a
reference in C: it sees the task, its environment and this machine's system, and no home, no key, no session and no network.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import harness.protocol.worker
from harness.policy.floor import permitted_here
from harness.support.home import lockstep_home
from harness.task.contract import Task
from sandboxes import Limits, Mount, Sandbox, SandboxSpec

MEMORY_BYTES = 8 << 30
OUTPUT_BYTES = 16 << 20
TMP_BYTES, DISK_BYTES, DISK_FILES = 16 << 30, 64 << 30, 2_000_000
"""An environment with a large library is built here, and unpacked in /tmp before."""
WORKER = Path(harness.protocol.worker.__file__)
"""The other side of the wire, which serves an adapter."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""What every sandbox shows."""


@dataclass(frozen=True)
class Installed:
    """A finished environment: its root and its interpreter."""

    prefix: Path
    python: Path


def open_sandbox(
    task: Task,
    installed: Installed,
    command: list[str],
    environment: Mapping[str, str],
    purpose: str,
    *writable: Path,
    shown: tuple[Path, ...] = (),
    network: bool = False,
) -> Sandbox:
    """A sandbox for a command of a task, which sees all files at the paths that they have on this machine.

    Args:
        command: what will be started; its program may lie outside of the system's directories.
        writable: the directories in which it may write, beside its own temporary one.
        shown: further files and directories.
        network: whether it reaches the network, as only the building of an environment does.

    Raises:
        SandboxUnavailable: no sandbox that isolates works here, and the operator allows none that does not.
    """
    places = dict.fromkeys([task.directory, *_of_environment(installed), *_of_program(Path(command[0])), *shown])
    mounts = (
        *(_mount(place) for place in places if not _is_system(place) and place not in writable),
        *(_mount(place, True) for place in writable),
    )
    return permitted_here().open(
        SandboxSpec(
            mounts=mounts,
            workdir=str(task.directory),
            environment=environment,
            purpose=purpose,
            network=network,
            limits=Limits(
                memory_bytes=MEMORY_BYTES,
                processes=1024,
                wall_seconds=24 * 3600.0,
                file_bytes=8 << 30,
                tmp_bytes=TMP_BYTES,
                disk_bytes=DISK_BYTES,
                disk_files=DISK_FILES,
                output_bytes=OUTPUT_BYTES,
            ),
        )
    )


def _mount(place: Path, writable: bool = False) -> Mount:
    return Mount(place.resolve(), str(place), writable)


def _is_system(place: Path) -> bool:
    return any(place.resolve().is_relative_to(system) for system in _SYSTEM)


def _of_environment(installed: Installed) -> Iterator[Path]:
    """The environment, and the Python that it was made with."""
    yield installed.prefix
    yield from _of_program(installed.python)


def _of_program(program: Path) -> Iterator[Path]:
    """The installation to which a program belongs, through all the links that lead to it."""
    seen: set[Path] = set()
    while program not in seen:
        seen.add(program)
        root = program.parent.parent
        whole = program.parent.name == "bin" and not holds_what_is_private(root)
        yield root if whole else program
        if program.is_symlink():
            program = Path(os.path.normpath(program.parent / os.readlink(program)))
    resolved = program.resolve()
    if resolved not in seen:
        yield from _of_program(resolved)


def holds_what_is_private(root: Path) -> bool:
    """Whether the user's home or Lockstep's lies in a directory, which so is never shown whole."""
    return any(place.resolve().is_relative_to(root.resolve()) for place in (Path.home(), lockstep_home()))
