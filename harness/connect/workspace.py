"""What lies in every workspace for an agent that is started there: the server's address and the working rules.

These files are no part of a task. Snapshots leave them out (`harness.task.contract.left_out`), so nothing that stands in
them can change a verdict, and whoever changes them misleads only himself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from string import Template

from harness.connect import jsonc
from harness.connect.clients import CLIENTS
from harness.connect.serve import NAME, local_server
from harness.errors import SetupError
from harness.task.contract import GUIDE_FILE

SERVERS_FILE = ".mcp.json"
CLAUDE_FILE = ".claude/CLAUDE.md"
_RULES = Path(__file__).parent / "AGENTS.md"


def workspace_files(workspace: Path, session: str, task: str, home: Path) -> Mapping[str, bytes]:
    """The files that a new session puts into its workspace, by relative path, without those that are there already.

    An `.mcp.json` that is there gains the server, and is left alone where it has one or cannot be read.
    """
    rules = Template(_RULES.read_text(encoding="utf-8")).substitute(session=session, task=task)
    # Claude Code reads its own file; this one sends it to the rules that every other agent reads.
    files = {GUIDE_FILE: rules.encode(), CLAUDE_FILE: f"@../{GUIDE_FILE}\n".encode()}
    files = {path: content for path, content in files.items() if not _taken(workspace, path)}
    servers = _servers(workspace, home)
    return files if servers is None else {**files, SERVERS_FILE: servers.encode()}


def _servers(workspace: Path, home: Path) -> str | None:
    try:
        entry = CLIENTS["claude"].entry(local_server(home))
    except (
        SetupError
    ):  # run from a checkout without its console script: `lockstep connect` can still be given an address
        return None
    path = workspace / SERVERS_FILE
    if not _taken(workspace, SERVERS_FILE):
        return json.dumps({"mcpServers": {NAME: entry}}, indent=2) + "\n"
    if path.is_symlink() or not path.is_file():
        return None
    try:
        text = path.read_bytes().decode()
        if NAME in jsonc.parse(text).value.get("mcpServers", {}):
            return None
        return jsonc.put(text, ("mcpServers", NAME), entry)
    except (OSError, ValueError, AttributeError, TypeError):
        return None


def _taken(workspace: Path, relative: str) -> bool:
    """Whether something is there, or a link on the way to it, which is not followed."""
    location = workspace
    for part in Path(relative).parts:
        location /= part
        if location.is_symlink():
            return True
    return location.exists()
