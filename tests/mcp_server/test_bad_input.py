"""Whatever a client sends, it gets a named error and the session is as it was."""

from __future__ import annotations

import secrets
from typing import Any

import anyio
import pytest
from mcp.client import Client

from tests.mcp_server.conftest import Place, begun, call, refused

pytestmark = pytest.mark.anyio
HUGE = "x" * 3_000_000


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("session_status", {}, "session"),
        ("session_status", {"session": 7}, "session"),
        ("session_status", {"session": None}, "session"),
        ("session_status", {"session": ["x"]}, "session"),
        ("session_status", {"session": ""}, "session"),
        ("session_status", {"session": "../../etc"}, "session"),
        ("session_status", {"session": "a\0b"}, "session"),
        ("session_status", {"session": HUGE}, "session"),
        ("session_status", {"session": "nobody"}, "nobody"),
        ("session_status", {"sesion": "x"}, "did you mean 'session'"),
        ("run_level_tests", {"session": "x", "modul": "ending"}, "did you mean 'module'"),
        ("run_level_tests", {"session": "x", "level": "first"}, "level"),
        ("run_level_tests", {"session": "x", "level": 9}, "level"),
        ("run_level_tests", {"session": "x", "seed": -1}, "seed"),
        ("run_level_tests", {"session": "x", "message": HUGE}, "message"),
        ("get_job", {"job_id": "nobody.1"}, "nobody"),
        ("get_job", {"job_id": "x"}, "job_id"),
        ("get_job", {"job_id": "x.1", "wait_s": 1000}, "wait_s"),
        ("cancel_job", {"job_id": "../x.1"}, "job_id"),
        ("start_session", {"task": "nobody"}, "cartpole"),
        ("start_session", {"task": "/etc"}, "--task-root"),
        ("start_session", {"task": "walk", "workspace": "../elsewhere"}, "outside"),
        ("start_session", {"task": "walk", "workspace": "/tmp/elsewhere"}, "outside"),
        ("start_session", {"task": "walk", "workspace": "."}, "outside"),
        ("start_session", {"task": "walk", "sandbox": "none"}, "none"),
        ("run_command", {"session": "x", "command": ""}, "command"),
        ("write_file", {"session": "x", "path": "candidate/env.py", "text": HUGE}, "text"),
        ("write_file", {"session": "x", "path": "a", "text": "b", "expected_sha256": "short"}, "expected_sha256"),
        ("history", {"session": "x", "limit": 0}, "limit"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_wrong_arguments_are_named_and_not_repeated(
    place: Place, tool: str, arguments: dict[str, Any], named: str
) -> None:
    async with Client(place.inside()) as client:
        texts = await refused(client, tool, **arguments)
    assert named in texts
    assert len(texts) < 2_000, "what was given does not come back"
    assert list(place.workspaces.iterdir()) == []


async def test_a_link_does_not_lead_a_workspace_out_of_its_root(place: Place) -> None:
    (place.workspaces / "link").symlink_to(place.home)
    async with Client(place.inside()) as client:
        assert "outside" in await refused(client, "start_session", task="walk", workspace="link/inside")


async def test_files_are_read_written_and_edited_in_the_workspace_and_nowhere_else(place: Place) -> None:
    async with place.stdio() as client:
        session = await begun(client)
        workspace = place.workspaces / "walk-session"
        read = await call(client, "read_file", session=session, path="candidate/env.py", offset_line=5, max_lines=2)
        assert read["lines"] == 2 and read["first_line"] == 5 and "offset_line=7" in read["next_call"]
        written = await call(client, "write_file", session=session, path="candidate/more/new.py", text="x = 1\n")
        assert written["created"] and (workspace / "candidate/more/new.py").read_text() == "x = 1\n"
        edited = await call(client, "edit_file", session=session, path="candidate/more/new.py", old="1", new='{"a": 2}')
        assert edited["replacements"] == 1 and '+x = {"a": 2}' in edited["diff"]
        listed = await call(client, "list_files", session=session, path="candidate")
        assert "candidate/more/new.py" in [entry["path"] for entry in listed["entries"]]
        task = (workspace / "task.toml").read_text()
        for path in (
            "../out.txt",
            "/etc/passwd",
            "candidate/../../out.txt",
            "task.toml",
            ".git/config",
            "properties.py",
        ):
            await refused(client, "write_file", session=session, path=path, text="mine")
        for path in ("../../home/keys", "/etc/passwd", "candidate/missing.py"):
            await refused(client, "read_file", session=session, path=path)
        await refused(client, "edit_file", session=session, path="candidate/env.py", old="not there", new="x")
        assert (workspace / "task.toml").read_text() == task
        assert not (place.workspaces / "out.txt").exists()
        assert (await call(client, "session_status", session=session))["state"] == "working"


async def test_of_two_edits_at_once_the_second_is_refused(place: Place) -> None:
    async with place.stdio() as client:
        session = await begun(client)
        before = (await call(client, "read_file", session=session, path="candidate/env.py"))["sha256"]
        results: list[bool] = []

        async def write(text: str) -> None:
            given = {"session": session, "path": "candidate/env.py", "text": text, "expected_sha256": before}
            results.append(bool((await client.call_tool("write_file", given)).is_error))

        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(write, f"# {number} {secrets.token_hex(4)}\n")
        assert sorted(results) == [False, True, True, True]


async def test_a_line_that_is_no_message_does_not_end_the_server(place: Place) -> None:
    async with await anyio.open_process(
        place.command, env=place.environment, cwd=place.workspaces, stderr=None
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        await process.stdin.send(b'nonsense\n{"jsonrpc": "2.0"}\n[]\n\xff\xfe\n')
        greeting = (
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
            b'"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}\n'
        )
        await process.stdin.send(greeting)
        received = b""
        with anyio.fail_after(60):
            while not received.endswith(b"\n"):
                received += await process.stdout.receive()
        assert b'"serverInfo"' in received
        await process.stdin.aclose()
        assert await process.wait() == 0
