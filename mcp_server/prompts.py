"""The prompts: every template of Lockstep, filled from a session."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, PromptArgument, UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from harness.errors import LockstepError
from harness.record import directory as directories
from harness.record.specification import split
from harness.session import prompts
from harness.session.prompts import Template
from harness.specification import prompts as specification
from harness.specification.place import find, read
from harness.support.text import visible
from mcp_server.services import Services, in_thread

READING = PromptArgument(
    name="session", description="The id of one reading: SESSION.first or SESSION.second.", required=True
)
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

    for name in specification.NAMES:
        template = specification.load(name)
        asked = SESSION if name != "reading" else READING
        server.add_prompt(
            Prompt(
                name=name,
                title=template.title,
                description=template.description,
                arguments=[asked],
                fn=_of_specification(services, name),
                context_kwarg=None,
            )
        )


def _of_specification(services: Services, name: str) -> Callable[..., Coroutine[Any, Any, UserMessage]]:
    def filled(session: str) -> str:
        whole, part = split(session)
        found = directories.find(services.access.reach(session), whole)
        if (name == "reading") != bool(part):
            raise LockstepError(
                f"the prompt {name!r} is not for {session}",
                expected="SESSION.first or SESSION.second"
                if name == "reading"
                else "the session itself, of no reading",
            )
        return specification.render(name, read(find(found.workspace.parent)), part or "first", session=session)

    async def fill(session: str) -> UserMessage:
        try:
            return UserMessage(visible(await in_thread(filled, session)))
        except LockstepError as error:
            raise MCPError(code=INVALID_PARAMS, message=visible(str(error))) from error

    return fill


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
