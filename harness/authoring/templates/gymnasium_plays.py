"""Episodes of an environment that is being found out about, and what is known of it so far."""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: B905

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

import numpy as np
from gymnasium_masks import IN_INFO, allowed_by, legal

SEEDS = 6
EPISODES = 20
LONGEST = 1000
SECONDS = 10.0


class Played:
    """An environment that can be played, and what is known of it so far.

    Attributes:
        found: what stands in environment.json.
        notes: what could not be done or was odd; `doubts` the same of the state as it is declared now.
        actions: what episodes take their actions from; `steps` how many of them in a short one.
    """

    def __init__(self, directory: str, options: dict[str, Any]) -> None:
        self.directory, self.options = directory, options
        self.path = os.path.join(directory, "environment.json")
        with open(self.path, encoding="utf-8") as file:
            self.found = json.load(file)
        sys.path.insert(0, directory)
        self.adapter = importlib.import_module("adapter")
        self.adapter.gymnasium_chance.install()
        self.notes, self.doubts = [], []  # type: list[str], list[str]
        self.actions = []  # type: list[Any]
        self.steps = 0
        self.found.update(
            leaves={}, state={}, restore=False, render=False, observe=None, draws=None,
            imports=self.found.get("imports", []), seeds=None, reseed=False, leaks=[], mask=None, texts={},
            players=self.found.get("players"), names={},
        )  # fmt: skip

    def save(self) -> None:
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.found, file, indent=2, sort_keys=True)
            file.write("\n")

    def reference(self) -> Any:
        self.save()
        return self.adapter.Reference(**self.options)

    def actions_for(self, seed: int, count: int) -> list[Any]:
        """Actions that differ from one episode to the next."""
        offset = 7 * seed % LONGEST
        return (self.actions[offset:] + self.actions[:offset])[:count]

    def sampled_actions(self, env: Any, count: int) -> list[Any]:
        env.action_space.seed(1)
        actions = []
        for _ in range(count):
            leaves = {}  # type: dict[str, Any]
            self.adapter.scatter(env.action_space, "action", env.action_space.sample(), leaves)
            for path in leaves.keys() & self.found["texts"].keys():
                leaves[path] = self.adapter.as_numbers(
                    leaves[path], self.found["leaves"][path]["shape"][0], self.found["texts"][path]
                )
            actions.append(leaves["action"] if list(leaves) == ["action"] else leaves)
        return actions


def play(
    reference: Any,
    seed: int,
    actions: list[Any],
    *,
    tape: Any = None,
    forced: Any = None,
    see: Any = None,
    taken: Any = None,
) -> list[dict[str, Any]]:
    """The timesteps of one episode; its draws go into `tape`, or come from `forced`, and `see` is called with each.
    The actions, which may be others where masks are, go into `taken`.
    """
    timesteps = [reference.reset(seed) if forced is None else reference.reset(seed, forced[0])]
    draws = [reference.take_draws()]
    for index, chosen in enumerate(actions):
        if see is not None:
            see(timesteps[-1])
        if timesteps[-1]["terminated"] or timesteps[-1]["truncated"]:
            break
        action = allowed(reference, chosen, timesteps[-1])
        timesteps.append(reference.step(action) if forced is None else reference.step(action, forced[index + 1]))
        draws.append(reference.take_draws())
        if taken is not None:
            taken.append(action)
    else:
        if see is not None:
            see(timesteps[-1])
    if tape is not None:
        tape.extend(draws)
    return timesteps


def allowed(reference: Any, action: Any, timestep: dict[str, Any]) -> Any:
    """The action, or the next one that the timestep's mask allows."""
    mask = timestep.get("legal_actions")
    if mask is None and isinstance(action, dict):
        return {path: _allowed_leaf(reference, path, value, timestep) for path, value in action.items()}
    within = {path.rpartition("/")[2]: value for path, value in timestep.items() if path.startswith("observation/")}
    return legal(reference.env, action, within, reference._info if mask is None else {IN_INFO: mask})


def _allowed_leaf(reference: Any, path: str, value: Any, timestep: dict[str, Any]) -> Any:
    mask = timestep.get(path.replace("action", "legal_actions", 1))
    if mask is None:
        return value
    low = reference._leaves[path]["low"]
    return allowed_by(mask, int(value) - low) + low


def same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Whether two episodes are the same, bit for bit."""
    return len(one) == len(other) and all(
        timestep.keys() == against.keys()
        and all(np.asarray(timestep[path]).tobytes() == np.asarray(against[path]).tobytes() for path in timestep)
        for timestep, against in zip(one, other)
    )
