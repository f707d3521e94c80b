"""The server on stdio, which begins where the greeting ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mcp_server.greeting import Greeter, greet, recorded

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage


def serve_stdio(load: Callable[[], MCPServer[Any]]) -> None:
    """Serve the client that started this process until it leaves.

    Args:
        load: imports and builds the server.

    Raises:
        Exception: whatever `load` raises.
    """
    greeter = Greeter(recorded())
    server = greet(greeter, load)
    import anyio

    anyio.run(_serve, server, greeter)


async def _serve(server: MCPServer[Any], greeter: Greeter) -> None:
    from mcp.server.stdio import stdio_server

    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]  # as `run_stdio_async` of the SDK (2.3.0)
    async with stdio_server() as (received, sent):
        await low.run(_Continued(received, greeter), _Answers(sent, greeter), low.create_initialization_options())


class _Around:
    """A stream of the SDK, closed with what stands around it."""

    def __init__(self, stream: ReadStream[Any] | WriteStream[Any]) -> None:
        self._stream = stream

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class _Continued(_Around):
    """What a client says: first what the greeter has kept, then what comes."""

    def __init__(self, received: ReadStream[SessionMessage | Exception], greeter: Greeter) -> None:
        super().__init__(received)
        self._received = received
        self._kept = deque(greeter.kept)

    @property
    def last_context(self) -> Any:
        return getattr(self._received, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return _message(self._kept.popleft()) if self._kept else await self._received.receive()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _message(self._kept.popleft()) if self._kept else await anext(self._received)


class _Answers(_Around):
    """What the server says, but for its answer to a handshake that was answered before."""

    def __init__(self, sent: WriteStream[SessionMessage], greeter: Greeter) -> None:
        super().__init__(sent)
        self._sent = sent
        self._greeted = greeter.greeted

    async def send(self, item: SessionMessage, /) -> None:
        if self._greeted is not None and getattr(item.message, "id", None) == self._greeted:
            self._greeted = None  # ids may be used again
            return
        await self._sent.send(item)


def _message(line: bytes) -> SessionMessage | Exception:
    """A line as the SDK reads it from standard input."""
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line.decode(errors="replace"), by_name=False))
    except ValueError as error:
        return error
