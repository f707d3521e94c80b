"""What a shell offers when a word is completed: tasks, sessions, candidates, levels and modules, by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from harness.support.text import visible

if TYPE_CHECKING:
    from harness.task.contract import Task


def tasks(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """The tasks that come with Lockstep, and directories."""
    from harness.support.embedded import embedded_tasks

    return [_directories(word), *_beginning(word, embedded_tasks())]


def sessions(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """The sessions of this home, newest first, and directories."""
    from harness.record.directory import all_sessions
    from harness.support.home import lockstep_home

    found = sorted(all_sessions(lockstep_home()), key=lambda session: session.id, reverse=True)
    return [_directories(word), *_beginning(word, (session.id for session in found))]


def tasks_and_sessions(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Both."""
    return [*tasks(context, parameter, word), *sessions(context, parameter, word)[1:]]


def records(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Sessions, and files: bundles are such."""
    return [CompletionItem(word, type="file"), *sessions(context, parameter, word)[1:]]


def levels(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """The levels of the task that the line names, or of the one here."""
    task = _task(context)
    return _beginning(word, map(str, range(1, 5) if task is None else task.levels))


def modules(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """The modules of the task that the line names, or of the one here."""
    task = _task(context)
    return [] if task is None else _beginning(word, (module.name for module in task.modules))


def candidates(context: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """The candidates of the task that the line names, or of the one here."""
    task = _task(context)
    return [] if task is None else _beginning(word, sorted(one.name for one in (task.candidate, *task.others)))


def _task(context: click.Context) -> Task | None:
    """The task that a word before names, by itself or by a session, or else the one here; None where there is none."""
    from harness.cli.locate import session_rather_than_task
    from harness.errors import LockstepError
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    # Of a line that ends with an option nothing is parsed: its words are left as they are.
    arguments = ("session_id", "where", "directory", "task", "source")
    words = [context.params.get(name) for name in arguments] + context.args
    for named in [*(word for word in words if isinstance(word, str) and not word.startswith("-")), "."]:
        with contextlib.suppress(LockstepError):
            session = session_rather_than_task(named)
            return load_task(find_task(named) if session is None else session.workspace)
    return None


def _directories(word: str) -> CompletionItem:
    """Asks the shell for directories. It comes first: Bash forgets what came before, and offers these where no name fits."""
    return CompletionItem(word, type="dir")


def _beginning(word: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(visible(name)) for name in names if name.startswith(word)]
