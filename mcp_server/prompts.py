"""The prompts: every template of Lockstep, filled from a session."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, PromptArgument, UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from harness.errors import LockstepError
from harness.session import prompts
from harness.session.prompts import Template
from harness.support.text import visible
from mcp_server.services import Services, in_thread

SESSION = PromptArgument(name="session", description="The session's id, as start_session gave it.", required=True)


def add_prompts(server: MCPServer[Services], services: Services) -> None:
    """Register one prompt for each template. What cannot be filled is an error with its words (-32602)."""
    for template in prompts.templates().values():
        arguments = [PromptArgument(name=each.name, description=each.description) for each in template.arguments]
        server.add_prompt(
            Prompt(
                name=template.name,
                title=template.title,
                description=template.description,
                arguments=[SESSION, *arguments],
                fn=_filled(services, template),
                context_kwarg=None,
            )
        )


def _filled(services: Services, template: Template) -> Callable[..., Coroutine[Any, Any, UserMessage]]:
    async def fill(**given: str) -> UserMessage:
        session = given.pop("session")
        try:
            home = await in_thread(services.access.reach, session)
            text = await in_thread(prompts.render, template.name, session, given, home=home, tools=True)
        except LockstepError as error:
            raise MCPError(code=INVALID_PARAMS, message=visible(str(error))) from error
        return UserMessage(visible(text))

    return fill
