"""Games of the trading card game on both sides: what differs, and how often each card was played and each effect begun.

    python -m benchmarks.cards [--games 20000] [--candidate rust] [--seed N]

Each game is played by the reference under one of the task's policies, in turn, and by the candidate with the same actions
and draws; every leaf of every timestep is compared. Decks are as the task draws them: half of them archetypes, half free
decks over the whole set.
"""

from __future__ import annotations

import argparse
import time
import tomllib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.both_sides import TOGETHER, both_sides
from benchmarks.common import ENVIRONMENTS, report
from harness.model import Trajectory
from harness.task.load import load_task

IN_TURN = 2
HAND, ATTACK, ABILITY, RETREAT = 1, 29, 31, 35
DECK = 20
ATTACKS, ABLE, PLAYED = (1, 2), 3, 4
"""Parts of a card that have an effect, as `state/run` numbers them."""

Uses = Counter[tuple[int, int]]
"""How often parts of cards were used, by card and part."""


def uses(trajectory: Trajectory) -> tuple[Counter[int], Uses]:
    """How often each card was played from a hand, and each effect of a card was begun."""
    leaves, actions = trajectory.leaves, trajectory.case.actions["action"]
    cards: Counter[int] = Counter()
    effects: Uses = Counter()
    legal, phase, asked = leaves["legal_actions"], leaves["state/phase"], leaves["state/asked"]
    for step, action in enumerate(actions.tolist()):
        if not legal[step, action] or phase[step] > IN_TURN:
            continue
        side = int(asked[step])
        if HAND <= action < HAND + DECK:
            card = int(leaves["state/hand"][step, side, action - HAND])
            cards[card] += 1
            effects[card, PLAYED] += 1
        elif ATTACK <= action < RETREAT:
            place = 0 if action < ABILITY else action - ABILITY
            part = ATTACKS[action - ATTACK] if action < ABILITY else ABLE
            effects[int(leaves["state/card"][step, side, place]), part] += 1
    return cards, effects


def all_uses() -> tuple[list[int], list[tuple[int, int]]]:
    """Every card, and every effect that a player can begin."""
    tables = tomllib.loads((ENVIRONMENTS / "tcg" / "specification" / "data" / "cards.toml").read_text(encoding="utf-8"))
    effects = []
    for card in tables["pokemon"]:
        effects += [(card["id"], part) for part, _ in zip(ATTACKS, card["attacks"], strict=False)]
        effects += [(card["id"], ABLE)] if card.get("ability", "").startswith("turn") else []
    effects += [(card["id"], PLAYED) for card in tables["trainers"] if "effect" in card]
    return [card["id"] for card in [*tables["pokemon"], *tables["trainers"]]], effects


def main(given: Sequence[str] = ()) -> None:
    """Play, compare and report; a game that differs is told, and the run goes on."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cards", description=__doc__)
    parser.add_argument("--games", type=int, default=2048)
    parser.add_argument("--candidate", choices=("rust", "jax"), default="rust")
    parser.add_argument("--seed", type=int, default=1, help="of the first game; the others follow")
    asked = parser.parse_args(given)
    task = load_task(ENVIRONMENTS / "tcg").with_candidate(asked.candidate)
    games = plies = 0
    cards: Counter[int] = Counter()
    effects: Uses = Counter()
    began = time.monotonic()
    with both_sides(task) as both:
        while games < asked.games:
            policy = task.budgets.policies[games // TOGETHER % len(task.budgets.policies)]
            seeds = range(asked.seed + games, asked.seed + games + TOGETHER)
            expected = both.reference.drive(policy, list(seeds), task.budgets.horizon)
            both.judge(expected, policy)
            for one in expected:
                plies += one.steps
                played, begun = uses(one)
                cards += played
                effects += begun
            games += TOGETHER
            print(f"{games:,} of {asked.games:,} games, {both.differing} differ", flush=True)
    known, parts = all_uses()
    card_counts, effect_counts = np.array([cards[card] for card in known]), np.array([effects[part] for part in parts])
    rarest = [known[at] for at in np.argsort(card_counts, kind="stable")[:5]]
    row = {
        "candidate": asked.candidate, "games": games, "plies": plies, "differ": both.differing, **both.ends,
        "cards": len(known), "played 200 times": int((card_counts >= 200).sum()),
        "effects": len(parts), "begun 100 times": int((effect_counts >= 100).sum()),
        "rarest cards": ", ".join(f"{card}: {cards[card]}" for card in rarest),
        "least effect": int(effect_counts.min()),
        "plies/s": plies / (time.monotonic() - began),
    }  # fmt: skip
    report("cards", "Games of the trading card game on both sides", [row])


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
