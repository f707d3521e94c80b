"""Work that runs longer than a call: handed out, asked for, cancelled, and there after every kind of accident."""

from __future__ import annotations

import os
import secrets
import signal
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from harness.host import jobs
from tests.mcp_server.conftest import (
    ERAS,
    Place,
    begun,
    call,
    newest_job,
    processes_with,
    refused,
    text_of,
    until,
)
from tests.sampling import by_day

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def sleeper() -> tuple[str, str]:
    """A command that runs until it is ended, with a child, and a word by which its processes are found."""
    mark = f"98765{secrets.randbelow(10**6):06d}"
    return f"sleep {mark} & echo begun; sleep {mark}", mark


async def test_what_runs_long_is_handed_out_as_a_job_that_tells_its_result_as_often_as_it_is_asked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_server.services.ANSWER_S", 0.1)
    monkeypatch.setattr("mcp_server.services.PROGRESS_S", 0.05)
    reported: list[tuple[float, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        reported.append((done, message))

    async with Client(place.inside()) as client:
        session = await begun(client)
        answered = await call(client, "run_level_tests", session=session)
        assert answered["state"] == "running" and answered["outcome"] is None
        assert answered["next_call"] == f'get_job(job_id="{answered["job"]}", wait_s=40)'
        done = await client.call_tool("get_job", {"job_id": answered["job"], "wait_s": 40}, progress_callback=progress)
        again = await call(client, "get_job", job_id=answered["job"], wait_s=0)
        assert done.structured_content == again
        verdict = again["verification"]
        assert verdict["outcome"] == "PASS" and verdict["commit"]
        assert again["summary"] == verdict["summary"]
        assert reported and [done for done, _ in reported] == sorted({done for done, _ in reported})
        assert all(message and len(message) <= 200 for _, message in reported)
        assert (await call(client, "session_status", session=session))["attempts"] == 1

        asked = await call(client, "replay", session=session)
        while asked["state"] == "running":
            asked = await call(client, "get_job", job_id=asked["job"], wait_s=40)
        repeated = asked["replay"]
        assert (repeated["event"], repeated["match"]) == (verdict["event"], "exact"), repeated
        assert repeated["digest"] == repeated["digest_again"]
        assert asked["summary"] == repeated["summary"]
        events = (await call(client, "history", session=session))["events"]
        assert (events[-1]["kind"], events[-1]["outcome"]) == ("replay", "exact")
        assert (await call(client, "session_status", session=session))["attempts"] == 1
        assert "no verdict '99'" in await refused(client, "replay", session=session, event=99)


async def test_a_profile_goes_from_its_call_to_its_figures_and_costs_no_attempt(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_server.services.ANSWER_S", 0.1)
    async with Client(place.inside()) as client:
        session = await begun(client)
        settings = {"batch_sizes": [16, 16], "seconds_per": 0.05, "peers": False}
        answered = await call(client, "profile_sps", session=session, **settings)
        assert (answered["state"], answered["outcome"], answered["measurements"]) == ("running", None, [])
        assert answered["next_call"] == f'get_job(job_id="{answered["job"]}", wait_s=40)'
        result = await client.call_tool("get_job", {"job_id": answered["job"], "wait_s": 40})
        while result.structured_content is not None and result.structured_content["state"] == "running":
            result = await client.call_tool("get_job", {"job_id": answered["job"], "wait_s": 40})
        asked = result.structured_content
        assert asked is not None and (asked["operation"], asked["state"]) == ("profile", "done"), text_of(result)
        figures = asked["profile"]
        assert figures["outcome"] == "PASS" and figures["error"] == "" and figures["divergence"] == "", figures
        kinds = {(each["contender"], each["kind"]): each for each in figures["measurements"]}
        assert set(kinds) == {
            *(("reference", kind) for kind in ("adapter", "episodes", "train")),
            *(("candidate", kind) for kind in ("step", "scan", "train")),
        }
        for each in kinds.values():
            assert 0 < each["low"] <= each["steps_per_s"] <= each["high"], each
            assert each["contender"] == "reference" or (each["batch"], "compile_s" in each) == (16, True), each
        assert figures["state_bytes"] and figures["hot"] and figures["advice"] and figures["remarks"]
        # No step of the recipe has passed, so the figures are of code that nobody has verified.
        assert figures["verified"] is None and "not verified as a whole" in figures["summary"]
        assert asked["summary"] == figures["summary"] and asked["summary"] in text_of(result)
        assert asked["next_call"] == f'run_level_tests(session="{session}")'
        assert (await call(client, "session_status", session=session))["attempts"] == 0
        [event] = [
            each for each in (await call(client, "history", session=session))["events"] if each["kind"] == "profile"
        ]
        assert (event["seq"], event["outcome"]) == (figures["event"], "PASS")
        assert event["arguments"]["batches"] == [16]
        refusal = await refused(client, "profile_sps", session=session, batch_sizes=[0])
        assert "batch_sizes" in refusal


@pytest.mark.parametrize("era", ERAS)
async def test_cancelling_a_call_ends_its_job_and_every_process_of_it(place: Place, era: str) -> None:
    command, mark = sleeper()
    async with place.stdio(era) as client:
        session = await begun(client)
        async with anyio.create_task_group() as group:
            group.start_soon(_ignoring, client, "run_command", {"session": session, "command": command})
            await until(lambda: processes_with(mark))
            group.cancel_scope.cancel()
        await until(lambda: (job := newest_job(place, session)) and job.state == jobs.CANCELLED)
        await until(lambda: not processes_with(mark))
        assert (await call(client, "session_status", session=session))["jobs"][0]["state"] == "cancelled"


async def test_cancelling_over_http_ends_the_job_in_the_era_that_has_a_notification_for_it(place: Place) -> None:
    command, mark = sleeper()
    with place.http() as server:
        async with server.client("legacy") as client:
            session = await begun(client)
            async with anyio.create_task_group() as group:
                group.start_soon(_ignoring, client, "run_command", {"session": session, "command": command})
                await until(lambda: processes_with(mark))
                group.cancel_scope.cancel()
            await until(lambda: (job := newest_job(place, session)) and job.state == jobs.CANCELLED)
            await until(lambda: not processes_with(mark))


@pytest.mark.parametrize("era", by_day(ERAS, {"auto"}))
async def test_a_client_that_gives_up_waiting_leaves_its_job_alone(place: Place, era: str) -> None:
    command, mark = sleeper()
    async with place.stdio(era) as client:
        session = await begun(client)
        with pytest.raises(MCPError, match="timed out"):
            await client.call_tool("run_command", {"session": session, "command": command}, read_timeout_seconds=5)
        await until(lambda: processes_with(mark))
        job = newest_job(place, session)
        assert job is not None
        still = await call(client, "get_job", job_id=job.id, wait_s=1)
        assert still["state"] == "running"
        ended = await call(client, "cancel_job", job_id=job.id)
        assert ended["state"] == "cancelled" and not processes_with(mark)
        assert (await call(client, "cancel_job", job_id=job.id))["state"] == "cancelled"


@pytest.mark.parametrize(
    "over", by_day(["stdio-auto", "stdio-legacy", "http-auto", "http-legacy"], {"stdio-auto", "http-legacy"})
)
async def test_a_job_goes_on_when_its_client_is_gone_and_the_server_is_killed(place: Place, over: str) -> None:
    transport, era = over.split("-")
    command, mark = f"sleep 4; echo finished {secrets.token_hex(4)}", ""
    mark = command.rsplit(maxsplit=1)[-1]
    arguments = {"command": command}
    if transport == "stdio":
        with pytest.raises(Exception):  # noqa: B017 - what a client raises whose server dies is its own matter
            async with place.stdio(era) as client:
                session = arguments["session"] = await begun(client)
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "run_command", arguments)
                    await until(lambda: newest_job(place, session))
                    for process in processes_with(str(place.workspaces)):
                        if "serve" in process.cmdline():
                            process.kill()
    else:
        with place.http() as server, pytest.raises(Exception):  # noqa: B017
            async with server.client(era) as client:
                session = arguments["session"] = await begun(client)
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "run_command", arguments)
                    await until(lambda: newest_job(place, session))
                    server.process.kill()
    job = newest_job(place, session)
    assert job is not None
    async with place.connect(transport, era) as client:
        answered = await call(client, "get_job", job_id=job.id, wait_s=40)
        assert answered["command"]["stdout"] == f"finished {mark}\n"


async def test_hanging_up_in_the_stateless_era_leaves_the_job_alone(place: Place) -> None:
    command, mark = sleeper()
    with place.http() as server:
        async with server.client("auto") as client:
            session = await begun(client)
            async with anyio.create_task_group() as group:
                group.start_soon(_ignoring, client, "run_command", {"session": session, "command": command})
                await until(lambda: processes_with(mark))
                group.cancel_scope.cancel()
            job = newest_job(place, session)
            assert job is not None
            assert (await call(client, "get_job", job_id=job.id, wait_s=1))["state"] == "running"
            assert (await call(client, "cancel_job", job_id=job.id))["state"] == "cancelled"


async def test_a_job_whose_host_was_killed_is_lost_and_the_session_goes_on(place: Place) -> None:
    command, mark = sleeper()
    async with place.stdio() as client:
        session = await begun(client)
        async with anyio.create_task_group() as group:
            reported: list[str] = []

            async def run() -> None:
                reported.append(await refused(client, "run_command", session=session, command=command))

            group.start_soon(run)
            await until(lambda: processes_with(mark))
            for process in processes_with(session):
                if "harness.host" in process.cmdline():
                    os.kill(process.pid, signal.SIGKILL)
        assert "lost" in reported[0] and "next:" in reported[0]
        await until(lambda: not processes_with(mark))
        assert (await call(client, "session_status", session=session))["jobs"][0]["state"] == "lost"
        assert (await call(client, "run_command", session=session, command="echo again"))["stdout"] == "again\n"


async def test_a_cancelled_verification_is_an_interrupted_attempt(place: Place) -> None:
    async with place.stdio() as client:
        session = await begun(client)
        async with anyio.create_task_group() as group:
            group.start_soon(_ignoring, client, "run_level_tests", {"session": session})
            await until(lambda: (job := newest_job(place, session)) and job.what)
            group.cancel_scope.cancel()
        await until(lambda: (job := newest_job(place, session)) and job.state == jobs.CANCELLED)
        status = await call(client, "session_status", session=session)
        assert status["last_attempt"]["outcome"] == "interrupted" and status["passed"] == []


async def _ignoring(client: Client, tool: str, arguments: dict[str, Any]) -> None:
    try:
        await client.call_tool(tool, arguments)
    except (MCPError, httpx2.HTTPError):
        pass


async def test_an_endless_output_comes_back_short_with_its_beginning_and_its_end(place: Place) -> None:
    async with place.stdio() as client:
        session = await begun(client)
        result = await client.call_tool("run_command", {"session": session, "command": "seq 1000000"})
        assert result.structured_content is not None
        printed = result.structured_content["stdout"]
        assert printed.startswith("1\n2\n") and printed.endswith("\n1000000\n")
        assert result.structured_content["truncated"]
        assert len(text_of(result)) < 24_000, "8,000 tokens are promised"
