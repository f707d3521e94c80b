"""The jobs of a host's main thread, one after another.

One at a time, so that each has the machine to itself. They wait for workers, so they are cut short by an exception in
that thread (`interrupts`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from harness.host.closing import Closing, cancellation, failure, shortened
from harness.host.interrupts import Interrupts
from harness.host.jobs import CANCELLED, DONE, FAILED, Job, Jobs
from harness.support.progress import Progress


class Turns:
    """Begins such jobs from any thread, and ends them.

    Args:
        jobs, closing: where jobs are kept, and how they end.
        interrupts: cut short what the main thread does.
        submit: hands work to the main thread.
    """

    def __init__(
        self,
        jobs: Jobs,
        closing: Closing,
        interrupts: Interrupts,
        submit: Callable[[Callable[[], None]], None],
    ) -> None:
        self._jobs = jobs
        self._closing = closing
        self._interrupts = interrupts
        self._submit = submit

    def submit(self, job: Job, work: Callable[[], dict[str, Any]]) -> None:
        """Have a job done when its turn comes; its result is what `work` gives."""
        self._submit(lambda: self._run(job, work))

    def cancel(self, job: Job) -> None:
        """End a running job as soon as that loses nothing; one whose turn has not come, at once."""
        if not self._interrupts.ask(job.id):
            self._closing.end(job, CANCELLED, error=cancellation(job))

    def _begin(
        self,
        operation: str,
        arguments: dict[str, Any],
        client: str,
        work: Callable[[Progress], tuple[dict[str, Any], str]],
    ) -> dict[str, Any]:
        """Begin a job that judges nothing: its result and its outcome are what `work` gives, and an event tells of it."""
        job = self._jobs.begin(operation, shortened(arguments), client)
        self._jobs.progress(job, "waiting for its turn", 0, 1)

        def whole() -> dict[str, Any]:
            began, outcome = time.monotonic(), FAILED
            try:
                with self._interrupts.allowed():
                    document, outcome = work(lambda text, done, total: self._jobs.progress(job, text, done, total))
                return document
            except KeyboardInterrupt:
                outcome = CANCELLED
                raise
            finally:
                self._closing.record(operation, arguments, outcome, client, began, job=job.id)

        self.submit(job, whole)
        return {"job": job.to_json()}

    def _run(self, job: Job, work: Callable[[], dict[str, Any]]) -> None:
        """One job of the main thread, from its turn to its end."""
        if self._jobs.get(job.id) is None:
            return  # cancelled before its turn
        try:
            with self._interrupts.job(job.id):
                result = work()
        except KeyboardInterrupt:
            self._closing.end(job, CANCELLED, error=cancellation(job))
        except Exception as error:
            self._closing.end(job, FAILED, error=failure(error))
        else:
            self._closing.end(job, DONE, result=result)
