"""`lockstep audit` and `lockstep export`: what a record proves, and taking a verified candidate away."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command


@command("audit", "check a record: signatures, chain, ancestry")
@click.argument("record", required=False)
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The public key (PEM) that must have signed it.",
)
@click.option(
    "--known-event", metavar="DIGEST", help="The last event that an earlier audit saw; it must still be there."
)
def audit(output: Output, record: str | None, key: Path | None, known_event: str | None) -> int:
    """Check a record: a session (default: the one that works here), its git directory, a mirror clone or a bundle."""
    from harness import operations
    from harness.cli import show
    from harness.cli.places import session_at, session_named

    path = Path(record or ".").expanduser()
    named = record is None or not path.exists() or session_at(path) is not None
    place = session_named(record).repository if named else path
    report = operations.audit(place, key=key, known_event=known_event)
    output.emit(report.to_json(), show.audit(report))
    return EXIT_OK if report.ok else EXIT_FAIL


@command("export", "make an installable package of a candidate")
@click.argument("source", metavar="TASK|SESSION")
@click.argument("destination", type=click.Path(path_type=Path))
def export(output: Output, source: str, destination: Path) -> int:
    """Turn a verified candidate into an installable package that needs no Lockstep to run.

    From a session the newest verified commit is taken and its attestation carried along. From a task directory the
    candidate is taken as it lies there, which nothing vouches for.
    """
    from harness.cli.places import session_named
    from harness.data import find_task
    from harness.errors import SessionError, TaskError
    from harness.export import export as write
    from harness.taskfile import load_task

    try:
        session = session_named(source)
    except SessionError as no_session:
        try:
            task = load_task(find_task(source))
        except TaskError as no_task:
            if Path(source).exists() or no_task.mistakes:
                raise
            raise no_session from no_task
        made, vouched = write(task, destination, None), None
    else:
        made, vouched = _export_verified(session.id, destination)
    said = "nothing vouches for it: it was not taken from a session"
    if vouched is not None:
        said = f"from commit {vouched['commit'][:12]}, which passed level {vouched['level']}; its attestation is inside"
    document: dict[str, Any] = {"directory": str(made), "verified": vouched}
    output.emit(document, f"the package is in {made}\n{said}\n\nInstall it with: pip install {made.absolute()}")
    return EXIT_OK


def _export_verified(session: str, destination: Path) -> tuple[Path, dict[str, Any]]:
    from harness.errors import SessionError
    from harness.export import export as write
    from harness.record.attest import SUMMARY_FILE
    from harness.record.export import exported
    from harness.record.log import event_file
    from harness.record.view import SessionView
    from harness.taskfile import load_task

    with SessionView(session) as view, tempfile.TemporaryDirectory(prefix="lockstep-tree-") as scratch:
        head = view.head
        if head is None or head.workspace is None:
            raise SessionError(
                "this session has no verified commit yet",
                where=session,
                next_step="run `lockstep verify` until a level passes",
            )
        attestation = event_file(view.store, head.id, SUMMARY_FILE)
        with exported(view.store, head.workspace["gitTree"], Path(scratch) / "tree") as tree:
            made = write(load_task(tree), destination, attestation)
        return made, {"session": session, "commit": head.commit, "level": head.arguments["level"]}
