"""How much of the disk the places hold in which a command may write, looked at again and again while it runs.

What counts is what is allocated: a sparse file as far as it is written, a file with two names once, a file without a name
as long as a process holds it open. A look does only a part of the work, so that a tree of a million files delays no other
limit.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

_BLOCK = 512
_OPEN_LEVELS = 200
"""So many directories of a path are held open; deeper ones are left again by `..`."""
_ENTRIES_A_STEP = 64
_STEP, _PRESSED_STEP = 0.1, 1.0
"""A look counts for so long, as a part of the pause after it."""
_SHORTEST_REST_S = 0.5
_NOTICED_BYTES, _NOTICED_FILES = 16 << 20, 256
_SHARE = 20
"""One part in this many of a core's time goes into counting, where the disk does not fill."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class Used:
    """What some places hold: bytes that are allocated, and entries."""

    def __init__(self) -> None:
        self.bytes = 0
        self.files = 0
        self._seen: set[tuple[int, int]] = set()

    def add(self, found: os.stat_result) -> bool:
        """Count an entry; whether it was not counted before, under another name."""
        self.files += 1
        if found.st_nlink > 1 or stat.S_ISDIR(found.st_mode):
            if (found.st_dev, found.st_ino) in self._seen:
                return False
            self._seen.add((found.st_dev, found.st_ino))
        self.bytes += found.st_blocks * _BLOCK
        return True


def count(tops: Sequence[str], most_bytes: int, most_files: int) -> Used:
    """What lies in these directories and files. Stops where it is more than this."""
    used = Used()
    for _ in counting(tops, used):
        if used.bytes > most_bytes or used.files > most_files:
            break
    return used


def counting(tops: Sequence[str], used: Used) -> Iterator[None]:
    """Count into `used` what lies in these directories and files; stops for a moment every few entries."""
    for top in tops:
        try:
            held = os.open(top, _LOOK)
        except OSError:
            continue  # Removed meanwhile by its owner.
        try:
            found = os.fstat(held)
            if used.add(found) and stat.S_ISDIR(found.st_mode):
                yield from _below(held, used)
        finally:
            os.close(held)


class _Level:
    """A directory that is being counted: opened, even if its owner may not look into it, until `close`."""

    def __init__(self, held: int) -> None:
        """Raises OSError. `held` is a descriptor that only looks; it stays the caller's."""
        self.pending: list[str] = []
        self._mode: int | None = None
        found = os.fstat(held)
        self.identity = (found.st_dev, found.st_ino)
        # A command could hide files from us, its own user, in a directory that it closes to itself.
        if not os.access(f"/proc/self/fd/{held}", os.R_OK | os.X_OK):
            self._mode = stat.S_IMODE(found.st_mode)
            os.chmod(f"/proc/self/fd/{held}", self._mode | stat.S_IRWXU)
        self.fd: int | None = os.open(f"/proc/self/fd/{held}", _DIRECTORY)

    def let_go(self) -> None:
        """Hold it no longer; `hold` does so again."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def hold(self, below: _Level) -> bool:
        """Open it again, from a directory in it; False where that has been moved away meanwhile."""
        if self.fd is None:
            assert below.fd is not None
            fd = os.open("..", _DIRECTORY, dir_fd=below.fd)
            found = os.fstat(fd)
            if (found.st_dev, found.st_ino) != self.identity:
                os.close(fd)
                return False
            self.fd = fd
        return True

    def close(self) -> None:
        """Leave it as it was."""
        if self.fd is not None:
            if self._mode is not None:
                os.fchmod(self.fd, self._mode)
            self.let_go()


def _below(top: int, used: Used) -> Iterator[None]:
    levels: list[_Level] = []
    try:
        levels.append(_Level(top))
        yield from _entries(levels[-1], used)
        while levels:
            here = levels[-1]
            assert here.fd is not None
            if here.pending:
                below = _opened(here.pending.pop(), here.fd)
                if below is None:
                    continue  # Removed meanwhile, or no directory any more.
                levels.append(below)
                if len(levels) > _OPEN_LEVELS:
                    here.let_go()
                yield from _entries(below, used)
            else:
                levels.pop()
                if levels and not levels[-1].hold(here):
                    here.close()
                    return  # Moved while it was counted: the next count finds it.
                here.close()
    finally:
        for level in levels:
            level.close()


def _opened(name: str, directory: int) -> _Level | None:
    try:
        held = os.open(name, _LOOK | os.O_DIRECTORY, dir_fd=directory)
    except OSError:
        return None
    try:
        return _Level(held)
    except OSError:
        return None
    finally:
        os.close(held)


def _entries(level: _Level, used: Used) -> Iterator[None]:
    assert level.fd is not None
    try:
        with os.scandir(level.fd) as entries:
            for number, entry in enumerate(entries):
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if used.add(found) and stat.S_ISDIR(found.st_mode):
                    level.pending.append(entry.name)
                if number % _ENTRIES_A_STEP == 0:
                    yield
    except OSError:
        return  # Removed while it was read.


def nameless(pids: Iterable[int], devices: set[int], mine: Callable[[str], bool], used: Used) -> None:
    """Count files that have no name any more and that one of these processes holds open.

    `mine` tells from the path that one had, as the process saw it, whether it counts here.
    """
    seen: set[tuple[int, int]] = set()
    for pid in pids:
        directory = f"/proc/{pid}/fd"
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            try:
                found = os.stat(f"{directory}/{name}")
                counts = mine(os.readlink(f"{directory}/{name}"))
            except OSError:
                continue
            identity = (found.st_dev, found.st_ino)
            gone = stat.S_ISREG(found.st_mode) and found.st_nlink == 0
            if gone and counts and found.st_dev in devices and identity not in seen:
                seen.add(identity)
                used.add(found)


class Place:
    """Some directories and files that may together hold so much, and how much that is."""

    def __init__(
        self,
        tops: Sequence[str],
        bytes_limit: tuple[str, int],
        files_limit: tuple[str, int],
        mine: Callable[[str], bool],
    ) -> None:
        """Each limit is the name of a field of `Limits` and the most that it allows; `mine` is as in `nameless`."""
        self._tops = tops
        self._mine = mine
        self._bytes_limit, self._files_limit = bytes_limit, files_limit
        self._work: Iterator[None] | None = None
        self._used = Used()
        self._last = Used()
        self._first = self._free = _free(tops)
        self._cost_s = 0.0
        self._due_s = 0.0

    def full(self) -> str | None:
        """Count all at once: the name of the limit that does not hold."""
        return self._over(count(self._tops, self._bytes_limit[1], self._files_limit[1]))

    def allow_what_is_there(self) -> None:
        """Let as many entries be as there are now, if that is more; the rest cannot grow, as nothing can be written."""
        used = count(self._tops, 1 << 62, 4 * self._files_limit[1])
        self._bytes_limit = self._bytes_limit[0], max(self._bytes_limit[1], 2 * used.bytes)
        self._files_limit = self._files_limit[0], max(self._files_limit[1], used.files)

    def broken(self, pids: Callable[[], Iterable[int]], pause_s: float) -> str | None:
        """The name of a limit that does not hold, if that is known yet; does a part of the counting.

        The next look comes in `pause_s`. `pids` tells the processes that may hold files open which have no name any more.
        """
        now = time.monotonic()
        # Faster where the disk has lost what is still allowed: the command may have taken it.
        free = _free(self._tops)
        pressed = self._free[0] - free[0] > max(_NOTICED_BYTES, self._bytes_limit[1] - self._last.bytes)
        pressed |= self._free[1] - free[1] > max(_NOTICED_FILES, self._files_limit[1] - self._last.files)
        if self._work is None:
            if now < self._due_s and not pressed:
                return None
            self._used, self._free, self._cost_s = Used(), free, 0.0
            self._work = counting(self._tops, self._used)
        began = time.thread_time()
        until = began + pause_s * (_PRESSED_STEP if pressed else _STEP)
        done = True
        for _ in self._work:
            if self._over(self._used) is not None or time.thread_time() > until:
                done = False
                break
        over = self._over(self._used)
        lost = self._first[0] - free[0] > _NOTICED_BYTES // 4 or self._first[1] - free[1] > _NOTICED_FILES
        if over is not None:
            # What was moved or removed meanwhile may have been counted too often: once more, and at once.
            over, done = self.full(), True
        elif done and lost:
            # To look at every process costs more than to count, and where the disk has lost nothing, none hides anything.
            nameless(pids(), _devices(self._tops), self._mine, self._used)
            over = self._over(self._used)
        self._cost_s += time.thread_time() - began
        if done:
            self._work = None
            self._last = self._used
            self._due_s = time.monotonic() + max(_SHORTEST_REST_S, _SHARE * self._cost_s)
        return over

    def _over(self, used: Used) -> str | None:
        for (name, most), value in ((self._bytes_limit, used.bytes), (self._files_limit, used.files)):
            if value > most:
                return name
        return None


class Memory:
    """A directory that is a file system of its own, whose size the kernel knows."""

    def __init__(self, top: str, bytes_limit: tuple[str, int], files_limit: tuple[str, int]) -> None:
        """As `Place`."""
        self._top = top
        self._bytes_limit, self._files_limit = bytes_limit, files_limit

    def full(self) -> str | None:
        """The name of the limit that does not hold."""
        return self.broken(lambda: (), 0.0)

    def allow_what_is_there(self) -> None:
        """Let as much be as there is now, if that is more."""
        used, files = self._state()
        self._bytes_limit = self._bytes_limit[0], max(self._bytes_limit[1], used)
        self._files_limit = self._files_limit[0], max(self._files_limit[1], files)

    def broken(self, pids: Callable[[], Iterable[int]], pause_s: float) -> str | None:
        """As `full`."""
        del pids, pause_s
        used, files = self._state()
        if used > self._bytes_limit[1]:
            return self._bytes_limit[0]
        return self._files_limit[0] if files > self._files_limit[1] else None

    def _state(self) -> tuple[int, int]:
        try:
            state = os.statvfs(self._top)
        except OSError:
            return 0, 0
        return (state.f_blocks - state.f_bfree) * state.f_frsize, state.f_files - state.f_ffree


def _free(tops: Sequence[str]) -> tuple[int, int]:
    """Bytes and entries that are free on the file systems of these places, each counted once."""
    free = {}
    for top in tops:
        try:
            state = os.statvfs(top)
        except OSError:
            continue
        free[state.f_fsid] = (state.f_bfree * state.f_frsize, state.f_ffree)
    return sum(size for size, _ in free.values()), sum(files for _, files in free.values())


def _devices(tops: Sequence[str]) -> set[int]:
    found = set()
    for top in tops:
        try:
            found.add(os.lstat(top).st_dev)
        except OSError:
            continue
    return found
