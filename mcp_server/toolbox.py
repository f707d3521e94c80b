"""A client of this project's own server, for what plays a session from outside: the demo, and a replay that drives one."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from harness.errors import LockstepError
from harness.host import client as host
from harness.policy import device, floor, quota
from harness.support.progress import Progress
from mcp_server.results import JobStatus, SessionStatus, Verification

PASSED_ON = (
    "LOCKSTEP_HOME",
    floor.VARIABLE,
    quota.VARIABLE,
    device.VARIABLE,
    "JAX_PLATFORMS",
    "CUDA_VISIBLE_DEVICES",
    "SSL_CERT_FILE",
    "PIP_INDEX_URL",
    "PIP_CERT",
)
"""What the server needs of our environment, beyond what the SDK passes on by itself."""


class Tools:
    """The server's tools, called by name; what they answer is structured."""

    def __init__(self, connection: Client, progress: Progress) -> None:
        self._connection = connection
        self._progress = progress

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool. Raises LockstepError for what it reports as an error."""
        result = await self._connection.call_tool(name, arguments, progress_callback=self._on_progress)
        if result.is_error or result.structured_content is None:
            text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
            raise LockstepError(f"the tool {name} answered: {text}")
        return result.structured_content

    async def verify(self, session: str, message: str, **asked: Any) -> Verification:
        """`run_level_tests`, and `get_job` for as long as it takes. `asked` holds its level, module and seed."""
        done = Verification.model_validate(
            await self.call("run_level_tests", session=session, message=message, **asked)
        )
        while done.state == "running":
            job = await self.wait(done.job)
            if job.verification is None:
                raise LockstepError(f"the job {done.job} ended without a verdict: {job.error or job.summary}")
            done = job.verification
        return done

    async def wait(self, job: str) -> JobStatus:
        """A job that has ended."""
        while True:
            found = JobStatus.model_validate(await self.call("get_job", job_id=job, wait_s=30))
            if found.state != "running":
                return found

    async def _on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self._progress(message or "verifying", int(progress), int(total or 0))


@asynccontextmanager
async def begun(tools: Tools, **asked: Any) -> AsyncIterator[SessionStatus]:
    """A session that begins with this. Its host ends with it, whatever it is at: nobody will ask it for more."""
    session = SessionStatus.model_validate(await tools.call("start_session", **asked))
    try:
        yield session
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(host.end, session.session)


@asynccontextmanager
async def connected(
    task_root: Path, workspace_root: Path, progress: Progress, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Tools]:
    """The tools of a server that runs for as long as this lasts, over stdio; `environment` holds variables of its own."""
    options = ["--task-root", str(task_root), "--workspace-root", str(workspace_root)]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-c", "from harness.cli import main; raise SystemExit(main())", "serve", *options],
        env={name: os.environ[name] for name in PASSED_ON if name in os.environ} | dict(environment or {}),
    )
    async with Client(server) as connection:
        yield Tools(connection, progress)
