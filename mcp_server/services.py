"""What the handlers of one server share, and how they ask a session's host without holding up anybody else."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context

from harness.host import client, jobs
from harness.host.jobs import Job
from harness.record.specification import PART, PARTS, handle, split
from harness.support.text import one_line
from mcp_server import texts
from mcp_server.access import Access
from mcp_server.callers import Cancellations, client_name
from mcp_server.limits import (
    ANSWER_S,
    POLL_AT_MOST_S,
    POLL_FIRST_S,
    PROGRESS_CHARACTERS,
    PROGRESS_S,
)
from mcp_server.notices import Notices
from mcp_server.registry import TaskRegistry

T = TypeVar("T")


@dataclass
class Services:
    """Everything that a handler needs. Nothing in it belongs to a connection or has to survive the server.

    Attributes:
        access: the way to the sessions that a caller may reach.
        registry: the tasks that may be begun.
        cancellations: the calls that are under way, for the case that their clients cancel them.
        notices: what is reported beside results.
    """

    access: Access
    registry: TaskRegistry
    cancellations: Cancellations = field(default_factory=Cancellations)
    notices: Notices = field(default_factory=Notices)

    async def ask(self, ctx: Call, session: str, call: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """One call of a session's host, which is started where none runs.

        Raises:
            SessionError: there is no such session for this caller; and what `harness.host.client.ask` raises.
        """
        home = await in_thread(self.access.reach, session)
        whole, part = split(session)
        given = {**arguments, **({PART: part} if part else {})}
        return await in_thread(client.ask, whole, call, given, home=home, client=client_name(ctx))

    async def begin(self, ctx: Call, session: str, call: str, arguments: Mapping[str, Any]) -> tuple[Job, list[str]]:
        """Have a host begin a job, which ends with this call if its client cancels it.

        Returns the job, and the names of other clients that work on the session.

        Raises:
            SessionError: there is no such session for this caller, or its budget is used up; and as `ask`.
        """
        await in_thread(self.access.reach, session)
        await in_thread(self.access.demand_budget, session)
        given = await self.ask(ctx, session, call, arguments)
        job = Job.from_json(given["job"])

        async def stop() -> None:
            with anyio.CancelScope(shield=True):
                await self.ask(ctx, session, "cancel", {"job": job.id})

        await self.cancellations.began(ctx, stop)
        also = list(given.get("also_working", []))
        if also:
            await self.notices.tell(ctx, "warning", f"{', '.join(also)} also works on session {session}")
        return job, also

    def job(self, job_id: str) -> Job:
        """A job as its file tells it (`harness.host.jobs.read`).

        Raises:
            SessionError: there is no such session for this caller, or no such job of it; RecordError: its file is damaged.
        """
        session = job_id.rpartition(".")[0]
        for part in PARTS:  # who has a reading alone may ask for what was asked of it
            if self.access.sees(handle(session, part)) and not self.access.sees(session):
                job = jobs.read(job_id, self.access.reach(handle(session, part)))
                own = {"step": "play", "which": part}.items()
                if job.operation == jobs.SPEC and own <= job.arguments.items():
                    return job
        return jobs.read(job_id, self.access.reach(session))

    def called(self, job: Job) -> str:
        """By which name the caller may ask the session of a job that it sees: of a reading alone by that."""
        part = str(job.arguments.get("which", ""))
        return job.session if self.access.sees(job.session) or part not in PARTS else handle(job.session, part)

    async def wait(self, ctx: Call, job: Job, seconds: float | None = None) -> Job:
        """The job as it is when it ends, or after so many seconds (`ANSWER_S`); progress is reported on the way."""
        seconds = ANSWER_S if seconds is None else seconds
        began = time.monotonic()
        reported, pause = began, POLL_FIRST_S
        while not job.finished and (left := began + seconds - time.monotonic()) > 0:
            await anyio.sleep(min(pause, left))
            pause = min(pause * 1.5, POLL_AT_MOST_S)
            job = self.job(job.id)
            if not job.finished and time.monotonic() - reported >= PROGRESS_S:
                reported = time.monotonic()
                # Seconds, because what is done starts at zero again with each part of a job, and progress may not.
                await ctx.report_progress(round(reported - began, 3), message=progress_text(job))
        self.cancellations.ended(ctx)
        if not job.finished:
            await self.notices.tell(ctx, "info", f"job {job.id} goes on: {progress_text(job)}")
        return job


Call = Context[Services, Any]
"""The context of a call of a tool."""


def services_of(ctx: Call) -> Services:
    """What the server's handlers share."""
    return ctx.request_context.lifespan_context


async def in_thread(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Run something synchronous and short beside the event loop."""
    return await anyio.to_thread.run_sync(functools.partial(function, *arguments, **named))


def progress_text(job: Job) -> str:
    """What a job does at the moment, in a line that no client cuts."""
    counted = f" ({job.done}/{job.total})" if job.total > 1 else ""
    return texts.cut(one_line(f"{job.what or job.operation}{counted}"), PROGRESS_CHARACTERS)
