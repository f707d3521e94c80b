"""`lockstep watch`: a session while an agent works in it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_NEEDS_HUMAN, EXIT_OK, Output, command
from harness.support.text import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.host.watching import Watched

PERIOD_S = 0.5
BAR = 30
DONE, NEXT, OPEN = "✓", "▶", "·"


@command("watch", "watch a session while it runs", "lockstep watch SESSION --until-done")
@click.argument("session", required=False, shell_complete=completion.sessions)
@click.option("--until-done", is_flag=True, help="End when everything has passed.")
def watch(output: Output, session: str | None, until_done: bool) -> int:
    """Watch a session while an agent works in it: where the recipe stands, what runs, what was found, what it cost.

    It only reads, and Ctrl-C ends it. Without a terminal it prints a line for each new event; with --json the present view.
    """
    from pathlib import Path

    from harness.cli.locate import session_at, session_named
    from harness.host.watching import Watched, demand_session

    demand_session(session, is_session=session is not None and session_at(Path(session).expanduser()) is not None)
    with Watched(session_named(session).id) as watched:
        if output.json:
            view = watched.view()
            output.emit(view)
            return EXIT_NEEDS_HUMAN if view["needs_human"] else EXIT_OK
        try:
            if sys.stdout.isatty():
                _live(watched, ticks(), until_done)
            else:
                output.show(headline(watched.view()))
                follow(watched, ticks(), until_done, lambda rows, _: output.show(*map(event_line, rows)))
        except KeyboardInterrupt:
            pass  # how one stops watching
    return EXIT_OK


def ticks() -> Iterator[None]:
    """When to look again, for ever."""
    while True:
        yield
        time.sleep(PERIOD_S)


def follow(
    watched: Watched,
    moments: Iterable[None],
    until_done: bool,
    show: Callable[[list[dict[str, Any]], dict[str, Any]], None],
) -> None:
    """Look at each moment, and show the rows of the new events and the view; ends with the moments, or with the session."""
    for _ in moments:
        rows = watched.rows(watched.look())
        view = watched.view()
        show(rows, view)
        if until_done and view["state"] == "done":
            return


def _live(watched: Watched, moments: Iterable[None], until_done: bool) -> None:
    from rich.live import Live

    from harness.support.progress import console_on

    with Live(console=console_on(sys.stdout), auto_refresh=False, vertical_overflow="ellipsis") as live:
        follow(
            watched, moments, until_done, lambda _, view: live.update(picture(view, datetime.now(UTC)), refresh=True)
        )


def headline(view: Mapping[str, Any]) -> str:
    """A session in one line."""
    from harness.cli import show

    passed = f"{len(view['passed'])} of {len(view['steps'])} steps passed"
    upcoming = f", next {show.step_name(view['next'])}" if view["next"] else ""
    return one_line(f"{view['session']}: {view['state'].replace('_', ' ')}, {passed}{upcoming}")


def event_line(row: Mapping[str, Any]) -> str:
    """An event in one line."""
    from harness.cli import show

    detail = row["finding"] or row["arguments"].get("message", "") or row["arguments"].get("reason", "")
    parts = [row["outcome"], (row["commit"] or "")[:10], " ".join(detail.split())]
    shown = "  ".join(filter(None, parts))
    return one_line(f"{row['time'][11:19]}  {row['seq']:>4}  {show.event_name(row)}" + (f": {shown}" if shown else ""))


def picture(view: Mapping[str, Any], now: datetime) -> RenderableType:
    """A session as the terminal shows it, in the terminal's whole width.

    Args:
        view: what `Watched.view` returned.
        now: the present moment, from which durations are reported.
    """
    from rich.console import Group

    parts: list[RenderableType] = [_heading(view, now), "", _steps(view), "", _running(view, now)]
    for title, table in (("attempts", _attempts(view)), ("commits", _commits(view))):
        if table is not None:
            parts += ["", _title(title), table]
    return Group(*parts, "", _title("spent"), _spent(view))


def _heading(view: Mapping[str, Any], now: datetime) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    colour = {"done": "bold green", "needs_human": "bold yellow"}.get(view["state"], "bold")
    line = Table.grid(expand=True, padding=(0, 1))
    line.add_column(no_wrap=True, overflow="ellipsis")
    line.add_column(justify="right", no_wrap=True)
    about = f"{view['events']} events, begun {_ago(view['started'], now)} ago"
    line.add_row(
        Text.assemble((view["session"], "bold"), "  ", (view["state"].replace("_", " "), colour)), Text(about, "dim")
    )
    because = [
        Text(f"a person is needed: {reason}", "bold yellow")
        for reason in (view["needs_human"] or {"because": ()})["because"]
    ]
    for reason in because:
        line.add_row(reason)
    return line


def _steps(view: Mapping[str, Any]) -> RenderableType:
    """One line for each level, with its modules."""
    from rich.text import Text

    from harness.cli import show
    from harness.verdict import LEVEL_NAMES

    table = show.grid("left", "left")
    levels = list(dict.fromkeys(step["level"] for step in view["steps"]))
    for level in levels:
        marks = Text()
        for step in (step for step in view["steps"] if step["level"] == level):
            mark, style = (
                (DONE, "green") if step["passed"] else (NEXT, "bold yellow") if step["next"] else (OPEN, "dim")
            )
            marks.append(f"{mark} {step['module'] or LEVEL_NAMES[level]}   ", style)
        table.add_row(Text(f"level {level}", "dim"), marks)
    return table


def _running(view: Mapping[str, Any], now: datetime) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    lines: list[RenderableType] = []
    for job in view["running"]:
        line = Table.grid(padding=(0, 2))
        line.add_column(no_wrap=True)
        line.add_column(width=BAR)
        line.add_column(no_wrap=True, overflow="ellipsis")
        total = job["total"] if job["total"] > 1 else None
        bar = ProgressBar(total, job["done"], BAR) if total else Text()
        count = f" {job['done']}/{total}" if total else ""
        about = Text.assemble(job["what"] or "starting", count, (f"  {_ago(job['started'], now)}", "dim"))
        line.add_row(Text.assemble((job["operation"], "bold cyan"), _asked(job["arguments"])), bar, about)
        lines.append(line)
    if not lines and view["attempting"]:
        attempt = view["attempting"]
        shown = (
            f"verifying {attempt['step']}, for {_ago(attempt['time'], now)}, in a process that reports no progress here"
        )
        lines.append(Text(shown, "cyan"))
    return Group(*lines) if lines else Text("nothing runs", "dim")


def _asked(arguments: Mapping[str, Any]) -> str:
    from harness.cli import show

    if arguments.get("level"):
        return f" {show.step_name(arguments)}"
    return f" {' '.join(str(arguments['command']).split())[:40]}" if arguments.get("command") else ""


def _attempts(view: Mapping[str, Any]) -> RenderableType | None:
    from rich.text import Text

    from harness.cli import show

    if not view["recent"]:
        return None
    table = _wide(4, broken=True)
    for attempt in view["recent"]:
        shown = Text(show.found_in(attempt) or " ".join(attempt["message"].split()), "dim")
        table.add_row(attempt["time"][11:19], attempt["step"], show.outcome_text(attempt["outcome"]), shown)
    return table


def _commits(view: Mapping[str, Any]) -> RenderableType | None:
    from rich.text import Text

    from harness.cli import show

    if not view["commits"]:
        return None
    table = _wide(4)
    for commit in view["commits"]:
        name, shown = Text(commit["commit"][:10], "cyan"), Text(" ".join(commit["message"].split()), "dim")
        table.add_row(commit["time"][11:19], show.step_name(commit), name, shown)
    return table


def _spent(view: Mapping[str, Any]) -> RenderableType:
    """What was used of each limit."""
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    from harness.cli import show

    limits, spent = view["limits"], view["spent_on_next"]
    table = show.grid("left", "left", "left")
    shown = (
        ("attempts at this step", spent["iterations"], limits["iterations"], "{:.0f} of {:.0f}"),
        ("seconds on this step", spent["seconds"], limits["seconds"], "{:.0f} of {:.0f}"),
        ("dollars in all", view["dollars"], limits["dollars"], "${:.2f} of ${:.2f}"),
    )
    for name, used, limit, form in shown:
        style = "red" if used >= limit else "yellow" if used >= 0.8 * limit else "green"
        bar = ProgressBar(max(limit, 1e-9), min(used, limit), BAR, complete_style=style, finished_style=style)
        table.add_row(Text(name, "dim"), bar, form.format(used, limit))
    if view["dollars_reported"]:
        table.add_row(Text("reported by the agent", "dim"), "", f"${view['dollars_reported']:.2f} of these dollars")
    if view["tokens"]:
        table.add_row(Text("tokens", "dim"), "", f"{view['tokens']:,}")
    return table


def _wide(columns: int, *, broken: bool = False) -> Any:
    """A table whose last column takes what the terminal has left: in one line, or `broken` into several."""
    from rich.table import Table

    table = Table(box=None, show_header=False, expand=True, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(columns - 1):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=not broken, overflow="fold" if broken else "ellipsis", ratio=1)
    return table


def _title(text: str) -> RenderableType:
    from rich.text import Text

    return Text(text.upper(), "dim")


def _ago(moment: str, now: datetime) -> str:
    """How long ago a time of an event is: `42 s`, `12 min`, `3 h 5 min`."""
    seconds = max(0, int((now - datetime.fromisoformat(moment)).total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    minutes = seconds // 60
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
