"""What was counted: tokens by kind, and responses of a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Tokens:
    """Tokens of one or of many responses; no token is counted under two names.

    Attributes:
        input: read without a cache.
        output: written, reasoning included.
        cache_read: read from a cache.
        cache_write: read and put into a cache; `cache_write_long` for an hour.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(*(mine + its for mine, its in zip(self.parts, other.parts, strict=True)))

    def beyond(self, other: Tokens) -> Tokens:
        """What this has more than another, kind by kind; nothing where it has less."""
        return Tokens(*(max(0, mine - its) for mine, its in zip(self.parts, other.parts, strict=True)))

    def most(self, other: Tokens) -> Tokens:
        """The larger of both, kind by kind."""
        return Tokens(*(max(mine, its) for mine, its in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[int, ...]:
        """The counts, in the order of the fields."""
        return dataclasses.astuple(self)

    @property
    def total(self) -> int:
        """All tokens together."""
        return sum(self.parts)

    @property
    def prompt(self) -> int:
        """What was sent, from caches or not."""
        return self.total - self.output

    def usage(self) -> dict[str, int]:
        """The counts as an event's `usage` states them."""
        return {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_tokens": self.cache_read,
            "cache_write_tokens": self.cache_write + self.cache_write_long,
        }

    def to_json(self) -> dict[str, int]:
        """A JSON-ready description."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(described: Mapping[str, int]) -> Tokens:
        """The inverse of `to_json`; counts that are missing or no counts are 0."""
        return Tokens(**{field.name: count(described.get(field.name)) for field in dataclasses.fields(Tokens)})


@dataclass(frozen=True)
class Response:
    """One answer of a model.

    Attributes:
        source: `claude` or `codex`.
        transcript: the name of the transcript that holds it.
        model: as the transcript names it.
        time: when, ISO 8601 in UTC.
    """

    source: str
    transcript: str
    model: str
    time: str
    tokens: Tokens


def count(value: object) -> int:
    """A count as it stands in somebody else's file: 0 for whatever is no count."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else 0
