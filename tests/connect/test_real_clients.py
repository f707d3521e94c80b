"""The clients that install from npm, run against the entry that `lockstep connect` wrote: they list the server, and those
that can without a model call a tool of it.

They come from npm at pinned versions into a cache directory, once. Each has a home directory of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.host import client as hosts
from tests.tools import needs

pytestmark = [pytest.mark.node, pytest.mark.slow, needs("npm", "node", package="npm")]
PINS = {
    "claude": ("@anthropic-ai/claude-code", "2.1.332"),
    "cline": ("cline", "3.0.65"),
    "codex": ("@openai/codex", "0.169.0"),
    "copilot": ("@github/copilot", "1.0.102"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
    "opencode": ("opencode-ai", "1.18.33"),
    "qwen": ("@qwen-code/qwen-code", "0.24.4"),
}
WITHIN_S = 300


@dataclass(frozen=True)
class Desk:
    """A person's home, and a project in which clients are started."""

    home: Path
    project: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return kept | {"HOME": str(self.home), "LOCKSTEP_HOME": str(self.home / "lockstep"), "CI": "1", "NO_COLOR": "1"}

    def connect(self, *arguments: str) -> str:
        """`lockstep connect` in the project, as a person calls it."""
        lockstep = str(Path(sys.executable).parent / "lockstep")
        return self._run([lockstep, "connect", *arguments])

    def run(self, client: str, *arguments: str) -> str:
        """What a client says, on both streams."""
        return self._run([str(_program(client)), *arguments])

    def trust(self, file: str, content: Any) -> None:
        """What a person's answer to "do you trust this directory?" leaves behind."""
        path = self.home / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))

    def _run(self, command: list[str]) -> str:
        ended = subprocess.run(
            command, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=WITHIN_S, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stdout
        return ended.stdout


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path / "home", tmp_path / "project")
    for place in (made.home, made.project):
        place.mkdir()
    subprocess.run(["git", "init", "-q", str(made.project)], check=True)
    return made


def _program(client: str) -> Path:
    """The client's program, installed at its pinned version where that was not done."""
    package, version = PINS[client]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lockstep-tests"
    place = base / f"client-{client}-{version}"
    base.mkdir(parents=True, exist_ok=True)
    with open(base / f"client-{client}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            (place / "package.json").write_text(json.dumps({"private": True, "dependencies": {package: version}}))
            subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=place, check=True, capture_output=True)
            (place / "complete").touch()
    return place / "node_modules" / ".bin" / client


def test_claude_connects_by_the_command_that_is_printed_and_by_the_projects_file(desk: Desk) -> None:
    _, *arguments = shlex.split(desk.connect("claude", "--user"))
    desk.run("claude", *arguments)
    assert "Connected" in line_of(desk.run("claude", "mcp", "list"))
    _, *arguments = shlex.split(desk.connect("claude", "--user", "--remove"))
    desk.run("claude", *arguments)
    assert "lockstep" not in desk.run("claude", "mcp", "list")
    desk.connect("claude", "--yes")
    assert "Pending approval" in line_of(desk.run("claude", "mcp", "list"))


def test_opencode_connects(desk: Desk) -> None:
    desk.connect("opencode", "--yes")
    assert "connected" in line_of(desk.run("opencode", "mcp", "list"))


def test_qwen_connects_once_a_person_has_approved(desk: Desk) -> None:
    desk.connect("qwen", "--yes")
    desk.run("qwen", "mcp", "approve", "lockstep")
    assert "Connected" in line_of(desk.run("qwen", "mcp", "list"))


def test_gemini_connects_where_a_person_trusts_the_directory(desk: Desk) -> None:
    desk.connect("gemini", "--yes")
    desk.trust(".gemini/trustedFolders.json", {str(desk.project): "TRUST_FOLDER"})
    assert "Connected" in line_of(desk.run("gemini", "mcp", "list"))


def test_copilot_lists_the_server_of_the_project_and_of_the_person(desk: Desk) -> None:
    desk.trust(".copilot/config.json", {"trusted_folders": [str(desk.project)]})
    desk.connect("copilot", "--yes")
    shown = desk.run("copilot", "mcp", "get", "lockstep")
    assert "Enabled" in shown and "serve" in shown and "* (all)" in shown and ".github/mcp.json" in shown
    desk.connect("copilot", "--remove", "--yes")
    desk.connect("copilot", "--user", "--yes")
    shown = desk.run("copilot", "mcp", "get", "lockstep")
    assert "Enabled" in shown and "serve" in shown and "User" in shown


def test_cline_knows_the_server_by_its_name(desk: Desk) -> None:
    desk.connect("cline", "--yes")
    file = desk.home / ".cline/data/settings/cline_mcp_settings.json"
    assert "lockstep" in json.loads(file.read_text())["mcpServers"]
    desk.run("cline", "mcp", "uninstall", "lockstep")  # it has no command that lists
    assert "lockstep" not in json.loads(file.read_text())["mcpServers"]


def test_codex_lists_every_tool_and_calls_one(desk: Desk) -> None:
    desk.connect("codex", "--user", "--yes")
    assert "enabled: true" in desk.run("codex", "mcp", "get", "lockstep")
    with app_server(desk) as codex:
        [server] = [one for one in codex.ask("mcpServerStatus/list", {})["data"] if one["name"] == "lockstep"]
        assert {"start_session", "run_level_tests", "read_file"} <= server["tools"].keys()
        thread = codex.ask("thread/start", {"cwd": str(desk.project)})["thread"]["id"]
        call = {"threadId": thread, "server": "lockstep", "tool": "start_session", "arguments": {"task": "cartpole"}}
        answer = codex.ask("mcpServer/tool/call", call)
        session = answer["structuredContent"]["session"]
        hosts.end(session, desk.home / "lockstep")
        assert session in answer["content"][0]["text"]


@dataclass(frozen=True)
class AppServer:
    """Codex as editors drive it: JSON-RPC over its standard streams."""

    process: subprocess.Popen[str]

    def say(self, method: str, params: dict[str, Any] | None = None, number: int | None = None) -> None:
        message = {"method": method, "params": params or {}} | ({} if number is None else {"id": number})
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self.say(method, params, 7)
        assert self.process.stdout is not None
        answer = next(given for given in map(json.loads, self.process.stdout) if given.get("id") == 7)
        assert "result" in answer, answer
        return answer["result"]


@contextmanager
def app_server(desk: Desk) -> Iterator[AppServer]:
    command = [str(_program("codex")), "app-server"]
    with subprocess.Popen(
        command, cwd=desk.project, env=desk.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            server = AppServer(process)
            server.ask("initialize", {"clientInfo": {"name": "tests", "title": "tests", "version": "1"}})
            server.say("initialized")
            yield server
        finally:
            process.terminate()


def line_of(said: str) -> str:
    """What a client says of the server."""
    return next((line for line in said.splitlines() if "lockstep" in line), said)
