"""The attack: read, change, bill or even count the sessions of another client of the same server.

An agent holds a good token over HTTP. It names sessions of others in every tool, resource, prompt and completion that there
is, subscribes to them, works in their workspaces, and looks for their names in lists and errors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp.server.auth.provider import AccessToken
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, PromptReference, ResourceTemplateReference

from harness import operations
from mcp_server.app import build_server
from mcp_server.registry import TaskRegistry
from mcp_server.tokens import TokenFile
from tests.mcp_server.conftest import Place, begun, call, refused, text_of

pytestmark = pytest.mark.anyio
slow = pytest.mark.slow
"""For what begins servers and hosts; the first test knocks at every door within one process."""

ARGUMENTS: dict[str, Any] = {
    "command": "true",
    "path": "candidate/env.py",
    "text": "x",
    "old": "a",
    "new": "b",
    "step": "check",
}
"""What tools demand besides a session. A tool that demands anything else has to be added here to be tried."""
WITHOUT_SESSION = {"start_session", "start_specification"}
"""They begin one, which belongs to who asked."""
VALUES = {"event": "0", "level": "1", "number": "1"}
SERVER_WIDE = {"lockstep://tasks", "lockstep://sessions", "lockstep://results"}


@dataclass
class Two:
    """Two clients of one server, each with a token and a session of its own, and a name that no session has."""

    alice: Client
    bob: Client
    theirs: str
    mine: str
    unknown: str


def token_for(place: Place, client: str, **options: Any) -> str:
    return TokenFile(place.home / "mcp-tokens.json").add(client, **options)


def unknown_like(session: str) -> str:
    """The name of no session, of the same form."""
    return session[:-4] + ("0000" if session[-4:] != "0000" else "0001")


@asynccontextmanager
async def two(place: Place, mode: str = "auto") -> AsyncIterator[Two]:
    bobs = token_for(place, "bob")
    with place.http() as server:
        async with server.client(mode) as alice, server.client(mode, token=bobs) as bob:
            theirs = await begun(alice)
            await call(alice, "run_command", session=theirs, command="echo of alice")
            await call(alice, "report_usage", session=theirs, dollars=1.0)
            yield Two(alice, bob, theirs, await begun(bob), unknown_like(theirs))


async def same_as_unknown(two: Two, ask: Callable[[str], Awaitable[Any]]) -> None:
    """What is asked about a session of somebody else is answered as for one that does not exist."""
    answers = []
    for session in (two.theirs, two.unknown):
        try:
            answer = str(await ask(session))
        except MCPError as error:
            answer = f"{error.error.code} {error.error.message} {error.error.data}"
        answers.append(answer.replace(session, "SESSION"))
        assert two.theirs not in answers[-1]
    assert answers[0] == answers[1]


def plain(result: CallToolResult) -> str:
    assert result.is_error
    return f"{text_of(result)} {result.structured_content}"


async def test_every_door_is_closed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = TokenFile(place.home / "mcp-tokens.json")
    tokens.add("bob")
    walk = str(place.task_root / "walk")
    theirs = operations.start(walk, place.workspaces / "theirs", place.home, owner="default")["session"]
    mine = operations.start(walk, place.workspaces / "mine", place.home, owner="bob")["session"]
    monkeypatch.setattr("mcp_server.access.get_access_token", lambda: AccessToken(token="", client_id="bob", scopes=[]))
    server = build_server(place.home, TaskRegistry((place.task_root,), place.workspaces), tokens=tokens)
    async with Client(server) as bob:
        both = Two(bob, bob, theirs, mine, unknown_like(theirs))
        await every_tool(both)
        await every_resource(both)
        await every_prompt_and_completion(both)
        assert (await call(bob, "session_status", session=mine))["session"] == mine
        monkeypatch.setattr(
            "mcp_server.access.get_access_token", lambda: None
        )  # whoever lost its token reaches nothing
        for session in (theirs, mine):
            assert "there is no session" in await refused(bob, "session_status", session=session)
        assert "without a token" in await refused(bob, "start_session", task="walk")


@slow
async def test_a_token_reaches_no_session_of_another(place: Place) -> None:
    async with two(place) as both:
        before = operations.history(both.theirs, home=place.home)["events"]
        await every_tool(both)
        await every_resource(both)
        await every_prompt_and_completion(both)
        assert operations.history(both.theirs, home=place.home)["events"] == before
        assert (await call(both.alice, "session_status", session=both.theirs))["session"] == both.theirs


async def every_tool(both: Two) -> None:
    for tool in (await both.bob.list_tools()).tools:
        properties, required = tool.input_schema["properties"], tool.input_schema.get("required", [])
        if tool.name in WITHOUT_SESSION:
            continue
        assert properties.keys() & {"session", "job_id"}, f"{tool.name} names no session: say why it may be called"

        def given(session: str, properties: Any = properties, required: Any = required) -> dict[str, Any]:
            own = {"session": session} if "session" in properties else {"job_id": f"{session}.1"}
            return own | {name: ARGUMENTS[name] for name in required if name not in own}

        async def ask(session: str, name: str = tool.name, given: Any = given) -> str:
            return plain(await both.bob.call_tool(name, given(session)))

        await same_as_unknown(both, ask)


async def every_resource(both: Two) -> None:
    assert {str(each.uri) for each in (await both.bob.list_resources()).resources} == SERVER_WIDE
    listed = str((await both.bob.read_resource("lockstep://sessions")).contents)
    assert both.mine in listed and both.theirs not in listed
    templates = [each.uri_template for each in (await both.bob.list_resource_templates()).resource_templates]
    assert any("{session}" in template for template in templates)
    for template in templates:
        if "{session}" not in template:
            assert template.startswith("lockstep://tasks/{task}"), f"{template} names no session"
            continue

        async def ask(session: str, template: str = template) -> Any:
            uri = template.replace("{session}", session).replace("{?after}", "").replace("{+path}", "adapter.py")
            return await both.bob.read_resource(uri.format(**VALUES))

        await same_as_unknown(both, ask)


async def every_prompt_and_completion(both: Two) -> None:
    asked: list[tuple[ResourceTemplateReference | PromptReference, list[str]]] = [
        (ResourceTemplateReference(uri=each.uri_template), ["session", "task", "event", "level", "number"])
        for each in (await both.bob.list_resource_templates()).resource_templates
    ]
    for prompt in (await both.bob.list_prompts()).prompts:

        async def ask(session: str, name: str = prompt.name) -> Any:
            return await both.bob.get_prompt(name, {"session": session})

        await same_as_unknown(both, ask)
        asked.append((PromptReference(name=prompt.name), [each.name for each in prompt.arguments or ()]))
    for reference, names in asked:
        for name in names:
            argument = {"name": name, "value": ""}

            async def complete(session: str, reference: Any = reference, argument: Any = argument) -> Any:
                context = {} if argument["name"] == "session" else {"session": session}
                answer = await both.bob.complete(reference, argument, context_arguments=context)
                return answer.completion.values

            await same_as_unknown(both, complete)
            anyhow = (await both.bob.complete(reference, argument)).completion.values
            assert both.theirs not in anyhow
            if name == "session":
                assert anyhow == [both.mine]


@slow
async def test_neither_workspaces_nor_their_numbers_tell_of_others(place: Place) -> None:
    async with two(place) as both:
        where = {
            name: Path((await call(client, "session_status", session=session))["workspace"])
            for name, client, session in (("alice", both.alice, both.theirs), ("bob", both.bob, both.mine))
        }
        assert where["alice"].name == where["bob"].name  # no number tells bob that alice has one
        for given in (str(where["alice"]), f"../default/{where['alice'].name}", str(where["alice"] / "candidate")):
            said = await refused(both.bob, "start_session", task="walk", workspace=given)
            assert "lies outside the directory" in said
            assert both.theirs not in said
        # The operator's own session in the corner of bob: bob is told that it is in use, and not by what.
        taken = where["bob"].parent / "taken"
        operators = operations.start(str(place.task_root / "walk"), taken, place.home)["session"]
        said = await refused(both.bob, "start_session", task="walk", workspace=str(taken))
        assert "this directory is in use" in said and operators not in said
        await same_as_unknown_session(both, operators)


async def same_as_unknown_session(both: Two, session: str) -> None:
    said = await refused(both.bob, "session_status", session=session)
    other = await refused(both.bob, "session_status", session=both.unknown)
    assert said.replace(session, "SESSION") == other.replace(both.unknown, "SESSION")


@slow
async def test_nobody_is_notified_of_the_sessions_of_others(place: Place) -> None:
    async with two(place) as both:
        uris = [f"lockstep://sessions/{session}/status" for session in (both.theirs, both.unknown, both.mine)]
        async with both.bob.listen(resource_subscriptions=uris) as events:
            await call(both.alice, "write_file", session=both.theirs, path="candidate/new.py", text="")
            await call(both.bob, "write_file", session=both.mine, path="candidate/new.py", text="")
            with anyio.fail_after(30):
                seen = 0
                async for event in events:
                    assert event == ResourceUpdated(uris[2])
                    seen += 1
                    if seen > 1:  # since theirs changed, the server has looked at all of them
                        break
                    await call(both.bob, "write_file", session=both.mine, path="candidate/new.py", text="again")


@slow
async def test_an_operator_sees_all_and_a_person_can_share_one(place: Place) -> None:
    operator, bobs = token_for(place, "chief", is_operator=True), token_for(place, "bob")
    before = operations.start(str(place.task_root / "walk"), place.workspaces / "early", place.home)["session"]
    with place.http() as server:
        async with server.client() as alice, server.client(token=bobs) as bob, server.client(token=operator) as chief:
            theirs = await begun(alice)
            # One that no client began is the operator's, also if it was begun before sessions had owners.
            assert "there is no session" in await refused(alice, "session_status", session=before)
            for session in (theirs, before):
                assert (await call(chief, "session_status", session=session))["session"] == session
            assert "there is no session" in await refused(bob, "session_status", session=theirs)
    with place.http("--share", theirs) as server:
        async with server.client(token=bobs) as bob:
            assert (await call(bob, "session_status", session=theirs))["session"] == theirs
            assert "there is no session" in await refused(bob, "session_status", session=before)


@slow
async def test_who_owns_a_session_stands_outside_of_all_that_an_agent_writes(place: Place) -> None:
    async with two(place) as both:
        owners = place.home / "owners"
        assert (owners / both.theirs).read_text() == "default\n"
        assert (owners / both.mine).read_text() == "bob\n"
        (owners / both.theirs).write_text("\x00../bob")  # nobody's then, and never everybody's
        for client in (both.alice, both.bob):
            assert "there is no session" in await refused(client, "session_status", session=both.theirs)
