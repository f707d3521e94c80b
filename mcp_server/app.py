"""The server, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    UnsubscribeRequestParams,
)
from pydantic import AnyHttpUrl

from harness import __version__
from harness.support.text import visible
from mcp_server import texts
from mcp_server.access import Access
from mcp_server.completions import add_completions
from mcp_server.limits import ID_CHARACTERS
from mcp_server.profile_tools import profile_tools
from mcp_server.prompts import add_prompts
from mcp_server.registry import TaskRegistry
from mcp_server.resources import add_resources
from mcp_server.services import Services
from mcp_server.session_tools import session_tools
from mcp_server.specification_tools import specification_tools
from mcp_server.transfer_tools import transfer_tools
from mcp_server.verification_tools import verification_tools
from mcp_server.visible import visible_only
from mcp_server.watch import Watch
from mcp_server.workspace_tools import workspace_tools

INSTRUCTIONS = """\
Lockstep judges whether a fast translation of an RL environment (the candidate, which you write) is its slow reference.

The recipe:
1. start_session(task=...) makes a workspace. Read the contract, the quirks and the reference: resources that
   its next_call names, or read_file and list_files of task.toml, QUIRKS.md and reference/, installed packages included.
2. Module by module, in the order that session_status gives: prompt `translate`, write it in candidate/ (write_file,
   edit_file, or your own tools in the workspace), try it (run_command), then run_level_tests(session=...).
3. Level 2 plays modules together, level 3 whole episodes; level 4, where the task has it, trains policies in both and
   takes minutes. run_level_tests without a level is always the next step.
4. On FAIL you get ONE divergence, its shortest case, and a repair prompt. Understand the case (compare_rollouts) before
   you edit; mend the cause, verify again. Passed steps are committed by themselves.
5. When everything has passed: audit(session=...).
Where there are only rules in words: start_specification, and then spec.

Rules: only PASS verifies. Tests, tolerances, cases, task and reference belong to the verifier and are refused. Never
hide a difference (special cases for a test, clipping, swallowed errors). What looks like a bug of the reference is to be
reproduced, unless the quirks say otherwise. Attempts, time and money are limited: at needs_human stop, and say what you
tried.

Every result has `next_call`, the exact call that is due. What takes longer than 42 s answers with a job: ask get_job
until it ends; jobs outlive disconnects and restarts, and cancel_job ends one. All calls take the session's id, so you
can go on after any interruption with session_status.
"""

_STABLE = CacheHint(ttl_ms=3_600_000, scope="public")
_CACHE: dict[CacheableMethod, CacheHint] = {
    "tools/list": _STABLE,
    "prompts/list": _STABLE,
    "resources/list": _STABLE,
    "resources/templates/list": _STABLE,
    "server/discover": _STABLE,
    # Sessions change with every call, and belong to whoever may see them.
    "resources/read": CacheHint(ttl_ms=0, scope="private"),
}


class _Server(MCPServer[Services]):
    """The SDK's server, but for two answers to mistakes of a client: an unknown name is -32602, and never told in full."""

    def __init__(self, *given: Any, tools: Sequence[Tool], **named: Any) -> None:
        super().__init__(*given, tools=list(tools), **named)
        self._offered = frozenset(tool.name for tool in tools)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Services, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """A tool's result; see `MCPServer.call_tool`. Raises MCPError where there is no such tool."""
        if name not in self._offered:
            what = f"there is no tool {visible(texts.cut(name, ID_CHARACTERS))}; tools/list names all of them"
            raise MCPError(code=INVALID_PARAMS, message=what)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            error.args = (visible(str(error)),)
            raise

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Services, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """A prompt, filled. Raises MCPError with the words of what is wrong (-32602)."""
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as error:
            raise MCPError(code=INVALID_PARAMS, message=visible(texts.cut(str(error), 300))) from error


def build_server(
    home: Path,
    registry: TaskRegistry,
    *,
    tokens: TokenVerifier | None = None,
    url: str = "http://127.0.0.1",
    shared: Collection[str] = (),
) -> MCPServer[Services]:
    """The server of a home directory.

    Args:
        home: where sessions are kept.
        registry: the tasks that may be begun.
        tokens: who may come in over HTTP; stdio needs none.
        url: where the server is reached over HTTP, for its authentication settings.
        shared: sessions that every client may use; without tokens each caller may use all.
    """
    access, bus = Access(home, needs_token=tokens is not None, shared=frozenset(shared)), InMemorySubscriptionBus()
    services, watch = Services(access, replace(registry, home=home)), Watch(home, access, bus)

    @asynccontextmanager
    async def running(_: MCPServer[Services]) -> AsyncIterator[Services]:
        async with anyio.create_task_group() as group:
            group.start_soon(watch.run)
            yield services
            group.cancel_scope.cancel()

    tools = [*session_tools(), *verification_tools(), *transfer_tools(), *profile_tools(), *workspace_tools()]
    tools += specification_tools()
    # There is no authorisation server behind these tokens, so none is announced (`resource_server_url`).
    auth = None if tokens is None else AuthSettings(issuer_url=AnyHttpUrl(url), resource_server_url=None)
    server = _Server(
        "lockstep",
        title="Lockstep",
        description="Proves that a fast translation of an RL environment is its slow reference.",
        instructions=INSTRUCTIONS,
        version=__version__,
        tools=tools,
        lifespan=running,
        cache_hints=_CACHE,
        subscriptions=bus,
        middleware=[visible_only, services.cancellations],
        token_verifier=tokens,
        auth=auth,
        log_level="WARNING",
    )
    add_resources(server, services, tools)
    add_prompts(server, services)
    add_completions(server, services)
    # The SDK has no public way to these methods (2.3.0).
    low = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, services.notices.set_level)
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, watch.subscribe)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, watch.unsubscribe)
    low.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, watch.listen)
    return server
