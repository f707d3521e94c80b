"""`lockstep connect`: the server in a client's own settings, shown before it is written and undone exactly."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.cli.frame import EXIT_OK, Output, command

NAMES = ("claude", "codex", "cursor", "gemini")


@command(
    "connect", "let a coding agent use Lockstep's server", "lockstep connect claude", "lockstep connect codex --remove"
)
@click.argument("client", type=click.Choice(NAMES))
@click.option("--remove", is_flag=True, help="Take it out again, exactly.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--http", "url", metavar="URL", help="Use a server that runs, instead of starting one.")
@click.option(
    "--token-env", metavar="NAME", help="With --http: the environment variable that holds the token; LOCKSTEP_TOKEN."
)
@click.option(
    "--directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path("."),
    help="The project; default: the current directory.",
)
@click.option("--user", is_flag=True, help="Change the settings for all projects instead of this one's.")
def connect(
    output: Output,
    client: str,
    remove: bool,
    yes: bool,
    url: str | None,
    token_env: str | None,
    directory: Path,
    user: bool,
) -> int:
    """Write Lockstep's server into the settings of a coding agent: claude, codex, cursor or gemini.

    The change is shown first. Everything else in the file stays as it is, and --remove brings back what was there.
    """
    from harness.connect import CLIENTS, http_server, local_server, plan_connection, plan_removal

    chosen = CLIENTS[client]
    if token_env and not url:
        raise click.UsageError("--token-env goes with --http")
    if user and chosen.user is None:
        raise click.UsageError(f"for all projects use {chosen.title}'s own `{client} mcp add --scope user`")
    path = chosen.user() if user and chosen.user else directory.resolve() / chosen.project
    if remove:
        change = plan_removal(chosen, path)
    else:
        server = http_server(url, token_env or "LOCKSTEP_TOKEN") if url else local_server()
        change = plan_connection(chosen, server, path)
    document = {
        "client": client,
        "file": str(change.path),
        "action": "remove" if remove else "connect",
        "diff": change.diff,
        "changed": change.needed,
    }
    if not change.needed:
        said = f"{chosen.title} is not connected in" if remove else f"{chosen.title} is connected already in"
        output.emit(document, f"{said} {change.path}; nothing was changed")
        return EXIT_OK
    output.show(change.diff.rstrip())
    if not yes:
        if output.json or not sys.stdin.isatty():
            raise click.UsageError("nothing was written: give --yes to write without being asked")
        click.confirm("Write this?", abort=True, err=True)
    change.apply()
    output.emit(
        document,
        f"{'removed from' if remove else 'written to'} {change.path}",
        *([] if remove else [f"next: {chosen.hint}"]),
    )
    return EXIT_OK
