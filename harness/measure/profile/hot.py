"""Where the time of a step goes: the operations of its compiled program, as a trace of the largest batch timed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.support.document import Document, number

CHANCE, CANDIDATE = "chance", "candidate"
"""Origins of an operation: the making of random numbers, and a line of the candidate. `other` is neither."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a compiled program.

    Attributes:
        name: as XLA names it.
        kind: `gather`, `while`, ...
        share: of the time of all operations, 0 to 1.
        source: `file:line` of the candidate from which it came; empty where it came from none.
        origin: `chance`, `candidate` or `other`.
    """

    name: str
    kind: str
    share: float
    source: str
    origin: str

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description. The share has three digits: a trace knows no more."""
        return {
            "name": self.name,
            "kind": self.kind,
            "source": self.source,
            "origin": self.origin,
            "share": round(self.share, 3),
        }

    @staticmethod
    def from_json(described: object, kind: str = "operation") -> Operation:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return Operation(
            name=document.text("name"),
            kind=document.text("kind"),
            share=document.number("share"),
            source=document.text("source"),
            origin=document.text("origin"),
        )


@dataclass(frozen=True, slots=True)
class HotStep:
    """What a trace found.

    Attributes:
        operations: the longest ones, longest first.
        origins, kinds: the share of each origin and of each kind of operation, of all of them.
        calls: how many steps were traced.
    """

    operations: tuple[Operation, ...]
    origins: Mapping[str, float]
    kinds: Mapping[str, float]
    calls: int

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "operations": [each.to_json() for each in self.operations],
            "origins": {name: round(share, 3) for name, share in self.origins.items()},
            "kinds": {name: round(share, 3) for name, share in self.kinds.items()},
            "calls": self.calls,
        }

    @staticmethod
    def from_json(described: object, kind: str = "hot") -> HotStep:
        """The inverse of `to_json`, which also reads the answer of a worker's `bench_trace`.

        Raises:
            DocumentError: `described` has another form.
        """
        document = Document(described, kind)
        return HotStep(
            operations=document.list("operations", Operation.from_json),
            origins=document.mapping("origins", number),
            kinds=document.mapping("kinds", number),
            calls=document.whole("calls"),
        )
