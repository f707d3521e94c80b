"""Log messages for clients of the handshake era, which say with `logging/setLevel` how much they want to hear."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.types import (
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SetLevelRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from harness.support.text import one_line
from mcp_server.callers import connection_of

LEVELS: tuple[LoggingLevel, ...] = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
UNLESS_SET: LoggingLevel = "warning"
CONNECTIONS = 1024
LOGGER = "lockstep"


class Notices:
    """What each connection subscribed to. In the stateless era there is none, and results say everything anyway."""

    def __init__(self) -> None:
        self._levels: OrderedDict[str, LoggingLevel] = OrderedDict()

    async def set_level(self, ctx: ServerRequestContext[Any, Any], params: SetLevelRequestParams) -> EmptyResult:
        """`logging/setLevel`."""
        connection = connection_of(ctx)
        self._levels[connection] = params.level
        self._levels.move_to_end(connection)
        while len(self._levels) > CONNECTIONS:
            self._levels.popitem(last=False)
        return EmptyResult()

    async def tell(self, ctx: Context[Any, Any], level: LoggingLevel, text: str) -> None:
        """A message beside the result of the call `ctx`, if its client wants such."""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return
        wanted = self._levels.get(connection_of(ctx.request_context), UNLESS_SET)
        if LEVELS.index(level) >= LEVELS.index(wanted):
            params = LoggingMessageNotificationParams(level=level, logger=LOGGER, data=one_line(text))
            await ctx.session.send_notification(
                LoggingMessageNotification(params=params), related_request_id=ctx.request_context.request_id
            )
