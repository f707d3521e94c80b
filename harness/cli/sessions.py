"""`lockstep start`, `status`, `history`, `explain` and `resume`: the life of a session."""

from __future__ import annotations

from pathlib import Path

import click

from harness.calls import ShellCalls
from harness.cli import completion
from harness.cli.frame import EXIT_NEEDS_HUMAN, EXIT_OK, Output, command
from harness.cli.verify import candidate_option
from harness.support.text import one_line


@command("start", "begin a session on a task", "lockstep start cartpole --workspace work --fresh")
@click.argument("task", shell_complete=completion.tasks)
@click.option("--workspace", type=click.Path(file_okay=False, path_type=Path), help="Default: ./<task>-session.")
@click.option(
    "--fresh", is_flag=True, help="Begin with an empty candidate instead of the one that comes with the task."
)
@candidate_option
@click.option("--sandbox", metavar="DRIVER", help="Where code of the agent runs; default: the best that works.")
@click.option(
    "--ssh-key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Sign the verified commits with this SSH key besides, as git does.",
)
def start(
    output: Output,
    task: str,
    workspace: Path | None,
    fresh: bool,
    candidate: str | None,
    sandbox: str | None,
    ssh_key: Path | None,
) -> int:
    """Begin a session on a task, given by its path or by the name of an embedded one.

    The workspace is filled with the task; an agent then works in its `candidate/`. The SSH key is a private one without a
    passphrase, or the .pub file of one that an SSH agent holds.
    """
    from harness import operations
    from harness.cli import show

    described = operations.start(task, workspace, fresh=fresh, candidate=candidate, sandbox=sandbox, ssh_key=ssh_key)
    how = "Go on in the workspace: write candidate/, then `lockstep verify`. The record lies outside it, in"
    output.emit(described, show.status(described), f"\n{how}\n{described['record']}")
    return EXIT_OK


@command("status", "where a session stands", "lockstep status")
@click.argument("session", required=False, shell_complete=completion.sessions)
def status(output: Output, session: str | None) -> int:
    """Where a session stands: what has passed, what comes next, what it has cost."""
    from harness import operations
    from harness.cli import show
    from harness.cli.locate import session_named

    described = operations.status(session_named(session).id)
    output.emit(described, show.status(described))
    return EXIT_NEEDS_HUMAN if described["needs_human"] else EXIT_OK


@command("history", "everything that happened in a session", "lockstep history")
@click.argument("session", required=False, shell_complete=completion.sessions)
def history(output: Output, session: str | None) -> int:
    """Everything that happened in a session, oldest first."""
    from harness import operations
    from harness.cli import show
    from harness.cli.locate import session_named

    document = operations.history(session_named(session).id)
    output.emit(document, show.history(document["events"]))
    return EXIT_OK


@command("explain", "what a verification found", "lockstep explain", "lockstep explain --event 12 --index 1")
@click.argument("session", required=False, shell_complete=completion.sessions)
@click.option("--event", type=click.IntRange(0), help="The verdict's number in the history; default: the newest.")
@click.option(
    "--index", type=click.IntRange(0), help="Which of its divergences; default: the one that is reported first."
)
def explain(output: Output, session: str | None, event: int | None, index: int | None) -> int:
    """What a verification found: one divergence, the call that shows it, and the prompt for its repair."""
    from harness import operations
    from harness.cli import show
    from harness.cli.locate import session_named
    from harness.operations.next_calls import shell_calls

    found = session_named(session)
    next_calls = shell_calls(ShellCalls(found.id).verify(), found.workspace)
    document = operations.explain(found.id, event=event, index=index, next_calls=next_calls)
    found_text = f": {document['finding']}" if document["finding"] else ""
    shown = [one_line(f"event {document['event']}: {document['outcome']}{found_text}")]
    if document["divergence"] is not None:
        shown = [
            *show.repair(document["repair_prompt"]),
            *shown,
            *show.reproduced(document["divergence"], document["reproduce"]),
        ]
    output.emit(document, *shown)
    return EXIT_OK


@command(
    "resume",
    "let a session that reached its limits go on",
    "lockstep resume --reason 'the tolerance of the angle was too small'",
)
@click.argument("session", required=False, shell_complete=completion.sessions)
@click.option("--reason", required=True, help="Why it may go on; recorded.")
def resume(output: Output, session: str | None, reason: str) -> int:
    """Let a session that has reached its limits go on: a person's decision, counted from here."""
    from harness.cli import show
    from harness.cli.locate import opened, session_named
    from harness.operations.verification import resume as go_on

    with opened(session_named(session).id) as held:
        described = go_on(held, reason)
    output.emit(described, show.status(described))
    return EXIT_OK
