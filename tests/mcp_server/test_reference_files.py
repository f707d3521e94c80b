"""An agent that has nothing but the server reads every file in which the reference's rules are, and can change none."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent, TextResourceContents

from harness.reference.install import setup
from harness.task.load import load_task
from tests.mcp_server.conftest import RIGHT, WRONG, Place, begun, call, refused

pytestmark = pytest.mark.anyio
RULES = "msgpack/fallback.py"
"""A file of a package that the reference's environment holds, in the part of the rules."""


@pytest.fixture
def installed(place: Place) -> Place:
    """The walk, as if a module had its rules in an installed package."""
    task = place.task_root / "walk" / "task.toml"
    text = task.read_text()
    named = text.replace('name = "moving"\n', f'name = "moving"\nsource = ["{RULES}:3-40", "reference/adapter.py"]\n')
    assert named != text
    task.write_text(named)
    return place


async def read(client: Client, uri: str) -> str:
    content = (await client.read_resource(uri)).contents[0]
    assert isinstance(content, TextResourceContents)
    return content.text


def package(place: Place) -> Any:
    """Where the package lies."""
    prefix = setup(load_task(place.task_root / "walk")).prefix
    return next(prefix.glob(f"lib/python*/site-packages/{RULES}"))


async def test_installed_packages_are_read_by_the_tool_with_their_digest_and_not_written(installed: Place) -> None:
    content = package(installed).read_text()
    async with Client(installed.inside()) as client:
        session = await begun(client)
        listed = (await call(client, "list_files", session=session, path="reference"))["entries"]
        paths = [entry["path"] for entry in listed]
        assert paths[:2] == [f"reference/{RULES}", "reference/adapter.py"] and "reference/msgpack" in paths
        beside = await call(client, "list_files", session=session, path="reference/msgpack", pattern="*.py")
        assert f"reference/{RULES}" in [entry["path"] for entry in beside["entries"]]
        uri = f"lockstep://sessions/{session}/reference/{RULES}"
        for path in (f"reference/{RULES}", RULES, uri):
            got = await call(client, "read_file", session=session, path=path, offset_line=3, max_lines=5)
            assert got["path"] == f"reference/{RULES}"
            assert got["sha256"] == sha256(content.encode()).hexdigest()
            assert got["text"] == "".join(content.splitlines(True)[2:7])
        adapter = (installed.task_root / "walk" / "reference" / "adapter.py").read_text()
        assert (await call(client, "read_file", session=session, path="reference/adapter.py"))["text"] in adapter
        said = await refused(client, "write_file", session=session, path=f"reference/{RULES}", text="")
        assert uri in said
        seen = await call(
            client, "run_command", session=session, command="ls -d reference || ls -d /workspace/reference"
        )
        assert seen["exit_code"] != 0
    assert package(installed).read_text() == content


async def test_every_file_that_is_listed_is_a_resource_with_its_digest(installed: Place) -> None:
    setup(load_task(installed.task_root / "walk"))  # a resource only reads what is there
    async with Client(installed.inside()) as client:
        session = await begun(client)
        for holder in (f"lockstep://sessions/{session}", "lockstep://tasks/walk"):
            files = json.loads(await read(client, f"{holder}/reference"))
            assert files[RULES]["rules"] == ["moving: 3-40"] and files["adapter.py"]["rules"] == ["moving: all"]
            for file in files.values():
                text = await read(client, file["uri"])
                if file.get("kind") == "directory":
                    inside = json.loads(text)
                    assert all(one["uri"].startswith(f"{file['uri']}/") for one in inside.values())
                else:
                    assert sha256(text.encode()).hexdigest() == file["sha256"]
        assert 'name = "walk"' in await read(client, f"lockstep://sessions/{session}/contract")
        with pytest.raises(MCPError):
            await read(client, f"lockstep://sessions/{session}/quirks")  # the walk has none


@pytest.mark.slow
async def test_the_environment_is_built_when_its_files_are_first_asked_for(
    installed: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installed.home / "envs").unlink()
    async with Client(installed.inside()) as client:
        session = await begun(client)
        files = json.loads(await read(client, f"lockstep://sessions/{session}/reference"))
        assert files[RULES]["missing"] == "its package is not installed yet"
        await call(client, "read_file", session=session, path="reference/adapter.py")
        assert not (installed.home / "envs").exists()
        assert (await call(client, "read_file", session=session, path=RULES))["text"]
        assert "missing" not in json.loads(await read(client, f"lockstep://sessions/{session}/reference"))[RULES]


NOWHERE = ("../task.toml", "/etc/passwd", "msgpack/../../secret", "msgpack/.hidden", "msgpack/none.py", "\x1b[2J")


async def test_nothing_else_is_read_and_the_answer_names_the_list(installed: Place) -> None:
    async with Client(installed.inside()) as client:
        session = await begun(client)
        for name in NOWHERE:
            said = await refused(client, "read_file", session=session, path=f"reference/{name}")
            assert f"lockstep://sessions/{session}/reference" in said and "\x1b" not in said
            with pytest.raises(MCPError):
                await read(client, f"lockstep://sessions/{session}/reference/{name}")


@pytest.mark.slow
async def test_prompts_and_calls_name_resources_that_can_be_read(installed: Place) -> None:
    setup(load_task(installed.task_root / "walk"))
    async with Client(installed.inside()) as client:
        started = await call(client, "start_session", task="walk")
        session = started["session"]
        named = re.findall(r"lockstep://[^\s,)`]+", started["next_call"])
        assert f"lockstep://sessions/{session}/reference" in named
        filled = (await client.get_prompt("translate", {"session": session, "module": "moving"})).messages[0].content
        assert isinstance(filled, TextContent)
        uri = f"lockstep://sessions/{session}/reference/{RULES}"
        assert uri in filled.text and "site-packages" not in filled.text
        assert await read(client, uri)
        await call(client, "edit_file", session=session, path="candidate/env.py", old=RIGHT, new=WRONG)
        verdict = await call(client, "run_level_tests", session=session)
        while verdict["state"] == "running":
            verdict = (await call(client, "get_job", job_id=verdict["job"], wait_s=40))["verification"]
        assert uri in verdict["repair_prompt"]
        assert uri in (await call(client, "explain_divergence", session=session))["repair_prompt"]
