"""Masks of legal actions: in the info, beside an observation, or answered by a method."""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from gymnasium import spaces

IN_INFO = "action_mask"
IN_OBSERVATION = ("action_mask", "action_masks", "legal_actions", "valid_actions")
METHODS = (
    "action_masks",
    "action_mask",
    "get_action_mask",
    "valid_action_mask",
    "get_action_masks",
    "legal_actions_mask",
)


def legal(env: Any, action: Any, observation: Any, info: Any) -> Any:
    """An action that is allowed now, by whatever mask there is: the given one, or else the next one."""
    space = env.action_space
    mask = info.get(IN_INFO) if isinstance(info, dict) else None
    if isinstance(space, spaces.Dict) and isinstance(mask, dict):
        starts = {name: int(space[name].start) for name in mask}
        return {name: allowed_by(mask[name], int(action[name]) - start) + start for name, start in starts.items()}
    if not isinstance(space, spaces.Discrete):
        return action
    if mask is None and isinstance(observation, dict):
        mask = next((observation[name] for name in IN_OBSERVATION if name in observation), None)
    if mask is None:
        core = env.unwrapped
        methods = (getattr(core, name) for name in METHODS if hasattr(type(core), name))
        mask = next((method() for method in methods if _takes(method) == [[]]), None)
    if mask is None or np.shape(mask) != (int(space.n),):
        return action
    return allowed_by(mask, int(action) - int(space.start)) + int(space.start)


def allowed_by(mask: Any, index: int) -> int:
    """This index if its element is set, or else the next one that is; the index itself where none is."""
    set_ones = np.flatnonzero(mask)
    return (
        index
        if not len(set_ones) or index in set_ones
        else int(set_ones[np.searchsorted(set_ones, index) % len(set_ones)])
    )


def find_mask(reference: Any, episodes: list[list[Any]], play: Any) -> tuple[Any, list[str]]:
    """How the adapter asks for the mask (None if there is none), and what there is to say about it.

    The mask must have an element for each action, and set one in each timestep that is not the last.
    """
    space = reference.env.action_space
    if not isinstance(space, spaces.Discrete):
        return None, []
    ways = [{"leaf": f"observation/{name}", "method": None, "place": [], "arguments": []} for name in IN_OBSERVATION]
    ways = [way for way in ways if way["leaf"] in reference._leaves]
    ways += _methods(reference)
    ways.append({"leaf": None, "method": None, "place": [], "arguments": []})
    masks = []  # type: list[Any]
    given = []  # type: list[bool]

    def see(timestep: dict[str, Any]) -> None:
        over = timestep["terminated"] or timestep["truncated"]
        answers = [_asked(reference, way, timestep) for way in ways]
        masks.append([answer if answer is not None and _fits(answer, space, over) else None for answer in answers])
        given.append(IN_INFO in reference._info)

    for seed, actions in enumerate(episodes):
        play(reference, seed, actions, see=see)
    good = [way for index, way in enumerate(ways) if all(answers[index] is not None for answers in masks)]
    if not good:
        said = [
            "its info has an `action_mask` that has no legal action, or not one element for each action: it is left out"
        ]
        return None, said if any(given) else []
    from_info = good[-1] if good[-1]["leaf"] is None and good[-1]["method"] is None else None
    if from_info is not None and len(good) > 1:
        index = ways.index(from_info)
        good = [way for way in good[:-1] if all(np.array_equal(each[ways.index(way)], each[index]) for each in masks)]
    if from_info is None or (good and good[0] is not from_info):
        return good[0], ["illegal actions are masked (`legal_actions`), so no test takes them"]
    return None, [
        "its info has an `action_mask`, which no method gives for a restored state: it is left out; an adapter "
        "written by hand can give `legal_actions`"
    ]


def _methods(reference: Any) -> list[dict[str, Any]]:
    """Methods of the environment, or of a wrapper, that give a mask of what it is in."""
    found, place, env = [], [], reference.env
    while True:
        for name in METHODS:
            method = getattr(env, name, None) if hasattr(type(env), name) else None
            if callable(method):
                found += [
                    {"leaf": None, "method": name, "place": list(place), "arguments": arguments}
                    for arguments in _takes(method)
                ]
        if env is reference.core:
            return found
        place.append(["attribute", "env"])
        env = env.env


def _takes(method: Any) -> list[list[str]]:
    """With which attributes of the environment a method may be called."""
    try:
        needed = [each.name for each in inspect.signature(method).parameters.values() if each.default is each.empty]
    except (TypeError, ValueError):
        return [[]]
    return [[]] if not needed else [["s"], ["state"]] if len(needed) == 1 else []


def _asked(reference: Any, way: dict[str, Any], timestep: dict[str, Any]) -> Any:
    if way["leaf"] is not None:
        return np.asarray(timestep[way["leaf"]])
    reference._found["mask"] = way
    try:
        return np.asarray(reference.mask())
    except Exception:
        return None
    finally:
        reference._found["mask"] = None


def _fits(mask: Any, space: Any, over: bool) -> bool:
    return mask.shape == (int(space.n),) and bool(np.isin(mask, (0, 1)).all()) and (over or bool(mask.any()))
