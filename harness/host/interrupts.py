"""Cancelling what runs in the main thread of a host, at the places where nothing is lost by it.

A verification waits for workers, so it has to be interrupted as Ctrl-C would: by an exception in the main thread. But
only the judging may be cut short; the record is never written half. So the exception is let in while a block that
says so runs, and at no other moment.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.session.session import Verifier
from harness.verdict import Outcome, Verdict
from harness.verify.request import LevelsRequest

AGAIN_S = 10.0
"""An exception can be lost where Python ignores exceptions (in a finalizer), so it is raised again after this."""


class Interrupts:
    """Made in the main thread. `ask` may be called from any other."""

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._current: str | None = None
        self._inside: str | None = None
        self._asked: set[str] = set()
        self._raised = float("-inf")
        signal.signal(signal.SIGINT, self._on_signal)

    @contextmanager
    def job(self, identifier: str) -> Iterator[None]:
        """What the main thread works on inside the `with`."""
        self._raised = float("-inf")
        self._current = identifier
        try:
            yield
        finally:
            self._current = None
            self._asked.discard(identifier)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Inside the `with` the current job may be cut short by a KeyboardInterrupt."""
        self._inside = self._current
        try:
            if self._inside in self._asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._inside = None

    def ask(self, identifier: str) -> bool:
        """Cut a job short as soon as that is allowed. Returns False if it is not the current one."""
        if self._current != identifier:
            return False
        self._asked.add(identifier)
        threading.Thread(target=self._insist, args=(identifier,), daemon=True).start()
        return True

    def _insist(self, identifier: str) -> None:
        while self._current == identifier:
            if self._inside == identifier:
                signal.pthread_kill(self._main, signal.SIGINT)
            time.sleep(AGAIN_S)

    def _on_signal(self, *_: object) -> None:
        if self._inside in self._asked and time.monotonic() - self._raised >= AGAIN_S / 2:
            self._raised = time.monotonic()
            raise KeyboardInterrupt


class InterruptibleVerifier:
    """A verifier whose judging may be cut short, and which begins afresh after that or after an error."""

    def __init__(self, make: Callable[[], Verifier], interrupts: Interrupts) -> None:
        self._make = make
        self._interrupts = interrupts
        self._inner: Verifier | None = None

    def verify(self, tree: Path, request: LevelsRequest) -> Verdict:
        """See `harness.session.session.Verifier`."""
        try:
            with self._interrupts.allowed():
                if self._inner is None:
                    self._inner = self._make()
                verdict = self._inner.verify(tree, request)
        except BaseException:
            self.close()
            raise
        if verdict.outcome is Outcome.ERROR:
            self.close()  # whatever it keeps warm may be what failed
        return verdict

    def close(self) -> None:
        """See `harness.session.session.Verifier`."""
        inner, self._inner = self._inner, None
        if inner is not None:
            with suppress(Exception):  # a worker that never started is asked for its end here
                inner.close()
