"""Tools that work in a session's workspace, all of them inside the agent's sandbox."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.types import CallToolResult
from pydantic import Field

from harness.calls import ToolCalls
from mcp_server.arguments import Digest, FilePath, SessionId
from mcp_server.describing import command_run
from mcp_server.file_results import FileEdited, FileEntry, FileList, FileText, FileWritten
from mcp_server.limits import FIELD_CHARACTERS, FILE_CHARACTERS, PATH_CHARACTERS
from mcp_server.results import CommandRun, answer
from mcp_server.services import Call, services_of
from mcp_server.tool import READS, StrictTool, changes, tool

LINES_AT_MOST = 2_000


async def run_command(
    ctx: Call,
    session: SessionId,
    command: Annotated[str, Field(description="A command line for the shell.", min_length=1, max_length=100_000)],
    timeout_s: Annotated[
        int, Field(description="It is killed after so many seconds, with all that it started.", ge=1, le=3600)
    ] = 120,
    stdin: Annotated[str, Field(description="What it reads from standard input.", max_length=FILE_CHARACTERS)] = "",
) -> Annotated[CallToolResult, CommandRun]:
    """Run a command in the workspace, in a sandbox without a network in which the candidate's packages (JAX, NumPy) can
    be imported. For trying things out while you write; the reference is not in there, and nothing that runs here counts
    as verified. After 42 s it answers with a job to be asked for with get_job."""
    given: dict[str, Any] = {"command": command, "timeout_s": timeout_s}
    given |= {"stdin": stdin} if stdin else {}
    job, also = await services_of(ctx).begin(ctx, session, "run_command", given)
    job = await services_of(ctx).wait(ctx, job)
    return answer(command_run(job, also), f"lockstep://sessions/{job.session}/jobs/{job.number}")


async def read_file(
    ctx: Call,
    session: SessionId,
    path: FilePath,
    offset_line: Annotated[int, Field(description="The first line to be read, from 1.", ge=1, lt=1 << 31)] = 1,
    max_lines: Annotated[int, Field(description="At most so many lines.", ge=1, le=LINES_AT_MOST)] = 400,
) -> Annotated[CallToolResult, FileText]:
    """Read lines of a file of the workspace, with the digest that write_file and edit_file take as expected_sha256; or of
    the reference that you translate, its packages too, by the paths that list_files gives for `reference`."""
    given = {"path": path, "offset_line": offset_line, "max_lines": max_lines, "max_characters": FIELD_CHARACTERS - 200}
    document = await services_of(ctx).ask(ctx, session, "read_file", given)
    result = FileText.model_validate({**document, "text": document.get("text") or "", "summary": ""})
    calls, last = ToolCalls(session), result.first_line + result.lines - 1
    result.summary = f"{path}: lines {result.first_line} to {last} of {result.total_lines}."
    if document.get("binary"):
        result.summary = f"{path} is not text; it has {document.get('bytes', 0)} bytes."
    elif last < result.total_lines:
        result.next_call = calls.read_file(path, last + 1, max_lines)
    return answer(result, calls.read_file(path, result.first_line, 100))


async def write_file(
    ctx: Call,
    session: SessionId,
    path: FilePath,
    text: Annotated[str, Field(description="The whole new content.", max_length=FILE_CHARACTERS)],
    expected_sha256: Digest = "",
) -> Annotated[CallToolResult, FileWritten]:
    """Write a whole file of the workspace: candidate/ is yours, and so are new cases and properties in proposed/. Task,
    tests, tolerances and reference belong to the verifier and are refused. Directories are made as needed."""
    given = {"path": path, "text": text} | ({"expected_sha256": expected_sha256} if expected_sha256 else {})
    document = await services_of(ctx).ask(ctx, session, "write_file", given)
    made = "made" if document["created"] else "replaced"
    result = FileWritten.model_validate({**document, "summary": f"{path} was {made}: {document['bytes']} bytes."})
    return answer(result)


async def edit_file(
    ctx: Call,
    session: SessionId,
    path: FilePath,
    old: Annotated[
        str, Field(description="The passage as it stands, exactly.", min_length=1, max_length=FILE_CHARACTERS)
    ],
    new: Annotated[str, Field(description="What takes its place.", max_length=FILE_CHARACTERS)],
    all: Annotated[bool, Field(description="Change every occurrence; else there must be exactly one.")] = False,
    expected_sha256: Digest = "",
) -> Annotated[CallToolResult, FileEdited]:
    """Change a passage of a file of the workspace. The old text must stand there exactly once, unless all is given;
    what may be written is as in write_file."""
    given: dict[str, Any] = {"path": path, "old": old, "new": new, "all": all}
    given |= {"expected_sha256": expected_sha256} if expected_sha256 else {}
    document = await services_of(ctx).ask(ctx, session, "edit_file", given)
    said = f"{path}: {document['replacements']} passage{'s' if document['replacements'] != 1 else ''} changed."
    return answer(FileEdited.model_validate({**document, "summary": said}))


async def list_files(
    ctx: Call,
    session: SessionId,
    path: Annotated[str, Field(description="A directory of the workspace.", max_length=PATH_CHARACTERS)] = "",
    pattern: Annotated[
        str, Field(description="Only files that match, such as **/*.py.", max_length=PATH_CHARACTERS)
    ] = "",
) -> Annotated[CallToolResult, FileList]:
    """List the files of the workspace with their sizes; of `reference` those in which its rules are, and its packages."""
    given = ({"path": path} if path else {}) | ({"pattern": pattern} if pattern else {})
    document = await services_of(ctx).ask(ctx, session, "list_files", given)
    entries = [FileEntry.model_validate({**entry, "bytes": entry.get("bytes") or 0}) for entry in document["entries"]]
    count, truncated = document["count"], document["truncated"]
    said = (
        f"{len(entries)} of {count} entries or more; give a directory or a pattern" if truncated else f"{count} entries"
    )
    return answer(FileList(entries=entries, count=count, truncated=truncated, summary=f"{said}."))


def workspace_tools() -> list[StrictTool]:
    """The tools of this module."""
    return [
        tool(run_command, hints=changes(destructive=True)),
        tool(read_file, hints=READS),
        tool(write_file, hints=changes(destructive=True, idempotent=True)),
        tool(edit_file, hints=changes(destructive=True)),
        tool(list_files, hints=READS),
    ]
