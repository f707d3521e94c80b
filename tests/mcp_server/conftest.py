"""A server as an agent's client has it: its own process and home directory, over stdio or HTTP, in both protocol eras."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psutil
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult

from harness.host import client as host_client
from harness.host import jobs
from harness.record.directory import all_sessions
from mcp_server.app import build_server
from mcp_server.registry import TaskRegistry
from tests.home import new_home
from tests.paths import WALK

KEPT = ("PATH", "HOME", "LANG", "PIP_CERT", "PIP_INDEX_URL", "SSL_CERT_FILE")
"""What a server keeps of this environment: its references may have to be installed."""

LOCKSTEP = [sys.executable, "-P", "-c", "import sys; from harness.cli import main; sys.exit(main())"]
RIGHT, WRONG = "jnp.where(action == 1, 1.0, -1.0)", "jnp.where(action == 1, 1.0, -2.0)"
"""A rule of the walk, and a fault in it that one step shows."""
ERAS = ("auto", "legacy")
HTTP_TIMEOUT_S = 120.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Place:
    """A home directory with a task to work on, and servers for it."""

    home: Path
    task_root: Path
    workspaces: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return kept | {"LOCKSTEP_HOME": str(self.home)}

    @property
    def command(self) -> list[str]:
        roots = ["--task-root", str(self.task_root), "--workspace-root", str(self.workspaces)]
        return [*LOCKSTEP, "serve", *roots]

    def inside(self) -> MCPServer[Any]:
        """The server in this process."""
        return build_server(self.home, TaskRegistry((self.task_root.resolve(),), self.workspaces))

    @asynccontextmanager
    async def stdio(self, mode: str = "auto", **options: Any) -> AsyncIterator[Client]:
        """A client that starts its own server."""
        program, *arguments = self.command
        server = StdioServerParameters(command=program, args=arguments, env=self.environment, cwd=str(self.workspaces))
        with open(os.devnull, "w") as nowhere:
            async with Client(stdio_client(server, errlog=nowhere), mode=mode, **options) as connected:
                yield connected

    @contextmanager
    def http(self, *options: str) -> Iterator[HttpServer]:
        """A server that several clients share."""
        process = subprocess.Popen(
            [*self.command, "--http", "--port", "0", *options],
            env=self.environment,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=self.workspaces,
        )
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            assert "serving at " in said, said + process.stderr.read()
            tokens = json.loads((self.home / "mcp-tokens.json").read_text())
            yield HttpServer(said.split()[-1], next(iter(tokens.values())), process)
        finally:
            process.terminate()
            process.wait()
            process.stderr.close()

    def connect(self, over: str, mode: str) -> AbstractAsyncContextManager[Client]:
        """A client over `stdio`, or over `http` on a server of its own."""
        if over == "stdio":
            return self.stdio(mode)

        @asynccontextmanager
        async def connected() -> AsyncIterator[Client]:
            with self.http() as server:
                async with server.client(mode) as client:
                    yield client

        return connected()

    def end(self) -> None:
        """End every host that the test has left."""
        for found in all_sessions(self.home):
            for job in jobs.recent(found):
                if job.state == jobs.RUNNING:
                    with contextlib.suppress(Exception):
                        host_client.ask(found.id, "cancel", {"job": job.id}, home=self.home)
            with contextlib.suppress(Exception):
                host_client.release(found.id, self.home)
        for process in psutil.process_iter(["cmdline"]):
            texts = process.info["cmdline"] or []
            if "harness.host" in texts and str(self.home) in texts:
                process.kill()


@dataclass(frozen=True)
class HttpServer:
    """A server over HTTP, and the token for it."""

    url: str
    token: str
    process: subprocess.Popen[str]

    def http_client(self, token: str | None = None) -> httpx2.AsyncClient:
        bearer = {"Authorization": f"Bearer {token or self.token}"}
        return httpx2.AsyncClient(headers=bearer, timeout=HTTP_TIMEOUT_S)

    @asynccontextmanager
    async def client(self, mode: str = "auto", token: str | None = None, **options: Any) -> AsyncIterator[Client]:
        async with self.http_client(token) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=mode, **options) as connected:
                yield connected


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A new LOCKSTEP_HOME, which shares nothing with the person's own but the built environments."""
    home = new_home(tmp_path, monkeypatch, "envs")
    tasks = tmp_path / "tasks"
    shutil.copytree(WALK, tasks / "walk", ignore=shutil.ignore_patterns("__pycache__"))
    workspaces = tmp_path / "workspaces"
    workspaces.mkdir()
    made = Place(home, tasks, workspaces)
    yield made
    made.end()


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


async def settled(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call, and its job's result where it was handed out as one."""
    done = await call(client, tool, **arguments)
    while done["state"] == "running":
        asked = await call(client, "get_job", job_id=done["job"], wait_s=40)
        assert asked["state"] in ("running", "done"), asked
        done = asked["verification"] or asked["comparison"] or asked["command"] or done
    return done


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The words of a call that must fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


def processes_with(mark: str) -> list[psutil.Process]:
    """Every process that has a word in its command line."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(mark in word for word in process.info["cmdline"] or []) and process.pid != os.getpid():
            found.append(process)
    return found


async def until(happened: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Look again and again until something is there; fail when it does not come."""
    with anyio.fail_after(seconds):
        while not (found := happened()):
            await anyio.sleep(0.05)
    return found


async def begun(client: Client, **arguments: Any) -> str:
    """The id of a new session on the walk."""
    return (await call(client, "start_session", task="walk", **arguments))["session"]


def newest_job(place: Place, session: str) -> jobs.Job | None:
    """The newest job of a session."""
    found = next(each for each in all_sessions(place.home) if each.id == session)
    return next(iter(jobs.recent(found, 1)), None)
