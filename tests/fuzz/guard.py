"""What reading a record that somebody sent must leave as it was: files, processes, descriptors; and what it may cost."""

from __future__ import annotations

import contextlib
import os
import resource
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil

from tests.fuzz.target import Wrong

WAITS_S = 40.0
"""So long may one reading wait, for whatever it is."""
CPU_S = 10.0
"""So much processor time may the programs take that one reading starts."""
MEMORY_BYTES = 256 << 20
"""So much may one of them hold at most."""


class Guard:
    """Watches a directory in which all happens: what is read, temporary files, and a place beside them.

    Attributes:
        temporary: where temporary files go while something is read.
        marker: a file that nobody makes, unless something that was sent is run.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.temporary, self.marker = directory / "temporary", directory / "outside" / "marker"
        for place in (self.temporary, self.marker.parent):
            place.mkdir()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Around one reading.

        Raises:
            Wrong: it changed a file, ran what was sent, left a process or a descriptor, or took too long or too much.
        """
        files, held, spent, largest, others = (
            self._files(),
            _descriptors(),
            _children_s(),
            _largest_bytes(),
            _children(),
        )
        waited = threading.Event()
        late = threading.Timer(WAITS_S, _end_children, [others, waited])
        late.start()
        before, tempfile.tempdir = tempfile.tempdir, str(self.temporary)
        try:
            yield
        finally:
            tempfile.tempdir = before
            late.cancel()
            late.join()
        if waited.is_set():
            raise Wrong(f"no end within {WAITS_S:g} s: a program was waited for")
        if left := _children() - others:
            words = [f"process {each.pid}" for each in left]
            _end_children(others)
            raise Wrong(f"processes are left: {words}")
        if self.marker.exists():
            self.marker.unlink()
            raise Wrong("something that was sent ran")
        if changed := set(self._files().items()) ^ set(files.items()):
            raise Wrong(f"files changed: {sorted({path for path, _ in changed})[:10]}")
        if _descriptors() > held:
            raise Wrong(f"{_descriptors() - held} descriptors are left open")
        if _children_s() - spent > CPU_S:
            raise Wrong(f"programs took {_children_s() - spent:.1f} s of a processor")
        # The kernel tells the most that any has held so far, and counts what this process holds when it starts one.
        if _largest_bytes() > max(MEMORY_BYTES + psutil.Process().memory_info().rss, largest):
            raise Wrong(f"a program held {_largest_bytes() >> 20} MiB")

    def _files(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for place, directories, names in os.walk(self._directory):
            for name in (*directories, *names):
                path = os.path.join(place, name)
                status = os.lstat(path)
                if path != str(self.temporary):  # what comes and goes in it moves its time
                    found[path] = (status.st_mode, status.st_ino, status.st_mtime_ns, status.st_size)
        return found


def _descriptors() -> int:
    return psutil.Process().num_fds()


def _children_s() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system


def _largest_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10


def _children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


def _end_children(others: set[psutil.Process], told: threading.Event | None = None) -> None:
    """End what was not there before; whoever calls may have processes of his own."""
    if told is not None:
        told.set()
    for each in _children() - others:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
