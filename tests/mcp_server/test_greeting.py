"""What a client asks first is answered before anything heavy is imported, and just as the server would answer it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from mcp_server import greeting
from mcp_server.greeting import CAPABILITIES, CLIENT, HELLO, PROTOCOL, Greeter, greet, recorded
from tests.mcp_server.conftest import LOCKSTEP, Place
from tests.mcp_server.greetings import ME, document, requests

MODERN = MODERN_PROTOCOL_VERSIONS[-1]
KEPT = json.loads(greeting.FILE.read_text())
INSTALLED = greeting.installed_releases()


@pytest.fixture(autouse=True)
def as_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The releases that the answers were recorded with, so that all but the first test hold with others as well."""
    monkeypatch.setattr(greeting, "installed_releases", lambda: KEPT["releases"])


@pytest.mark.anyio
async def test_what_is_recorded_is_what_the_server_answers() -> None:
    if KEPT["releases"] != INSTALLED:
        pytest.skip("other releases are installed than those that the answers were recorded with")
    assert await document() == KEPT, "a tool has changed: run `python -m tests.mcp_server.greetings`"


def test_nothing_is_answered_with_other_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greeting, "installed_releases", lambda: {"mcp": "0"})
    assert recorded() == {}


def test_what_comes_before_the_first_answer_imports_no_sdk() -> None:
    code = (
        "import sys, mcp_server.cli, mcp_server.stdio, harness.cli; mcp_server.greeting.recorded(); "
        "print(sorted({'mcp', 'mcp_types', 'pydantic', 'numpy', 'harness.operations'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@dataclass
class Wire:
    """A client's ends of two pipes."""

    source: int
    sink: int
    write: int
    answers: Any

    def say(self, *requests: dict[str, Any]) -> None:
        os.write(self.write, b"".join(json.dumps(each).encode() + b"\n" for each in requests))

    def hear(self) -> dict[str, Any]:
        return json.loads(self.answers.readline())


@pytest.fixture
def wire() -> Iterator[Wire]:
    source, write = os.pipe()
    read, sink = os.pipe()
    with os.fdopen(read) as answers:
        yield Wire(source, sink, write, answers)
    for descriptor in (source, sink, write):
        try:
            os.close(descriptor)
        except OSError:
            pass


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS])
def test_all_that_is_asked_first_is_answered_while_the_server_is_still_loading(wire: Wire, version: str) -> None:
    greeter, heard, asked = Greeter(recorded()), [], requests(version)
    halfway = threading.Event()
    call = {"jsonrpc": "2.0", "id": "late", "method": "tools/call", "params": {"name": "history"}}

    def load() -> str:
        """As long as it takes the client to have every answer."""
        heard.extend(wire.hear() for request in asked if "id" in request)
        wire.say(call)
        os.write(wire.write, b'{"half')
        while select.select([wire.source], [], [], 0)[0]:
            pass  # until it is taken
        halfway.set()
        return "server"

    wire.say(*asked)
    ended: list[str] = []
    thread = threading.Thread(target=lambda: ended.append(greet(greeter, load, wire.source, wire.sink)))
    thread.start()
    assert halfway.wait(60)
    os.write(wire.write, b' a line"}\n')  # what was begun is read to its end, and nothing of it is lost
    thread.join(60)
    assert ended == ["server"]
    assert [answer["id"] for answer in heard] == [request["id"] for request in asked if "id" in request]
    assert all(answer["result"] for answer in heard)
    kept = [json.loads(line) if b"half" not in line else line for line in greeter.kept]
    handshake = [request for request in asked if request["method"] in (HELLO, "notifications/initialized")]
    assert kept == [*handshake, call, b'{"half a line"}\n']
    assert greeter.greeted == (None if version == MODERN else 0)


def test_a_client_that_leaves_ends_the_greeting(wire: Wire) -> None:
    greeter = Greeter(recorded())
    os.write(wire.write, b'{"jsonrpc": "2.0"')
    os.close(wire.write)
    assert greet(greeter, lambda: "server", wire.source, wire.sink) == "server"
    assert greeter.kept == [b'{"jsonrpc": "2.0"']


def test_what_loading_raises_is_raised(wire: Wire) -> None:
    def load() -> None:
        raise ValueError("no such directory")

    with pytest.raises(ValueError, match="no such directory"):
        greet(Greeter({}), load, wire.source, wire.sink)


HELLO_NOW = requests("2025-11-25")[0]
META = {PROTOCOL: MODERN, CLIENT: ME, CAPABILITIES: {}}


@pytest.mark.parametrize(
    "message",
    [
        HELLO_NOW | {"id": None}, HELLO_NOW | {"id": True}, HELLO_NOW | {"jsonrpc": "1.0"}, HELLO_NOW | {"params": []},
        HELLO_NOW | {"params": HELLO_NOW["params"] | {"protocolVersion": "1999-01-01"}},
        HELLO_NOW | {"params": HELLO_NOW["params"] | {"protocolVersion": ["2025-11-25"]}},
        HELLO_NOW | {"params": HELLO_NOW["params"] | {"clientInfo": {}}},
        HELLO_NOW | {"params": HELLO_NOW["params"] | {"padding": "x" * greeting.LINE_AT_MOST}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"jsonrpc": "2.0", "id": 1, "method": ["tools/list"]},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x", "_meta": META}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META | {CLIENT: "me"}}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": []}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": META}},
        [HELLO_NOW], "x", 1, None,
    ],
)  # fmt: skip
def test_what_is_not_plainly_a_first_question_waits_for_the_server(message: Any) -> None:
    greeter, line = Greeter(recorded()), json.dumps(message).encode() + b"\n"
    assert greeter.take(line) is None
    assert greeter.kept == [line] and greeter.greeted is None


@pytest.mark.parametrize("line", [b"\n", b"{\n", b"\xff\xfe\n", b"[" * 60_000 + b"\n"])
def test_a_line_that_is_no_json_waits_for_the_server(line: bytes) -> None:
    greeter = Greeter(recorded())
    assert greeter.take(line) is None and greeter.kept == [line]


@pytest.mark.slow
def test_a_server_answers_each_request_once(place: Place) -> None:
    asked = [*requests("2025-11-25"), HELLO_NOW | {"id": "again", "method": "ping", "params": {}}]
    wanted = sorted(str(each["id"]) for each in asked if "id" in each)
    with subprocess.Popen(
        [*LOCKSTEP, "serve"], env=place.environment, cwd=place.workspaces, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write("".join(json.dumps(each) + "\n" for each in asked))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in wanted]
        server.stdin.close()  # only now: what is being answered ends with its client
        assert server.stdout.read() == ""
    assert server.returncode == 0
    assert sorted(str(answer["id"]) for answer in answers) == wanted
    assert all("result" in answer for answer in answers)
