"""What a call of the server costs: a trivial tool's round trip, fifty at once, and the server's memory over 10,000 calls.

The server is a process of its own on the loopback interface, or at the other end of a pipe, as its clients have it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psutil
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.common import report
from harness.host.client import release

CALLS, AT_ONCE, MANY, WARM = 300, 50, 10_000, 1_000
SERVE = [sys.executable, "-P", "-c", "import sys; from harness.cli import main; sys.exit(main())", "serve"]
TOOLS = {"get_job": "reads one job's file", "session_status": "asks the session's host"}


@asynccontextmanager
async def over_http(home: Path) -> AsyncIterator[tuple[Client, psutil.Process]]:
    """A client of a server over HTTP, and the server's process."""
    environment = os.environ | {"LOCKSTEP_HOME": str(home)}
    with subprocess.Popen(
        [*SERVE, "--http", "--port", "0"], env=environment, cwd=home.parent, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        token = next(iter(json.loads((home / "mcp-tokens.json").read_text()).values()))
        bearer = {"Authorization": f"Bearer {token}"}
        try:
            async with (
                httpx2.AsyncClient(headers=bearer, timeout=60) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                yield client, psutil.Process(process.pid)
        finally:
            process.terminate()


@asynccontextmanager
async def over_stdio(home: Path) -> AsyncIterator[tuple[Client, psutil.Process]]:
    """A client that starts its server, and the server's process."""
    before = {child.pid for child in psutil.Process().children()}
    environment = dict(os.environ) | {"LOCKSTEP_HOME": str(home)}
    server = StdioServerParameters(command=SERVE[0], args=SERVE[1:], env=environment, cwd=str(home.parent))
    async with Client(stdio_client(server)) as client:
        yield client, next(child for child in psutil.Process().children() if child.pid not in before)


async def measure(transport: str, client: Client, server: psutil.Process) -> list[dict[str, Any]]:
    """The rows of one transport."""
    begun = await must(client, "start_session", task="cartpole", workspace=f"over-{transport}")
    session = begun["session"]
    job = (await must(client, "run_command", session=session, command="true"))["job"]
    rows: list[dict[str, Any]] = []
    for tool, what in TOOLS.items():
        given = {"job_id": job, "wait_s": 0} if tool == "get_job" else {"session": session}
        times: list[float] = []
        for _ in range(CALLS):
            began = time.perf_counter()
            await must(client, tool, **given)
            times.append(1000 * (time.perf_counter() - began))
        median, worst = statistics.median(times), statistics.quantiles(times, n=100)[98]
        rows.append(row(transport, f"{tool} ({what}), median", f"{median:.1f} ms", "under 20 ms"))
        rows.append(row(transport, f"{tool}, 99th percentile", f"{worst:.1f} ms", ""))
    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(AT_ONCE):
            group.start_soon(must_status, client, session)
    rows.append(row(transport, f"{AT_ONCE} session_status at once", f"{time.perf_counter() - began:.2f} s", "no error"))
    for _ in range(WARM):
        await must(client, "get_job", job_id=job, wait_s=0)
    before = server.memory_info().rss
    for _ in range(MANY):
        await must(client, "get_job", job_id=job, wait_s=0)
    grown = (server.memory_info().rss - before) / 2**20
    shown = f"{grown:+.1f} MB, from {before / 2**20:.0f} MB"
    rows.append(row(transport, f"server's memory over {MANY:,} calls", shown, "flat"))
    release(session, Path(os.environ["LOCKSTEP_HOME"]))
    return rows


def row(transport: str, what: str, measured: str, goal: str) -> dict[str, Any]:
    """One row of the table."""
    return {"transport": transport, "what": what, "measured": measured, "goal": goal}


async def must(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a call, which must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error and result.structured_content is not None, result.content
    return result.structured_content


async def must_status(client: Client, session: str) -> None:
    """One of many at once."""
    await must(client, "session_status", session=session)


async def both() -> list[dict[str, Any]]:
    """The rows of both transports."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="lockstep-mcp-") as scratch:
        home = Path(scratch) / "home"
        home.mkdir(mode=0o700)
        os.environ["LOCKSTEP_HOME"] = str(home)
        for transport, connect in (("stdio", over_stdio), ("http", over_http)):
            async with connect(home) as (client, server):
                rows += await measure(transport, client, server)
    return rows


def main() -> None:
    """Measure and report."""
    report("mcp_roundtrip", "Calls of the MCP server", anyio.run(both))


if __name__ == "__main__":
    main()
