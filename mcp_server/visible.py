"""The server's way out for texts: every answer and every error goes through one middleware.

Exact are the contents of files alone, which an agent edits or translates: the field `text` of read_file, and resources
that are a file of a task. Of these two, models of results and readers of resources filter everything else themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from harness.support.text import visible, visible_document

HOLDS_FILES = "read_file"
READS_RESOURCES = "resources/read"


async def visible_only(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """A middleware that makes what is answered visible, but for the contents of files."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        raise MCPError(error.code, visible(error.message), visible_document(error.data)) from error
    if isinstance(result, BaseModel):
        result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return result if result is None or _holds_a_file(ctx, result) else visible_document(result)


def _holds_a_file(ctx: ServerRequestContext[Any, Any], result: Mapping[str, Any]) -> bool:
    if ctx.method == READS_RESOURCES:
        return True
    return ctx.method == "tools/call" and (ctx.params or {}).get("name") == HOLDS_FILES and not result.get("isError")
