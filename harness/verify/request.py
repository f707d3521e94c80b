"""What is asked of a verifier: the one argument beside the tree that is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LevelsRequest:
    """Some levels are to run on a tree, lowest first, until one does not pass.

    Attributes:
        levels: 1 to 4, each at most once.
        seed: from which everything random is derived; drawn after the tree was fixed.
        module: limits level 1 to one module.
        stop_at_failure: stop at the first check that fails, and report what it found as it was found: for callers that ask
            whether a candidate fails, and not why.
        exploring: level 3 explores so many times as long as the task's budget says.
    """

    levels: Sequence[int]
    seed: int
    module: str | None = None
    stop_at_failure: bool = False
    exploring: int = 1
