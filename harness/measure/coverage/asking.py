"""Asking a level's questions again, of a worker that counts what they reach."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from harness.errors import Crashed
from harness.support.progress import Progress

if TYPE_CHECKING:
    from harness.verify.questions import Question, Questions


ASKING_SECONDS = 20.0
"""Of each level so long is asked; docs/coverage.md says what that means for the figures."""
ENDING_SECONDS = 120.0
"""A worker that ends writes down what it reached."""
SLOWER = 10.0
"""A worker that counts may take so many times as long for an answer."""


class Ends(Protocol):
    """A worker that can be asked to end by itself."""

    def finish(self, seconds: float) -> int | None:
        """Its exit status, None where it had not ended after so long."""
        ...


def teller(progress: Progress, what: str, total: int) -> Callable[[int], None]:
    """A callback that is called with how many questions were asked again; it tells `progress`, and does so for none at
    once.
    """
    progress(what, 0, max(total, 1))
    return lambda done: progress(what, done, max(total, 1))


def ask_again(
    questions: Questions, ask: Callable[[Question], None], seconds: float, tell: Callable[[int], None]
) -> int:
    """Ask what was kept, the kinds of questions in turns, for at most so long; returns how many questions that were."""
    deadline = time.monotonic() + seconds
    repeated = 0
    for question in questions.mixed():
        ask(question)
        repeated += 1
        tell(repeated)
        if time.monotonic() > deadline:
            break
    return repeated


def finish(worker: Ends, who: str) -> None:
    """End a worker, which then writes down what it reached.

    Raises:
        Crashed: it did not end, or not well, so that what it reached is not known.
    """
    status = worker.finish(ENDING_SECONDS)
    if status != 0:
        how = f"did not end within {ENDING_SECONDS:g} s" if status is None else f"ended with exit status {status}"
        raise Crashed(
            f"the worker that counts {how}, so what it reached is not known",
            where=f"{who}, call `close`",
            expected="a process that ends by itself after `close`, which is when coverage is written",
        )
