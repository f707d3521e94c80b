"""The table of outcomes of a level: what occurred in all that was compared there, how often, and what never did."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.support.document import Document, DocumentError, items, text, whole

ENDS = ("terminated", "truncated", "both")
"""The kinds of end: by which of the two leaves, or by both in one step."""
SIDES = ("low", "high")
MOST_REWARDS = 32
"""So many different rewards are counted one by one; of more, their range and signs."""
MOST_ACTIONS = 64
"""An action leaf of at most so many values is told value by value."""
MOST_COUNT = 1 << 63
MOST_LEAVES = 10_000
MOST_PATH = 500
ENDED, RESULTED, REWARDED, NEVER = "ends", "results", "rewards", "never"
"""What the lines for readers are about."""
SHOWN = 12
"""So many of a kind are named to readers; the others are counted."""
_NUMBER = re.compile(r"-?\d{1,40}(\.\d{1,40})?(e[+-]?\d{1,4})?|nan|-?inf")


@dataclass(frozen=True)
class RewardRange:
    """Many different rewards together.

    `smallest` and `largest` are numbers as text. The other fields count rewards by their sign; a NaN has none.
    """

    smallest: str
    largest: str
    negative: int
    zero: int
    positive: int

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return dict(vars(self))

    @staticmethod
    def from_json(described: object, kind: str = "reward range") -> RewardRange:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        document.exactly("smallest", "largest", "negative", "zero", "positive")
        smallest, largest = (_number(document.text(name), f"{kind}.{name}") for name in ("smallest", "largest"))
        negative, zero, positive = (
            _count(document.content[name], f"{kind}.{name}") for name in ("negative", "zero", "positive")
        )
        return RewardRange(smallest, largest, negative, zero, positive)


@dataclass(frozen=True)
class Earned:
    """What one of several players earned: how often each reward came, or of many the range; as in `Occurrences`."""

    rewards: Mapping[str, int]
    reward_range: RewardRange | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "rewards": dict(self.rewards),
            "reward_range": None if self.reward_range is None else self.reward_range.to_json(),
        }

    @staticmethod
    def from_json(described: object, kind: str = "rewards of a player") -> Earned:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        rewards = document.mapping("rewards", _count)
        reward_range = document.read_or_none("reward_range", RewardRange.from_json)
        for value in rewards:
            _number(value, f"{kind}.rewards")
        if len(rewards) > MOST_REWARDS or (rewards and reward_range is not None):
            raise DocumentError(f"{kind}.rewards has {len(rewards)} values; expected {MOST_REWARDS}, or a range")
        return Earned(rewards, reward_range)


@dataclass(frozen=True)
class Occurrences:
    """What the reference answered in the comparisons of a level, counted.

    Attributes:
        trajectories, steps: how much was looked at. A step that was compared several times counts as often.
        ends: of each kind in ENDS, how many trajectories ended so.
        rewards: how often each reward came, by its value as text, ascending; empty where there were more than MOST_REWARDS.
        reward_range: of more than that; otherwise None.
        unreached: of leaves of state and observation, the finite bounds (`low`, `high`) on which no value ever lay.
        untaken: of action leaves with few values, those that were never taken.
        longest: steps of the longest trajectory; None in older records.
        players: of several players what each earned, by name; `rewards` and `reward_range` then hold nothing.
        results: of several players how many trajectories ended with these rewards in the last step, as text, in the order
            of the players; empty where there were more than MOST_REWARDS.
    """

    trajectories: int
    steps: int
    ends: Mapping[str, int]
    rewards: Mapping[str, int] = field(default_factory=dict)
    reward_range: RewardRange | None = None
    unreached: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    untaken: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    longest: int | None = None
    players: Mapping[str, Earned] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)

    @property
    def never(self) -> tuple[str, ...]:
        """What never occurred, by the names that a task's requirements have. Both ends in one step are
        expected only where each came alone: most environments know but one."""
        alone, both = ENDS[:2], ENDS[2]
        return (
            *(f"end {kind}" for kind in alone if not self.ends.get(kind)),
            *([f"end {both}"] if all(map(self.ends.get, alone)) and not self.ends.get(both) else []),
            *(f"{path} {value}" for path, values in self.untaken.items() for value in values),
            *(f"{path} {side}" for path, sides in self.unreached.items() for side in sides),
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        longest = {} if self.longest is None else {"longest": self.longest}
        players = {
            "players": {name: earned.to_json() for name, earned in self.players.items()},
            "results": dict(self.results),
        }
        return (
            longest
            | (players if self.players else {})
            | {
                "trajectories": self.trajectories,
                "steps": self.steps,
                "ends": dict(self.ends),
                **Earned(self.rewards, self.reward_range).to_json(),
                "unreached": {path: list(sides) for path, sides in self.unreached.items()},
                "untaken": {path: list(values) for path, values in self.untaken.items()},
            }
        )

    @staticmethod
    def from_json(described: object, kind: str = "occurrences") -> Occurrences:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        ends = document.object("ends")
        ends.exactly(*ENDS)
        earned = Earned.from_json(described, kind)
        players = document.mapping("players", Earned.from_json) if "players" in document.content else {}
        found = Occurrences(
            trajectories=_count(document.whole("trajectories"), f"{kind}.trajectories"),
            steps=_count(document.whole("steps"), f"{kind}.steps"),
            ends={name: _count(ends.content[name], f"{ends.kind}.{name}") for name in ENDS},
            rewards=earned.rewards,
            reward_range=earned.reward_range,
            unreached=document.mapping("unreached", items(_side)),
            untaken=document.mapping("untaken", items(_value)),
            longest=document.read_or_none("longest", _count),
            players=players,
            results=document.mapping("results", _count) if players else {},
        )
        _demand_results(found, kind)
        for name, most, by_leaf in (
            ("unreached", len(SIDES), found.unreached),
            ("untaken", MOST_ACTIONS, found.untaken),
        ):
            if len(by_leaf) > MOST_LEAVES or any(len(path) > MOST_PATH for path in by_leaf):
                raise DocumentError(f"{kind}.{name} does not name leaves of a task")
            if any(len(each) > most for each in by_leaf.values()):
                raise DocumentError(f"{kind}.{name} has a leaf with more than {most} entries")
        return found


def told(occurred: Occurrences | None, features: Mapping[str, int]) -> list[tuple[str, str]]:
    """The table of outcomes in a few lines for readers: in each what it is about, and what there is to say.

    Args:
        occurred: None where no trajectories were compared; then only features are told.
        features: how often each declared feature was seen, where features were counted.
    """
    lines: list[tuple[str, str]] = []
    if occurred is not None:
        ends = ", ".join(f"{count:,} {kind}" for kind, count in occurred.ends.items() if count) or "none"
        if occurred.longest is not None:
            ends += f"; the longest took {occurred.longest:,} step{'' if occurred.longest == 1 else 's'}"
        lines = [(ENDED, ends), *_paid(occurred)]
    never = [
        *(name for name, count in features.items() if not count),
        *(occurred.never if occurred is not None else ()),
    ]
    if never:
        more = f" and {len(never) - SHOWN} more" if len(never) > SHOWN else ""
        lines.append((NEVER, ", ".join(never[:SHOWN]) + more))
    return lines


def _paid(occurred: Occurrences) -> list[tuple[str, str]]:
    """Lines about rewards; of several players first how episodes ended for them."""
    if not occurred.players:
        return [(REWARDED, _rewards(Earned(occurred.rewards, occurred.reward_range)))]
    results = [f"{result} ({count:,} times)" for result, count in occurred.results.items()]
    more = f" and {len(results) - SHOWN} more" if len(results) > SHOWN else ""
    told = f"{', '.join(occurred.players)}: {'; '.join(results[:SHOWN])}{more}" if results else "many different ones"
    return [(RESULTED, told), *((REWARDED, f"{name}: {_rewards(each)}") for name, each in occurred.players.items())]


def _rewards(occurred: Earned) -> str:
    spread = occurred.reward_range
    if spread is not None:
        signs = f"{spread.negative:,} negative, {spread.zero:,} zero, {spread.positive:,} positive"
        return f"from {spread.smallest} to {spread.largest}: {signs}"
    counted = list(occurred.rewards.items())
    more = f" and {len(counted) - SHOWN} more" if len(counted) > SHOWN else ""
    return ", ".join(f"{value} ({count:,} times)" for value, count in counted[:SHOWN]) + more or "none"


def _demand_results(found: Occurrences, kind: str) -> None:
    if len(found.players) > MOST_LEAVES or any(len(name) > MOST_PATH for name in found.players):
        raise DocumentError(f"{kind}.players does not name players of a task")
    if len(found.results) > MOST_REWARDS:
        raise DocumentError(f"{kind}.results has {len(found.results)} values; expected {MOST_REWARDS} at most")
    for result in found.results:
        rewards = result.split(", ")
        if len(rewards) != len(found.players):
            raise DocumentError(f"{kind}.results has {result!r:.80}; expected a reward for each player")
        for value in rewards:
            _number(value, f"{kind}.results")


def _count(value: Any, name: str) -> int:
    if not 0 <= whole(value, name) < MOST_COUNT:
        raise DocumentError(f"{name} is no count: expected 0 or more, and less than 2^63")
    return value


def _value(value: Any, name: str) -> int:
    if abs(whole(value, name)) >= 2 * MOST_COUNT:
        raise DocumentError(f"{name} is no action: expected a whole number of 64 bits")
    return value


def _side(value: Any, name: str) -> str:
    if text(value, name) not in SIDES:
        raise DocumentError(f"{name} is {value!r:.80}; expected one of {', '.join(SIDES)}")
    return value


def _number(value: str, name: str) -> str:
    if not _NUMBER.fullmatch(value):
        raise DocumentError(f"{name} has {value!r:.80}; expected a number as text")
    return value
