"""What was sent on the streams of HTTP, kept for a while so that a client whose stream has dropped misses nothing.

The SDK names a stream by the id of the request that it answers, and every session counts its requests from 1. What keeps
the streams of different sessions apart is here: `OwnSession` marks everything that happens for a request with its session.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp.types import JSONRPCMessage
from starlette.types import ASGIApp, Message, Receive, Scope, Send

EVENTS_AT_MOST = 4096
BYTES_AT_MOST = 32 * 1024 * 1024
_HEADER = b"mcp-session-id"


@dataclass
class _Owner:
    """The session that something belongs to; of the request that opens one it is known only with its answer."""

    session: bytes | None = None


@dataclass(frozen=True)
class _Kept:
    owner: _Owner
    stream: StreamId
    message: JSONRPCMessage | None
    size: int


_owner: ContextVar[_Owner] = ContextVar("owner")


class OwnSession:
    """ASGI: marks what is done for a request with the session that the request belongs to, or opens.

    A session's own tasks are begun by the request that opens it, and so carry that one's mark.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        owner = _Owner(_session(scope["headers"]))

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and owner.session is None:
                owner.session = _session(message.get("headers", ()))
            await send(message)

        token = _owner.set(owner)
        try:
            await self._app(scope, receive, watched)
        finally:
            _owner.reset(token)


class RecentEvents(EventStore):
    """The newest events of all streams, within limits of number and size; the oldest give way.

    A client that comes back too late finds its stream gone, and loses nothing by it: results of jobs lie in their files.
    """

    def __init__(self, events: int = EVENTS_AT_MOST, size: int = BYTES_AT_MOST) -> None:
        self._events_at_most, self._bytes_at_most = events, size
        self._kept: OrderedDict[EventId, _Kept] = OrderedDict()
        self._size = 0

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Keep one event, and give its id."""
        size = 0 if message is None else len(message.model_dump_json(by_alias=True, exclude_unset=True))
        event = secrets.token_urlsafe(12)
        self._kept[event] = _Kept(_owner.get(_Owner()), stream_id, message, size)
        self._size += size
        while len(self._kept) > self._events_at_most or self._size > self._bytes_at_most:
            _, oldest = self._kept.popitem(last=False)
            self._size -= oldest.size
        return event

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        """Send what followed an event on its stream; None where it is not kept any more, or belongs to another session."""
        last, asking = self._kept.get(last_event_id), _owner.get(_Owner()).session
        if last is None or asking is None or last.owner.session != asking:
            return None
        after = False
        for event, kept in list(self._kept.items()):
            same = kept.stream == last.stream and kept.owner.session == asking
            if after and same and kept.message is not None:
                await send_callback(EventMessage(kept.message, event))
            after = after or event == last_event_id
        return last.stream


def _session(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    return next((value for name, value in headers if name.lower() == _HEADER), None)
