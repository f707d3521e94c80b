"""The tool that trains: level 4."""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult

from harness.host.jobs import VERIFY
from harness.session.request import VerificationRequest
from mcp_server.arguments import Message, Seed, SessionId
from mcp_server.describing import verification
from mcp_server.results import Verification, answer
from mcp_server.services import Call, services_of
from mcp_server.tool import StrictTool, changes, tool

LEVEL = 4


async def policy_transfer(
    ctx: Call, session: SessionId, message: Message = "", seed: Seed = None
) -> Annotated[CallToolResult, Verification]:
    """Level 4: train policies in your candidate and in the reference with one trainer, play them in both, and show that
    they earn the same within the task's margin. The levels below are verified along, and a pass is committed, as with
    run_level_tests at level 4. FAIL tells one difference: an episode, or mean returns that differ by more than the margin.
    INCONCLUSIVE means that neither was shown, and says what would decide. Takes minutes: after 42 s it answers with a job
    to be asked for with get_job. Worth it once level 3 passes."""
    request = VerificationRequest(LEVEL, message=message, seed=seed)
    job, also = await services_of(ctx).begin(ctx, session, VERIFY, request.to_json())
    job = await services_of(ctx).wait(ctx, job)
    return answer(verification(job, also), f"lockstep://sessions/{job.session}/jobs/{job.number}")


def transfer_tools() -> list[StrictTool]:
    """The tools of this module."""
    return [tool(policy_transfer, hints=changes(destructive=False))]
