"""Several players: what each sees, may do and earns, of the leaves of all. It needs only numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .leaves import bounds, is_action

TO_MOVE, ALIVE = "to_move", "alive"


class Seats:
    """Who plays, in which order, and which action leaf is whose.

    Args:
        leaves: of the environment's contract, by path.
        players: their names.

    Attributes:
        turns: whether they act one after the other: then `to_move` names who is next.

    Raises:
        TypeError: one agent plays, or an action of a player is more than one leaf.
    """

    def __init__(self, leaves: Mapping[str, Mapping[str, Any]], players: Sequence[str]) -> None:
        if not players:
            raise TypeError("this environment has one player: use its other interfaces")
        self.players = tuple(players)
        self.leaves = leaves
        self.turns = TO_MOVE in leaves
        self.actions: dict[str, str] = {}
        """The path of each player's action leaf, by name."""
        for player in self.players:
            path = "action" if "action" in leaves else f"action/{player}"
            if path not in leaves or not is_action(path):
                raise TypeError(f"the action of {player} is more than one leaf, which this interface cannot take")
            self.actions[player] = path

    def idle(self, player: str) -> Any:
        """An action within its bounds, for a player whose choice does not matter."""
        leaf = self.leaves[self.actions[player]]
        low, high = bounds(leaf)
        return np.clip(np.zeros(leaf["shape"], leaf["dtype"]), low, high).astype(leaf["dtype"])


def of_player(value: Any, player: str) -> Any:
    """What is a player's own of an output: below its name, or what is of all."""
    return value[player] if isinstance(value, Mapping) and player in value else value
