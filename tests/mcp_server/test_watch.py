"""Subscribers are reported when a session or a job changes, whoever changed it."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import LoggingMessageNotificationParams, ResourceUpdatedNotification

from tests.mcp_server.conftest import Place, begun, call

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_a_subscriber_of_the_handshake_era_is_reported_until_it_unsubscribes(place: Place) -> None:
    reported: list[str] = []
    changed = anyio.Event()

    async def received(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            reported.append(str(message.params.uri))
            changed.set()

    async with place.stdio("legacy", message_handler=received) as client:
        session = await begun(client)
        uri = f"lockstep://sessions/{session}/status"
        with pytest.warns(MCPDeprecationWarning):
            await client.session.subscribe_resource(uri)
        await call(client, "write_file", session=session, path="candidate/new.py", text="")
        with anyio.fail_after(30):
            await changed.wait()
        assert set(reported) == {uri}
        with pytest.warns(MCPDeprecationWarning):
            await client.session.unsubscribe_resource(uri)


@pytest.mark.slow
async def test_a_listener_of_the_stateless_era_is_reported_over_http(place: Place) -> None:
    with place.http() as server:
        async with server.client("auto") as client:
            session = await begun(client)
            uri = f"lockstep://sessions/{session}/status"
            async with client.listen(resource_subscriptions=[uri]) as events:
                await call(client, "write_file", session=session, path="candidate/new.py", text="")
                with anyio.fail_after(30):
                    async for event in events:
                        assert event == ResourceUpdated(uri)
                        break


async def test_messages_beside_results_come_from_the_level_on_that_was_asked_for(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_server.services.ANSWER_S", 0.01)
    reported: list[str] = []

    async def logged(params: LoggingMessageNotificationParams) -> None:
        reported.append(str(params.data))

    async with Client(place.inside(), mode="legacy", logging_callback=logged) as client:
        session = await begun(client)
        given = {"session": session, "command": "sleep 1"}
        await client.call_tool("run_command", given)
        assert reported == []
        with pytest.warns(MCPDeprecationWarning):
            await client.set_logging_level("info")
        job = await call(client, "run_command", **given)
        assert reported == [f"job {job['job']} goes on: {job['progress']}"]
