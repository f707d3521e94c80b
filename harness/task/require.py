"""`[[require]]` of a task file: what a level must have reached for its PASS to be one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import TaskError
from harness.model import REWARD, STATE, Leaf, is_reward
from harness.occurrences import ENDS, SIDES
from harness.support.foreign import toml_of
from harness.support.toml_lines import key_lines
from harness.task.schema import Location, Mistakes, describe, number, one_of, table, text, valid, whole

FEATURES_FROM = 3
"""Features are counted from this level on."""
LEVELS = (1, 2, 3, 4)
THINGS = ("feature", "end", "reward", "action", "bound")
ONE_THING = "one of `feature`, `end`, `reward`, `action`, and `bound` with its `leaf`"
WITH_LEAF = ("bound", "action", "reward")


@dataclass(frozen=True)
class Requirement:
    """Something that must occur in what a level compares, and how often at least. One of its things is not None.

    Attributes:
        feature: a feature that `properties.py` declares: so many timesteps show it.
        end: `terminated`, `truncated` or `both`: so many trajectories end so.
        reward: so many steps earn it; with several players, that of `leaf`.
        action: so many steps take it, a value of `leaf`.
        leaf, bound: in so many timesteps a value of the leaf lies on its bound `low` or `high`, or beyond.
        times: how often.
        level: at which level.
    """

    feature: str | None = None
    end: str | None = None
    reward: float | None = None
    action: int | None = None
    leaf: str | None = None
    bound: str | None = None
    times: int = 1
    level: int = 3

    def __str__(self) -> str:
        """What must occur."""
        if self.feature is not None:
            return f"feature {self.feature}"
        if self.end is not None:
            return f"end {self.end}"
        if self.reward is not None:
            return f"{self.leaf or REWARD} {self.reward!r}"
        return f"{self.leaf} {self.bound if self.action is None else self.action}"


def _action(value: Any, location: Location) -> Any:
    if type(value) is not int or abs(value) >= 1 << 64:
        return location.wrong(f"it is {describe(value)}", "an integer of at most 64 bits, a value of an action")
    return value


def _level(value: Any, location: Location) -> Any:
    if type(value) is not int or value not in LEVELS:
        return location.wrong(f"it is {describe(value)}", f"one of the levels {', '.join(map(str, LEVELS))}")
    return value


requirement = table(
    {
        "feature": text("the name of a feature"),
        "end": one_of(*ENDS),
        "reward": number("a reward: a finite number"),
        "action": _action,
        "leaf": text("the path of a leaf"),
        "bound": one_of(*SIDES),
        "times": whole(1),
        "level": _level,
    }
)


def built(read: Mapping[str, Any]) -> Requirement:
    """The requirement of a table without mistakes."""
    named = {"leaf": "action"} if "action" in read else {}
    return Requirement(**{**named, **read})


def check_required(written: Mapping[str, Any], read: Mapping[str, Any], location: Location) -> None:
    """Note what requirements ask of leaves, actions and levels that the task does not have."""
    leaves = read.get("leaves", {})
    stated_leaves, transfer = (
        part if isinstance(part := written.get(name), dict) else {} for name in ("leaves", "transfer")
    )
    for index, each in valid(read.get("require", ())):
        here, stated = location.at(index), written["require"][index]
        _one_thing(stated, here)
        if each.get("level") == LEVELS[-1] and "steps" not in transfer:
            here.at("level").wrong("the task has no level 4", "1, 2 or 3, or `steps` in [transfer]")
        if "feature" in each and each.get("level", Requirement.level) < FEATURES_FROM:
            what = f"no features are counted at level {each['level']}"
            here.at("level").wrong(what, f"{FEATURES_FROM} or above")
        if "reward" in each:
            _of_reward(each["reward"], each.get("leaf", REWARD), leaves, here)
            continue
        path = each.get("leaf", "action" if "action" in each and "leaf" not in stated else None)
        if path is None or (path in stated_leaves and path not in leaves):
            continue  # what is wrong there is noted already
        if "action" in each:
            _of_action(each["action"], path, leaves, here)
        elif "bound" in each:
            _of_bound(each["bound"], path, leaves, here.at("leaf"))


def _one_thing(stated: Mapping[str, Any], location: Location) -> None:
    named = [name for name in THINGS if name in stated]
    if len(named) != 1:
        what = f"it asks for several things: {', '.join(named)}" if named else "it asks for nothing"
        location.wrong(what, f"{ONE_THING}; a table [[require]] for each")
    elif named == ["bound"] and "leaf" not in stated:
        location.wrong("the key `leaf` is missing", "the leaf whose bound must be reached")
    elif "leaf" in stated and named[0] not in WITH_LEAF:
        location.at("leaf").wrong(
            f"a requirement of `{named[0]}` has no leaf", "`leaf` beside `bound`, `action` or `reward`"
        )


def _value(value: float, leaf: Leaf, location: Location) -> None:
    """A value that a leaf could have."""
    low = np.min(-np.inf if leaf.low is None else leaf.low)
    high = np.max(np.inf if leaf.high is None else leaf.high)
    if np.dtype(leaf.dtype).kind in "iu" and not float(value).is_integer():
        location.wrong(f"it is {value:g}", f"a whole number, as the leaf is {leaf.dtype}")
    elif not low <= value <= high or not _fits(value, np.dtype(leaf.dtype)):
        location.wrong(f"it is {value:g}, which `{leaf.path}` is never", f"{low:g} to {high:g}, as {leaf.dtype}")


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)


def _of_reward(value: float, path: str, leaves: Mapping[str, Leaf], location: Location) -> None:
    rewards = [name for name in leaves if is_reward(name)]
    if path in rewards:
        _value(value, leaves[path], location.at("reward"))
    elif path != REWARD or len(rewards) > 1:
        expected = f"`leaf`, one of {', '.join(rewards)}"
        location.wrong(f"there is no leaf `{path}` of rewards", expected, given=path, choices=rewards)


def _of_action(value: int, path: str, leaves: Mapping[str, Leaf], location: Location) -> None:
    actions = [name for name in leaves if name == "action" or name.startswith("action/")]
    if path not in actions:
        expected = f"`leaf`, one of {', '.join(actions)}"
        location.wrong(f"there is no action leaf `{path}`", expected, given=path, choices=actions)
    elif leaves[path].shape or np.dtype(leaves[path].dtype).kind not in "iu":
        described = f"{leaves[path].dtype} of shape {list(leaves[path].shape)}"
        location.at("action").wrong(f"`{path}` is {described}", "an action that is one integer")
    else:
        _value(value, leaves[path], location.at("action"))


def _of_bound(side: str, path: str, leaves: Mapping[str, Leaf], location: Location) -> None:
    bounded = [path for path, leaf in leaves.items() if has_bound(path, leaf, side)]
    if path not in bounded:
        what = f"`{path}` has no finite bound `{side}`" if path in leaves else f"unknown leaf `{path}`"
        listed = ", ".join(bounded) or "none: no leaf of state or observation has such a bound"
        location.wrong(what, f"one of {listed}", given=path, choices=bounded)


def has_bound(path: str, leaf: Leaf, side: str) -> bool:
    """Whether it is a leaf of state or observation with a finite bound on a side, of one element at least."""
    bound = leaf.low if side == SIDES[0] else leaf.high
    looked_at = path.startswith((STATE, "observation")) and leaf.dtype != "bool"
    return looked_at and bound is not None and bool(np.any(np.isfinite(np.asarray(bound, leaf.dtype))))


def demand_features(file: Path, required: Collection[Requirement], declared: Collection[str]) -> None:
    """Refuse requirements of features that the task's own code does not declare, which only its worker knows.

    Args:
        file: the task file, for the lines.

    Raises:
        TaskError: there is one.
    """
    unknown = [index for index, each in enumerate(required) if each.feature not in (None, *declared)]
    if not unknown:
        return
    document = file.read_text(encoding="utf-8")
    mistakes, stated = Mistakes(file.name, key_lines(document)), toml_of(document)["require"]
    for index in unknown:
        name = stated[index]["feature"]
        listed = ", ".join(declared) or "none: properties.py declares no features"
        place = Location(mistakes, ("require", index, "feature"))
        place.wrong(f"unknown feature `{name}`", f"one of {listed}", given=name, choices=declared)
    raise TaskError(
        "the task requires features that it does not declare",
        mistakes=mistakes.sorted(),
        where=str(file),
        next_step="name a feature that properties.py declares, or declare it there with `@feature`",
    )
