"""The workflow `create` through the server: by an agent with the whole session, and by those who write one reading."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from harness.assurance.audit import audit
from harness.cli import main
from harness.errors import NoSuchSession
from harness.host.jobs import SPEC, Job
from harness.record.directory import find
from harness.specification.place import Place
from mcp_server.services import Services
from tests.mcp_server.conftest import Place as Server
from tests.mcp_server.conftest import call, refused, until
from tests.specification.conftest import HARBOUR
from tests.specification.misreadings import MISREADINGS

pytestmark = pytest.mark.anyio
RULES = (HARBOUR / "RULES.md").read_text()


async def begun(client: Client) -> dict[str, Any]:
    return await call(client, "start_specification", name="harbour", rules=RULES)


async def settled(client: Client, session: str, step: str, **arguments: Any) -> dict[str, Any]:
    """A step, and its job's result where it was handed out as one."""
    done = await call(client, "spec", session=session, step=step, **arguments)
    while done["state"] == "running":
        asked = await call(client, "get_job", job_id=done["job"], wait_s=40)
        done = asked["specification"] or done
    return done


async def write_everything(client: Client, session: str) -> None:
    """What the agents write, each in its own session."""
    for path in ("sheet.toml", "scenarios/harbour.toml"):
        await call(client, "write_file", session=session, path=path, text=(HARBOUR / path).read_text())
    for part in ("first", "second"):
        text = (HARBOUR / "readings" / part / "adapter.py").read_text()
        await call(client, "write_file", session=f"{session}.{part}", path="reading/adapter.py", text=text)


async def test_each_sees_what_it_may_and_writes_what_is_its_own(place: Server) -> None:
    async with Client(place.inside()) as client:
        made = await begun(client)
        session = made["session"]
        assert made["readings"] == [f"{session}.first", f"{session}.second"]
        assert len(made["statements"]) == 30
        checked = await call(client, "spec", session=session, step="check")
        assert (checked["outcome"], checked["document"]["due"]) == ("FAIL", "sheet")
        assert "prompt `sheet`" in checked["next_call"]
        await write_everything(client, session)
        seen = {
            name: {each["path"] for each in (await call(client, "list_files", session=name))["entries"]}
            for name in (session, f"{session}.first", f"{session}.second")
        }
        whole = {"RULES.md", "sheet.toml", "scenarios", "scenarios/.gitkeep", "scenarios/harbour.toml"}
        reading = {"RULES.md", "sheet.toml", "reading", "reading/.gitkeep", "reading/adapter.py"}
        assert seen == {session: whole, f"{session}.first": reading, f"{session}.second": reading}
        read = await call(client, "read_file", session=f"{session}.first", path="reading/adapter.py")
        assert read["text"] == (HARBOUR / "readings/first/adapter.py").read_text()
        for name, path in (
            (session, "readings/first/adapter.py"),
            (session, "reading/adapter.py"),
            (f"{session}.first", "scenarios/harbour.toml"),
            (f"{session}.first", "readings/second/adapter.py"),
            (f"{session}.first", "../second/adapter.py"),
        ):
            assert "expected" in await refused(client, "read_file", session=name, path=path)
            assert "expected" in await refused(client, "write_file", session=name, path=path, text="x")
        assert "belongs to the verifier" in await refused(
            client, "write_file", session=f"{session}.first", path="sheet.toml", text="x"
        )
        assert "belongs to the verifier" in await refused(
            client, "write_file", session=session, path="RULES.md", text="x"
        )
        for step in ("check", "compare", "freeze", "strength", "rule"):
            said = await refused(client, "spec", session=f"{session}.first", step=step)
            assert "is not for whoever writes the first reading" in said
        assert "is not for" in await refused(client, "spec", session=f"{session}.first", step="play", which="second")
        for tool in ("history", "audit"):
            assert "there is no session" in await refused(client, tool, session=f"{session}.first")
        assert "is not for" in await refused(client, "session_status", session=f"{session}.first")
        status = await call(client, "session_status", session=session)
        assert (status["state"], status["passed"], status["next"]) == ("working", [], None)
        assert status["next_call"] == f'spec(session="{session}", step="compare")'
        for tool in ("run_level_tests", "compare_rollouts", "profile_sps"):
            assert "is on a specification" in await refused(client, tool, session=session)
        assert "is on a specification" in await refused(client, "run_command", session=session, command="ls")
        events = (await call(client, "history", session=session))["events"]
        assert [event["kind"] for event in events] == ["start", "spec_check", *["write_file"] * 4]
        told = json.dumps([event["arguments"] for event in events])
        assert "One player has" not in told and "class Game" not in told, "history shows no reading to its author"
        assert "offers no task" in await refused(client, "start_session", task=made["directory"])


async def test_prompts_show_each_what_it_may_see(place: Server) -> None:
    async with Client(place.inside()) as client:
        session = (await begun(client))["session"]
        await write_everything(client, session)

        async def shown(name: str, of: str) -> str:
            said = (await client.get_prompt(name, {"session": of})).messages[0].content
            assert said.type == "text" and "{{" not in said.text
            return said.text

        assert f'spec(session="{session}", step="check")' in await shown("sheet", session)
        assert "storm 3 takes half, rounded up" in await shown("scenarios", session)
        reading = await shown("reading", f"{session}.second")
        assert "storm 3 takes half, rounded up" not in reading
        assert "`reading/adapter.py`" in reading and f'spec(session="{session}.second", step="play")' in reading
        for name, of in (("reading", session), ("scenarios", f"{session}.first"), ("sheet", "nobody")):
            with pytest.raises(MCPError):
                await client.get_prompt(name, {"session": of})


async def test_the_same_document_and_the_same_refusals_as_on_the_command_line(
    place: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Client(place.inside()) as client:
        made = await begun(client)
        session = made["session"]
        await write_everything(client, session)
        document = (await call(client, "spec", session=session, step="check"))["document"]
        said = await refused(client, "spec", session=session, step="rule", ruling="so", on=[77])
    capsys.readouterr()
    assert main(["spec", "check", made["directory"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document
    assert main(["spec", "rule", made["directory"], "so", "--on", "77", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["what"] in said


@pytest.mark.slow
async def test_the_whole_way_from_rules_to_a_task(place: Server) -> None:
    """A misreading is found between two readings, a ruling is added, everything agrees, and it is frozen."""
    async with Client(place.inside()) as client:
        made = await begun(client)
        session, second = made["session"], f"{made['session']}.second"
        await write_everything(client, session)
        wrong = dict(zip(("old", "new"), MISREADINGS["storm 3 takes half, rounded down"], strict=True))
        await call(client, "edit_file", session=second, path="reading/adapter.py", **wrong)
        played = await settled(client, second, "play")
        assert (played["outcome"], [one["scenario"] for one in played["document"]["missed"]]) == (
            "FAIL", ["storm 3 takes half, rounded up"],
        )  # fmt: skip
        compared = await settled(client, session, "compare")
        assert compared["outcome"] == "FAIL" and compared["document"]["divergences"][0]["path"] == "state/score"
        assert "the readings differ" in await refused_job(client, session, "freeze", which="first")
        ruling = "half of five crates is three"
        ruled = await call(client, "spec", session=session, step="rule", ruling=ruling, on=[15])
        assert ruled["document"]["statement"]["number"] == 31
        cites = {"old": "cites = [4, 15]", "new": "cites = [4, 15, 31]"}
        await call(client, "edit_file", session=session, path="scenarios/harbour.toml", all=True, **cites)
        right = {"old": wrong["new"], "new": wrong["old"]}
        await call(client, "edit_file", session=second, path="reading/adapter.py", **right)
        done = await settled(client, session, "freeze", which="second")
        assert done["outcome"] == "PASS", done
        assert (await call(client, "session_status", session=session))["state"] == "done"
        assert (await call(client, "audit", session=session))["ok"]
        events = (await call(client, "history", session=session, limit=100))["events"]
        assert events[-1]["commit"] == done["document"]["commit"]
    assert (Path(made["directory"]) / "task.toml").is_file()


async def refused_job(client: Client, session: str, step: str, **arguments: Any) -> str:
    """The words of a step that must fail, at once or as a job."""
    result = await client.call_tool("spec", {"session": session, "step": step, **arguments})
    while result.structured_content is not None and result.structured_content["state"] == "running":
        job = result.structured_content["job"]
        result = await client.call_tool("get_job", {"job_id": job, "wait_s": 40})
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.slow
async def test_a_server_and_a_host_that_are_killed_in_the_middle_lose_nothing(place: Server) -> None:
    """The freeze goes on from its own seed, the measurement of strength from the faults that it knows."""
    async with place.stdio() as client:
        session = (await begun(client))["session"]
        await write_everything(client, session)
    found = find(place.home, session)

    def judged() -> bool:
        return any(b"judged" in each.read_bytes() for each in found.path.glob("strength/*.jsonl"))

    def freezing() -> bool:
        return "spec_freezing" in [event.kind for event in events_of(found)]

    few = {"sample": 12}
    for step, given, reached in (("strength", few, judged), ("freeze", {}, freezing)):
        async with place.stdio() as client:
            await killed_in(client, session, step, given, reached)
    before = events_of(found)
    assert not Place(found.workspace).frozen.exists()
    async with place.stdio() as client:
        known = next(iter(found.path.glob("strength/*.jsonl"))).read_bytes().count(b"judged")
        done = await settled(client, session, "strength", which="first", **few)
        assert done["document"]["planted"] == 12 > known > 0
        done = await settled(client, session, "freeze", which="first")
        assert done["outcome"] == "PASS"
    after = events_of(found)
    assert after[: len(before)] == before
    assert [event.kind for event in after].count("spec_freezing") == 1
    assert audit(found.repository).ok


async def killed_in(
    client: Client, session: str, step: str, given: dict[str, Any], reached: Callable[[], bool]
) -> None:
    """Begin a step, and kill the host once it has come so far: its job is lost."""
    async with anyio.create_task_group() as group:
        reported: list[str] = []

        async def run() -> None:
            reported.append(await refused_job(client, session, step, which="first", **given))

        group.start_soon(run)
        await until(reached)
        for process in hosts_of(session):
            os.kill(process, signal.SIGKILL)
    assert "lost" in reported[0]


def events_of(found: Any) -> list[Any]:
    from harness.session.view import SessionView

    with SessionView(found.id, found.home) as view:
        return list(view.events)


def hosts_of(session: str) -> list[int]:
    """The host of a session."""
    import psutil

    lines = [(each.pid, each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])]
    return [pid for pid, line in lines if "harness.host" in line and session in line]


@pytest.mark.slow
async def test_a_step_is_cancelled_and_goes_on_from_its_seed(place: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_server.services.ANSWER_S", 0.1)
    async with Client(place.inside()) as client:
        session = (await begun(client))["session"]
        await write_everything(client, session)
        found = find(place.home, session)
        handed = await call(client, "spec", session=session, step="compare")
        await until(lambda: "spec_comparing" in [event.kind for event in events_of(found)])
        ended = await call(client, "cancel_job", job_id=handed["job"])
        assert ended["state"] == "cancelled"
        [begun_] = [event for event in events_of(found) if event.kind == "spec_comparing"]
        done = await settled(client, session, "compare")
        assert (done["outcome"], done["document"]["seed"]) == ("PASS", begun_.seeds["run"])


async def test_over_http_a_client_reaches_the_reading_that_is_shared_and_nothing_else(place: Server) -> None:
    async with Client(place.inside()) as client:
        session = (await begun(client))["session"]
        await write_everything(client, session)
    with place.http("--share", f"{session}.first") as server:
        token = added(place, "reader")
        async with server.client(token=token) as client:
            read = await call(client, "read_file", session=f"{session}.first", path="reading/adapter.py")
            assert "Harbour, first reading" in read["text"]
            for name in (session, f"{session}.second"):
                said = await refused(client, "read_file", session=name, path="RULES.md")
                assert "there is no session" in said
            assert "there is no session" in await refused(client, "history", session=session)


def test_whoever_has_one_reading_sees_the_jobs_that_play_it_and_cancels_them(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {
        f"walk-1.{number}": Job(f"walk-1.{number}", "walk-1", SPEC, arguments, "running", "", "")
        for number, arguments in enumerate(
            [
                {"step": "play", "which": "first"},
                {"step": "freeze", "which": "first"},
                {"step": "play", "which": "second"},
            ]
        )
    }
    monkeypatch.setattr("harness.host.jobs.read", lambda job_id, home: kept[job_id])

    class Shared:
        def sees(self, session: str) -> bool:
            return session == "walk-1.first"

        def reach(self, session: str) -> Path:
            if not self.sees(session):
                raise NoSuchSession(f"there is no session {session!r}")
            return Path()

    services: Any = SimpleNamespace(access=Shared())
    assert Services.job(services, "walk-1.0") is kept["walk-1.0"]
    assert Services.called(services, kept["walk-1.0"]) == "walk-1.first"
    for hidden in ("walk-1.1", "walk-1.2"):
        with pytest.raises(NoSuchSession):
            Services.job(services, hidden)


def added(place: Server, name: str) -> str:
    """The token of a further client."""
    import subprocess

    line = [*place.command[: place.command.index("serve")], "serve", "--add-client", name]
    done = subprocess.run(line, check=True, capture_output=True, text=True, env=place.environment)
    return done.stdout.split()[-1]
