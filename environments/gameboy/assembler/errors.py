"""Where a line of source stands, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """One line of one file; `within` is the line that expanded the macro or the repeat block which it belongs to."""

    file: str
    line: int
    within: Place | None = None

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}"
        return text if self.within is None else f"{text} (expanded at {self.within})"


class AssemblyError(Exception):
    """The source can't be assembled. The message begins with the place, and says what was expected there."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


class ExpressionError(Exception):
    """An expression has no value, or one that doesn't fit. It knows no place: who evaluates it adds that."""
