"""What clients send: requests to the server, in this process and over stdio, and calls to a session's host."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import random
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from harness.errors import LockstepError
from harness.host import client as host_client
from harness.host import protocol
from harness.host.arguments import checked
from harness.host.calls import Calls
from harness.host.command_jobs import CommandJobs
from harness.host.main_jobs import MainJobs
from harness.support.home import lockstep_home
from mcp_server.app import build_server
from mcp_server.limits import RESULT_CHARACTERS
from mcp_server.registry import TaskRegistry
from tests.fuzz.mutate import either, json_text, of_bytes, of_json
from tests.fuzz.target import Target, Wrong
from tests.fuzz.targets.levels import WALK

WORKS = (
    "run_level_tests",
    "run_command",
    "profile_sps",
    "compare_rollouts",
    "transfer_check",
    "run_transfer",
    "replay_verdict",
)
"""Tools that start work, for seconds or minutes: their arguments are fuzzed with a session that does not exist."""
ANSWER_S = 50.0
SERVER_GROWTH = 200 << 20


def _home(directory: Path) -> tuple[Path, Path, Path]:
    """A home directory with the environments that are built already, the task `walk`, and a place for workspaces."""
    home, tasks, workspaces = (directory / name for name in ("home", "tasks", "workspaces"))
    home.mkdir(mode=0o700)
    workspaces.mkdir()
    shared = lockstep_home() / "envs"
    shared.mkdir(parents=True, exist_ok=True)
    (home / "envs").symlink_to(shared)
    os.environ["LOCKSTEP_HOME"] = str(home)
    shutil.copytree(WALK, tasks / "walk", ignore=shutil.ignore_patterns("__pycache__"))
    return home, tasks, workspaces


class _Server:
    """The real server in this process, with a session on `walk` and its host; one call at a time."""

    def __init__(self, directory: Path) -> None:
        self._home, tasks, workspaces = _home(directory)
        self._loop = asyncio.new_event_loop()
        self._leave = asyncio.Event()
        ready: asyncio.Future[Client] = self._loop.create_future()

        async def hold() -> None:
            async with Client(build_server(self._home, TaskRegistry((tasks.resolve(),), workspaces))) as client:
                ready.set_result(client)
                await self._leave.wait()

        self._holder = self._loop.create_task(hold())
        self.client = self._loop.run_until_complete(ready)
        begun = self.wait(self.client.call_tool("start_session", {"task": "walk"}))
        assert begun.structured_content is not None
        self.session = str(begun.structured_content["session"])

    def wait(self, asked: Any) -> Any:
        """The answer to one request."""
        return self._loop.run_until_complete(asyncio.wait_for(asked, ANSWER_S))

    def seeds(self) -> list[bytes]:
        """A call of each tool with all its arguments, and one of each other kind of request."""
        calls = []
        for tool in self.wait(self.client.list_tools()).tools:
            named = {name: _example(name, schema) for name, schema in tool.input_schema["properties"].items()}
            calls.append({"tool": tool.name, "arguments": named})
            needed = {name: named[name] for name in tool.input_schema.get("required", [])}
            calls.append({"tool": tool.name, "arguments": needed})
        templates = self.wait(self.client.list_resource_templates()).resource_templates
        calls += [{"uri": each.uri_template} for each in templates]
        calls += [{"uri": "lockstep://tasks"}, {"uri": f"lockstep://sessions/{self.session}/status"}]
        calls += [
            {"prompt": each.name, "arguments": {"session": self.session}}
            for each in self.wait(self.client.list_prompts()).prompts
        ]
        calls.append(
            {"complete": "lockstep://sessions/{session}/status", "name": "session", "value": "walk", "context": {}}
        )
        calls.append(
            {"complete_prompt": "translate", "name": "module", "value": "", "context": {"session": self.session}}
        )
        return [json_text(call) for call in calls]

    def run(self, data: bytes) -> None:
        """Make one request. An error must be a declared one, and no answer longer than is promised."""
        try:
            asked = json.loads(data)
            if not isinstance(asked, dict):
                return
        except (ValueError, RecursionError):
            return
        try:
            said = self._ask(asked)
        except (MCPError, UnicodeEncodeError, TypeError, ValueError, RecursionError) as error:
            # The client's own half may refuse to send it; what the server says is an MCPError with a code and words.
            if isinstance(error, MCPError) and error.error.code == -32603:
                raise Wrong(f"an internal error: {error.error.message[:300]}") from error
            return
        if (
            "bug of Lockstep" in said
            or "Traceback" in said
            or (said.startswith("Error executing tool") and ":" not in said)
        ):
            raise Wrong(said[:600])
        if len(said) > 2 * RESULT_CHARACTERS and "tool" in asked:
            raise Wrong(f"an answer of {len(said)} characters")

    def _ask(self, asked: dict[str, Any]) -> str:
        arguments = asked.get("arguments")
        if isinstance(asked.get("uri"), str):
            found = self.wait(
                self.client.read_resource(asked["uri"].replace("{session}", self.session).replace("{task}", "walk"))
            )
            return "" if found.contents else "nothing"
        if isinstance(asked.get("prompt"), str):
            self.wait(self.client.get_prompt(asked["prompt"], arguments))
        elif "complete" in asked or "complete_prompt" in asked:
            uri = asked.get("complete")
            ref: Any = (
                ResourceTemplateReference(uri=uri)
                if uri is not None
                else PromptReference(name=asked["complete_prompt"])
            )
            given: Any = {"name": asked.get("name"), "value": asked.get("value")}
            self.wait(self.client.complete(ref, given, context_arguments=asked.get("context")))
        elif isinstance(asked.get("tool"), str):
            if asked["tool"] == "start_session" and isinstance(arguments, dict):
                arguments = {**arguments, "task": f"{arguments.get('task')}x"}  # a session each would fill the disk
            if isinstance(arguments, dict) and arguments.get("session") == "SESSION" and asked["tool"] not in WORKS:
                arguments = {**arguments, "session": self.session}
            result = self.wait(self.client.call_tool(asked["tool"], arguments))
            return "\n".join(block.text for block in result.content if block.type == "text")
        return ""

    def close(self) -> None:
        """End the server and the session's host."""
        self._leave.set()
        self._loop.run_until_complete(self._holder)
        self._loop.close()
        host_client.release(self.session, self._home)


def _example(name: str, schema: dict[str, Any]) -> Any:
    """A value that a tool takes for an argument."""
    known = {
        "session": "SESSION",
        "path": "candidate/env.py",
        "job_id": "SESSION.1",
        "old": "jnp",
        "command": "true",
        "task": "walk",
    }
    if name in known:
        return known[name]
    kinds = {each.get("type") for each in schema.get("anyOf", [schema])}
    if "integer" in kinds or "number" in kinds:
        return schema.get("default") or 1
    return {"boolean": True, "array": [], "object": {}}.get(
        next(iter(kinds - {"null"}), ""), schema.get("default") or "x"
    )


def mcp(directory: Path) -> Target:
    """Requests to the server: tools by their own schemas, resources, prompts, completions."""
    server = _Server(directory)
    return Target("mcp", server.seeds(), server.run, of_json, (), server.close, cpu_s=20.0, share=2.0)


def stdio(directory: Path) -> Target:
    """Lines on the server's standard input: it answers the next request whatever came before, and does not grow."""
    home, tasks, workspaces = _home(directory)
    seeds = [
        _line(
            1,
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
        ),
        _line(2, "tools/list", {}),
        _line(3, "tools/call", {"name": "session_status", "arguments": {"session": "nobody"}}),
        _line(4, "resources/read", {"uri": "lockstep://tasks"}),
        _line(
            5,
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "translate"}, "argument": {"name": "session", "value": ""}},
        ),
        _line(6, "resources/subscribe", {"uri": "lockstep://sessions"}),
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}',
    ]
    server = _Lines([sys.executable, "-P", "-c", "import sys; from harness.cli import main; sys.exit(main())", "serve",
                     "--task-root", str(tasks), "--workspace-root", str(workspaces)], home, workspaces)  # fmt: skip
    return Target("stdio", seeds, server.run, either(of_json, of_bytes), (), server.close, cpu_s=20.0)


def _line(number: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


class _Lines:
    """A server over real standard streams."""

    def __init__(self, command: list[str], home: Path, directory: Path) -> None:
        environment = {**os.environ, "LOCKSTEP_HOME": str(home)}
        self._log = (home / "stderr").open("wb")
        self._process = subprocess.Popen(
            command, env=environment, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
        )
        self._number = 1_000
        self._said = b""
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}
        self._send(_line(self._number, "initialize", greeting))
        self._answer(self._number)
        self._send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        self._begun = psutil.Process(self._process.pid).memory_info().rss

    def run(self, data: bytes) -> None:
        """Send a line, then ask something that must be answered."""
        self._number += 1
        if b'"initialize"' in data or b"shutdown" in data:
            data = data.replace(
                b'"initialize"', b'"initialise"'
            )  # a second greeting begins another session: not the next ping's
        self._send(data.replace(b"\n", b" "))
        self._send(_line(self._number, "ping", {}))
        self._answer(self._number)
        grown = psutil.Process(self._process.pid).memory_info().rss - self._begun
        if grown > SERVER_GROWTH:
            raise Wrong(f"the server grew by {grown >> 20} MiB")

    def close(self) -> None:
        """End the server."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)
        self._log.close()

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def _answer(self, number: int) -> None:
        """Wait for the answer with an id; what else is said is passed over."""
        assert self._process.stdout is not None
        wanted = f'"id":{number}'.encode()
        deadline = time.monotonic() + ANSWER_S
        while True:
            *lines, self._said = self._said.split(b"\n")
            if any(wanted in line.replace(b'": ', b'":') for line in lines):
                return
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            if not chunk:
                raise Wrong("the server has ended" if ready else "the server does not answer")
            self._said += chunk


def host(directory: Path) -> Target:
    """Lines on a host's socket, and the arguments of its calls; and what a client makes of a host's answer."""
    functions = {
        name: function
        for owner in (Calls, MainJobs, CommandJobs)
        for name, function in vars(owner).items()
        if inspect.isfunction(function) and not name.startswith("_")
    }
    taken = {
        name: f
        for name, f in functions.items()
        if any(p.kind is p.KEYWORD_ONLY for p in inspect.signature(f).parameters.values())
    }
    seeds = []
    for name, function in taken.items():
        given = {
            each.name: 1 for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY
        }
        seeds.append(json_text(protocol.request(name, given, "fuzz")) + b"\n")
    seeds.append(json_text(LockstepError("what", where="where").as_json()) + b"\n")

    def run(data: bytes) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.settimeout(ANSWER_S)
            theirs.settimeout(ANSWER_S)
            size = 1 << 16
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, len(data) * 2 + size)
            ours.sendall(data[: 1 << 17])
            ours.shutdown(socket.SHUT_WR)
            message = protocol.receive(theirs)
        if message is None:
            return
        str(protocol.rebuilt(message))
        call, arguments = message.get("call"), message.get("arguments")
        if isinstance(call, str) and call in taken and isinstance(arguments, dict):
            checked(call, taken[call], arguments)

    return Target("host", seeds, run, _of_lines)


def _of_lines(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    made = of_json(rng, data, donors) if rng.random() < 0.85 else of_bytes(rng, data, donors)
    return made + b"\n" if rng.random() < 0.9 else made
