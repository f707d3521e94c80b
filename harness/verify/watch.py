"""Who wants to know what a verification compares, and in which check; it changes nothing of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from harness.model import Trajectory


class Watch(Protocol):
    """Told of each comparison with the reference, in order and in one thread."""

    def compared(self, expected: Sequence[Trajectory], only: Collection[str] | None) -> None:
        """The candidate is held against these trajectories of the reference: in all leaves, or in these alone."""

    def ended(self, level: int, check: str) -> None:
        """A check is over: what was compared since the one before it belongs to it."""


class Unwatched:
    """Nobody wants to know."""

    def compared(self, expected: Sequence[Trajectory], only: Collection[str] | None) -> None:
        """Nothing."""

    def ended(self, level: int, check: str) -> None:
        """Nothing."""
