"""The two calls that the text about a divergence names, for its reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.calls import ShellCalls, ToolCalls, reference_uri, session_uri


@dataclass(frozen=True)
class NextCalls:
    """Attributes:
    verify: the call that asks for the same verification once more, with a fresh seed.
    compare: the call that plays the case in a file on both sides.
    uri: the resource of a place in the reference, for a reader of the server's resources.
    """

    verify: str
    compare: Callable[[Path], str]
    uri: Callable[[str], str] | None = None


def shell_calls(verify: str, location: Path, candidate: str | None = None) -> NextCalls:
    """For a person, or an agent with a shell, who stands in the current directory and works in `location`.

    Args:
        candidate: which one is verified, where a task's directory has several; None for its first.
    """
    return NextCalls(verify, ShellCalls(workspace=location, candidate=candidate).compare)


def tool_calls(session: str, level: int | None, module: str | None, workspace: Path) -> NextCalls:
    """For an agent that calls the tools of the server."""
    calls = ToolCalls(session, workspace)
    return NextCalls(calls.verify(level, module), calls.compare, partial(reference_uri, session_uri(session)))
