"""What a candidate's adapter says of one that does not fit its contract, whatever it is written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

UNUSABLE = "UNUSABLE"  # the name of `harness.errors.Failing.UNUSABLE`, which a candidate's interpreter does not see


@dataclass(frozen=True)
class Mistake:
    """One way in which a candidate does not fit: in which function, at which leaf (if any), and what the task wants."""

    text: str
    path: str = ""
    rule: str = "contract"
    expected: str = ""
    actual: str = ""
    failing: str = ""
    """`UNUSABLE` where nothing of the candidate can run for it."""


class CandidateMistakes(TypeError):
    """A candidate does not fit its contract; the message has one line for each mistake."""

    kind = "contract"
    """Tells the worker that this is an answer about the candidate, not an accident."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("\n".join(mistake.text for mistake in mistakes))
        self.details = [asdict(mistake) for mistake in mistakes]
