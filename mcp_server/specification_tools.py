"""The tools of the workflow `create`: from rules in words to a task whose reference two readings agree on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.types import CallToolResult
from pydantic import Field

from harness.calls import ToolCalls
from harness.host.jobs import Job
from mcp_server.arguments import Seed, SessionId
from mcp_server.describing import specification
from mcp_server.limits import FILE_CHARACTERS, ID_CHARACTERS, MESSAGE_CHARACTERS
from mcp_server.results import Specification, SpecificationBegun, answer
from mcp_server.services import Call, in_thread, services_of
from mcp_server.tool import StrictTool, changes, tool

Statement = Annotated[int, Field(ge=1, lt=1 << 20)]


async def start_specification(
    ctx: Call,
    name: Annotated[str, Field(description="The task's name.", min_length=1, max_length=ID_CHARACTERS)],
    rules: Annotated[str, Field(description="The rules in words, in Markdown.", max_length=FILE_CHARACTERS)],
) -> Annotated[CallToolResult, SpecificationBegun]:
    """Begin a task that has rules in words and no program yet. Each rule gets a number. You write the state sheet and the
    scenarios (prompts `sheet`, `scenarios`; write_file). Two readings are written by sessions that see neither these nor
    each other: give each agent its own id, which shows it its own files only, and the prompt `reading`."""
    services = services_of(ctx)
    corner = services.access.caller().corner
    directory = await in_thread(services.registry.workspace, name, name, corner)
    document = await in_thread(services.access.start_specification, name, directory, rules)
    session, count = document["session"], len(document["statements"])
    result = SpecificationBegun(
        session=session,
        task=name,
        directory=document["directory"],
        statements=document["statements"],
        readings=[f"{session}.first", f"{session}.second"],
        summary=f"Session {session} has begun, on {count} statements.",
        next_call=f"take the prompt `sheet`, write sheet.toml, then {ToolCalls(session).spec('check')}",
    )
    return answer(result, f"lockstep://sessions/{session}/events")


async def spec(
    ctx: Call,
    session: SessionId,
    step: Annotated[
        Literal["check", "number", "rule", "play", "compare", "strength", "freeze"],
        Field(
            description="check: what has no scenario, what contradicts itself. play: the scenarios against one reading. "
            "compare: both against the scenarios and each other. rule: add what a person decided. strength: faults that no "
            "scenario notices. freeze: make the task.",
            json_schema_extra={"maxLength": 8},
        ),
    ],
    which: Annotated[
        Literal["", "first", "second"],
        Field(description="The reading; of play, strength, freeze.", json_schema_extra={"maxLength": 6}),
    ] = "",
    ruling: Annotated[str, Field(description="Of rule: what holds.", max_length=MESSAGE_CHARACTERS)] = "",
    on: Annotated[
        list[Statement] | None, Field(description="Of rule: the statements it makes clear.", max_length=100)
    ] = None,
    sample: Annotated[int | None, Field(description="Of strength: so many faults.", ge=1, le=1_000_000)] = None,
    seed: Seed = None,
) -> Annotated[CallToolResult, Specification]:
    """A step in making a task from rules in words, on a session of start_specification. Where two readings differ, one
    misread the text or it can be read in two ways: ask a person, then `rule`, a scenario, and mend the readings. `document`
    is what the command of that step prints with --json. After 42 s it answers with a job."""
    given: dict[str, Any] = {"step": step, "which": which, "ruling": ruling, "on": on, "sample": sample, "seed": seed}
    given = {name: value for name, value in given.items() if value not in (None, "")}
    services = services_of(ctx)
    if step in ("check", "number", "rule"):
        done = await services.ask(ctx, session, "spec", given)
        return answer(specification(session, step, done["document"], list(done.get("also_working", []))))
    job, also = await services.begin(ctx, session, "spec", given)
    job = await services.wait(ctx, job)
    return answer(specification(session, step, job, also), _rest(job))


def _rest(job: Job) -> str:
    return f"lockstep://sessions/{job.session}/jobs/{job.number}"


def specification_tools() -> list[StrictTool]:
    """The tools of this module."""
    return [tool(start_specification, hints=changes(destructive=False)), tool(spec, hints=changes(destructive=False))]
