"""The tool that measures: steps per second of the candidate, its reference and its peers."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.types import CallToolResult
from pydantic import Field

from mcp_server.arguments import SessionId
from mcp_server.describing import profile
from mcp_server.results import Profile, answer
from mcp_server.services import Call, services_of
from mcp_server.tool import StrictTool, changes, tool

BatchSize = Annotated[int, Field(ge=1, le=1 << 24)]


async def profile_sps(
    ctx: Call,
    session: SessionId,
    batch_sizes: Annotated[
        list[BatchSize] | None, Field(description="Batch sizes to measure at. Empty: the task's.", max_length=16)
    ] = None,
    seconds_per: Annotated[
        float, Field(description="Seconds of measuring for each kind of run at each batch size.", ge=0.05, le=60.0)
    ] = 0.5,
    peers: Annotated[bool, Field(description="Measure the task's other fast implementations beside it.")] = True,
) -> Annotated[CallToolResult, Profile]:
    """Measure how fast the candidate is: random-action steps and scanned rollouts at each batch size, with compile time
    and memory, beside the reference and the task's peers, and where the time of a step goes. What was timed is then
    played again by the reference: code that behaves otherwise when it is timed gets FAIL, and no figure counts. It costs
    no attempt. Use it when the recipe is done, before and after each change of the prompt `optimise_jax`. It takes a
    minute or more: after 42 s it answers with a job to be asked for with get_job."""
    given: dict[str, Any] = {"batch_sizes": batch_sizes or None, "seconds_per": float(seconds_per), "peers": peers}
    job, also = await services_of(ctx).begin(ctx, session, "profile", given)
    job = await services_of(ctx).wait(ctx, job)
    return answer(profile(job, also), f"lockstep://sessions/{job.session}/jobs/{job.number}")


def profile_tools() -> list[StrictTool]:
    """The tools of this module."""
    return [tool(profile_sps, hints=changes(destructive=False))]
