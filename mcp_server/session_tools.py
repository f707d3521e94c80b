"""Tools about a session as a whole: begin it, see where it stands, what happened, what it proves, what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.types import CallToolResult
from pydantic import Field

from harness import operations
from harness.calls import ToolCalls, reference_uri, session_uri
from harness.errors import SessionLocked
from harness.host import jobs
from harness.record import directory as directories
from mcp_server import specified
from mcp_server.arguments import SessionId
from mcp_server.describing import due
from mcp_server.limits import ID_CHARACTERS, PATH_CHARACTERS, POLL_AT_MOST_S, WAIT_AT_MOST_S
from mcp_server.results import Audit, EventLine, History, JobLine, SessionStatus, StepView, Usage, answer
from mcp_server.services import Call, Services, in_thread, services_of
from mcp_server.tool import READS, StrictTool, changes, tool

SHOWN_JOBS = 5
START_S = 20.0
"""So long a session waits for others to have begun."""


async def start_session(
    ctx: Call,
    task: Annotated[
        str,
        Field(
            description="The task's name; the resource lockstep://tasks lists them.",
            min_length=1,
            max_length=PATH_CHARACTERS,
        ),
    ],
    workspace: Annotated[
        str,
        Field(
            description="Where to work: a new directory below the server's workspace root. Empty: one is chosen.",
            max_length=PATH_CHARACTERS,
        ),
    ] = "",
    fresh: Annotated[
        bool,
        Field(description="Begin with an empty candidate to be written, not with the one that the task may bring."),
    ] = False,
    candidate: Annotated[
        str, Field(description="jax or rust, where the task has several. Empty: its first.", max_length=ID_CHARACTERS)
    ] = "",
    sandbox: Annotated[
        str,
        Field(description="docker, bubblewrap or process. Empty: the best that works here.", max_length=ID_CHARACTERS),
    ] = "",
) -> Annotated[CallToolResult, SessionStatus]:
    """Begin a session on a task: the first call of all. It makes a workspace, in whose candidate/ you write the fast
    translation, and a record of everything that happens. Keep the session id: every other call wants it. Then read what
    next_call names (contract, oddities that must be kept, the reference's source), take the prompt `translate`, write
    the first module, and call run_level_tests. A session that exists is not begun again: go on with its id."""
    services = services_of(ctx)
    found = await in_thread(services.registry.task, task)
    described = await _begun(services, found, workspace, fresh, candidate or None, sandbox or None)
    return answer(await in_thread(status_result, services, described, begun=True))


async def session_status(ctx: Call, session: SessionId) -> Annotated[CallToolResult, SessionStatus]:
    """Where a session stands: what has passed, the recipe's next step, the last attempt and what it found, what was spent
    of the limits, jobs that run, other agents that work on it, and the call that is due. Call it when you begin, when you
    come back after an interruption, and when you don't know how to go on."""
    services = services_of(ctx)
    described = await services.ask(ctx, session, "status", {})
    return answer(await in_thread(status_result, services, described), f"lockstep://sessions/{session}/status")


async def history(
    ctx: Call,
    session: SessionId,
    after: Annotated[int, Field(description="Only events after this number.", ge=-1, lt=1 << 31)] = -1,
    limit: Annotated[int, Field(description="At most so many.", ge=1, le=200)] = 30,
) -> Annotated[CallToolResult, History]:
    """Everything that happened in a session, oldest first, a page at a time: attempts with their verdict and finding,
    verified commits, commands, edits. Read it before you repeat an idea that may have been tried."""
    services = services_of(ctx)
    home = await in_thread(services.access.reach, session)
    document = await in_thread(operations.history, session, home=home, after=after, limit=limit)
    events = [EventLine.model_validate(row) for row in document["events"]]
    last = events[-1].seq if events else after
    more = document["more"]
    result = History(
        session=document["session"],
        events=events,
        more=more,
        summary=f"{len(events)} events; {more} more follow." if more else f"{len(events)} events, up to the newest.",
        next_call=ToolCalls(session).history(last, limit) if more else "",
    )
    return answer(result, f"lockstep://sessions/{session}/events")


async def audit(ctx: Call, session: SessionId) -> Annotated[CallToolResult, Audit]:
    """Check a session's record as an outsider would: signatures, the chain of events, ancestry of the verified commits,
    and that task and tests were left alone. Says what each commit proved. Call it when everything has passed."""
    home = await in_thread(services_of(ctx).access.reach, session)
    report = (await in_thread(operations.audit, session, home=home)).to_json()
    commits, problems = report["rows"], report["problems"]
    said = f"{report['events']} events, {len(commits)} verified commits: "
    result = Audit(
        session=session,
        ok=report["ok"],
        events=report["events"],
        commits=list(commits),
        problems=list(problems),
        key=report["key"],
        summary=said + ("everything holds." if report["ok"] else f"{len(problems)} problems."),
        next_call="" if report["ok"] else _not_held(report["first_bad"]),
    )
    return answer(result)


def _not_held(first_bad: str | None) -> str:
    """What an agent does about a record that does not hold."""
    since = f"; the first commit that cannot be relied on is {first_bad}" if first_bad else ""
    return f"tell a person: a record that does not hold proves nothing{since}"


async def report_usage(
    ctx: Call,
    session: SessionId,
    input_tokens: Annotated[
        int, Field(description="Tokens read since the last report, without those of a cache.", ge=0, lt=1 << 40)
    ] = 0,
    output_tokens: Annotated[int, Field(description="Tokens written since the last report.", ge=0, lt=1 << 40)] = 0,
    cache_read_tokens: Annotated[int, Field(description="Tokens read from a cache.", ge=0, lt=1 << 40)] = 0,
    cache_write_tokens: Annotated[int, Field(description="Tokens written into a cache.", ge=0, lt=1 << 40)] = 0,
    dollars: Annotated[
        float | None, Field(description="What they cost, if you know it; else it is computed.", ge=0, le=1e6)
    ] = None,
    model: Annotated[str, Field(description="The model's name, for its price.", max_length=ID_CHARACTERS)] = "",
) -> Annotated[CallToolResult, Usage]:
    """Tell what you have spent since your last report, so that the record says what each commit cost and a session stops
    at its budget. Call it after each verified commit, if you know your numbers."""
    given: dict[str, Any] = {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cache_read_tokens": cache_read_tokens,
        "cache_write_tokens": cache_write_tokens,
        "model": model,
    }
    given |= {} if dollars is None else {"dollars": dollars}
    document = await services_of(ctx).ask(ctx, session, "report_usage", given)
    result = Usage(
        session=session,
        usage=document["usage"],
        recorded=document["recorded"],
        note=document["note"],
        summary="Recorded." if document["recorded"] else "Kept, and not counted again.",
    )
    return answer(result)


async def _begun(
    services: Services, task: Path, workspace: str, fresh: bool, candidate: str | None, sandbox: str | None
) -> dict[str, Any]:
    """The status of a new session. Sessions are begun one after another, also by different servers: each takes a second."""
    deadline = anyio.current_time() + START_S
    corner = services.access.caller().corner
    while True:
        location = await in_thread(services.registry.workspace, workspace, task.name, corner)
        try:
            return await in_thread(
                services.access.start, task, location, fresh=fresh, candidate=candidate, sandbox=sandbox
            )
        except SessionLocked:
            if anyio.current_time() > deadline:
                raise
            await anyio.sleep(POLL_AT_MOST_S)


def status_result(services: Services, described: dict[str, Any], *, begun: bool = False) -> SessionStatus:
    """A status document of the harness as a result."""
    session, state = described["session"], described["state"]
    following = StepView.of(described["next"])
    found = directories.find(services.access.reach(session), session)
    lines = [
        JobLine(job=job.id, operation=job.operation, state=job.state, client=job.client)
        for job in jobs.recent(found, SHOWN_JOBS)
    ]
    active = next((line for line in lines if line.state == "running"), None)
    said = {
        "needs_human": "A person is needed: the session has reached a limit.",
        "done": "Everything has passed.",
    }.get(state, f"{len(described['passed'])} steps have passed; next is {following}.")
    then = due(session, state, following)
    if "due" in described:  # a specification, which has no recipe
        document = described["specification"]
        said, then = described["due"], "" if document is None else specified.due(document, ToolCalls(session))
    if active is not None and active.operation == "verify":
        then = ToolCalls(session).get_job(active.job, WAIT_AT_MOST_S)
    elif begun:
        own = session_uri(session)
        files = ToolCalls(session).list_files("reference")
        then = f"read {own}/contract, {own}/quirks and {reference_uri(own)} (its files: {files}), then {then}"
    fields = {name: described[name] for name in SessionStatus.model_fields if name in described}
    return SessionStatus(
        **{
            **fields,
            "passed": [StepView.of(step) for step in described["passed"]],
            "remaining": [StepView.of(step) for step in described["remaining"]],
            "next": following,
            "reached": described.get("coverage", {}).get("summary", []),
            "jobs": lines,
            "summary": f"Session {session} has begun. {said}" if begun else said,
            "next_call": then,
        }
    )


def session_tools() -> list[StrictTool]:
    """The tools of this module."""
    return [
        tool(start_session, hints=changes(destructive=False)),
        tool(session_status, hints=READS),
        tool(history, hints=READS),
        tool(audit, hints=READS),
        tool(report_usage, hints=changes(destructive=False)),
    ]
