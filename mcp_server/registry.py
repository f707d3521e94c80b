"""The tasks that this server offers: those that come with Lockstep, and those below directories that a person named.

A task says what is verified, and its code runs on this machine, in sandboxes. So an agent chooses among tasks that a person
has put there, and can't make one of its own and have that believed: nothing in a workspace is offered, and no workspace is
made where a task lies, or where other programs look for what they run (`.git`, an editor's settings).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SessionError, TaskError
from harness.record.directory import all_sessions
from harness.support.embedded import TASK_FILE, embedded_tasks

DEPTH = 3
"""Tasks are looked for so many directories below a root."""


@dataclass(frozen=True)
class TaskRegistry:
    """Where tasks are found, and where workspaces may be made.

    Attributes:
        task_roots: directories that a person named; every task below them may be begun.
        workspace_root: every workspace lies below it.
        home: where the sessions are kept in whose workspaces no task is looked for.
    """

    task_roots: tuple[Path, ...]
    workspace_root: Path
    home: Path | None = None

    def tasks(self) -> dict[str, Path]:
        """The directory of every task, by name. An embedded one keeps its name; two others of one name get their path."""
        found = dict(embedded_tasks())
        for root in self.task_roots:
            for directory in _below(root, DEPTH):
                if directory not in found.values():
                    name = directory.name if directory.name not in found else str(directory)
                    found[name] = directory
        workspaces = self._workspaces()
        return {name: directory for name, directory in found.items() if not _lies_in(directory, workspaces)}

    def task(self, named: str) -> Path:
        """The directory of a task, by its name or by its path below a root.

        Raises:
            TaskError: it is none of those that are offered.
        """
        tasks = self.tasks()
        if named in tasks:
            return tasks[named]
        path = Path(named).expanduser()
        if path.is_absolute() and (path / TASK_FILE).is_file():
            resolved = path.resolve()
            if _lies_in(resolved, self.task_roots) and not _lies_in(resolved, self._workspaces()):
                return resolved
        raise TaskError(
            f"this server offers no task {named!r}; it offers: {', '.join(tasks) or 'none'}",
            next_step="choose one of these, or have a person start the server with `lockstep serve --task-root DIR`",
        )

    def workspace(self, given: str, task: str, corner: str = "") -> Path:
        """The directory that a new session is to work in; a free one is chosen where none is given.

        Args:
            corner: the directory below the workspace root that belongs to the caller. So no client can name, or by the
                number that it is given count, the workspaces of another.

        Raises:
            SessionError: it lies elsewhere than below the workspace root, where a task lies, or in a hidden directory.
        """
        root = self.workspace_root.resolve() / corner
        if given:
            path = (root / Path(given).expanduser()).resolve()
            if path == root or not path.is_relative_to(root):
                raise SessionError(
                    f"the workspace {given!r} lies outside the directory in which this server makes workspaces",
                    expected=f"a path below {root}",
                    next_step="leave `workspace` out, or name a new directory there",
                )
            if any(part.startswith(".") for part in path.relative_to(root).parts):
                raise _not_here(given, "is hidden, or lies in what is: such directories belong to other programs")
            for task_directory in (*self.tasks().values(), *embedded_tasks().values()):
                if _lies_in(path, [task_directory]) or _lies_in(task_directory, [path]):
                    raise _not_here(given, f"holds a task of this server or lies in one: {task_directory}")
            return path
        path, number = root / f"{task}-session", 1
        while path.exists():
            number += 1
            path = root / f"{task}-session-{number}"
        return path

    def _workspaces(self) -> list[Path]:
        return [] if self.home is None else [session.workspace for session in all_sessions(self.home)]


def _lies_in(directory: Path, places: Iterable[Path]) -> bool:
    return any(directory.is_relative_to(place) for place in places)


def _not_here(given: str, why: str) -> SessionError:
    return SessionError(
        f"the workspace {given!r} {why}",
        expected="a directory in which an agent may change everything",
        next_step="leave `workspace` out, or name a new directory",
    )


def roots(given: Sequence[Path]) -> tuple[Path, ...]:
    """Task roots as they are on disk. Raises TaskError for one that is not a directory."""
    for root in given:
        if not root.is_dir():
            raise TaskError(f"there is no directory {root}", next_step="give --task-root a directory with tasks")
    return tuple(root.resolve() for root in given)


def _below(directory: Path, depth: int) -> list[Path]:
    if (directory / TASK_FILE).is_file():
        return [directory.resolve()]
    if depth == 0 or not directory.is_dir():
        return []
    below = sorted(each for each in directory.iterdir() if each.is_dir() and not each.name.startswith("."))
    return [task for each in below for task in _below(each, depth - 1)]
