"""The clients: where each keeps its settings for a project and for a person, and how a server is written there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.connect.serve import Server

START_S = 60
"""How long a client may wait for the server to start: a cold disk reads JAX's neighbours for a while."""
CALL_S = 120
"""How long a client waits for a call. The server answers within 45 s and hands out a job for what takes longer."""


@dataclass(frozen=True)
class Client:
    """One client.

    Attributes:
        name: as `lockstep connect` takes it; `title` as people know it.
        project: its file in a project's directory.
        user: its file for all projects of a person, or None where that is no file to edit.
        section: the table or object that holds servers.
        entry: makes a server's entry.
        hint: what is left to do.
    """

    name: str
    title: str
    project: str
    user: Callable[[], Path] | None
    section: str
    entry: Callable[[Server], Mapping[str, Any]]
    hint: str

    @property
    def toml(self) -> bool:
        """Whether the file is TOML; else it is JSON."""
        return self.project.endswith(".toml")


def _started(server: Server) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": server.command, "args": list(server.arguments)}
    return entry | ({"env": dict(server.environment)} if server.environment else {})


def _claude(server: Server) -> dict[str, Any]:
    if server.url:
        return {"type": "http", "url": server.url, "headers": {"Authorization": f"Bearer ${{{server.token_env}}}"}}
    return _started(server)


def _codex(server: Server) -> dict[str, Any]:
    limits = {"startup_timeout_sec": START_S, "tool_timeout_sec": CALL_S}
    if server.url:
        return {"url": server.url, "bearer_token_env_var": server.token_env, **limits}
    return _started(server) | limits


def _cursor(server: Server) -> dict[str, Any]:
    if server.url:
        return {"url": server.url, "headers": {"Authorization": f"Bearer ${{env:{server.token_env}}}"}}
    return _started(server)


def _gemini(server: Server) -> dict[str, Any]:
    limit = {"timeout": CALL_S * 1000}
    if server.url:
        return {"httpUrl": server.url, "headers": {"Authorization": f"Bearer ${{{server.token_env}}}"}, **limit}
    return _started(server) | limit


def _codex_home() -> Path:
    return Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser() / "config.toml"


CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            "claude",
            "Claude Code",
            ".mcp.json",
            None,
            "mcpServers",
            _claude,
            "start `claude` in this directory; it asks once whether to use this project's server",
        ),
        Client(
            "codex",
            "Codex",
            ".codex/config.toml",
            _codex_home,
            "mcp_servers",
            _codex,
            "start `codex` in this directory; it reads a project's settings once the project is trusted "
            "(`lockstep connect codex --user` writes those for all projects)",
        ),
        Client(
            "cursor",
            "Cursor",
            ".cursor/mcp.json",
            lambda: Path("~/.cursor/mcp.json").expanduser(),
            "mcpServers",
            _cursor,
            "open this directory in Cursor and switch the server on in its settings",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            ".gemini/settings.json",
            lambda: Path("~/.gemini/settings.json").expanduser(),
            "mcpServers",
            _gemini,
            "start `gemini` in this directory",
        ),
    )
}
