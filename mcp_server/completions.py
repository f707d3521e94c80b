"""Completions: the names that an argument of a prompt or of a resource can have."""

from __future__ import annotations

from collections.abc import Iterable

from mcp.server.mcpserver import MCPServer
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from harness.errors import LockstepError
from harness.host import jobs
from harness.record import directory as directories
from harness.record.event import VERDICT_FILE
from harness.session.view import SessionView
from harness.support.text import one_line
from mcp_server.services import Services, in_thread

AT_MOST = 100
"""As many values the protocol allows in one answer."""


def add_completions(server: MCPServer[Services], services: Services) -> None:
    """Register the completion of task, session, module, event and job names."""

    @server.completion()
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        chosen = dict(context.arguments or {}) if context is not None else {}
        try:
            values = await in_thread(_values, services, argument.name, chosen)
        except LockstepError:  # of a session that does not exist there is nothing to be offered
            values = []
        # A name with hidden characters is offered to nobody: its escape is another name.
        fitting = [value for value in values if value.startswith(argument.value) and one_line(value) == value]
        return Completion(values=fitting[:AT_MOST], total=len(fitting), has_more=len(fitting) > AT_MOST)


def _values(services: Services, name: str, chosen: dict[str, str]) -> list[str]:
    if name == "task":
        return list(services.registry.tasks())
    if name == "session":
        rows = services.access.sessions()
        return [row["session"] for row in sorted(rows, key=lambda row: row["created"], reverse=True)]
    if name in ("module", "level", "event"):
        return list(_of_sessions(services, name, chosen.get("session")))
    if name == "number":
        if "session" not in chosen:
            return []
        session = chosen["session"]
        found = directories.find(services.access.reach(session), session)
        return [str(job.number) for job in jobs.recent(found, AT_MOST)]
    return []


def _of_sessions(services: Services, name: str, session: str | None) -> Iterable[str]:
    """Modules, levels or verdicts of one session; where none is chosen yet, modules or levels of all."""
    if session is None and name == "event":
        return []
    named = [session] if session else [row["session"] for row in services.access.sessions()[:AT_MOST]]
    found: dict[str, None] = {}
    for one in named:
        with SessionView(one, services.access.reach(one)) as view:
            if name == "module":
                found |= dict.fromkeys(view.state.plan.modules)
            elif name == "level":
                found |= dict.fromkeys(map(str, view.state.plan.levels))
            else:
                found |= dict.fromkeys(str(e.seq) for e in reversed(view.events) if VERDICT_FILE in e.attached)
    return found
