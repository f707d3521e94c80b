"""Turns of Pokémon battles for tests: two who fight, what is on them, and every roll."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.model import Array, Case, Draw
from harness.protocol.environment import Environment
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS

TASK = load_task(ENVIRONMENTS / "pokemon")
SNORLAX, NORMAL, TACKLE = 143, 1, 33
MEMBER = {"species": SNORLAX, "level": 100, "max_hp": 300, "hp": 300, "seen": True}
MEMBER |= {"stats": [200] * 4, "moves": [TACKLE, 0, 0, 0], "pp": [20, 0, 0, 0]}
FOLLOWS = {"stored": "stats", "modified": "stats", "act_moves": "moves", "act_pp": "pp"}
"""What the one who fights has of its own, where a test says nothing else."""
DEFAULTS = {"request": 1, "types": [NORMAL, 0], "toxic": -1}


def fight(first: Mapping[str, Any], second: Mapping[str, Any], **whole: Any) -> dict[str, Array]:
    """A canonical state: of each side what the first of its team is and has on it; all others are unhurt and the same.

    Args:
        whole: of the battle, `turn` and `last_damage`.
    """
    sides = [_side(given) for given in (first, second)]
    start = {}
    for path, leaf in TASK.leaves.items():
        if not path.startswith("state/"):
            continue
        name = path.removeprefix("state/")
        value = whole.get(name, 2 if name == "turn" else 0) if not leaf.shape else [side[name] for side in sides]
        start[path] = np.array(value, leaf.dtype).reshape(leaf.shape)
    return start


def _side(given: Mapping[str, Any]) -> dict[str, Any]:
    fights = {**MEMBER, "pp": [20 if move else 0 for move in given.get("moves", MEMBER["moves"])], **given}
    side: dict[str, Any] = {}
    for path, leaf in TASK.leaves.items():
        name = path.removeprefix("state/")
        if leaf.shape[:2] == (2, 6) and name != "boosts":
            blank = np.zeros(leaf.shape[2:], int).tolist()
            side[name] = [fights.get(name, blank)] + [MEMBER.get(name, blank)] * 5
        elif leaf.shape:
            default = DEFAULTS.get(name, np.zeros(leaf.shape[1:], int).tolist())
            side[name] = fights.get(name, fights[FOLLOWS[name]] if name in FOLLOWS else default)
    side["selected"] = given.get("selected", fights["moves"][0])
    return side


def turns(
    reference: Environment,
    start: Mapping[str, Array],
    *steps: tuple[int, int, Sequence[tuple[str, int]]],
) -> dict[str, Array]:
    """The last timestep after these steps, each both actions and all rolls in their order.

    Raises:
        Raised: an action is not legal, or a roll is missing or left over.
    """
    actions = {f"action/p{player}": np.array([step[player - 1] for step in steps], np.int32) for player in (1, 2)}
    draws = [[], *([Draw(name, np.array(value, np.int32)) for name, value in step[2]] for step in steps)]
    [trajectory] = reference.rollout([Case(0, actions, start=dict(start), draws=draws)])
    return {path.removeprefix("state/"): array[-1] for path, array in trajectory.leaves.items()}
