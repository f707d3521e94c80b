"""`[players]` of a task file: who plays, in which order, and which leaves that makes.

What each player has of its own stands in leaves below the player's name. `docs/players.md` has the whole table.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.model import REWARD, Leaf
from harness.task.schema import Location, Required, array_of, one_of, table, text
from harness.task.training import DEFAULTS

MOST_PLAYERS = 64
DEFAULT_EPISODES = 32
"""Of each policy at level 4 (`harness.task.contract.Transfer`)."""
TO_MOVE = "to_move"
ALIVE = "alive"
OWN = ("observation", "action", "legal_actions", REWARD, ALIVE, TO_MOVE)
"""Trees in which leaves of one player stand below its name."""


class Order(enum.StrEnum):
    """Whose actions a step takes."""

    TURNS = "turns"
    """Of the one player that the leaf `to_move` names, by its place among the names."""
    SIMULTANEOUS = "simultaneous"
    """Of all players."""
    ANY = "any"
    """Of those for which `to_move/<player>` is true."""


@dataclass(frozen=True)
class Players:
    """Who plays, by name, and whose actions a step takes."""

    names: tuple[str, ...]
    order: Order

    def of(self, path: str) -> str | None:
        """The player to whom a leaf belongs; None where it is of all, or of whoever is to move."""
        parts = path.split("/")
        return parts[1] if len(parts) > 1 and parts[0] in OWN and parts[1] in self.names else None


players = table(
    {
        "names": Required(array_of(text("a name of letters, digits and `_`", r"\w{1,64}"), at_least=2, unique=True)),
        "order": Required(one_of(*Order)),
    }
)
"""The kind of the table `[players]`."""


def check_players(written: Mapping[str, Any], read: Mapping[str, Any], root: Location) -> None:
    """Note what the leaves of a task must be that has several players, and what must not be there."""
    leaves: Mapping[str, Leaf] = read.get("leaves", {})
    stated = written.get("players")
    transfer = written.get("transfer")
    transfer = transfer if isinstance(transfer, dict) else {}
    if stated is None:
        ppo = transfer.get("ppo")
        of_several = [("opponents",)] if "opponents" in transfer else []
        of_several += [("ppo", name) for name in ("seats", "past") if isinstance(ppo, dict) and name in ppo]
        for steps in of_several:
            root.at("transfer", *steps).wrong("the task has one player", "no such line, or a table [players]")
        for path in leaves:
            if path.split("/")[0] in (TO_MOVE, ALIVE) or path.startswith(f"{REWARD}/"):
                root.at("leaves", path).wrong(
                    "the task has one player", "a table [players] with `names` and `order`, or no such leaf"
                )
        if REWARD in leaves and leaves[REWARD].shape:
            root.at("leaves", REWARD).wrong(
                f"it has the shape {list(leaves[REWARD].shape)}",
                "one number; where several play, a table [players], and a leaf `reward/<player>` for each",
            )
        return
    given = read.get("players", {})
    names, order = given.get("names"), given.get("order")
    if names is None or order is None or not all(isinstance(name, str) for name in names):
        return  # noted already
    here = root.at("players")
    if len(names) > MOST_PLAYERS:
        here.at("names").wrong(f"there are {len(names)} players", f"at most {MOST_PLAYERS}")
    _no_single_reward(written, root.at("leaves"))
    _of_all(REWARD, names, leaves, root)
    if any(path.split("/")[0] == ALIVE for path in leaves):
        _of_all(ALIVE, names, leaves, root)
        _flags(ALIVE, leaves, root)
    for tree in ("observation", "action"):
        _shared_or_own(tree, names, leaves, root)
    for path in leaves if order != Order.TURNS else ():
        if path.split("/")[0] == "action" and not set(path.split("/")[1:2]) & set(names):
            root.at("leaves", path).wrong(
                f"players act in the order `{order}`", "an action leaf `action/<player>` for each"
            )
    _to_move(names, order, leaves, root)
    _level_4(transfer, names, root.at("transfer"))


def _no_single_reward(written: Mapping[str, Any], location: Location) -> None:
    stated = written.get("leaves")
    if isinstance(stated, dict) and REWARD in stated:
        location.at(REWARD).wrong("it is the reward of nobody", "a leaf `reward/<player>` for each player")


def _of_all(tree: str, names: Sequence[str], leaves: Mapping[str, Leaf], root: Location) -> None:
    """Every player has a leaf below this tree, and nobody else."""
    there = [path for path in leaves if path.startswith(f"{tree}/")]
    for path in there:
        if path.removeprefix(f"{tree}/") not in names:
            root.at("leaves", path).wrong(
                "there is no such player", f"one of {', '.join(f'{tree}/{name}' for name in names)}",
                given=path, choices=[f"{tree}/{name}" for name in names],
            )  # fmt: skip
    for name in names:
        if f"{tree}/{name}" not in there:
            root.at("leaves").wrong(f"there is no leaf `{tree}/{name}`", "one for each player")


def _shared_or_own(tree: str, names: Sequence[str], leaves: Mapping[str, Leaf], root: Location) -> None:
    """Leaves below this tree are of all together, or each player has some."""
    owners = {path: path.split("/")[1] for path in leaves if path.startswith(f"{tree}/")}
    if not set(owners.values()) & set(names):
        return
    for path, owner in owners.items():
        if owner not in names:
            root.at("leaves", path).wrong(
                f"`{owner}` is no player, and other leaves below `{tree}/` are of players",
                f"a name of a player first, as in `{tree}/{names[0]}/...`", given=owner, choices=names,
            )  # fmt: skip
    for name in names:
        if name not in owners.values():
            root.at("leaves").wrong(f"`{name}` has no leaf below `{tree}/`", "some, as the others have")


def _to_move(names: Sequence[str], order: str, leaves: Mapping[str, Leaf], root: Location) -> None:
    there = [path for path in leaves if path.split("/")[0] == TO_MOVE]
    if order == Order.TURNS:
        leaf = leaves.get(TO_MOVE)
        if leaf is None:
            root.at("leaves").wrong(
                f"there is no leaf `{TO_MOVE}`", "it, the place of the player to move among the names"
            )
        elif leaf.shape or np.dtype(leaf.dtype).kind not in "iu" or (leaf.low, leaf.high) != (0, len(names) - 1):
            root.at("leaves", TO_MOVE).wrong(
                f"it is {leaf.dtype} of shape {list(leaf.shape)}, from {leaf.low} to {leaf.high}",
                f"one integer with low = 0 and high = {len(names) - 1}: the place of a player among the names",
            )
    elif order == Order.ANY:
        _of_all(TO_MOVE, names, leaves, root)
        _flags(TO_MOVE, leaves, root)
        there = [path for path in there if path == TO_MOVE]
    if order != Order.TURNS:
        for path in there:
            root.at("leaves", path).wrong(f"players act in the order `{order}`", 'no such leaf, or `order = "turns"`')


def _flags(tree: str, leaves: Mapping[str, Leaf], root: Location) -> None:
    for path, leaf in leaves.items():
        if path.startswith(f"{tree}/") and (leaf.dtype != "bool" or leaf.shape):
            root.at("leaves", path).wrong(f"it is {leaf.dtype} of shape {list(leaf.shape)}", "one bool")


def _level_4(transfer: Mapping[str, Any], names: Sequence[str], here: Location) -> None:
    """Every seat meets every opponent equally often, and what one agent alone can do is not asked for."""
    opponents, episodes = transfer.get("opponents", [""]), transfer.get("episodes", DEFAULT_EPISODES)
    if transfer and isinstance(opponents, list) and isinstance(episodes, int):
        together = len(names) * max(1, len(opponents))
        if episodes % together or episodes < 2 * together:
            here.at("episodes").wrong(
                f"{episodes} episodes for {len(names)} seats and {max(1, len(opponents))} opponents",
                f"a multiple of {together}, and at least {2 * together}: each seat meets each opponent equally often",
            )
    ppo = transfer.get("ppo")
    for name in ("hold", "keep_best"):
        if isinstance(ppo, dict) and ppo.get(name, DEFAULTS[name]) != DEFAULTS[name]:
            here.at("ppo", name).wrong("several play", f"{name} = {str(DEFAULTS[name]).lower()}, the default")
