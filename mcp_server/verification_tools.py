"""Tools that judge: verify, compare, explain, and the jobs in which what runs long goes on."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.types import CallToolResult
from pydantic import Field

from harness.calls import ToolCalls
from harness.host import jobs
from harness.session.request import VerificationRequest
from mcp_server.arguments import JobId, Level, Message, Module, Seed, SessionId
from mcp_server.describing import comparison, job_status, replayed, verification
from mcp_server.limits import ID_CHARACTERS, PATH_CHARACTERS, WAIT_AT_MOST_S
from mcp_server.results import Comparison, Explanation, JobStatus, Replayed, Verification, answer
from mcp_server.services import Call, in_thread, services_of
from mcp_server.tool import READS, StrictTool, changes, tool


async def run_level_tests(
    ctx: Call,
    session: SessionId,
    level: Level = None,
    module: Module = "",
    message: Message = "",
    seed: Seed = None,
) -> Annotated[CallToolResult, Verification]:
    """Verify the workspace as it is now against the reference, and commit it if that is progress. Without arguments this
    is the recipe's next step: each module at level 1 (properties) in order, then level 2 (interactions), then level 3
    (whole episodes), then level 4 (policy_transfer) where the task has it; lower levels are always verified along. Only
    PASS counts. On FAIL it tells ONE divergence, its shortest case and a repair prompt: understand the case, mend the
    candidate (never the tests, the tolerances or the reference), and call it again. Takes seconds to minutes: after 42 s
    it answers with a job to be asked for with get_job. Each call is an attempt, and attempts are limited. Give a message,
    it becomes the commit's."""
    request = VerificationRequest(level, module or None, message, seed)
    job, also = await services_of(ctx).begin(ctx, session, jobs.VERIFY, request.to_json())
    job = await services_of(ctx).wait(ctx, job)
    return answer(verification(job, also), _rest(job))


async def compare_rollouts(
    ctx: Call,
    session: SessionId,
    case: Annotated[
        str,
        Field(
            description="A case's file in the workspace, such as cases/x.json. Empty: play a new episode.",
            max_length=PATH_CHARACTERS,
        ),
    ] = "",
    seed: Seed = None,
    steps: Annotated[int | None, Field(description="The episode's length at most.", ge=1, le=1_000_000)] = None,
    policy: Annotated[
        str, Field(description="Who plays the episode: random, sticky, or one of the task's.", max_length=ID_CHARACTERS)
    ] = "",
) -> Annotated[CallToolResult, Comparison]:
    """Play one case, or one episode, on the reference and on your candidate, and see the first step and leaf at which they
    differ with the values around it. It judges nothing and costs no attempt: use it to understand a divergence before
    you edit, and to try a repair before run_level_tests."""
    given: dict[str, Any] = {"case": case or None, "seed": seed, "steps": steps, "policy": policy or None}
    given = {name: value for name, value in given.items() if value is not None}
    job, also = await services_of(ctx).begin(ctx, session, "compare", given)
    job = await services_of(ctx).wait(ctx, job)
    return answer(comparison(job, also), _rest(job))


async def explain_divergence(
    ctx: Call,
    session: SessionId,
    event: Annotated[
        int | None, Field(description="The verdict's event. Empty: the newest verdict.", ge=0, lt=1 << 31)
    ] = None,
    index: Annotated[
        int | None, Field(description="Which of its divergences, from 0. Empty: the one to mend first.", ge=0, le=9999)
    ] = None,
) -> Annotated[CallToolResult, Explanation]:
    """Tell again what a failed verification found: the divergence with its cause as far as it is known, the call that
    plays the case on both sides, and the prompt for its repair. One divergence at a time; mend that one first."""
    given = {name: value for name, value in {"event": event, "index": index}.items() if value is not None}
    document = await services_of(ctx).ask(ctx, session, "explain", given)
    found = document["divergence"] is not None
    nothing = f"The verdict of event {document['event']} is {document['outcome']}: there is no divergence."
    result = Explanation(
        session=document["session"],
        event=document["event"],
        outcome=document["outcome"],
        divergences=document["divergences"],
        divergence=document["divergence"] or "",
        case=document.get("case"),
        reproduce=document.get("reproduce") or "",
        repair_prompt=document.get("repair_prompt") or "",
        summary=(document["finding"] or "A divergence was found.") if found else nothing,
        next_call=document.get("reproduce") or ToolCalls(session).status(),
    )
    return answer(result, f"lockstep://sessions/{session}/divergences/{document['event']}")


async def replay(
    ctx: Call,
    session: SessionId,
    event: Annotated[
        int | None, Field(description="The verdict's event. Empty: the newest verdict.", ge=0, lt=1 << 31)
    ] = None,
) -> Annotated[CallToolResult, Replayed]:
    """Reach a recorded verdict again: the same tree, by the tests of that time, from the recorded seed. Under the same
    conditions the two must be the same to the byte. It judges nothing new, looks at no file of the workspace and costs
    no attempt; use it when somebody doubts a verdict. It takes as long as the verification did: after 42 s it answers with
    a job to be asked for with get_job."""
    given = {} if event is None else {"event": event}
    job, also = await services_of(ctx).begin(ctx, session, "replay", given)
    job = await services_of(ctx).wait(ctx, job)
    return answer(replayed(job, also), _rest(job))


async def get_job(
    ctx: Call,
    job_id: JobId,
    wait_s: Annotated[
        int, Field(description="Wait so many seconds for its end; 0 answers at once.", ge=0, le=WAIT_AT_MOST_S)
    ] = 30,
) -> Annotated[CallToolResult, JobStatus]:
    """What became of a job: how far it is, or the very result that its own call would have given. Jobs outlive your
    connection and this server, and their result can be asked for as often as you like. If it is still running, call
    this again: that costs nothing and does not hurry it."""
    services = services_of(ctx)
    job = await in_thread(services.job, job_id)
    job = await services.wait(ctx, job, float(wait_s))
    return answer(job_status(job), _rest(job))


async def cancel_job(ctx: Call, job_id: JobId) -> Annotated[CallToolResult, JobStatus]:
    """End a job and every process that it started. A verification is recorded as interrupted, and every commit made
    before is kept; of a command, what it had printed is given. A job that has ended stays as it is."""
    services = services_of(ctx)
    job = await in_thread(services.job, job_id)
    if not job.finished:
        given = await services.ask(ctx, services.called(job), "cancel", {"job": job.id})
        job = await services.wait(ctx, jobs.Job.from_json(given["job"]), 20.0)
    return answer(job_status(job), _rest(job))


def _rest(job: jobs.Job) -> str:
    return f"lockstep://sessions/{job.session}/jobs/{job.number}"


def verification_tools() -> list[StrictTool]:
    """The tools of this module."""
    return [
        tool(run_level_tests, hints=changes(destructive=False)),
        tool(compare_rollouts, hints=changes(destructive=False)),
        tool(explain_divergence, hints=READS),
        tool(replay, hints=changes(destructive=False)),
        tool(get_job, hints=READS),
        tool(cancel_job, hints=changes(destructive=True, idempotent=True)),
    ]
