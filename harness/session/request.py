"""What a caller asks of an attempt: made by a tool, a command or a notebook, and handed on unchanged to the attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.errors import SessionError

SEEDS = 1 << 63


@dataclass(frozen=True, slots=True)
class VerificationRequest:
    """One verification of the workspace as it is now.

    Attributes:
        level: the highest level; None takes the recipe's next step, or the highest when nothing is left.
        module: limits level 1 to one module.
        message: the agent's words for the commit.
        seed: repeats a run, from 0 to 2**63 - 1. A pass then never counts, because the candidate could have been written
            for that seed; without it the seed is drawn after the snapshot.

    Raises:
        SessionError: the seed is out of range. Whether the session has the level and the module, it says itself.
    """

    level: int | None = None
    module: str | None = None
    message: str = ""
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None and not 0 <= self.seed < SEEDS:
            raise SessionError(f"the seed {self.seed} is out of range", expected="0 <= seed < 2**63")

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description, as it goes to a host and stands in its jobs."""
        return {"level": self.level, "module": self.module, "message": self.message, "seed": self.seed}
