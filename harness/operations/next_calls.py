"""The calls that a document tells its reader to make, as commands of a shell or as tools of the server."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NextCalls:
    """Attributes:
    verify: the call that asks for the same verification once more, with a fresh seed.
    compare: the call that plays the case in a file on both sides.
    """

    verify: str
    compare: Callable[[Path], str]


def shell_calls(verify: str, location: Path) -> NextCalls:
    """For a person, or an agent with a shell, who stands in the current directory and works in `location`."""
    here = Path.cwd().resolve()
    where = "" if here == location.resolve() else f" {shlex.quote(str(location))}"

    def compare(case: Path) -> str:
        shown = str(case.relative_to(here)) if case.is_relative_to(here) else str(case)
        return f"lockstep compare{where} --case {shlex.quote(shown)}"

    return NextCalls(verify, compare)


def tool_calls(session: str, level: int | None, module: str | None, workspace: Path) -> NextCalls:
    """For an agent that calls the tools of the server."""
    asked = (
        {"session": session} | ({} if level is None else {"level": level}) | ({} if not module else {"module": module})
    )

    def compare(case: Path) -> str:
        return _call("compare_rollouts", {"session": session, "case": case.relative_to(workspace).as_posix()})

    return NextCalls(_call("run_level_tests", asked), compare)


def _call(tool: str, arguments: Mapping[str, object]) -> str:
    return f"{tool}({', '.join(f'{name}={json.dumps(value)}' for name, value in arguments.items())})"
