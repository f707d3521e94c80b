"""Objects of a game that come and go, such as walls, doors and keys on a board: read as leaves, and made again.

Beside `adapter.py` of a task that `lockstep new` made. A slot is a place that holds one of them or nothing, or a list of
such. All slots together are numbered; for each number there is the number of the first slot that holds the same object (-1
where there is none), the object's class, and its attributes.
"""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import ast
from typing import Any

import gymnasium_state
import numpy as np

NOTHING = -1


def read(env: Any, path: str, described: dict[str, Any], timestep: dict[str, Any], leaves: dict[str, Any]) -> None:
    """Put what all slots hold into a timestep. Raises `gymnasium_state.Unforeseen` if the leaves cannot hold it."""
    items = []  # type: list[Any]
    for number, slot in enumerate(described["slots"]):
        held = gymnasium_state.at(env, slot["place"])
        if slot["room"] is None:
            items.append(held)
            continue
        if not isinstance(held, list) or len(held) > slot["room"]:
            raise gymnasium_state.Unforeseen(path, None, f"is not a list of at most {slot['room']} objects")
        if slot["grows"]:
            timestep[f"{path}_count_{number}"] = np.array(len(held), "int64")
        items += [*held, *[None] * (slot["room"] - len(held))]
    for leaf, declared in leaves.items():
        if leaf.startswith(path + "_") and declared["shape"]:
            timestep[leaf] = np.zeros(declared["shape"], declared["dtype"])
    timestep[path + "_at"] += NOTHING
    timestep[path + "_class"] += NOTHING
    first = {}  # type: dict[int, int]
    for number, thing in enumerate(items):
        if thing is None:
            continue
        timestep[path + "_at"][number] = first.setdefault(id(thing), number)
        if first[id(thing)] == number:
            kind = _index(path, described["classes"], gymnasium_state.class_name(thing))
            timestep[path + "_class"][number] = kind
            for name, value in vars(thing).items():
                _read_attribute(path, described, name, value, timestep, number)


def _read_attribute(
    path: str, described: dict[str, Any], name: str, value: Any, timestep: dict[str, Any], number: int
) -> None:
    how = described["attributes"].get(name)
    leaf = f"{path}_of_{name}"
    if how is None:
        raise gymnasium_state.Unforeseen(path, None, f"has objects with `{name}`, which is new")
    if "values" in how:
        index = _index(leaf, how["values"], repr(value))
        if leaf in timestep:
            timestep[leaf][number] = index
        return
    if value is None:
        return  # as the presence says, which is of another leaf
    array = np.asarray(value)
    if list(array.shape) != how["shape"] or not np.can_cast(array.dtype, timestep[leaf].dtype, "same_kind"):
        raise gymnasium_state.Unforeseen(path, None, f"has a `{name}` that is {array.dtype} {list(array.shape)}")
    timestep[leaf][number] = array
    timestep[leaf + "_present"][number] = True


def _index(path: str, known: list[str], value: str) -> int:
    if value not in known:
        raise gymnasium_state.Unforeseen(path, None, f"is {value:.60}, which is none of {known}")
    return known.index(value)


def write(env: Any, path: str, described: dict[str, Any], state: dict[str, Any]) -> None:
    """Make the objects again and put them into the slots. Raises ValueError for what cannot have been read."""
    at = np.asarray(state[path + "_at"]).tolist()
    made = []  # type: list[Any]
    for number, first in enumerate(at):
        if first == NOTHING:
            made.append(None)
        elif first == number:
            made.append(_made(path, described, state, number))
        elif 0 <= first < number and made[first] is not None:
            made.append(made[first])
        else:
            raise ValueError(f"`{path}_at` says that slot {number} holds what is in slot {first}, which is empty")
    begin = 0
    for number, slot in enumerate(described["slots"]):
        if slot["room"] is None:
            gymnasium_state.put(env, slot["place"], made[begin])
            begin += 1
            continue
        count = int(state[f"{path}_count_{number}"]) if slot["grows"] else slot["room"]
        if not 0 <= count <= slot["room"]:
            raise ValueError(f"`{path}_count_{number}` is {count}: expected 0 to {slot['room']}")
        gymnasium_state.at(env, slot["place"])[:] = made[begin : begin + count]
        begin += slot["room"]


def _made(path: str, described: dict[str, Any], state: dict[str, Any], number: int) -> Any:
    kind = int(np.asarray(state[path + "_class"])[number])
    if not 0 <= kind < len(described["classes"]):
        raise ValueError(f"`{path}_class` is {kind} in slot {number}: expected 0 to {len(described['classes']) - 1}")
    name = described["classes"][kind]
    thing = object.__new__(gymnasium_state.class_called(name))
    for attribute in described["has"][name]:
        setattr(thing, attribute, _attribute(path, described["attributes"][attribute], attribute, state, number))
    return thing


def _attribute(path: str, how: dict[str, Any], name: str, state: dict[str, Any], number: int) -> Any:
    leaf = f"{path}_of_{name}"
    if "values" in how:
        index = int(np.asarray(state[leaf])[number]) if leaf in state else 0
        if not 0 <= index < len(how["values"]):
            raise ValueError(f"`{leaf}` is {index} in slot {number}: expected 0 to {len(how['values']) - 1}")
        return ast.literal_eval(how["values"][index])
    if not np.asarray(state[leaf + "_present"])[number]:
        return None
    return gymnasium_state.as_kind(how["of"], np.asarray(state[leaf])[number])
