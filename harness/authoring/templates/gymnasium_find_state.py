"""Finds the state of an environment: which places in its objects change in an episode, and what shows them."""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: B905

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Iterator
from typing import Any

import gymnasium_state
import numpy as np
from gymnasium_describe import described

OBSERVES = re.compile(
    r"_?(get|gen|make|compute|build|create)?_?(obs|ob|observation|observations|state)(_dict|_array)?", re.I
)
"""Names of methods that may show the state, as the many environments call them."""
MOST_LEAVES = 128
Snapshot = dict  # of places and what was there


class _Look:
    """Called with each timestep: keeps what the objects hold at the reset and at every so many, until it is late.

    Each episode begins to count elsewhere: what alternates, as whose turn it is, would look the same at every second one.
    """

    def __init__(self, reference: Any, every: int, ends: float, first: int) -> None:
        self.snapshots = []  # type: list[Any]
        self._reference, self._every, self._ends, self._first, self._count = reference, every, ends, first, 0

    def __call__(self, timestep: Any) -> None:
        if (self._count == 0 or (self._count + self._first) % self._every == 0) and time.perf_counter() < self._ends:
            self.snapshots.append(snapshot(self._reference.env))
        self._count += 1


class Watched:
    """Episodes of a reference, with everything that its objects held after each step."""

    def __init__(
        self, reference: Any, episodes: Any, every: int = 1, seconds: float = float("inf"), at_least: int = 0
    ) -> None:
        """Args:
        episodes: for each seed itself and its play, called with what to call after each timestep.
        every: the timesteps from one look to the next.
        seconds: after which nothing more is played, once `at_least` episodes were.
        """
        self.snapshots = []  # type: list[list[Any]]
        began = time.perf_counter()
        for number, (seed, play) in enumerate(episodes):
            ends = float("inf") if number < at_least else began + seconds
            if time.perf_counter() > ends:
                break
            look = _Look(reference, every, ends, seed)
            self.snapshots.append(look.snapshots)
            play(look)

    def columns(self) -> dict[Any, list[Any]]:
        """What was at each place in every timestep, for the places that were always there."""
        everything = [each for snapshots in self.snapshots for each in snapshots]
        return {
            place: [each[place] for each in everything]
            for place in everything[0]
            if all(place in each for each in everything)
        }


def snapshot(env: Any) -> Any:
    """A copy of everything that the objects of an environment hold."""
    return {place: gymnasium_state.copied(value) for place, value in gymnasium_state.places(env)}


def differ(one: Watched, other: Watched, *, at_reset: bool = False) -> list[Any]:
    """The places that held other things in the same episodes, played after others; or only right after their resets."""
    found = {}  # type: dict[Any, None]
    for snapshots, others in zip(one.snapshots, other.snapshots):
        for first, second in zip(snapshots[: 1 if at_reset else None], others):
            for place in first:
                if place not in found and (place not in second or not _same(first[place], second[place])):
                    found[place] = None
    return list(found)


def seeds_kept(watched: Watched) -> list[Any]:
    """The places that hold nothing but the seed of the episode, as Gymnasium keeps it; episode `i` has seed `i`."""
    first = watched.snapshots[0][0]
    return [
        place
        for place in first
        if all(
            type(each.get(place)) is int and each[place] == seed
            for seed, snapshots in enumerate(watched.snapshots)
            for each in snapshots
        )
    ]


def _same(one: Any, other: Any) -> bool:
    if gymnasium_state.is_engine_state(one):
        one, other = one.array, other.array
    try:
        return (type(one) is type(other) and np.array_equal(one, other)) or repr(one) == repr(other)
    except (TypeError, ValueError):
        return repr(one) == repr(other)


def describe(columns: dict[Any, list[Any]], rich: int) -> tuple[dict[str, Any], dict[str, Any], int]:
    """`state` and `leaves` of environment.json, and how many were too many.

    Args:
        rich: up to how rich things are, as `described` says it.
    """
    found = {}  # type: dict[Any, Any]
    for place, values in columns.items():
        kind = described(values)
        if kind is not None and kind[0] is not None and kind[2] <= rich:
            found[place] = kind
    kept = list(found)[:MOST_LEAVES]  # the nearest come first
    state, leaves = {}, {}
    for place, name in sorted(names(kept).items(), key=lambda item: item[1]):
        how, ends, _ = found[place]
        state["state/" + name] = {"place": list(map(list, place)), **how}
        for end, leaf in ends.items():
            leaves["state/" + name + end] = leaf
    return state, leaves, len(found) - len(kept)


def names(places: list[Any]) -> dict[Any, str]:
    """A name for each place: its last steps, as many as tell it from the others."""
    parts = {}
    for place in places:
        steps = [re.sub(r"\W", "_", str(key)).strip("_") or "x" for how, key in place if how != gymnasium_state.ENGINE]
        outer = 0
        while outer < len(steps) - 1 and steps[outer] == "env":
            outer += 1
        parts[place] = steps[outer:]
    lengths = {place: 2 if len(steps) > 1 and steps[-1].isdigit() else 1 for place, steps in parts.items()}
    while True:
        named = {place: "_".join(steps[-lengths[place] :]) for place, steps in parts.items()}
        taken = {}  # type: dict[str, list[Any]]
        for place, name in named.items():
            taken.setdefault(name, []).append(place)
        clashes = [place for several in taken.values() if len(several) > 1 for place in several]
        longer = [place for place in clashes if lengths[place] < len(parts[place])]
        if not longer:
            break
        for place in longer:
            lengths[place] += 1
    for name, several in taken.items():
        for index, place in enumerate(several[1:], 2):
            named[place] = f"{name}_{index}"
    return named


def observers(reference: Any, places: list[Any]) -> list[dict[str, Any]]:
    """Ways that may show an observation without a step: methods and properties by their names, then attributes."""
    core = []  # type: list[Any]
    env = reference.env
    while env is not reference.core:
        core.append((gymnasium_state.ATTRIBUTE, "env"))
        env = env.env
    near = [place[:-1] for place in places if len(place) <= len(core) + 3]
    inner = [
        place
        for place, _, value, plain in gymnasium_state.walk(reference.core)
        if not plain and len(place) <= 2 and gymnasium_state.may_enter(value)
    ]
    ways = []
    for owner in dict.fromkeys([tuple(core), *near, *((*core, *place) for place in inner)]):
        ways += _shown_by(reference.env, owner)
    for *owner, (how, name) in places:
        if how == gymnasium_state.ATTRIBUTE:
            ways.append({"place": list(map(list, owner)), "name": name, "arguments": None})
    return ways


def _shown_by(env: Any, owner: Any) -> Iterator[dict[str, Any]]:
    """Methods and properties of one object that may show the state."""
    kind = type(gymnasium_state.at(env, owner))
    for name in sorted(dir(kind)):
        if not OBSERVES.fullmatch(name):
            continue
        method = getattr(kind, name, None)
        arguments = _arguments(env, owner, name) if callable(method) else None
        if arguments is not None or isinstance(method, property):
            yield {"place": list(map(list, owner)), "name": name, "arguments": arguments}


def _arguments(env: Any, owner: Any, method: str) -> Any:
    """Where the arguments of a method are: attributes of their names, beside its object or in it. None if one is missing."""
    try:
        needed = [
            each.name
            for each in inspect.signature(getattr(gymnasium_state.at(env, owner), method)).parameters.values()
            if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]
    except (AttributeError, TypeError, ValueError):
        return None
    found = []
    for name in needed:
        for holder in (owner[:-1], owner):
            named = [each for each in (name, "_" + name) if hasattr(gymnasium_state.at(env, holder), each)]
            if named:
                found.append(list(map(list, (*holder, (gymnasium_state.ATTRIBUTE, named[0])))))
                break
    return found if len(found) == len(needed) else None
