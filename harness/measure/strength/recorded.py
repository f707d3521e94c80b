"""A measurement of a task's tests, and where a session's record has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from harness.support.document import Document, whole


class Measurement(Protocol):
    """What was measured: `Strength` or `Curve`."""

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        ...


M = TypeVar("M", bound=Measurement)


@dataclass(frozen=True, kw_only=True)
class Recorded(Generic[M]):
    """What one measurement came to.

    Attributes:
        measured: what was measured.
        session, commit, event: of a session, what was measured and the number of the event that records it.
    """

    measured: M
    session: str | None = None
    commit: str | None = None
    event: int | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description: that of the measurement, and of a session the other attributes beside its fields."""
        described = self.measured.to_json()
        if self.session is None:
            return described
        described |= {"session": self.session, "commit": self.commit}
        return described if self.event is None else described | {"event": self.event}

    @staticmethod
    def from_json(described: object, read: Callable[[object], M], kind: str = "measurement") -> Recorded[M]:
        """The inverse of `to_json`.

        Args:
            read: the inverse of the measurement's own `to_json`.

        Raises:
            DocumentError: `described` has another form.
        """
        document = Document(described, kind)
        return Recorded(
            measured=read(described),
            session=document.text_or_none("session"),
            commit=document.text_or_none("commit"),
            event=document.read_or_none("event", whole),
        )
