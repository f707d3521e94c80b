"""Games of the trading card game on both sides: what differs, and how often each card was played and each effect begun.

    python -m benchmarks.cards [--games 20000] [--candidate rust] [--seed N] [--keep FILE]

Each game is played by the reference under one of the task's policies, in turn, and by the candidate with the same actions
and draws; every leaf of every timestep is compared. Decks are as the task draws them: half of them archetypes, half free
decks over the whole set. What was counted is kept in a file, if one is named, and a run that was interrupted goes on from
there.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.both_sides import TOGETHER, both_sides
from benchmarks.common import ENVIRONMENTS, report
from harness.model import Trajectory
from harness.support.files import write_durably
from harness.task.load import load_task

IN_TURN = 2
HAND, ATTACK, ABILITY, RETREAT = 1, 29, 31, 35
DECK = 20
ATTACKS, ABLE, PLAYED = (1, 2), 3, 4
"""Parts of a card that have an effect, as `state/run` numbers them."""


@dataclass
class Counts:
    """What was counted so far. `cards` says how often each was played from a hand, `effects` how often each was begun, by
    card and part (`name_of`).
    """

    candidate: str
    seed: int
    games: int = 0
    plies: int = 0
    differ: int = 0
    seconds: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    cards: Counter[str] = field(default_factory=Counter)
    effects: Counter[str] = field(default_factory=Counter)

    @classmethod
    def begin(cls, candidate: str, seed: int, kept: Path | None) -> Counts:
        """What was kept, or nothing yet.

        Raises:
            SystemExit: what was kept is of another candidate or of other games.
        """
        if kept is None or not kept.exists():
            return cls(candidate, seed)
        found = cls(**json.loads(kept.read_text(encoding="utf-8")))
        if (found.candidate, found.seed) != (candidate, seed):
            raise SystemExit(
                f"{kept} is of the candidate {found.candidate} from seed {found.seed}; expected {candidate} from {seed}:"
                " name another file, or ask for the same"
            )
        for name in ("ends", "cards", "effects"):
            setattr(found, name, Counter(getattr(found, name)))
        return found

    def keep(self, to: Path | None) -> None:
        """Write it all, whole or not at all."""
        if to is not None:
            write_durably(to, json.dumps(vars(self)).encode())


def name_of(card: int, part: int) -> str:
    """A part of a card that has an effect."""
    return f"{card}.{part}"


def uses(trajectory: Trajectory) -> tuple[Counter[str], Counter[str]]:
    """How often each card was played from a hand, and each effect of a card was begun."""
    leaves, actions = trajectory.leaves, trajectory.case.actions["action"]
    cards: Counter[str] = Counter()
    effects: Counter[str] = Counter()
    legal, phase, asked = leaves["legal_actions"], leaves["state/phase"], leaves["state/asked"]
    for step, action in enumerate(actions.tolist()):
        if not legal[step, action] or phase[step] > IN_TURN:
            continue
        side = int(asked[step])
        if HAND <= action < HAND + DECK:
            card = int(leaves["state/hand"][step, side, action - HAND])
            cards[str(card)] += 1
            effects[name_of(card, PLAYED)] += 1
        elif ATTACK <= action < RETREAT:
            place = 0 if action < ABILITY else action - ABILITY
            part = ATTACKS[action - ATTACK] if action < ABILITY else ABLE
            effects[name_of(int(leaves["state/card"][step, side, place]), part)] += 1
    return cards, effects


def all_uses() -> tuple[list[str], list[str]]:
    """Every card, and every effect that a player can begin."""
    tables = tomllib.loads((ENVIRONMENTS / "tcg" / "specification" / "data" / "cards.toml").read_text(encoding="utf-8"))
    effects = []
    for card in tables["pokemon"]:
        effects += [name_of(card["id"], part) for part, _ in zip(ATTACKS, card["attacks"], strict=False)]
        effects += [name_of(card["id"], ABLE)] if card.get("ability", "").startswith("turn") else []
    effects += [name_of(card["id"], PLAYED) for card in tables["trainers"] if "effect" in card]
    return [str(card["id"]) for card in [*tables["pokemon"], *tables["trainers"]]], effects


def main(given: Sequence[str] = ()) -> None:
    """Play, compare and report; a game that differs is told, and the run goes on."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cards", description=__doc__)
    parser.add_argument("--games", type=int, default=2048)
    parser.add_argument("--candidate", choices=("rust", "jax"), default="rust")
    parser.add_argument("--seed", type=int, default=1, help="of the first game; the others follow")
    parser.add_argument("--keep", type=Path, help="a file that keeps what was counted")
    asked = parser.parse_args(given)
    task = load_task(ENVIRONMENTS / "tcg").with_candidate(asked.candidate)
    counts = Counts.begin(asked.candidate, asked.seed, asked.keep)
    with both_sides(task) as both:
        while counts.games < asked.games:
            began = time.monotonic()
            policy = task.budgets.policies[counts.games // TOGETHER % len(task.budgets.policies)]
            seeds = range(asked.seed + counts.games, asked.seed + counts.games + TOGETHER)
            expected = both.reference.drive(policy, list(seeds), task.budgets.horizon)
            ends, differ = both.judge(expected, policy)
            counts.ends += ends
            counts.differ += differ
            for one in expected:
                counts.plies += one.steps
                played, begun = uses(one)
                counts.cards += played
                counts.effects += begun
            counts.games += TOGETHER
            counts.seconds += time.monotonic() - began
            counts.keep(asked.keep)
            print(f"{counts.games:,} of {asked.games:,} games, {counts.differ} differ", flush=True)
    known, parts = all_uses()
    card_counts, effect_counts = (
        np.array([counted[name] for name in names])
        for counted, names in ((counts.cards, known), (counts.effects, parts))
    )
    rarest = [known[at] for at in np.argsort(card_counts, kind="stable")[:5]]
    row = {
        "candidate": asked.candidate, "games": counts.games, "plies": counts.plies, "differ": counts.differ, **counts.ends,
        "cards": len(known), "played 200 times": int((card_counts >= 200).sum()),
        "effects": len(parts), "begun 100 times": int((effect_counts >= 100).sum()),
        "rarest cards": ", ".join(f"{card}: {counts.cards[card]}" for card in rarest),
        "least effect": int(effect_counts.min()),
        "plies/s": counts.plies / counts.seconds,
    }  # fmt: skip
    report("cards", "Games of the trading card game on both sides", [row])


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
