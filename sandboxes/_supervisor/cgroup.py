"""A control group for one command, where the machine lets us make one (version 2, else version 1).

The kernel then enforces memory and the number of tasks at the very allocation; without one the watchdog in
`watch` does it from the outside, a few milliseconds late.
"""

from __future__ import annotations

import os
import time

from . import tree

_PREFIX = "lockstep-"
_REMOVE_ATTEMPTS = 50
_PAUSE_S = 0.002


class Cgroup:
    """One group: a directory in version 2, one directory per controller in version 1."""

    def __init__(self, directories: list[str], memory_events: str, task_events: str) -> None:
        self._directories = directories
        self._memory_events = memory_events
        self._task_events = task_events

    def take(self, pid: int) -> bool:
        """Move a process in; whether that was allowed."""
        return all(_write(directory, "cgroup.procs", str(pid)) for directory in self._directories)

    def pids(self) -> list[int]:
        """The processes (not threads) inside."""
        # The kernel writes 0 for a process of another namespace, and to kill 0 is to kill one's own group.
        return [int(line) for line in _read(f"{self._directories[0]}/cgroup.procs").split() if line != "0"]

    def broken(self) -> str | None:
        """The limit at which the kernel has already stopped something, if any."""
        if _counter(_read(self._memory_events), "oom_kill"):
            return "memory_bytes"
        if _counter(_read(self._task_events), "max"):
            return "processes"
        return None

    def remove(self) -> None:
        """Remove the empty group. The kernel may need a moment after the last process is reaped."""
        for directory in self._directories:
            for _ in range(_REMOVE_ATTEMPTS):
                try:
                    os.rmdir(directory)
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_PAUSE_S)


def create(token: str, memory_bytes: int, tasks: int) -> Cgroup | None:
    """A new group with these limits, or None where none can be made. `token` is unique, for `sweep`."""
    own = _own_groups()
    name = _PREFIX + token
    unified = own.get("")
    if unified is not None:
        # Beside our own group rather than below it: version 2 refuses controllers below a group with
        # processes.
        for parent in (os.path.dirname(unified), unified):
            group = _create_v2(f"{parent}/{name}", memory_bytes, tasks)
            if group is not None:
                return group
    if "memory" in own:
        return _create_v1(name, own, memory_bytes, tasks)
    return None


def sweep(token: str) -> None:
    """End what is left in the group of a supervisor that was itself killed, and remove the group."""
    own = _own_groups()
    parents = {own[name] for name in ("", "memory", "pids") if name in own}
    for parent in parents | {os.path.dirname(path) for path in parents}:
        directory = f"{parent}/{_PREFIX}{token}"
        if os.path.isdir(directory):
            group = Cgroup([directory], "", "")
            for _ in range(_REMOVE_ATTEMPTS):
                pids = group.pids()
                if not pids:
                    break
                tree.kill(pids)
                time.sleep(_PAUSE_S)
            group.remove()


def _create_v2(directory: str, memory_bytes: int, tasks: int) -> Cgroup | None:
    if not _make(directory):
        return None
    if not (_write(directory, "memory.max", str(memory_bytes)) and _write(directory, "pids.max", str(tasks))):
        os.rmdir(directory)
        return None
    _write(directory, "memory.swap.max", "0")
    _write(directory, "memory.oom.group", "1")
    return Cgroup([directory], f"{directory}/memory.events", f"{directory}/pids.events")


def _create_v1(name: str, own: dict[str, str], memory_bytes: int, tasks: int) -> Cgroup | None:
    memory = f"{own['memory']}/{name}"
    if not _make(memory):
        return None
    if not _write(memory, "memory.limit_in_bytes", str(memory_bytes)):
        os.rmdir(memory)
        return None
    _write(memory, "memory.memsw.limit_in_bytes", str(memory_bytes))
    directories = [memory]
    pids = f"{own['pids']}/{name}" if "pids" in own else ""
    if pids and _make(pids):
        _write(pids, "pids.max", str(tasks))
        directories.append(pids)
    return Cgroup(directories, f"{memory}/memory.oom_control", f"{pids}/pids.events")


def _own_groups() -> dict[str, str]:
    """Controller to the directory of the group that this process is in; the empty name is version 2."""
    paths = {}
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    groups = {}
    for line in _read("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        root, mountpoint = before.split()[3:5]
        kind, _, options = after.split()[:3]
        controllers = [""] if kind == "cgroup2" else options.split(",") if kind == "cgroup" else []
        for controller in controllers:
            path = paths.get(controller)
            if path is None:
                continue
            # In a container the mount may begin at our own group, while the path is still counted from the
            # top.
            if root != "/" and path.startswith(root):
                path = path[len(root) :]
            groups.setdefault(controller, (mountpoint + "/" + path.strip("/")).rstrip("/"))
    return groups


def _counter(text: str, name: str) -> int:
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 2 and fields[0] == name:
            return int(fields[1])
    return 0


def _make(directory: str) -> bool:
    try:
        os.mkdir(directory)
    except OSError:
        return False
    return True


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def _write(directory: str, name: str, value: str) -> bool:
    try:
        # Without O_CREAT: a controller that is not there must fail, wherever the directory lies.
        fd = os.open(f"{directory}/{name}", os.O_WRONLY)
    except OSError:
        return False
    try:
        os.write(fd, value.encode())
    except OSError:
        return False
    finally:
        os.close(fd)
    return True
