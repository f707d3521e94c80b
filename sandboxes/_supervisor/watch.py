"""Whether a tree of processes keeps to its limits, looked at again and again while it runs."""

from __future__ import annotations

import os
import time

from . import cgroup as cgroups
from . import tree
from .job import Job
from .space import Memory, Place

_SHORTEST_PAUSE_S = 0.02
_SHARE = 20
"""One part in this many of a core's time may go into looking; machines with many processes are looked at
less."""
_TASKS_PER_PROCESS = 16
_TASKS_BESIDE = 1024


class Watch:
    """The limits of one job over everything below this process."""

    def __init__(self, job: Job) -> None:
        self._job = job
        # Threads are not what `processes` counts (numerical libraries start one per core and more), so the
        # kernel's limit on tasks is only the hard stop for a fork bomb; `broken` does the counting.
        tasks = _TASKS_BESIDE + _TASKS_PER_PROCESS * job.processes
        self._cgroup = cgroups.create(job.token, job.memory_bytes, tasks) if job.cgroups else None
        self.pause_s = _SHORTEST_PAUSE_S
        files = ("disk_files", job.disk_files)
        temporary = Memory(job.temporary, ("tmp_bytes", job.tmp_bytes), files) if job.temporary_in_memory else None
        self._places: list[Place | Memory] = [
            temporary or Place([job.temporary], ("tmp_bytes", job.tmp_bytes), files, job.is_temporary),
            Place(job.writable, ("disk_bytes", job.disk_bytes), files, lambda path: not job.is_temporary(path)),
        ]
        self._on_disk = [*job.writable, *(() if job.temporary_in_memory else (job.temporary,))]

    def full(self) -> str | None:
        """The name of a limit on the disk that does not hold before the command begins. It may then remove, and no more."""
        full = None
        for place in self._places:
            over = place.full()
            if over is not None:
                place.allow_what_is_there()
                full = full or over
        return full

    def adopt(self, pid: int) -> None:
        """Take in the child before it becomes the command; what it starts from then on is born inside."""
        if self._cgroup is not None and not self._cgroup.take(pid):
            # Made, but not ours to move processes into: then watching has to do.
            self._cgroup.remove()
            self._cgroup = None

    def broken(self) -> str | None:
        """The name of a limit that does not hold, if any. Sets `pause_s`, the time until it is due again."""
        # Processor time, not the clock's: among a fork bomb's processes one look takes long, and the next must come soon.
        began = time.thread_time()
        name = self._disk() or (self._in_cgroup() if self._cgroup is not None else self._in_proc())
        self.pause_s = max(_SHORTEST_PAUSE_S, _SHARE * (time.thread_time() - began))
        # Counting files looks after its own share of the time.
        for place in self._places:
            name = name or place.broken(self.pids, self.pause_s)
        return name

    def pids(self) -> list[int]:
        """Everything alive that belongs to the job, also what left the session, the group or its parent."""
        pids = [process.pid for process in tree.descendants(os.getpid())]
        return pids if self._cgroup is None else list({*pids, *self._cgroup.pids()})

    def close(self) -> None:
        """Forget the cgroup, once nothing is left in it."""
        if self._cgroup is not None:
            self._cgroup.remove()

    def _in_cgroup(self) -> str | None:
        assert self._cgroup is not None
        broken = self._cgroup.broken()
        if broken is not None:
            return broken
        if len(self._cgroup.pids()) - self._job.overhead > self._job.processes:
            return "processes"
        if self._job.cpu_seconds is not None:
            return self._cpu(tree.descendants(os.getpid()))
        return None

    def _in_proc(self) -> str | None:
        processes = tree.descendants(os.getpid())
        if len(processes) - self._job.overhead > self._job.processes:
            return "processes"
        # Resident sizes are quick to read but count shared pages once for each process; look closely only
        # then.
        limit = self._job.memory_bytes
        over = sum(process.resident_bytes for process in processes) > limit
        if over and sum(process.proportional_bytes() for process in processes) > limit:
            return "memory_bytes"
        return self._cpu(processes)

    def _cpu(self, processes: list[tree.Process]) -> str | None:
        limit = self._job.cpu_seconds
        used = sum(process.cpu_seconds for process in processes)
        return "cpu_seconds" if limit is not None and used > limit else None

    def _disk(self) -> str | None:
        if self._job.free_disk_bytes:
            for directory in self._on_disk:
                try:
                    state = os.statvfs(directory)
                except OSError:
                    continue  # Removed meanwhile by its owner: nothing can be written there any more.
                if state.f_bavail * state.f_frsize < self._job.free_disk_bytes:
                    return "free_disk_bytes"
        return None
