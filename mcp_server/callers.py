"""Who calls, and which calls were cancelled on purpose.

Ending a call and losing its client look alike to a handler: both cancel it. They must not end alike: a client that went
away (its network, its own time limit, a restart) comes back for its verdict, while one that cancels wants the work to
stop. What tells them apart is the notification `notifications/cancelled`, which this middleware sees after the call itself
has been interrupted. Clients send it for their time limits too, and say so in its reason.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from harness.support.text import one_line

Key = tuple[str, str]
"""A call: the HTTP session it came in (empty on stdio), and the request's id."""
Stop = Callable[[], Awaitable[None]]

REMEMBERED = 512
"""So many interrupted calls are remembered until their notification comes, which it does at once or never."""
_ITS_TIME_LIMIT = ("timed out", "timeout", "time out", "deadline")


class Cancellations:
    """A middleware that runs a call's own `Stop` when its client cancels it, and not when its client is gone."""

    def __init__(self) -> None:
        self._stops: OrderedDict[Key, Stop] = OrderedDict()
        self._wanted: OrderedDict[Key, None] = OrderedDict()

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method == "notifications/cancelled" and ctx.params and not gave_up(ctx.params.get("reason")):
            key = _key(ctx, ctx.params.get("requestId"))
            stop = self._stops.pop(key, None)
            if stop is not None:
                await stop()
            else:  # its work has not begun yet
                _remember(self._wanted, key, None)
        return result

    async def began(self, ctx: Context[Any, Any], stop: Stop) -> None:
        """Say how the work of this call is stopped; if it was cancelled in the meantime, that happens now."""
        if ctx.headers is not None and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return  # there a client cancels by hanging up, which it also does when it is lost
        key = _key(ctx.request_context, ctx.request_context.request_id)
        if key in self._wanted:
            del self._wanted[key]
            await stop()
        else:
            _remember(self._stops, key, stop)

    def ended(self, ctx: Context[Any, Any]) -> None:
        """The call was answered, so that nothing is left to be cancelled."""
        self._stops.pop(_key(ctx.request_context, ctx.request_context.request_id), None)


def gave_up(reason: Any) -> bool:
    """Whether the reason of a cancellation is the client's own time limit, after which the work is still wanted."""
    return isinstance(reason, str) and any(phrase in reason.lower() for phrase in _ITS_TIME_LIMIT)


def client_name(ctx: Context[Any, Any]) -> str:
    """Who calls, in words for a second agent on the same session.

    Over HTTP the name that belongs to the token; on stdio the client's own name and the process that started the server,
    so that two agents of one kind have two names and one agent keeps its name when the server is started again.
    """
    params = ctx.session.client_params
    own = one_line(params.client_info.name[:80]) if params is not None else "unnamed client"
    token = get_access_token()
    if token is not None:
        return f"{own} (token {token.client_id})"
    return f"{own} (process {os.getppid()})"


def connection_of(ctx: ServerRequestContext[Any, Any]) -> str:
    """What tells apart the connections of the handshake era: the HTTP session; on stdio there is one."""
    headers = getattr(ctx.request, "headers", None)
    return "" if headers is None else str(headers.get("mcp-session-id", ""))


def _key(ctx: ServerRequestContext[Any, Any], request: Any) -> Key:
    return connection_of(ctx), str(request)


def _remember(where: OrderedDict[Key, Any], key: Key, value: Any) -> None:
    where[key] = value
    where.move_to_end(key)
    while len(where) > REMEMBERED:
        where.popitem(last=False)
