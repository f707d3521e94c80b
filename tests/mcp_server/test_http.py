"""Who is let in over HTTP, how much they may send, and what becomes of a stream that drops."""

from __future__ import annotations

import json
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.streamable_http import EventMessage
from mcp.types import JSONRPCNotification
from starlette.types import Message, Receive, Scope, Send

from harness.errors import SetupError
from mcp_server.events import OwnSession, RecentEvents
from mcp_server.http import Doors
from mcp_server.tokens import TokenFile
from tests.mcp_server.conftest import HttpServer, Place, begun, call

pytestmark = pytest.mark.anyio
VERSION = "2025-11-25"
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}


async def knock(server: HttpServer, body: Any = GREETING, token: str | None = "", **headers: str) -> httpx2.Response:
    bearer = {} if token is None else {"authorization": f"Bearer {token or server.token}"}
    async with httpx2.AsyncClient(timeout=60) as http:
        return await http.post(server.url, content=json.dumps(body), headers=HEADERS | bearer | headers)


async def test_only_a_good_token_a_known_host_and_a_known_origin_are_let_in(place: Place) -> None:
    with place.http() as server:
        assert (await knock(server)).status_code == 200
        assert (await knock(server, token=None)).status_code == 401
        assert (await knock(server, token="x" * 43)).status_code == 401
        assert (await knock(server, token=server.token[:-1])).status_code == 401
        assert "bearer" in (await knock(server, token=None)).headers["www-authenticate"].lower()
        assert (await knock(server, host="evil.example:80")).status_code == 421
        assert (await knock(server, origin="http://evil.example")).status_code == 403
        assert (await knock(server, origin="http://localhost:3000")).status_code == 200
        modern = {"mcp-protocol-version": "2026-07-28"}
        assert (await knock(server, host="evil.example", **modern)).status_code == 421
        assert (await knock(server, origin="https://evil.example", **modern)).status_code == 403
        too_much = GREETING | {"id": "x" * (5 * 1024 * 1024)}
        assert (await knock(server, too_much)).status_code == 413
        assert (await knock(server, too_much, **modern)).status_code == 413
        assert (await knock(server, too_much, token=None)).status_code == 401
        async with httpx2.AsyncClient() as http:
            assert (await http.get(server.url.replace("/mcp", "/"))).status_code == 404


async def test_a_token_that_is_taken_away_opens_nothing_any_more(place: Place) -> None:
    file = place.home / "mcp-tokens.json"
    with place.http() as server:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        TokenFile(file).add("other")
        tokens = json.loads(file.read_text())
        assert (await knock(server, token=tokens["other"])).status_code == 200
        del tokens["other"]
        TokenFile(file)._write(tokens)  # pyright: ignore[reportPrivateUsage]
        assert (await knock(server, token="other")).status_code == 401
        file.chmod(0o644)
        assert (await knock(server)).status_code == 401


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"a b": "' + "x" * 43 + '"}', '{"client": "short"}', "\xff", '{"a": {"token": 1}}']
)
def test_a_token_file_that_is_malformed_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(content, encoding="latin-1")
    file.chmod(0o600)
    with pytest.raises(SetupError, match="token file"):
        TokenFile(file)


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    TokenFile(tmp_path / "tokens.json")
    (tmp_path / "tokens.json").chmod(0o640)
    with pytest.raises(SetupError, match="read by others"):
        TokenFile(tmp_path / "tokens.json")


async def test_each_client_has_a_name_of_its_own(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "deep" / "tokens.json")
    given = tokens.add("second")
    found = await tokens.verify_token(given)
    assert found is not None and found.client_id == "second"
    with pytest.raises(SetupError):
        tokens.add("second")
    with pytest.raises(SetupError):
        tokens.add("../x")
    assert await tokens.verify_token("") is None


async def test_a_token_of_an_operator_is_marked_and_files_of_before_have_none(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps({"old": "o" * 43}))
    file.chmod(0o600)
    tokens = TokenFile(file)
    chief = tokens.add("chief", is_operator=True)
    for token, scopes in (("o" * 43, []), (chief, ["operator"])):
        found = await tokens.verify_token(token)
        assert found is not None and found.scopes == scopes
    assert json.loads(file.read_text()) == {"old": "o" * 43, "chief": {"token": chief, "operator": True}}
    with pytest.raises(SetupError):
        tokens.add("local")  # whoever works on this machine without a token


async def test_a_connection_of_the_handshake_era_belongs_to_its_token(place: Place) -> None:
    others = TokenFile(place.home / "mcp-tokens.json").add("other")
    with place.http() as server:
        opened = (await knock(server)).headers["mcp-session-id"]
        mine = {"mcp-session-id": opened, "mcp-protocol-version": VERSION}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert (await knock(server, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **mine)).is_success
        assert (await knock(server, listing, **mine)).status_code == 200
        assert (await knock(server, listing, token=others, **mine)).status_code == 404


def test_the_server_does_not_listen_beyond_the_machine_without_a_name() -> None:
    with pytest.raises(SetupError, match="other machines"):
        Doors("0.0.0.0").security()
    stated = Doors("0.0.0.0", allowed_hosts=("lab.example",), allowed_origins=("https://lab.example",)).security()
    assert stated.enable_dns_rebinding_protection
    assert stated.allowed_hosts == ["lab.example", "lab.example:*"]
    assert stated.allowed_origins == ["https://lab.example"]
    assert "127.0.0.1:*" in Doors().security().allowed_hosts


async def test_a_port_that_is_taken_is_named(place: Place) -> None:
    with Doors().listen() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=str(port)):
            Doors(port=port).listen()


@pytest.mark.slow
async def test_fifty_clients_ask_for_the_status_at_once(place: Place) -> None:
    with place.http() as server:
        async with server.client() as client:
            session = await begun(client)
            states: list[str] = []

            async def ask() -> None:
                states.append((await call(client, "session_status", session=session))["state"])

            async with anyio.create_task_group() as group:
                for _ in range(50):
                    group.start_soon(ask)
    assert states == ["working"] * 50


class Wire:
    """A client of the handshake era that reads its own streams."""

    def __init__(self, http: httpx2.AsyncClient, url: str) -> None:
        self._http, self._url, self.session, self.last = http, url, "", ""

    async def greet(self) -> None:
        answered = await self._http.post(self._url, json=GREETING, headers=HEADERS)
        self.session = answered.headers["mcp-session-id"]
        await self._http.post(
            self._url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=self.headers
        )

    @property
    def headers(self) -> dict[str, str]:
        return HEADERS | {"mcp-session-id": self.session, "mcp-protocol-version": VERSION}

    async def messages(self, lines: AsyncIterator[str]) -> AsyncIterator[dict[str, Any]]:
        async for line in lines:
            if line.startswith("id:"):
                self.last = line.removeprefix("id:").strip()
            elif line.startswith("data:") and line.removeprefix("data:").strip():
                yield json.loads(line.removeprefix("data:"))

    async def drop(self, request: dict[str, Any]) -> None:
        """Send a request, and go as soon as its stream has begun."""
        async with self._http.stream("POST", self._url, json=request, headers=self.headers) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("id:"):
                    self.last = line.removeprefix("id:").strip()
                    return

    async def resume(self, last: str) -> dict[str, Any]:
        """The first message of a stream that is taken up after an event."""
        headers = self.headers | {"last-event-id": last}
        async with self._http.stream("GET", self._url, headers=headers) as stream:
            async for message in self.messages(stream.aiter_lines()):
                return message
        return {}


@pytest.mark.slow
async def test_a_stream_that_dropped_is_taken_up_where_it_was_and_by_nobody_else(place: Place) -> None:
    with place.http() as server:
        async with server.client() as client:
            session = await begun(client)
        async with server.http_client() as http:
            mine, other = Wire(http, server.url), Wire(http, server.url)
            await mine.greet()
            await other.greet()
            arguments = {"session": session, "command": "sleep 2; echo mine"}
            request = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {}}
            request["params"] = {"name": "run_command", "arguments": arguments}
            await mine.drop(request)
            assert mine.last
            begun_at = mine.last
            answered = await mine.resume(begun_at)
            assert answered["id"] == 7
            assert answered["result"]["structuredContent"]["stdout"] == "mine\n"
            leaked: dict[str, Any] = {}
            with anyio.move_on_after(2):
                leaked = await other.resume(begun_at)
            assert leaked == {}


async def test_kept_events_stay_within_their_limits_and_with_their_session() -> None:
    store = RecentEvents(events=3, size=10_000)
    note = JSONRPCNotification(jsonrpc="2.0", method="notifications/x", params={"text": "y" * 100})
    ids: dict[str, list[str]] = {"a": [], "b": []}
    replayed: dict[str, list[EventMessage]] = {"a": [], "b": []}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        name = dict(scope["headers"])[b"mcp-session-id"].decode()
        if scope["path"] == "/store":
            ids[name].append(await store.store_event("1", note))
        else:

            async def replay(event: EventMessage) -> None:
                replayed[name].append(event)

            await store.replay_events_after(scope["path"][1:], replay)

    async def request(name: str, path: str) -> None:
        async def receive() -> Message:
            return {"type": "http.request"}

        async def send(message: Message) -> None:
            del message

        scope = {"type": "http", "path": path, "headers": [(b"mcp-session-id", name.encode())]}
        await OwnSession(app)(scope, receive, send)

    for name in ("a", "b", "a"):
        await request(name, "/store")
    await request("a", f"/{ids['a'][0]}")
    assert [event.event_id for event in replayed["a"]] == ids["a"][1:]
    await request("b", f"/{ids['a'][0]}")
    assert replayed["b"] == []
    await request("b", "/store")  # the oldest gives way
    await request("a", f"/{ids['a'][0]}")
    assert len(replayed["a"]) == 1
    small = RecentEvents(events=100, size=300)
    kept = [await small.store_event("1", note) for _ in range(10)]
    assert len(small._kept) <= 2 and kept[-1] in small._kept  # pyright: ignore[reportPrivateUsage]


def test_answers_are_not_held_back_by_the_network_stack() -> None:
    with Doors().listen() as listener:
        assert listener.proto == socket.IPPROTO_TCP, "asyncio sets TCP_NODELAY only on sockets that state it"
