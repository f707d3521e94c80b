"""Who is in a team, and what is on who fights, as far as a player is told."""

from __future__ import annotations

from dataclasses import dataclass, field

LESSENS = {"par": (2, 0.25), "brn": (0, 0.5)}
"""Which of the four stats a status lowers, and to which share."""
RAISED, LOWERED = (1, 1.5, 2, 2.5, 3, 3.5, 4), (1, 0.66, 0.5, 0.4, 0.33, 0.28, 0.25)
MOST, STATS = 999, 4


@dataclass
class Member:
    """One of a team. Of the other's team hit points are of 100, and moves, points and stats are not told."""

    name: str
    species: int
    level: int
    types: list[int]
    hp: int = 0
    most: int = 100
    status: str = ""
    moves: list[int] = field(default_factory=lambda: [0] * 4)
    points: list[int] = field(default_factory=lambda: [0] * 4)
    stats: list[int] = field(default_factory=lambda: [0] * STATS)

    def take(self, condition: str) -> None:
        """Hit points and status, as `120/300 par`; of who fainted `0 fnt` alone."""
        points, _, status = condition.partition(" ")
        hp, _, most = points.partition("/")
        self.hp, self.most = int(hp), int(most or self.most)
        if status != "fnt":  # it is there until the line `faint`
            self.status = status


@dataclass
class Fighter:
    """Who is in battle, and what is on it until it leaves.

    Attributes:
        place: in its team.
        modified: the four stats as stages and status leave them; `stats` without.
        last, before: the moves that it made last, by number.
        on: names of what is on it.
        disabled: the place of the move that is, from 1 on.
        substitute: its points.
    """

    place: int
    types: list[int]
    stats: list[int]
    modified: list[int]
    moves: list[int]
    points: list[int]
    boosts: list[int] = field(default_factory=lambda: [0] * 6)
    last: int = 0
    before: int = 0
    on: set[str] = field(default_factory=set)
    disabled: int = 0
    substitute: int = 0
    transformed: bool = False

    @staticmethod
    def of(member: Member, place: int) -> Fighter:
        """A member that comes in."""
        stats = list(member.stats)
        fighter = Fighter(place, list(member.types), stats, list(stats), list(member.moves), list(member.points))
        fighter.lessen(member.status)
        return fighter

    def lessen(self, status: str) -> None:
        """What a status does to the stats."""
        if status in LESSENS and any(self.stats):
            stat, share = LESSENS[status]
            self.modified[stat] = max(1, int(self.modified[stat] * share))

    def change(self, at: int, by: int, *, keeps: bool) -> bool:
        """Change a stage, and the stat with it, but where it `keeps` its value. Returns whether the stat was at its end."""
        self.boosts[at] = max(-6, min(6, self.boosts[at] + by))
        if at >= STATS or not any(self.stats) or keeps:
            return False
        if self.modified[at] == (MOST if by > 0 else 1):
            return True
        stage = self.boosts[at]
        changed = max(1, int(self.stats[at] * (RAISED[stage] if stage >= 0 else LOWERED[-stage])))
        self.modified[at] = min(MOST, changed) if by > 0 else changed
        return False
