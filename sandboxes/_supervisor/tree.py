"""The processes below one process, as /proc shows them."""

from __future__ import annotations

import os

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")
_ZOMBIE = b"Z"
SIGKILL = 9


class Process:
    """One line of /proc/<pid>/stat: what the limits need of it."""

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.zombie = fields[0] == _ZOMBIE
        self.parent = int(fields[1])
        # Own time and that of the children it has waited for: what a dead process used is with its parent.
        self.cpu_seconds = sum(int(fields[index]) for index in (11, 12, 13, 14)) / _TICK
        self.resident_bytes = int(fields[21]) * _PAGE

    def proportional_bytes(self) -> int:
        """Resident memory with shared pages divided among their users; `resident_bytes` if that is hidden."""
        try:
            with open(f"/proc/{self.pid}/smaps_rollup", "rb") as file:
                for line in file:
                    if line.startswith(b"Pss:"):
                        return int(line.split()[1]) * 1024
        except OSError:
            pass
        return self.resident_bytes


def descendants(root: int) -> list[Process]:
    """Every living process below `root`, without it, in no particular order."""
    children: dict[int, list[Process]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                with open(f"/proc/{entry}/stat", "rb", buffering=0) as file:
                    text = file.read()
            except OSError:
                continue
            # The name in parentheses may itself hold parentheses and spaces; what follows it may not.
            process = Process(int(entry), text[text.rindex(b")") + 2 :].split())
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    pending = [root]
    while pending:
        below = children.get(pending.pop(), [])
        found.extend(process for process in below if not process.zombie)
        pending.extend(process.pid for process in below)
    return found


def kill(pids: list[int]) -> None:
    """SIGKILL to each; one that is already gone is no error."""
    for pid in pids:
        try:
            os.kill(pid, SIGKILL)
        except OSError:
            pass
