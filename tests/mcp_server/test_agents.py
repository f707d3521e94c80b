"""Several agents at once."""

from __future__ import annotations

import anyio
import pytest

from tests.mcp_server.conftest import RIGHT, WRONG, Place, begun, call, newest_job, refused, until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_two_agents_on_two_sessions_do_not_disturb_each_other(place: Place) -> None:
    outcomes: dict[str, str] = {}

    async def work(name: str, fault: bool) -> None:
        async with place.stdio() as client:
            session = await begun(client, workspace=name)
            if fault:
                await call(client, "edit_file", session=session, path="candidate/env.py", old=RIGHT, new=WRONG)
            done = await call(client, "run_level_tests", session=session)
            while done["state"] == "running":
                done = (await call(client, "get_job", job_id=done["job"], wait_s=40))["verification"] or done
            outcomes[name] = done["outcome"]
            assert done["also_working"] == []

    async with anyio.create_task_group() as group:
        group.start_soon(work, "right", False)
        group.start_soon(work, "wrong", True)
    assert outcomes == {"right": "PASS", "wrong": "FAIL"}


async def test_two_agents_on_one_session_are_reported_of_each_other(place: Place) -> None:
    with place.http() as server:
        added = await anyio.run_process(
            [*place.command, "--add-client", "second", "--operator"], env=place.environment, cwd=place.workspaces
        )
        token = added.stdout.decode().strip()
        async with server.client() as first, server.client(token=token) as second:
            session = await begun(first)
            await call(first, "write_file", session=session, path="candidate/a.py", text="")
            seen = await call(second, "write_file", session=session, path="candidate/b.py", text="")
            assert any("token default" in name for name in seen["also_working"])
            async with anyio.create_task_group() as group:
                group.start_soon(first.call_tool, "run_level_tests", {"session": session})
                await until(lambda: (job := newest_job(place, session)) and job.operation == "verify")
                texts = await refused(second, "run_level_tests", session=session)
                assert f"{session}." in texts and "token default" in texts
            status = await call(second, "session_status", session=session)
            assert any("token default" in name for name in status["also_working"]) and status["attempts"] == 1
