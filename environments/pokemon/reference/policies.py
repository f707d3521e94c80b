"""Scripted players. Each takes a timestep and a random generator, and gives both actions.

Random players switch in most turns, as most of what is legal are switches: few moves happen, and none of the long ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PLAYERS = ("p1", "p2")
MOVES = 4


def _both(choose: Any) -> Any:
    def policy(timestep: dict[str, Any], random: Any) -> dict[str, int]:
        return {f"action/{name}": choose(player, timestep, random) for player, name in enumerate(PLAYERS)}

    return policy


def _some(actions: Any, random: Any) -> int:
    return int(actions[random.randint(len(actions))]) if len(actions) else 0


def _fight(player: int, timestep: dict[str, Any], random: Any, switches: float) -> int:
    legal = np.flatnonzero(timestep[f"legal_actions/{PLAYERS[player]}"])
    moves = legal[legal < MOVES]
    if len(moves) and random.random_sample() >= switches:
        return _some(moves, random)
    others = legal[legal >= MOVES]
    return _some(others if len(others) else moves, random)


def _stay(player: int, timestep: dict[str, Any], random: Any) -> int:
    """Hardly ever switches."""
    return _fight(player, timestep, random, 0.02)


def _change(player: int, timestep: dict[str, Any], random: Any) -> int:
    """Switches now and then."""
    return _fight(player, timestep, random, 0.2)


def _repeat(player: int, timestep: dict[str, Any], random: Any) -> int:
    """Goes on with the move that was chosen last, as who uses up a move's last points does."""
    legal = np.flatnonzero(timestep[f"legal_actions/{PLAYERS[player]}"])
    slot = int(timestep["state/slot"][player])
    if slot in legal and random.random_sample() < 0.85:
        return slot
    return _fight(player, timestep, random, 0.1)


class Strong:
    """Who takes the move that promises the most damage, and where nothing does, may leave."""

    def __init__(self, moves: Any, effects: Any, leaves: float) -> None:
        self._moves = np.array([[0, 0, 0], *moves], float)
        self._effects = np.array(effects, float) / 10
        self._leaves = leaves

    def __call__(self, player: int, timestep: dict[str, Any], random: Any) -> int:
        legal = np.flatnonzero(timestep[f"legal_actions/{PLAYERS[player]}"])
        moves, others = legal[legal < MOVES], legal[legal >= MOVES]
        if not len(moves):
            return _some(others, random)
        promised = self._promised(player, timestep)[moves]
        if len(others) and promised.max() < 40 and random.random_sample() < self._leaves:
            return _some(others, random)
        return int(moves[promised.argmax()])

    def _promised(self, player: int, timestep: dict[str, Any]) -> Any:
        own = [int(kind) for kind in timestep["state/types"][player] if kind]
        against = [int(kind) - 1 for kind in timestep["state/types"][1 - player] if kind]
        kinds, powers, accuracies = self._moves[timestep["state/act_moves"][player]].T
        effects = self._effects[kinds.astype(int) - 1][:, against].prod(axis=1)
        return powers * accuracies / 100 * np.where(np.isin(kinds, own), 1.5, 1) * effects


def policies(moves: Any, effects: Any) -> dict[str, Any]:
    """All of them by name.

    Args:
        moves: of each move by number less one: type, power, accuracy in percent.
        effects: tenths by which damage is multiplied, `[type, target]`, each less one.
    """
    chosen = {"stay": _stay, "change": _change, "repeat": _repeat}
    chosen |= {"damage": Strong(moves, effects, 0.0), "careful": Strong(moves, effects, 0.5)}
    return {name: _both(policy) for name, policy in chosen.items()}
