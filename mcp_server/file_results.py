"""What the tools that work on files answer."""

from __future__ import annotations

from pydantic import Field

from mcp_server.results import Result, View


class FileText(Result):
    """Lines of a file."""

    exact = frozenset({"text"})

    path: str
    text: str
    first_line: int = 1
    lines: int = 0
    total_lines: int = 0
    sha256: str = Field("", description="Of the whole file: give it to write_file or edit_file as expected_sha256.")
    truncated: bool = False


class FileWritten(Result):
    """A file that was written."""

    path: str
    sha256: str
    bytes: int
    created: bool
    also_working: list[str] = Field(default_factory=list)


class FileEdited(Result):
    """A file of which a passage was changed."""

    path: str
    sha256: str
    replacements: int
    diff: str
    also_working: list[str] = Field(default_factory=list)


class FileEntry(View):
    """One entry of a directory."""

    path: str
    kind: str
    bytes: int = 0
    objection: str = Field("", description="Why the workspace cannot be recorded with it, if so.")


class FileList(Result):
    """Files of the workspace."""

    entries: list[FileEntry]
    count: int = Field(0, description="How many there are, as far as they were looked at.")
    truncated: bool = False
