"""What a server answers first, asked of the server itself: `python -m tests.mcp_server.greetings` records it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from mcp_server.app import build_server
from mcp_server.greeting import CAPABILITIES, CLIENT, FILE, HELLO, PROTOCOL, installed_releases
from mcp_server.registry import TaskRegistry

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
ME = {"name": "greetings", "version": "1"}


def requests(version: str) -> list[dict[str, Any]]:
    """What is asked first in a protocol version: the greeting, then the lists."""
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": ME}
        asked = [(HELLO, hello), *((method, {}) for method in LISTS)]
    else:
        meta = {PROTOCOL: version, CLIENT: ME, CAPABILITIES: {}}
        asked = [(method, {"_meta": meta}) for method in ("server/discover", *LISTS)]
    made = [{"jsonrpc": "2.0", "id": n, "method": method, "params": given} for n, (method, given) in enumerate(asked)]
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        made.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return made


async def answered(server: MCPServer[Any], version: str) -> dict[str, Any]:
    """The results of a server without any greeting, by method."""
    to_server, received = anyio.create_memory_object_stream[SessionMessage | Exception](99)
    sent, from_server = anyio.create_memory_object_stream[SessionMessage](99)
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    found: dict[str, Any] = {}
    async with anyio.create_task_group() as group, to_server, from_server:
        group.start_soon(low.run, received, sent, low.create_initialization_options())
        for request in requests(version):
            await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_python(request, by_name=False)))
            if "id" in request:
                answer = json.loads(
                    (await from_server.receive()).message.model_dump_json(by_alias=True, exclude_unset=True)
                )
                assert answer["id"] == request["id"]
                found[request["method"]] = answer["result"]
        group.cancel_scope.cancel()
    return found


async def document() -> dict[str, Any]:
    """The content of `greeting.json` as it has to be."""
    results: list[Any] = []
    answers: dict[str, dict[str, int]] = {}
    with TemporaryDirectory() as place:
        for version in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS):
            server = build_server(Path(place), TaskRegistry((), Path(place)))
            for method, result in (await answered(server, version)).items():
                if result not in results:
                    results.append(result)
                answers.setdefault(version, {})[method] = results.index(result)
    return {"releases": installed_releases(), "answers": answers, "results": results}


if __name__ == "__main__":
    FILE.write_text(json.dumps(anyio.run(document), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
