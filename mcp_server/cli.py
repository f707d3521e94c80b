"""`lockstep serve`: the server over stdio, for a client that starts it, or over HTTP, for several."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.frame import Output, command

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from mcp_server.http import Doors
    from mcp_server.registry import TaskRegistry
    from mcp_server.services import Services

TOKEN_FILE = "mcp-tokens.json"
DEFAULT_PORT = 8765


@command("serve", "serve agents", "lockstep serve --http --port 8765", "lockstep serve --add-client ada")
@click.option("--http", is_flag=True, help="Serve streamable HTTP; default: stdio, for the client that started this.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on (with --http).")
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0: a free one.")
@click.option("--allowed-host", "hosts", multiple=True, metavar="NAME[:PORT]", help="A name that clients call it by.")
@click.option("--allowed-origin", "origins", multiple=True, metavar="ORIGIN", help="A web page's origin to let in.")
@click.option("--token-file", type=click.Path(dir_okay=False, path_type=Path), help="Default: in LOCKSTEP_HOME.")
@click.option("--add-client", metavar="NAME", help="Make a token for one more client, print it, and end.")
@click.option("--operator", is_flag=True, help="With --add-client: an operator, whose token sees every session.")
@click.option(
    "--share",
    "shared",
    multiple=True,
    metavar="SESSION",
    help="Let every client of this server use a session; else each token reaches its own. Repeatable (with --http).",
)
@click.option(
    "--task-root",
    "task_roots",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Offer the tasks below this directory too: beginning a session runs a task's own code on this machine.",
)
@click.option(
    "--workspace-root",
    type=click.Path(file_okay=False, path_type=Path),
    help="Make workspaces below this directory; default: the current one.",
)
def serve(
    output: Output,
    http: bool,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    token_file: Path | None,
    add_client: str | None,
    operator: bool,
    shared: tuple[str, ...],
    task_roots: tuple[Path, ...],
    workspace_root: Path | None,
) -> int:
    """Serve coding agents: the tools, prompts and resources of the whole recipe, over the Model Context Protocol.

    On stdio, standard output carries the protocol and nothing else. Over HTTP every request needs a bearer token; the
    file that holds them is made when it is first needed. A session belongs to the token that began it; other tokens do not
    see it, but for operators and sessions that are shared.

    With --json the document tells the new client's token, or, as soon as the server listens, where; on stdio there is none.
    """
    from harness.support.home import lockstep_home

    home = lockstep_home()
    if operator and not add_client:
        raise click.UsageError("--operator goes with --add-client")
    if shared and not http:
        raise click.UsageError("--share goes with --http: on stdio every session is reached")
    if output.json and not (http or add_client):
        raise click.UsageError("--json goes with --http or --add-client: on stdio standard output carries the protocol")
    # Before the SDK sets up its own, which draws on the terminal: standard error is guarded (`harness.support.text`).
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s", stream=sys.stderr)
    if add_client:
        from mcp_server.tokens import TokenFile

        token = TokenFile(token_file or home / TOKEN_FILE).add(add_client, is_operator=operator)
        output.emit({"client": add_client, "operator": operator, "token": token}, token)
        return 0
    workspaces = (workspace_root or Path.cwd()).expanduser().resolve()
    if http:
        from mcp_server.http import Doors

        registry = _registry(task_roots, workspaces)
        shared = tuple(_named(home, session) for session in shared)
        doors = Doors(host, port, hosts, origins)
        _serve_http(output, home, registry, doors, token_file or home / TOKEN_FILE, shared)
        return 0

    from mcp_server.stdio import serve_stdio

    def load() -> MCPServer[Services]:
        registry = _registry(task_roots, workspaces)
        from mcp_server.app import build_server

        return build_server(home, registry)

    serve_stdio(load)
    return 0


def _named(home: Path, given: str) -> str:
    """The id of a session, or that of one reading of a specification. Raises NoSuchSession."""
    from harness.record import directory as directories
    from harness.record.specification import handle, split

    whole, part = split(given)
    return handle(directories.find(home, whole).id, part) if part else directories.find(home, given).id


def _registry(task_roots: Sequence[Path], workspaces: Path) -> TaskRegistry:
    """The tasks to offer; a server whose candidates would not be isolated says so first."""
    from harness.policy import floor
    from mcp_server.registry import TaskRegistry, roots

    if floor.unisolated_allowed():
        sys.stderr.write(f"lockstep: warning: {floor.WARNING}\n")  # standard output carries the protocol
    return TaskRegistry(roots(task_roots), workspaces)


def _serve_http(
    output: Output, home: Path, registry: TaskRegistry, doors: Doors, token_file: Path, shared: Collection[str]
) -> None:
    import anyio

    from mcp_server.app import build_server
    from mcp_server.http import http_app, serve_http, url_of
    from mcp_server.tokens import TokenFile

    doors.security()  # refused before anything is made
    tokens = TokenFile(token_file)
    with doors.listen() as listener:
        url = url_of(listener)
        app = http_app(build_server(home, registry, tokens=tokens, url=url, shared=shared), doors)
        made = "was made" if tokens.made else "holds the tokens"
        sys.stderr.write(f"lockstep: serving at {url}\nlockstep: {token_file} {made}\n")
        sys.stderr.flush()
        if output.json:
            output.emit({"url": url, "token_file": str(token_file)})
        anyio.run(serve_http, app, listener)
