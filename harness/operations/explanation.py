"""The one difference that a verification tells first: as text, as data, with the call that plays it and the prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.errors import SessionError
from harness.operations.next_calls import NextCalls, tool_calls
from harness.record.event import Event
from harness.record.verdicts import verdict_of
from harness.session.prompts import repair_prompt
from harness.session.recipe import VERDICT
from harness.session.view import SessionView
from harness.support.home import lockstep_home
from harness.task.contract import CASES_DIRECTORY, Task
from harness.task.load import load_task
from harness.verdict import Divergence
from harness.verify.explain import describe, first


def explain(
    session: str,
    *,
    home: Path | None = None,
    event: int | None = None,
    index: int | None = None,
    next_calls: NextCalls | None = None,
) -> dict[str, Any]:
    """What a verification of a session found, one divergence at a time.

    Args:
        session: its id or its workspace.
        event: the number of the verdict in the history; by default the newest verdict.
        index: which of its divergences, from 0; by default the one that is reported first.
        next_calls: the calls to name; by default those of the tools.

    Returns `session`, `event`, `outcome`, `finding` and `divergences` (how many there are), and, where something was
    found, `divergence` (text), `data` (its fields), `case` (its file below the workspace, or None), `reproduce`
    and `repair_prompt`.

    Raises:
        SessionError: there is no such session, verdict or divergence.
    """
    with SessionView(session, home or lockstep_home()) as view:
        chosen = _verdict_event(view, event)
        found = verdict_of(view.store, chosen).divergences
        document: dict[str, Any] = {
            "session": view.id,
            "event": chosen.seq,
            "outcome": chosen.outcome,
            "finding": chosen.detail.get("finding", ""),
            "divergences": len(found),
            "divergence": None,
        }
        if not found:
            return document
        if index is not None and not 0 <= index < len(found):
            raise SessionError(
                f"event {chosen.seq} has no divergence {index}", expected=f"a number below {len(found)}, counted from 0"
            )
        first_divergence = first(found) if index is None else found[index]
        assert first_divergence is not None
        data = found[index or 0].to_json()
        level, module = chosen.arguments.get("level"), chosen.arguments.get("module")
        next_calls = next_calls or tool_calls(view.id, level, module, view.workspace)
        case = kept_case(view.workspace, first_divergence)
        return (
            document
            | {"data": data}
            | first_of(load_task(view.task_directory), first_divergence, case, next_calls, view.workspace)
        )


def first_of(
    task: Task, found: Divergence, case: Path | None, next_calls: NextCalls, workspace: Path
) -> dict[str, Any]:
    """The fields that tell one divergence: `divergence`, `case`, `reproduce`, `repair_prompt`."""
    reproduce = next_calls.verify if case is None else next_calls.compare(case)
    inside = case is not None and case.is_relative_to(workspace)
    return {
        "divergence": describe(found),
        "case": case.relative_to(workspace).as_posix() if case is not None and inside else case and str(case),
        "reproduce": reproduce,
        "repair_prompt": repair_prompt(found, task, reproduce=reproduce, verify=next_calls.verify, uri=next_calls.uri),
    }


def kept_case(workspace: Path, found: Divergence) -> Path | None:
    """The file of a session that keeps a divergence's counterexample."""
    kept = found.counterexample
    path = None if kept is None else workspace / CASES_DIRECTORY / kept[0]
    return path if path is not None and path.is_file() else None


def _verdict_event(view: SessionView, wanted: int | None) -> Event:
    verdicts = [event for event in view.events if event.kind == VERDICT]
    chosen = next((e for e in reversed(verdicts) if wanted in (None, e.seq)), None)
    if chosen is None:
        numbers = ", ".join(str(event.seq) for event in verdicts[-20:]) or "none yet"
        what = "nothing was verified yet" if wanted is None else f"event {wanted} is not a verdict"
        raise SessionError(what, where=view.id, expected=f"the number of a verdict; there are: {numbers}")
    return chosen
