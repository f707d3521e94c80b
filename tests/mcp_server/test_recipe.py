"""A client that is written with nothing but the SDK does the whole recipe, through every accident on the way."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.types import TextResourceContents

from harness.host import jobs
from harness.support.embedded import embedded_tasks
from harness.task.contract import TASK_FILE
from harness.task.load import without_training
from tests.mcp_server.conftest import RIGHT, WRONG, Place, call, newest_job, processes_with, settled, until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
Connect = Callable[[], AbstractAsyncContextManager[Client]]
STEPS_AT_MOST = 20


def written(call_text: str) -> tuple[str, dict[str, Any]]:
    """A call as results write it: the tool and its arguments."""
    parsed = ast.parse(call_text, mode="eval").body
    assert isinstance(parsed, ast.Call) and isinstance(parsed.func, ast.Name)
    return parsed.func.id, {each.arg or "": ast.literal_eval(each.value) for each in parsed.keywords}


def without_level_4(place: Place, task: str) -> Path:
    """A copy of an embedded task that trains nothing, where the server finds it."""
    copy = place.task_root / f"{task}-untrained"
    shutil.copytree(embedded_tasks()[task], copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = (copy / TASK_FILE).read_text()
    (copy / TASK_FILE).write_text(without_training(text).replace(f'name = "{task}"', f'name = "{copy.name}"', 1))
    return copy


async def recipe(place: Place, connect: Connect, task: str, candidate: Path, right: str, wrong: str) -> list[str]:
    """Translate, with one fault first, and give the outcomes of all verdicts."""
    async with connect() as client:
        begun = await call(client, "start_session", task=task, fresh=True)
        session, module = begun["session"], begun["next"]["module"]
        contract = (await client.read_resource(f"lockstep://tasks/{task}")).contents[0]
        assert isinstance(contract, TextResourceContents) and task in contract.text
        reported = (await client.get_prompt("translate", {"session": session, "module": module})).messages[0].content
        assert reported.type == "text" and module in reported.text
        for path in sorted(candidate.rglob("*.py")):
            text = path.read_text()
            await call(
                client,
                "write_file",
                session=session,
                path=f"candidate/{path.relative_to(candidate).as_posix()}",
                text=text.replace(right, wrong),
            )
        # The agent changes its mind in the middle: that attempt is interrupted.
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run_level_tests", {"session": session})
            job = await until(lambda: (job := newest_job(place, session)) and job.what and job)
            await call(client, "cancel_job", job_id=job.id)
        assert jobs.read(job.id, place.home).state == jobs.CANCELLED
    async with connect() as client:
        status = await call(client, "session_status", session=session)
        assert status["last_attempt"]["outcome"] == "interrupted"
        failed = await settled(client, "run_level_tests", session=session)
        while failed["outcome"] == "PASS":
            failed = await settled(client, "run_level_tests", session=session)
        assert failed["outcome"] == "FAIL" and failed["repair_prompt"] and failed["divergence"]
        tool, arguments = written(failed["reproduce"])
        if tool == "compare_rollouts":
            seen = await settled(client, tool, **arguments)
            assert seen["equal"] is False and seen["difference"]
        explained = await call(client, "explain_divergence", session=session, event=failed["event"])
        assert explained["reproduce"] == failed["reproduce"]
        assert explained["divergence"].splitlines()[0] == failed["divergence"].splitlines()[0]
        path = next(each for each in sorted(candidate.rglob("*.py")) if right in each.read_text())
        place_of = f"candidate/{path.relative_to(candidate).as_posix()}"
        await call(client, "edit_file", session=session, path=place_of, old=wrong, new=right)
    # The server dies in the middle of a verification, which goes on without it.
    with pytest.raises(Exception):  # noqa: B017 - what a client raises whose server dies is its own matter
        async with connect() as client, anyio.create_task_group() as group:
            before = newest_job(place, session)
            assert before is not None
            group.start_soon(client.call_tool, "run_level_tests", {"session": session, "message": "repaired"})
            job = await until(lambda: (now := newest_job(place, session)) and now.id != before.id and now)
            for process in processes_with(str(place.workspaces)):
                if "serve" in process.cmdline():
                    process.kill()
    async with connect() as client:
        first = await call(client, "get_job", job_id=job.id, wait_s=40)
        while first["state"] == "running":
            first = await call(client, "get_job", job_id=job.id, wait_s=40)
        assert first["verification"]["outcome"] == "PASS"
        for _ in range(STEPS_AT_MOST):
            status = await call(client, "session_status", session=session)
            if status["state"] == "done":
                break
            assert (await settled(client, "run_level_tests", session=session))["outcome"] == "PASS"
        assert status["state"] == "done" and status["next_call"] == f'audit(session="{session}")'
        audited = await call(client, "audit", session=session)
        assert audited["ok"] and len(audited["commits"]) == len(status["passed"])
        events = json.loads((await client.read_resource(f"lockstep://sessions/{session}/events")).contents[0].text)
    return [event["outcome"] for event in events["events"] if event["kind"] == "verdict"]


@pytest.mark.parametrize(
    ("over", "era"),
    [
        ("stdio", "auto"),
        pytest.param("http", "legacy", marks=pytest.mark.nightly),
        pytest.param("stdio", "legacy", marks=pytest.mark.nightly),
        pytest.param("http", "auto", marks=pytest.mark.nightly),
    ],
)
async def test_the_walk_is_translated(place: Place, over: str, era: str) -> None:
    """By day over stdio, in the era that a client finds by itself; over each transport and in each era at night."""
    connect = lambda: place.connect(over, era)  # noqa: E731
    outcomes = await recipe(place, connect, "walk", place.task_root / "walk" / "candidate", RIGHT, WRONG)
    assert outcomes == ["FAIL", "PASS", "PASS", "PASS", "PASS"]


@pytest.mark.nightly
async def test_cartpole_is_translated(place: Place) -> None:
    task = without_level_4(place, "cartpole")
    connect = lambda: place.connect("http", "auto")  # noqa: E731
    outcomes = await recipe(place, connect, task.name, task / "candidate", "GRAVITY = 9.8\n", "GRAVITY = 9.81\n")
    assert outcomes.count("FAIL") == 1 and outcomes[-1] == "PASS" and set(outcomes) == {"FAIL", "PASS"}


@pytest.mark.nightly
@pytest.mark.pong
async def test_pong_is_translated(place: Place) -> None:
    task = without_level_4(place, "pong")
    connect = lambda: place.connect("stdio", "auto")  # noqa: E731
    outcomes = await recipe(
        place,
        connect,
        task.name,
        task / "candidate",
        "PADDLE_SPEED, BALL_SPEED = 8.0,",
        "PADDLE_SPEED, BALL_SPEED = 8.24,",
    )
    assert outcomes.count("FAIL") == 1 and outcomes[-1] == "PASS" and set(outcomes) == {"FAIL", "PASS"}
