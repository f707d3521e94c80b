"""A newcomer finds room among sessions that nobody uses, and no token keeps the others out; slow connections are closed."""

from __future__ import annotations

import json
import math
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2
import pytest
from anyio.to_thread import run_sync

from mcp_server.app import build_server
from mcp_server.http import Doors, http_app, serve_http, url_of
from mcp_server.newcomers import put_out
from mcp_server.registry import TaskRegistry
from mcp_server.tokens import TokenFile
from tests.mcp_server.conftest import Place
from tests.mcp_server.test_http import GREETING, HEADERS, VERSION

pytestmark = pytest.mark.anyio
ROOM = 4


class Server:
    """A server with little room, and a token for each name."""

    def __init__(self, place: Place, listener: socket.socket, *names: str) -> None:
        self.tokens = TokenFile(place.home / "tokens.json")
        self.given = {name: self.tokens.add(name) for name in names}
        self.url, self.address = url_of(listener), listener.getsockname()
        built = build_server(place.home, TaskRegistry((), place.workspaces), tokens=self.tokens, url=self.url)
        self.app = http_app(built, Doors(), ROOM)

    def headers(self, name: str, session: str = "") -> dict[str, str]:
        own = {"mcp-session-id": session, "mcp-protocol-version": VERSION} if session else {}
        return HEADERS | {"authorization": f"Bearer {self.given[name]}"} | own

    async def open(self, name: str) -> httpx2.Response:
        async with httpx2.AsyncClient(timeout=60) as http:
            return await http.post(self.url, content=json.dumps(GREETING), headers=self.headers(name))

    async def opened(self, name: str, count: int = 1) -> list[str]:
        return [(await self.open(name)).headers["mcp-session-id"] for _ in range(count)]

    async def lists(self, name: str, session: str) -> int:
        """The status of a request in a session."""
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        async with httpx2.AsyncClient(timeout=60) as http:
            answer = await http.post(self.url, content=json.dumps(asked), headers=self.headers(name, session))
        return answer.status_code

    @asynccontextmanager
    async def streams(self, name: str, sessions: list[str]) -> AsyncIterator[None]:
        """With a stream of each session held open: it is in use."""
        async with httpx2.AsyncClient(timeout=60) as http, anyio.create_task_group() as group:
            for session in sessions:
                await group.start(self._stream, http, self.headers(name, session))
            yield
            group.cancel_scope.cancel()

    async def _stream(self, http: httpx2.AsyncClient, headers: dict[str, str], *, task_status: Any) -> None:
        async with http.stream("GET", self.url, headers=headers) as answer:
            assert answer.status_code == 200
            task_status.started()
            async for _ in answer.aiter_bytes():
                pass


@asynccontextmanager
async def serving(place: Place, *names: str, request_s: float = 60) -> AsyncIterator[Server]:
    with Doors().listen() as listener:
        server = Server(place, listener, *names)
        async with anyio.create_task_group() as group:
            group.start_soon(serve_http, server.app, listener, request_s)
            yield server
            group.cancel_scope.cancel()


async def test_what_was_not_used_for_longest_gives_way(place: Place) -> None:
    async with serving(place, "ada") as server:
        first, second, *_ = await server.opened("ada", ROOM)
        assert await server.lists("ada", first) == 200
        await server.opened("ada")
        assert await server.lists("ada", second) == 404
        assert await server.lists("ada", first) == 200


async def test_no_token_keeps_the_others_out_whatever_it_holds_open(place: Place) -> None:
    async with serving(place, "ada", "bob") as server:
        held = await server.opened("ada", ROOM)
        async with server.streams("ada", held):
            [first] = await server.opened("bob")
            async with server.streams("bob", [first]):
                [second] = await server.opened("bob")
                async with server.streams("bob", [second]):
                    assert [await server.lists("bob", session) for session in (first, second)] == [200, 200]
                    assert [await server.lists("ada", session) for session in held] == [404, 404, 200, 200]
                    for name in ("ada", "bob"):
                        refused = await server.open(name)
                        assert refused.status_code == 503 and "Too many open sessions" in refused.text


@pytest.mark.parametrize(
    ("open_ones", "newcomer", "gives"),
    [
        ("a9 a1 a5 b0", "b", "a1"),  # whoever holds most, of what it has not used for longest
        ("a9 a8 b1 b2", "c", "b1"),
        ("a9 a8 b1 b2", "a", "a8"),  # at its share, a token gives of its own
        ("a- a- b1 b2", "a", None),  # and waits where it uses all
        ("a- a- a- b1", "c", "b1"),  # below its share, it takes what nobody uses
        ("a- a- a- b-", "c", "a-"),  # or what is beyond another's share
        ("a- a- b- b-", "c", "a-"),
        ("a- b- c- d-", "e", "a-"),
        ("a- b- c- d-", "a", None),
    ],
)
def test_who_gives_way(open_ones: str, newcomer: str, gives: str | None) -> None:
    sessions = {f"{n}{each}": each for n, each in enumerate(open_ones.split())}
    transports: Any = {
        name: SimpleNamespace(idle_scope=SimpleNamespace(deadline=math.inf if each[1] == "-" else float(each[1])))
        for name, each in sessions.items()
    }
    chosen = put_out(transports, {name: each[0] for name, each in sessions.items()}, newcomer, ROOM)
    assert (None if chosen is None else sessions[chosen]) == gives


@contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection(server.address) as connection:
        connection.settimeout(60)
        yield connection


def head(server: Server, length: int) -> bytes:
    lines = [f"{name}: {value}" for name, value in server.headers("ada").items()]
    return "\r\n".join(["POST /mcp HTTP/1.1", "host: 127.0.0.1", *lines, f"content-length: {length}", "", ""]).encode()


@pytest.mark.parametrize("sent", ["nothing", "half a head", "half a body", "half of a second head"])
async def test_a_request_that_does_not_arrive_loses_its_connection_and_an_open_stream_keeps_it(
    place: Place, sent: str
) -> None:
    async with serving(place, "ada", request_s=0.2) as server:
        [session] = await server.opened("ada")
        whole = json.dumps(GREETING).encode()
        begun = {
            "nothing": b"",
            "half a head": b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n",
            "half a body": head(server, 1000) + b"{",
            "half of a second head": head(server, len(whole)) + whole + b"POST /mcp",
        }[sent]
        async with server.streams("ada", [session]):
            with connected(server) as connection:
                connection.sendall(begun)
                while await run_sync(connection.recv, 1 << 16):
                    pass  # what is answered before the connection ends
            [other] = await server.opened("ada")
            assert {await server.lists("ada", each) for each in (session, other)} == {200}
