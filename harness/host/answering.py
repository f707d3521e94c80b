"""What the calls of any host have in common: they are known by name, and say who else calls."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import operations
from harness.errors import SessionError
from harness.host import jobs as job_files
from harness.host.jobs import Job, Jobs
from harness.session import usage
from harness.session.view import OpenSession

PRESENT_S = 600.0
"""Who has called within this time still works here."""


class Answering(ABC):
    """The calls on one open session.

    Args:
        session: open; `home` is where it lies.
        jobs: where its jobs are kept.
    """

    def __init__(self, session: OpenSession, home: Path, jobs: Jobs) -> None:
        self._opened, self._id, self._where, self._kept = session, session.id, home, jobs
        self._calls: dict[str, Callable[..., dict[str, Any]]] = {}
        self._seen: dict[str, float] = {}

    @abstractmethod
    def answer(self, call: str, arguments: Mapping[str, Any], client: str) -> dict[str, Any]:
        """The answer to a call.

        Raises:
            LockstepError, SandboxError: why it cannot be done.
        """

    @abstractmethod
    def end(self, job: Job) -> None:
        """End a running job."""

    def cancel(self, client: str, *, job: str) -> dict[str, Any]:
        """End a job. One that has ended stays as it is; a verdict that is being recorded is not stopped any more."""
        if not job.startswith(f"{self._id}."):
            raise SessionError(f"{job!r} is not a job of {self._id}")
        running = self._kept.get(job)
        if running is not None:
            self.end(running)
        current = self._kept.get(job) or job_files.read(job, self._where)
        return {"job": current.to_json()}

    def running(self) -> list[dict[str, Any]]:
        """The jobs that run now."""
        names = ("id", "operation", "client", "what", "done", "total")
        return [{name: getattr(job, name) for name in names} for job in self._kept.running]

    def history(self, client: str, *, after: int = -1, limit: int | None = None) -> dict[str, Any]:
        """What happened."""
        return operations.history(self._id, home=self._where, after=after, limit=limit)

    def report_usage(
        self,
        client: str,
        *,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        dollars: float | None = None,
        model: str = "",
    ) -> dict[str, Any]:
        """Record what an agent has spent since its last report."""
        return usage.report(
            self._opened,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cache_read_tokens=cache_read_tokens,
            cache_write_tokens=cache_write_tokens,
            dollars=dollars,
            model=model,
            client=client,
        )

    def _offer(self, functions: Sequence[Callable[..., dict[str, Any]]]) -> None:
        self._calls |= {function.__name__: function for function in functions}

    def _function(self, call: str, client: str) -> Callable[..., dict[str, Any]]:
        """What a call of this name does; its client is present from now on."""
        function = self._calls.get(call)
        if function is None:
            raise SessionError(f"there is no call {call!r}", expected=f"one of {', '.join(self._calls)}")
        if client:
            self._seen[client] = time.monotonic()
        return function

    def _others(self, client: str) -> list[str]:
        since = time.monotonic() - PRESENT_S
        return sorted(name for name, seen in self._seen.items() if name != client and seen >= since)
