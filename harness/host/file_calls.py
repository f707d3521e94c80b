"""Calls about the files that an agent sees: read, written, listed; what changes one is an event."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from harness import agent_sandbox
from harness.agent_sandbox import FileView, files
from harness.host.closing import Closing


class FileCalls:
    """The calls on one view of a workspace.

    Args:
        view: what is shown.
        closing: records what was changed.
        about: what the record says of each change instead of its text, where others who read the record must not see that.
    """

    def __init__(self, view: FileView, closing: Closing, about: Mapping[str, Any] | None = None) -> None:
        self._view = view
        self._closing = closing
        self._about = dict(about or {})
        self._changing = threading.Lock()

    def read_file(
        self,
        client: str,
        *,
        path: str,
        offset_line: int = 1,
        max_lines: int = files.MAX_LINES,
        max_characters: int = files.MAX_CHARACTERS,
    ) -> dict[str, Any]:
        """Lines of a file."""
        return agent_sandbox.read_file(
            self._view, path, offset_line=offset_line, max_lines=max_lines, max_characters=max_characters
        )

    def write_file(self, client: str, *, path: str, text: str, expected_sha256: str | None = None) -> dict[str, Any]:
        """Replace or create a file."""
        began = time.monotonic()
        with self._changing:
            written = agent_sandbox.write_file(self._view, path, text, expected_sha256=expected_sha256)
        arguments = self._told({"path": path, "text": text}, written)
        self._closing.record(
            "write_file", arguments, "created" if written["created"] else "replaced", client, began, tree=True
        )
        return written

    def edit_file(
        self,
        client: str,
        *,
        path: str,
        old: str,
        new: str,
        expected_sha256: str | None = None,
        all: bool = False,
    ) -> dict[str, Any]:
        """Replace a text in a file."""
        began = time.monotonic()
        with self._changing:
            edited = agent_sandbox.edit_file(self._view, path, old, new, expected_sha256=expected_sha256, all=all)
        arguments = self._told({"path": path, "old": old, "new": new, "all": all}, edited)
        self._closing.record("edit_file", arguments, f"{edited['replacements']} replaced", client, began, tree=True)
        return edited

    def list_files(self, client: str, *, path: str = ".", pattern: str = "") -> dict[str, Any]:
        """What lies in the workspace."""
        return agent_sandbox.list_files(self._view, path, pattern=pattern)

    def _told(self, arguments: dict[str, Any], done: Mapping[str, Any]) -> dict[str, Any]:
        """What the record says of a change."""
        if not self._about:
            return arguments
        return {**self._about, "path": arguments["path"], "sha256": done["sha256"]}
