"""`lockstep start`, `status`, `history` and `resume`: the life of a session."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.frame import EXIT_NEEDS_HUMAN, EXIT_OK, Output, command


@command("start", "begin a session on a task")
@click.argument("task")
@click.option("--workspace", type=click.Path(file_okay=False, path_type=Path), help="Default: ./<task>-session.")
def start(output: Output, task: str, workspace: Path | None) -> int:
    """Begin a session on a task, given by its path or by the name of an embedded one.

    The workspace is filled with the task; an agent then works in its `candidate/`.
    """
    from harness.cli import show
    from harness.data import find_task
    from harness.session import Session

    with Session.start(find_task(task), workspace) as session:
        described = session.status()
    how = "Go on in the workspace: write candidate/, then `lockstep verify`. The record lies outside it, in"
    output.emit(described, show.status(described), f"\n{how}\n{session.directory.path}")
    return EXIT_OK


@command("status", "where a session stands")
@click.argument("session", required=False)
def status(output: Output, session: str | None) -> int:
    """Where a session stands: what has passed, what comes next, what it has cost."""
    from harness.cli import show
    from harness.cli.places import session_named
    from harness.record.view import SessionView

    with SessionView(session_named(session).id) as view:
        described = view.status()
    output.emit(described, show.status(described))
    return EXIT_NEEDS_HUMAN if described["needs_human"] else EXIT_OK


@command("history", "everything that happened in a session")
@click.argument("session", required=False)
def history(output: Output, session: str | None) -> int:
    """Everything that happened in a session, oldest first."""
    from harness.cli import show
    from harness.cli.places import session_named
    from harness.record.view import SessionView

    with SessionView(session_named(session).id) as view:
        rows = view.history()
    output.emit({"session": view.id, "events": rows}, show.history(rows))
    return EXIT_OK


@command("resume", "let a session that reached its limits go on")
@click.argument("session", required=False)
@click.option("--reason", required=True, help="Why it may go on; recorded.")
def resume(output: Output, session: str | None, reason: str) -> int:
    """Let a session that has reached its limits go on: a person's decision, counted from here."""
    from harness.cli import show
    from harness.cli.places import session_named
    from harness.session import Session

    with Session.open(session_named(session).id) as opened:
        opened.resume(reason)
        described = opened.status()
    output.emit(described, show.status(described))
    return EXIT_OK
