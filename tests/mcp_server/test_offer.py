"""What the server offers, and in which words."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    PromptReference,
    ResourceTemplateReference,
    TextResourceContents,
)

from harness.cli.main import cli
from mcp_server import texts
from mcp_server.app import INSTRUCTIONS
from mcp_server.catalog import OPERATIONS
from mcp_server.limits import RESULT_CHARACTERS
from mcp_server.profile_tools import profile_tools
from mcp_server.session_tools import session_tools
from mcp_server.specification_tools import specification_tools
from mcp_server.transfer_tools import transfer_tools
from mcp_server.verification_tools import verification_tools
from mcp_server.workspace_tools import workspace_tools
from tests.mcp_server.conftest import ERAS, Place, call, text_of

pytestmark = pytest.mark.anyio
CAPPED = 2048
"""Clients cut descriptions and instructions that are longer."""


def leaves(value: Any) -> list[str]:
    """Every single fact of a document, as text shows it."""
    if isinstance(value, dict):
        return [each for part in value.values() for each in leaves(part)]
    if isinstance(value, list):
        return [each for part in value for each in leaves(part)]
    if value is None or value == "":
        return []
    return str(value).lower().split("\n") if isinstance(value, bool) else str(value).split("\n")


async def test_each_tool_says_what_it_takes_gives_and_changes(place: Place) -> None:
    async with Client(place.inside()) as client:
        tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == {each.tool for each in OPERATIONS if each.tool}
    for tool in tools:
        assert tool.description and 40 < len(tool.description) < CAPPED, tool.name
        assert tool.input_schema["additionalProperties"] is False
        for name, schema in tool.input_schema["properties"].items():
            stated = json.dumps(schema)
            assert schema.get("description"), f"{tool.name}.{name}"
            bounded = ("maxLength", "pattern", "maximum", "exclusiveMaximum", '"boolean"')
            assert any(bound in stated for bound in bounded), f"{tool.name}.{name} has no bounds"
        assert tool.output_schema and "summary" in tool.output_schema["properties"]
        hints = tool.annotations
        assert hints is not None and hints.read_only_hint is not None and hints.open_world_hint is False
        assert hints.read_only_hint or hints.destructive_hint is not None


async def test_the_instructions_are_short_enough_to_be_read_whole(place: Place) -> None:
    async with Client(place.inside()) as client:
        assert client.instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS) < CAPPED


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.tool or each.command)
async def test_commands_and_tools_are_the_same_operations_with_the_same_words(operation: Any) -> None:
    if operation.command is not None:
        command = cli.get_command(click.Context(cli), operation.command)
        assert command is not None
        assert command.short_help == operation.summary
        if operation.command in cli.added:
            assert cli.added[operation.command].summary == operation.summary
        options = {parameter.name for parameter in command.params}
        assert set(operation.shared.values()) <= options
    if operation.tool is not None:
        tools = (*session_tools(), *verification_tools(), *transfer_tools(), *profile_tools(), *workspace_tools())
        tools += tuple(specification_tools())
        tool = next(tool for tool in tools if tool.name == operation.tool)
        assert tool.title == operation.summary
        assert set(operation.shared) <= set(tool.parameters["properties"])
    assert (operation.tool and operation.command) or operation.because


async def test_no_command_is_missing_from_the_table() -> None:
    own = {name for name, added in cli.added.items() if added.entry.value.partition(".")[0] == "mcp_server"}
    assert {*cli.commands, *own} <= {each.command for each in OPERATIONS}


async def test_status_and_history_are_the_same_documents_as_the_command_line_prints(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    from harness.cli import main

    async with Client(place.inside()) as client:
        session = (await call(client, "start_session", task="walk"))["session"]
        status = await call(client, "session_status", session=session)
        history = await call(client, "history", session=session)
    capsys.readouterr()
    assert main(["status", session, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    shared = printed.keys() & status.keys()
    assert {"session", "task", "workspace", "state", "next", "passed", "commit", "limits"} <= shared
    assert {name: printed[name] for name in shared} == {name: status[name] for name in shared}
    assert main(["history", session, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["events"]
    assert [row["kind"] for row in rows] == [event["kind"] for event in history["events"]]


async def test_the_text_of_a_result_holds_every_fact_of_its_data(place: Place) -> None:
    async with Client(place.inside()) as client:
        session = (await call(client, "start_session", task="walk"))["session"]
        for tool in ("session_status", "history", "audit"):
            result = await client.call_tool(tool, {"session": session})
            text = text_of(result)
            assert all(fact in text for fact in leaves(result.structured_content)), tool


async def test_prompts_are_filled_from_the_session(place: Place) -> None:
    from harness.session.prompts import templates
    from harness.specification.prompts import NAMES

    async with Client(place.inside()) as client:
        offered = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert list(offered) == [*templates(), *NAMES]
        assert all(prompt.description for prompt in offered.values())
        session = (await call(client, "start_session", task="walk"))["session"]
        filled = await client.get_prompt("translate", {"session": session, "module": "ending"})
        said = filled.messages[0].content
        assert said.type == "text" and session in said.text and "ending" in said.text and "{{" not in said.text
        with pytest.raises(MCPError) as wrong:
            await client.get_prompt("translate", {"session": "nobody"})
        assert wrong.value.error.code == INVALID_PARAMS and "nobody" in wrong.value.error.message


@pytest.mark.parametrize("era", ERAS)
async def test_tasks_are_read_as_resources(place: Place, era: str) -> None:
    async with Client(place.inside(), mode=era) as client:

        async def read(uri: str) -> str:
            content = (await client.read_resource(uri)).contents[0]
            assert isinstance(content, TextResourceContents)
            return content.text

        tasks = json.loads(await read("lockstep://tasks"))
        assert {"cartpole", "walk"} <= tasks.keys()
        assert 'name = "walk"' in await read(tasks["walk"]["contract"])
        assert "#" in await read(tasks["cartpole"]["quirks"])
        files = json.loads(await read(tasks["walk"]["reference"]))
        assert "def " in await read(files["adapter.py"]["uri"])


@pytest.mark.parametrize(
    "uri",
    [
        "lockstep://nothing",
        "lockstep://tasks/nobody",
        "lockstep://tasks/walk/quirks",
        "lockstep://tasks/walk/reference/missing.py",
        "lockstep://tasks/walk/reference/../task.toml",
        "lockstep://tasks/walk/reference/%2e%2e/task.toml",
        "lockstep://tasks/walk/reference//etc/passwd",
        "lockstep://tasks/..%2f..%2fhome",
        "lockstep://sessions/nobody/status",
        "lockstep://sessions/nobody/jobs/1",
        "lockstep://sessions/nobody/verdicts/x",
        "lockstep://sessions/nobody/divergences/99999999999999999999",
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_a_resource_that_does_not_exist_is_not_found(place: Place, uri: str, era: str) -> None:
    async with Client(place.inside(), mode=era) as client:
        with pytest.raises(MCPError) as wrong:
            await client.read_resource(uri)
    assert wrong.value.error.code == INVALID_PARAMS


async def test_a_link_out_of_a_reference_is_not_followed(place: Place) -> None:
    (place.home / "secret").write_text("secret")
    (place.task_root / "walk" / "reference" / "link.py").symlink_to(place.home / "secret")
    async with Client(place.inside()) as client:
        with pytest.raises(MCPError):
            await client.read_resource("lockstep://tasks/walk/reference/link.py")


async def test_lists_may_be_kept_and_sessions_may_not(place: Place) -> None:
    async with Client(place.inside()) as client:
        listed = await client.list_tools()
        assert listed.ttl_ms > 0 and listed.cache_scope == "public"
        read = await client.read_resource("lockstep://sessions")
        assert read.ttl_ms == 0 and read.cache_scope == "private"


async def test_names_are_completed(place: Place) -> None:
    async with Client(place.inside()) as client:
        session = (await call(client, "start_session", task="walk"))["session"]

        async def completed(ref: Any, name: str, begun: str, **chosen: str) -> list[str]:
            given = {"name": name, "value": begun}
            return (await client.complete(ref, given, context_arguments=chosen or None)).completion.values

        contract = ResourceTemplateReference(uri="lockstep://tasks/{task}")
        assert await completed(contract, "task", "wa") == ["walk"]
        translate = PromptReference(name="translate")
        assert await completed(translate, "session", session[:6]) == [session]
        assert await completed(translate, "module", "", session=session) == ["moving", "ending"]
        assert await completed(translate, "module", "x", session="nobody") == []
        assert await completed(translate, "anything", "") == []
        report = ResourceTemplateReference(uri="lockstep://sessions/{session}/verdicts/{event}/levels/{level}")
        assert await completed(report, "level", "", session=session) == ["1", "2", "3"]
        trains = (await call(client, "start_session", task="cartpole"))["session"]
        assert await completed(report, "level", "", session=trains) == ["1", "2", "3", "4"]


def test_a_long_document_is_cut_where_it_is_longest_and_says_where_the_rest_is() -> None:
    document = {"outcome": "FAIL", "text": "x" * 90_000, "rows": [{"n": n, "t": "y" * 100} for n in range(5_000)]}
    shown = texts.fitted(document, "lockstep://rest")
    assert len(json.dumps(shown)) <= RESULT_CHARACTERS
    assert shown["outcome"] == "FAIL" and "lockstep://rest" in shown["text"]
    assert document["text"] == "x" * 90_000


def test_the_middle_of_an_output_is_left_out_and_its_end_kept() -> None:
    shown = texts.ends("a" * 5_000 + "b" * 5_000, 1_000)
    assert len(shown) <= 1_000 and shown.startswith("a") and shown.endswith("b") and "10000 characters" in shown
