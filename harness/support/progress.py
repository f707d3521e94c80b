"""Progress of long work, for a person: a bar on a terminal, a line that changes in a notebook, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from harness.support.text import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is (0: not known)."""
QUIET_SECONDS = 5.0
"""Without a terminal a line of progress appears at most this often."""


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody follows."""


def within(work: str, progress: Progress) -> Progress:
    """Progress of a part of a longer work, which each line names first: `certify: mutant 120 of 318`."""
    return lambda what, done, total: progress(f"{work}: {what}", done, total)


@contextmanager
def shown() -> Iterator[Progress]:
    """Progress for callers from Python: in a notebook below the cell, else on standard error."""
    if (notebook := _notebook_line()) is not None:
        yield notebook
    elif sys.stderr.isatty():
        with bar(console_on(sys.stderr)) as (_, progress):
            yield progress
    else:
        yield lines(lambda text: print(text, file=sys.stderr))


@contextmanager
def bar(console: Console) -> Iterator[tuple[Bar, Progress]]:
    """A bar on a terminal, which goes away at the end, and what moves it."""
    from rich import progress as bars

    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(24),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("starting", total=None)
        yield (
            shown,
            lambda what, done, total: shown.update(
                task, description=one_line(what), completed=done, total=total or None
            ),
        )


def lines(write: Callable[[str], object]) -> Progress:
    """A line when something new begins, but seldom."""
    last = [float("-inf"), ""]

    def show(what: str, done: int, total: int) -> None:
        now, text = time.monotonic(), _text(what, done, total)
        if now - float(last[0]) >= QUIET_SECONDS and text != last[1]:
            last[:] = [now, text]
            write(text)

    return show


def console_on(stream: TextIO) -> Console:
    """Rich's console on a stream (`harness.support.console.VisibleConsole`), imported where it is needed."""
    from harness.support.console import VisibleConsole

    return VisibleConsole(stream)


def _notebook_line() -> Progress | None:
    """A line below a notebook's cell; None where this is no notebook."""
    ipython: Any = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return None
    handle = ipython.display.display({"text/plain": "starting"}, raw=True, display_id=True)

    def show(what: str, done: int, total: int) -> None:
        handle.update({"text/plain": _text(what, done, total)}, raw=True)

    return show


def _text(what: str, done: int, total: int) -> str:
    # What counts by itself is not counted twice.
    return one_line(f"{what} ({done}/{total})" if total > 1 and f" of {total}" not in what else what)
