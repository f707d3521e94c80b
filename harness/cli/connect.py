"""`lockstep connect`: the server in a client's own settings, shown before it is written and undone exactly."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.frame import EXIT_OK, Output, command

if TYPE_CHECKING:
    from harness.connect import Client, Server

NAMES = (
    "claude", "codex", "cursor", "gemini", "vscode", "opencode", "qwen", "copilot", "zed", "windsurf", "cline", "goose",
)  # fmt: skip
OTHER = "claude"
"""Whose form an entry has for a client that is not listed: most read it, under `mcpServers`."""


def _names(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    del context, parameter
    return [name for name in NAMES if name.startswith(begun)]


@command(
    "connect", "let a coding agent use Lockstep's server", "lockstep connect claude", "lockstep connect codex --remove"
)
@click.argument("client", required=False, shell_complete=_names)
@click.option("--remove", is_flag=True, help="Take it out again, exactly.")
@click.option("--print", "printed", is_flag=True, help="Print the entry and write nothing; without CLIENT, for any.")
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
    client: str | None,
    remove: bool,
    printed: bool,
    yes: bool,
    url: str | None,
    token_env: str | None,
    directory: Path,
    user: bool,
) -> int:
    """Write Lockstep's server into the settings of a coding agent.

    The change is shown first. Everything else in the file stays as it is, and --remove brings back what was there. An agent
    that is not listed: --print shows the entry in the form that most clients read.
    """
    from harness.connect import CLIENTS, http_server, local_server, plan_connection, plan_removal

    if token_env and not url:
        raise click.UsageError("--token-env goes with --http")
    known = client in NAMES
    if not known and not printed:
        unknown = "" if client is None else f"{client!r} is none of the clients that are known here; "
        raise click.UsageError(f"{unknown}name one ({', '.join(NAMES)}), or print an entry for another with --print")
    if printed and remove:
        raise click.UsageError("--print goes without --remove")
    chosen = CLIENTS[client if known and client else OTHER]
    server = None if remove else http_server(url, token_env or "LOCKSTEP_TOKEN") if url else local_server()
    if user and known and chosen.command is not None:
        return _tell_command(output, chosen, server)
    if printed:
        assert server is not None
        return _print_entry(output, chosen, server, chosen.file(directory, user=user) if known else None)
    path = chosen.file(directory, user=user)
    change = plan_removal(chosen, path) if server is None else plan_connection(chosen, server, path)
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


def _tell_command(output: Output, client: Client, server: Server | None) -> int:
    """For all projects some clients have a command of their own, and no file that others may edit."""
    assert client.command is not None
    line = shlex.join(client.command(server))
    output.emit(
        {"client": client.name, "action": "remove" if server is None else "connect", "command": line, "changed": False},
        line,
    )
    return EXIT_OK


def _print_entry(output: Output, client: Client, server: Server, path: Path | None) -> int:
    from harness.connect import NAME, as_text

    entry = client.entry(server)
    text = as_text(entry, form=client.form, section=client.section, name=NAME)
    document = {"client": client.name if path else None, "file": str(path) if path else None, "action": "print"}
    output.emit(document | {"entry": dict(entry), "text": text, "changed": False}, text.rstrip())
    if path is not None and not output.json:
        sys.stderr.write(f"this belongs into {path}\n")
    return EXIT_OK
