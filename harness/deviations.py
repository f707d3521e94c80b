"""How far the floats of a candidate were off: for each leaf the distribution over the timesteps that were compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.support.document import Document, DocumentError, number

FOLLOWED, FLOATS = "episodes", "floats"
"""What the lines for readers are about."""
SHOWN = 12
"""So many leaves are told one by one, those that use most of their tolerance first; the others are counted."""
SHARES = (0.5, 0.999, 1.0)
"""The quantiles of a distribution that are told: the median, all but one of a thousand, the largest."""
MOST_COUNT = 1 << 63
_NAMES = ("median", "most", "largest")


@dataclass(frozen=True)
class Spread:
    """A distribution over timesteps: `median`, `most` (99.9% are at most so large) and `largest`.

    The largest is exact; the others are rounded up by less than an eighth.
    """

    median: float
    most: float
    largest: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return dict(vars(self))

    @staticmethod
    def from_json(described: object, kind: str = "spread") -> Spread:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        document.exactly(*_NAMES)
        found = Spread(*(document.number(name) for name in _NAMES))
        if not 0 <= found.median <= found.most <= found.largest:
            raise DocumentError(f"{kind} does not rise from 0; expected {' <= '.join(_NAMES)}")
        return found


@dataclass(frozen=True)
class Deviation:
    """How far one float leaf was off. Of a timestep the element counts that is off by most.

    Attributes:
        timesteps: how many were compared; `equal` of them were equal bit by bit.
        absolute, ulps: by how much, and by how many floats of the leaf's dtype; None where all were equal. What is no
            number on either side is left out: a NaN or an infinity is no distance away.
        share: the largest part of its tolerance that an element used; None where the leaf has none.
    """

    timesteps: int
    equal: int
    absolute: Spread | None = None
    ulps: Spread | None = None
    share: float | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        spreads = {
            name: None if spread is None else spread.to_json()
            for name, spread in (("absolute", self.absolute), ("ulps", self.ulps))
        }
        return {"timesteps": self.timesteps, "equal": self.equal, **spreads, "share": self.share}

    @staticmethod
    def from_json(described: object, kind: str = "deviation") -> Deviation:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        document.exactly("timesteps", "equal", "absolute", "ulps", "share")
        found = Deviation(
            document.whole("timesteps"),
            document.whole("equal"),
            document.read_or_none("absolute", Spread.from_json),
            document.read_or_none("ulps", Spread.from_json),
            document.read_or_none("share", number),
        )
        if not 0 < found.timesteps < MOST_COUNT or not 0 <= found.equal <= found.timesteps:
            raise DocumentError(f"{kind} has counts that cannot be; expected timesteps, and at most as many equal ones")
        if (found.absolute is None) != (found.ulps is None):
            raise DocumentError(
                f"{kind} has one of `absolute` and `ulps`; expected both, or neither where all are equal"
            )
        return found


@dataclass(frozen=True)
class OpenLoop:
    """For how many steps a candidate that nobody leads stays within the tolerances of the reference.

    Attributes:
        episodes: in how many it was looked at.
        candidate: the median number of steps after which it parts from the reference, or the episode ends.
        reference: the same of the reference and itself, each float of whose start is a unit in the last place off.
    """

    episodes: int
    candidate: float
    reference: float

    def __str__(self) -> str:
        """In one sentence."""
        return (
            f"open loop agreed for {self.candidate:g} steps in the median of {self.episodes} episodes; "
            f"the reference, a unit in the last place off at the start, parts from itself after {self.reference:g}"
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return dict(vars(self))

    @staticmethod
    def from_json(described: object, kind: str = "open loop") -> OpenLoop:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        document.exactly("episodes", "candidate", "reference")
        return OpenLoop(document.whole("episodes"), document.number("candidate"), document.number("reference"))


def told(
    deviations: Mapping[str, Deviation], *, resynchronised: bool = False, open_loop: OpenLoop | None = None
) -> list[tuple[str, str]]:
    """How episodes were compared, and the distributions, in a few lines for readers, as `harness.occurrences.told`; none
    where there are no floats.
    """
    lines = [(FOLLOWED, "resynchronised: each step begins at the reference's state, and is judged by itself")]
    lines = [*(lines if resynchronised else []), *([(FOLLOWED, str(open_loop))] if open_loop else [])]
    exact = [path for path, found in deviations.items() if found.ulps is None]
    off = sorted((path for path in deviations if path not in exact), key=lambda path: -(deviations[path].share or 0.0))
    lines += [(FLOATS, f"{path}: {_told(deviations[path])}") for path in off[:SHOWN]]
    if len(off) > SHOWN:
        lines.append((FLOATS, f"and {len(off) - SHOWN} more leaves were off by less of their tolerances"))
    if exact:
        named = (
            "all"
            if not off
            else ", ".join(exact[:SHOWN]) + (f" and {len(exact) - SHOWN} more" if len(exact) > SHOWN else "")
        )
        lines.append((FLOATS, f"bit-equal: {named}"))
    return lines


def _told(found: Deviation) -> str:
    assert found.absolute is not None and found.ulps is not None
    largest, most, median = (
        f"{off:.2g} ({ulps:.3g} ulp)"
        for off, ulps in (
            (found.absolute.largest, found.ulps.largest),
            (found.absolute.most, found.ulps.most),
            (found.absolute.median, found.ulps.median),
        )
    )
    used = "" if found.share is None else f"; {found.share:.1%} of its tolerance"
    return f"off by {largest} at most, {most} in 99.9% of {found.timesteps:,} timesteps, {median} in half of them{used}"
