"""The product's whole HTTP stack behind a door that brings the token itself, for suites that cannot send one.

`python -m tests.mcp_server.conformance.open_server HOME TASK_ROOT WORKSPACES` prints the URL and serves until it is ended.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.app import build_server
from mcp_server.http import Doors, http_app, serve_http, url_of
from mcp_server.registry import TaskRegistry
from mcp_server.tokens import TokenFile


class WithToken:
    """ASGI: every request comes with a good token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._bearer = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self._bearer]}
        await self._app(scope, receive, send)


def main() -> None:
    """Serve."""
    home, tasks, workspaces = (Path(argument).resolve() for argument in sys.argv[1:])
    tokens = TokenFile(home / "mcp-tokens.json")
    token = next(iter(json.loads(tokens.path.read_text()).values()))
    doors = Doors()
    with doors.listen() as listener:
        server = build_server(home, TaskRegistry((tasks,), workspaces), tokens=tokens, url=url_of(listener))
        print(url_of(listener), flush=True)
        anyio.run(serve_http, WithToken(http_app(server, doors), token), listener)


if __name__ == "__main__":
    main()
