"""A session as it is at this moment, for whoever watches it: read from its record and its jobs' files, without any lock."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from harness.calls import ShellCalls
from harness.errors import SessionError
from harness.host import jobs
from harness.record.event import Event
from harness.record.log import EVENTS
from harness.session import recipe
from harness.session.view import SessionView

ATTEMPTS = 6
COMMITS = 5
LOOKED_AT = 20
"""Among so many of the newest jobs one that runs is looked for."""
_OF_JOB = ("id", "operation", "arguments", "client", "started", "what", "done", "total")


class Watched:
    """A session that is read again whenever its log has grown.

    Args:
        which: the session's id, or its workspace.

    Raises:
        SessionError: there is no such session.
        RecordError: from any method, when the record is damaged.
    """

    def __init__(self, which: str | Path) -> None:
        self._which = which
        self._view = SessionView(which)

    def look(self) -> tuple[Event, ...]:
        """Read what is new; returns the events that came since the last look."""
        known = len(self._view.events)
        if self._view.store.refs().get(EVENTS) == self._view.events[-1].id:
            return ()
        fresh = SessionView(self._which)
        self._view.close()
        self._view = fresh
        return fresh.events[known:]

    def view(self) -> dict[str, Any]:
        """Where the session stands, JSON-ready: its status, and

        - `steps`: every step of the recipe, with `passed` and `next`;
        - `started`: time of the first event; `events`: their number;
        - `running`: jobs that run now, oldest first; `attempting`: the attempt that has no outcome yet, or None;
        - `recent`: the last attempts, `commits`: the last verified commits, newest first;
        - `tokens`: as far as they were reported.
        """
        view = self._view
        state, upcoming = view.state, recipe.next_step(view.state)
        times = {event.seq: event.time for event in view.events}
        attempts = [attempt.to_json() | {"time": times[attempt.seq]} for attempt in state.attempts]
        return view.status() | {
            "steps": [
                step.to_json() | {"passed": step in state.passed, "next": step == upcoming} for step in state.plan.steps
            ],
            "started": view.events[0].time,
            "events": len(view.events),
            "running": self._running(),
            "attempting": attempts[-1] if state.pending else None,
            "recent": [attempt for attempt in attempts[::-1] if attempt["outcome"]][:ATTEMPTS],
            "commits": [_commit(event) for event in view.events[::-1] if event.commit][:COMMITS],
            "tokens": sum(_tokens(event) for event in view.events),
        }

    def rows(self, events: tuple[Event, ...]) -> list[dict[str, Any]]:
        """The rows of the history for some events."""
        return self._view.history()[events[0].seq : events[-1].seq + 1] if events else []

    def _running(self) -> list[dict[str, Any]]:
        found = [job for job in jobs.recent(self._view.directory, LOOKED_AT) if not job.finished]
        return [{name: getattr(job, name) for name in _OF_JOB} for job in found[::-1]]

    def close(self) -> None:
        """Let go of the record."""
        self._view.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def demand_session(which: str | None, *, is_session: bool) -> None:
    """Check that a session here is meant, not a record alone: nothing will ever happen in that.

    Raises:
        SessionError: `which` names a bundle or a git directory.
    """
    path = Path(which or ".").expanduser()
    if which is None or is_session or not path.exists():
        return
    if path.is_file() or (path / "HEAD").is_file() or (path / ".git").exists():
        raise SessionError(
            "a copy of a record cannot be watched: nothing happens in it any more",
            where=which,
            expected="a session on this machine, by its id or its workspace",
            next_step=f"look at what happened in it with `{ShellCalls.replay(which)}`",
        )


def _commit(event: Event) -> dict[str, Any]:
    step = {name: event.arguments.get(name) for name in ("level", "module")}
    return {"commit": event.commit, "time": event.time, **step, "message": event.arguments.get("message", "")}


def _tokens(event: Event) -> int:
    return sum(int(value) for name, value in event.usage.items() if name.endswith("_tokens"))
