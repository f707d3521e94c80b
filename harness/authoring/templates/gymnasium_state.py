"""What an environment remembers: found in its objects, read as leaves, and written back.

Beside `adapter.py` of a task that `lockstep new` made. A place is a way through objects, from the environment that
`make` returned: attributes by name, items of lists and dicts by key.
"""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: B905

from __future__ import annotations

import collections
import copy
import enum
import importlib
import random
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class Unforeseen(ValueError):
    """What is at a place does not fit the leaves that were declared for it."""

    def __init__(self, path: str, value: Any, why: str) -> None:
        super().__init__(f"`{path}` {why}: describe it anew in environment.json, or run `lockstep new` again")
        self.path, self.value = path, copied(value)


DEPTH = 4
"""How many objects deep below the environment, or one of its wrappers, state is looked for."""
MOST_PLACES, MOST_VALUES, MOST_ITEMS = 5000, 1 << 17, 400
ATTRIBUTE, ITEM, ENGINE = "attribute", "item", "engine"
WRAPPED = ((ATTRIBUTE, "env"), (ATTRIBUTE, "aec_env"))
"""Where a wrapper holds what it wraps."""
NUMBERS = (bool, int, float, np.bool_, np.number)
SEQUENCES = (list, tuple, collections.deque)
SETS = (set, frozenset)
CLOSED = (
    str, bytes, type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, random.Random,
)  # fmt: skip
FOREIGN = (
    "gymnasium.spaces", "gymnasium.envs.registration", "gym.spaces", "gym.envs.registration", "numpy", "random", "pygame",
    "logging", "threading", "matplotlib", "mujoco", "Box2D", "re", "gymnasium_chance", "gymnasium_players",
)  # fmt: skip
"""Modules whose objects hold no rules and no state of a game."""
LATE = (
    "xpos", "xquat", "xipos", "geom_xpos", "site_xpos", "subtree_com", "cinert", "cvel", "qfrc_actuator", "cfrc_ext",
    "sensordata", "actuator_force", "qacc",
)  # fmt: skip
"""What MuJoCo derives while it steps. After a step it is that of the state before, and some observations show it."""
Place = tuple  # of (ATTRIBUTE, name) and (ITEM, key)


def places(env: Any) -> Iterator[tuple[Any, Any]]:
    """Each place that holds plain data, or an engine's state, with what is there; nearest first, each object once."""
    engines = set()
    for place, _, value, plain in walk(env):
        if plain:
            yield place, value
        elif is_engine(value) and id(value) not in engines:
            engines.add(id(value))
            yield (*place, (ENGINE, "")), value


def walk(env: Any, closed: Callable[[Any], bool] = lambda value: False) -> Iterator[tuple[Any, Any, Any, bool]]:
    """Each place with who holds it, what is there, and whether that is plain data; nearest first. What is `closed` is shown
    and not entered.
    """
    seen, count = {id(env)}, 0
    waiting = collections.deque([((), env, 0)])
    while waiting:
        place, owner, depth = waiting.popleft()
        for step, value in parts(owner):
            here = (*place, step)
            count += 1
            if count > MOST_PLACES:
                return
            plain = is_plain(value) and not (step[0] == ATTRIBUTE and is_record(value))
            yield here, owner, value, plain
            known = plain or depth >= DEPTH or id(value) in seen or is_engine(value)
            if not known and may_enter(value) and not closed(value):
                seen.add(id(value))
                inner = step in WRAPPED and hasattr(owner, "unwrapped")
                below = depth if inner else depth + 1
                waiting.append((here, value, below))


def parts(owner: Any) -> Iterator[tuple[Any, Any]]:
    """What an object, a dict or a sequence holds, each with the step that leads there."""
    if isinstance(owner, dict):
        yield from (((ITEM, key), value) for key, value in owner.items() if isinstance(key, (str, int)))
    elif hasattr(owner, "_fields"):
        yield from (((ATTRIBUTE, name), getattr(owner, name)) for name in owner._fields)
    elif isinstance(owner, SEQUENCES):
        yield from (((ITEM, index), value) for index, value in enumerate(owner))
    else:
        for name in [*getattr(owner, "__dict__", ()), *_slots(owner)]:
            if not name.startswith("__") and hasattr(owner, name):
                yield (ATTRIBUTE, name), getattr(owner, name)


def _slots(owner: Any) -> list[str]:
    declared = (vars(kind).get("__slots__", ()) for kind in type(owner).__mro__)
    return [name for names in declared for name in ((names,) if isinstance(names, str) else names)]


def may_enter(value: Any) -> bool:
    """Whether state is looked for in what this holds."""
    if isinstance(value, (dict, *SEQUENCES)):
        return len(value) <= MOST_ITEMS
    if isinstance(value, CLOSED) or (callable(value) and not hasattr(value, "__dict__")):
        return False
    module = str(getattr(type(value), "__module__", ""))
    return module != "builtins" and not any(module == each or module.startswith(each + ".") for each in FOREIGN)


def is_plain(value: Any) -> bool:
    """Whether this is data and no object: a number, a word, a member of an enumeration, nothing, an array of numbers, or a
    sequence or set of such.
    """
    if value is None or isinstance(value, (str, enum.Enum, *NUMBERS)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf" and value.size <= MOST_VALUES
    return isinstance(value, (*SEQUENCES, *SETS)) and all(map(is_plain, value))


def is_record(value: Any) -> bool:
    """Whether this is a tuple of unlike parts, which are looked at one by one."""
    return isinstance(value, tuple) and len({_size(each) for each in value if each is not None}) > 1


def _size(value: Any) -> Any:
    return (
        value.shape if isinstance(value, np.ndarray) else len(value) if isinstance(value, (*SEQUENCES, *SETS)) else ()
    )


def is_engine(value: Any) -> bool:
    """Whether this is MuJoCo's data, a body of Box2D, or the Atari emulator, whose state is outside of Python."""
    name, module = type(value).__name__, str(getattr(type(value), "__module__", ""))
    return name in ("ALEInterface", "b2Body") or (
        name == "MjData" and module.startswith("mujoco.") and hasattr(value, "model")
    )


class EngineState:
    """A copy of an engine's state."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


def is_engine_state(value: Any) -> bool:
    """Whether this is the copy of an engine's state."""
    return isinstance(value, EngineState)


def at(env: Any, place: Any) -> Any:
    """What is at a place."""
    for how, key in place:
        if how != ENGINE:
            env = env[key] if how == ITEM else getattr(env, key)
    return env


def put(env: Any, place: Any, value: Any) -> None:
    """Write to a place. What cannot change, as a tuple or a frozen dataclass, is replaced by a changed copy."""
    *before, (how, key) = place
    owner = at(env, before)
    if isinstance(value, tuple):
        value = _named(owner[key] if how == ITEM else getattr(owner, key, None), value)
    if hasattr(owner, "_fields"):
        put(env, before, owner._replace(**{key: value}))
    elif isinstance(owner, tuple):
        put(env, before, (*owner[:key], value, *owner[key + 1 :]))
    elif how == ITEM:
        owner[key] = value
    else:
        try:
            setattr(owner, key, value)
        except AttributeError:
            changed = copy.copy(owner)
            object.__setattr__(changed, key, value)
            put(env, before, changed)


def in_order(value: Any) -> Any:
    """The items of a sequence, or of a set, sorted. Raises TypeError for a set whose items have no order."""
    return sorted(value) if isinstance(value, SETS) else value


def class_name(thing: Any) -> str:
    """`module:Class`, under which `class_called` finds it again."""
    return f"{type(thing).__module__}:{type(thing).__qualname__}"


def class_called(name: str) -> Any:
    """The class that `class_name` told of."""
    module, _, qualified = name.partition(":")
    found = importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    return found


def copied(value: Any) -> Any:
    """A copy that stays as it is while the environment goes on."""
    if is_engine(value):
        return EngineState(engine_state(value))
    return copy.deepcopy(value) if isinstance(value, (np.ndarray, *SEQUENCES, *SETS)) else value


def engine_state(data: Any) -> np.ndarray:
    """Everything from which MuJoCo goes on, as one array; of the Atari emulator its memory, and of a body of Box2D where it
    is and how it moves, which is not all of what they go on from.
    """
    if type(data).__name__ == "b2Body":
        return np.array([*data.position, data.angle, *data.linearVelocity, data.angularVelocity], "float64")
    if type(data).__name__ == "ALEInterface":
        return np.array(data.getRAM())
    import mujoco

    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(data.model, kind))
    mujoco.mj_getState(data.model, data, state, kind)
    return state


def put_engine_state(data: Any, state: np.ndarray) -> None:
    """Bring MuJoCo into a state, with all that it derives from it; or a body of Box2D."""
    if type(data).__name__ == "b2Body":
        x, y, data.angle, along, up, data.angularVelocity = state.tolist()
        data.position, data.linearVelocity = (x, y), (along, up)
        return
    if type(data).__name__ == "ALEInterface":
        raise ValueError("the emulator cannot be brought into a state by its memory alone")
    import mujoco

    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    mujoco.mj_setState(data.model, data, state, kind)
    mujoco.mj_forward(data.model, data)
    mujoco.mj_setState(data.model, data, state, kind)  # `mj_forward` writes the start of its own next search


# --- what is at a place, as leaves ------------------------------------------------------------------------------------


def read(env: Any, path: str, described: dict[str, Any], timestep: dict[str, Any], leaves: dict[str, Any]) -> None:
    """Put what is at a place into a timestep. Raises Unforeseen if its leaves cannot hold it."""
    if described["kind"] == "things":
        import gymnasium_things

        return gymnasium_things.read(env, path, described, timestep, leaves)
    value, kind = at(env, described["place"]), described["kind"]
    if kind == "engine":
        timestep[path] = engine_state(value)
        for name in described.get("late", ()):
            timestep[f"{path}_{name}"] = np.array(getattr(value, name))
    elif kind == "word":
        timestep[path] = np.array(_word(path, described, value, value), "int64")
    elif kind == "enum":
        member = None if value is None else getattr(value, "name", str(value))
        if member not in described["members"] or not (value is None or class_name(value) == described["class"]):
            raise Unforeseen(path, value, f"is {value!r:.60}, which is none of {described['members']}")
        timestep[path] = np.array(described["members"].index(member), "int64")
    elif kind == "optional":
        timestep[path + "_present"] = np.array(value is not None)
        empty = np.zeros(leaves[path]["shape"], leaves[path]["dtype"])
        timestep[path] = empty if value is None else _held(path, value, value, leaves[path])
    elif kind == "rows":
        most, *row = leaves[path]["shape"]
        if not isinstance(value, (*SEQUENCES, *SETS)) or len(value) > most:
            raise Unforeseen(path, value, f"is not a sequence of at most {most} rows")
        if described["of"] == "word":
            value = [each if each is None else _word(path, described, each, value) for each in in_order(value)]
        one = {"shape": row, "dtype": leaves[path]["dtype"]}
        rows, present = np.zeros((most, *row), one["dtype"]), np.zeros(most, bool)
        for index, each in enumerate(in_order(value)):
            present[index] = each is not None
            if each is not None:
                rows[index] = _held(path, value, each, one)
        timestep[path], timestep[path + "_present"] = rows, present
        timestep[path + "_count"] = np.array(len(value), "int64")
    else:
        timestep[path] = _held(path, value, value, leaves[path])
        if "narrow" in described:
            timestep[path + "_narrow"] = np.array(np.asarray(value).dtype == described["narrow"])


def _word(path: str, described: dict[str, Any], word: Any, whole: Any) -> int:
    if word not in described["words"]:
        raise Unforeseen(path, whole, f"is {word!r:.60}, which is none of {described['words']}")
    return described["words"].index(word)


def _held(path: str, whole: Any, value: Any, leaf: dict[str, Any]) -> np.ndarray:
    """A value as its leaf has it; nothing is rounded or stretched in silence."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array(None)
    if list(array.shape) != list(leaf["shape"]) or not np.can_cast(array.dtype, leaf["dtype"], "same_kind"):
        what = f"is {array.dtype} {list(array.shape)}, which its leaf, {leaf['dtype']} {leaf['shape']}, cannot hold"
        raise Unforeseen(path, whole, what)
    return np.array(array, dtype=leaf["dtype"])


def write(env: Any, path: str, described: dict[str, Any], state: dict[str, Any]) -> None:
    """Write the leaves of a place back to it."""
    if described["kind"] == "things":
        import gymnasium_things

        return gymnasium_things.write(env, path, described, state)
    place, kind, value = described["place"], described["kind"], np.asarray(state[path])
    if kind == "engine":
        engine = at(env, place)
        put_engine_state(engine, value.copy())
        for name in described.get("late", ()):
            getattr(engine, name)[:] = state[f"{path}_{name}"]
    elif kind == "word":
        put(env, place, described["words"][int(value)])
    elif kind == "enum":
        member = described["members"][int(value)]
        put(env, place, None if member is None else class_called(described["class"])[member])
    elif kind == "optional":
        put(env, place, as_kind(described["of"], value) if state[path + "_present"] else None)
    elif kind == "rows":
        rows = zip(value[: int(state[path + "_count"])], np.asarray(state[path + "_present"]))
        words, of = described.get("words"), described["of"]
        made = [None if not here else words[int(row)] if words else as_kind(of, row) for row, here in rows]
        put(env, place, _like(at(env, place), made))
    elif kind == "deque":
        put(env, place, _like(at(env, place), list(value) if value.ndim > 1 else value.tolist()))
    elif "narrow" not in described:
        put(env, place, as_kind(kind, value))
    elif state[path + "_narrow"]:
        put(env, place, as_kind(kind, _narrowed(path, value, described["narrow"])))
    else:
        put(env, place, as_kind(described["wide"], value))


def _narrowed(path: str, value: np.ndarray, dtype: str) -> np.ndarray:
    """In the narrower type. Raises ValueError where that cannot hold it: the environment never comes there."""
    narrow = value.astype(dtype)
    if not np.array_equal(narrow, value, equal_nan=True):
        raise ValueError(f"`{path}` is kept in {dtype} here, which does not hold {value}")
    return narrow


def _like(before: Any, items: list[Any]) -> Any:
    """A sequence of the kind that was there before."""
    if isinstance(before, tuple):
        return _named(before, tuple(items))
    return collections.deque(items, before.maxlen) if isinstance(before, collections.deque) else type(before)(items)


def _named(before: Any, items: Any) -> Any:
    """A tuple with the names that the one before it has, where it has some."""
    return type(before)(*items) if hasattr(before, "_fields") else items


def as_kind(kind: str, value: np.ndarray) -> Any:
    """A value of a state in the type that the environment itself keeps it in."""
    if kind in ("list", "tuple"):
        return value.tolist() if kind == "list" else tuple(value.tolist())
    return value.copy() if kind == "array" else value.item() if kind == "number" else value[()]
