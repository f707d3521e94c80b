"""The clients: where each keeps its settings for a project and for a person, and how a server is written there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.connect.serve import NAME, Server
from harness.errors import LockstepError

START_S = 60
"""How long a client may wait for the server to start: a cold disk reads JAX's neighbours for a while."""
CALL_S = 120
"""How long a client waits for a call. The server answers within 45 s and hands out a job for what takes longer."""


JSON, TOML, YAML = "json", "toml", "yaml"


@dataclass(frozen=True)
class Client:
    """One client.

    Attributes:
        name: as `lockstep connect` takes it; `title` as people know it.
        project: its file in a project's directory, or None where it has settings for a person alone.
        user: its file for all projects of a person, or None where that is no file to edit (`command` then).
        section: the table or object that holds servers.
        entry: makes a server's entry.
        hint: what is left to do.
        command: the client's own command line that connects a server for all projects, and the one that takes it out.
    """

    name: str
    title: str
    project: str | None
    user: Callable[[], Path] | None
    section: str
    entry: Callable[[Server], Mapping[str, Any]]
    hint: str
    command: Callable[[Server | None], Sequence[str]] | None = None

    def file(self, directory: Path, *, user: bool = False) -> Path:
        """The file to be edited, of a project's directory or of a person.

        Raises:
            LockstepError: for a person this client has a command, not a file.
        """
        if self.project is not None and not user:
            return directory.resolve() / self.project
        if self.user is None:
            raise LockstepError(f"{self.title} has no file for all projects", next_step="use its own command")
        return self.user()

    @property
    def form(self) -> str:
        """How the file is written: `json`, `toml` or `yaml`."""
        name = self.project or str(self.file(Path()))
        return {".toml": TOML, ".yaml": YAML}.get(Path(name).suffix, JSON)

    @property
    def toml(self) -> bool:
        """Whether the file is TOML."""
        return self.form == TOML


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


def _claude_command(server: Server | None) -> list[str]:
    scope = ["--scope", "user"]
    if server is None:
        return ["claude", "mcp", "remove", *scope, NAME]
    if server.url:
        bearer = f"Authorization: Bearer ${{{server.token_env}}}"
        return ["claude", "mcp", "add", *scope, "--transport", "http", NAME, server.url, "--header", bearer]
    variables = [word for name, value in server.environment.items() for word in ("--env", f"{name}={value}")]
    return ["claude", "mcp", "add", *scope, NAME, *variables, "--", server.command, *server.arguments]


def _vscode(server: Server) -> dict[str, Any]:
    if server.url:
        bearer = {"Authorization": f"Bearer ${{env:{server.token_env}}}"}
        return {"type": "http", "url": server.url, "headers": bearer}
    return {"type": "stdio", **_started(server)}


def _opencode(server: Server) -> dict[str, Any]:
    limits = {"enabled": True, "timeout": CALL_S * 1000}
    if server.url:
        bearer = {"Authorization": f"Bearer {{env:{server.token_env}}}"}
        return {"type": "remote", "url": server.url, "headers": bearer, "oauth": False, **limits}
    variables = {"environment": dict(server.environment)} if server.environment else {}
    return {"type": "local", "command": [server.command, *server.arguments], **variables, **limits}


def _copilot(server: Server) -> dict[str, Any]:
    shared = {"tools": ["*"], "timeout": CALL_S * 1000}
    if server.url:
        bearer = {"Authorization": f"Bearer ${{{server.token_env}}}"}
        return {"type": "http", "url": server.url, "headers": bearer, **shared}
    return {"type": "local", **_started(server), **shared}


def _zed(server: Server) -> dict[str, Any]:
    if server.url:
        raise LockstepError(
            "Zed reads no environment variables in its settings, and a token is never written into a file",
            next_step="leave --http out, so that Zed starts the server itself; or add `url` and `headers` by hand",
        )
    return {**_started(server), "env": dict(server.environment)}


def _windsurf(server: Server) -> dict[str, Any]:
    if server.url:
        return {"serverUrl": server.url, "headers": {"Authorization": f"Bearer ${{env:{server.token_env}}}"}}
    return _started(server)


def _cline(server: Server) -> dict[str, Any]:
    shared = {"disabled": False, "autoApprove": [], "timeout": CALL_S}
    if server.url:
        bearer = {"Authorization": f"Bearer ${{env:{server.token_env}}}"}
        return {"type": "streamableHttp", "url": server.url, "headers": bearer, **shared}
    return {"type": "stdio", **_started(server), **shared}


def _goose(server: Server) -> dict[str, Any]:
    shared = {"name": NAME, "description": "Lockstep", "enabled": True, "bundled": None, "timeout": CALL_S}
    if server.url:
        bearer = {"Authorization": f"Bearer ${{{server.token_env}}}"}
        own = {"uri": server.url, "headers": bearer, "envs": {}, "env_keys": [server.token_env]}
        return {"type": "streamable_http", **own, **shared}
    own = {"cmd": server.command, "args": list(server.arguments), "envs": dict(server.environment), "env_keys": []}
    return {"type": "stdio", **own, **shared}


def _configuration(*parts: str) -> Path:
    """A file below the directory where programs of this person keep their settings."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser().joinpath(*parts)


def _vscode_user() -> Path:
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/Code/User/mcp.json").expanduser()
    return _configuration("Code", "User", "mcp.json")


def _copilot_user() -> Path:
    return Path(os.environ.get("COPILOT_HOME") or "~/.copilot").expanduser() / "mcp-config.json"


def _cline_user() -> Path:
    stated = os.environ.get("CLINE_MCP_SETTINGS_PATH")
    return Path(stated or "~/.cline/data/settings/cline_mcp_settings.json").expanduser()


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
            _claude_command,
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
        Client(
            "vscode",
            "VS Code",
            ".vscode/mcp.json",
            _vscode_user,
            "servers",
            _vscode,
            "open this directory in VS Code and start the server above its entry in .vscode/mcp.json",
        ),
        Client(
            "opencode",
            "opencode",
            "opencode.json",
            lambda: _configuration("opencode", "opencode.json"),
            "mcp",
            _opencode,
            "start `opencode` in this directory",
        ),
        Client(
            "qwen",
            "Qwen Code",
            ".qwen/settings.json",
            lambda: Path("~/.qwen/settings.json").expanduser(),
            "mcpServers",
            _gemini,
            "start `qwen` in this directory",
        ),
        Client(
            "copilot",
            "GitHub Copilot CLI",
            ".github/mcp.json",
            _copilot_user,
            "mcpServers",
            _copilot,
            "start `copilot` in this directory and trust it",
        ),
        Client(
            "zed",
            "Zed",
            ".zed/settings.json",
            lambda: _configuration("zed", "settings.json"),
            "context_servers",
            _zed,
            "open this directory in Zed and trust it; the server is then listed in the agent's settings",
        ),
        Client(
            "windsurf",
            "Windsurf",
            None,
            lambda: Path("~/.codeium/windsurf/mcp_config.json").expanduser(),
            "mcpServers",
            _windsurf,
            "refresh the servers in Windsurf's Cascade panel",
        ),
        Client(
            "cline",
            "Cline",
            None,
            _cline_user,
            "mcpServers",
            _cline,
            "start `cline`; its extension for editors has a file of its own, which `Configure MCP Servers` opens",
        ),
        Client(
            "goose",
            "goose",
            None,
            lambda: _configuration("goose", "config.yaml"),
            "extensions",
            _goose,
            "start `goose session`",
        ),
    )
}
