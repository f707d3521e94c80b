"""Finds objects of a game that come and go: which lists and attributes hold them, and what they are made of."""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import ast
import collections
from typing import Any

import gymnasium_state
import numpy as np
from gymnasium_describe import KINDS, arrays_of
from gymnasium_state import class_name

MOST_SLOTS, MOST_VALUES = 1 << 12, 64
NAME = "state/things"


class Things:
    """What slots held in all timesteps that were looked at."""

    def __init__(self) -> None:
        self.lists = {}  # type: dict[Any, None]  # the places that held a list of objects
        self.singles = {}  # type: dict[Any, None]  # the places that held one of these objects
        self.lengths = {}  # type: dict[Any, set[int]]  # of lists that hold nothing else, empty ones too
        self.looks = collections.Counter()  # type: collections.Counter[Any]  # that found one of these, or nothing
        self.values = {}  # type: dict[str, dict[str, Any]]  # of each attribute, by their text
        self.has = {}  # type: dict[str, list[str]]  # the attributes of each class
        self.count = 0

    def look(self, env: Any) -> None:
        """Take in what is there now."""
        self.count += 1
        everything = [(place, value) for place, _, value, _ in gymnasium_state.walk(env, closed=_is_list)]
        for place, value in everything:
            if _is_list(value):
                self.lists[place] = None
                for thing in value:
                    self._note(thing)
        for place, value in everything:
            if isinstance(value, list) and all(each is None or _is_thing(each) for each in value):
                self.lengths.setdefault(place, set()).add(len(value))
                self.looks[place] += 1
            elif place[-1][0] == gymnasium_state.ATTRIBUTE and value is None:
                self.looks[place] += 1
            elif place[-1][0] == gymnasium_state.ATTRIBUTE and _is_thing(value) and class_name(value) in self.has:
                self.singles[place] = None
                self.looks[place] += 1
                self._note(value)

    def _note(self, thing: Any) -> None:
        if thing is None:
            return
        has = self.has.setdefault(class_name(thing), [])
        for name, value in vars(thing).items():
            if name not in has:
                has.append(name)
            values = self.values.setdefault(name, {})
            if len(values) <= MOST_SLOTS:
                values.setdefault(repr(value), gymnasium_state.copied(value))

    def described(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The entry of `state` and its leaves; None where there are no such objects, or some cannot be described."""
        places = [*self.lists, *self.singles]
        if not self.lists or any(self.looks[place] < self.count for place in places):
            return None
        slots, leaves = [], {}
        size = 0
        for place in places:
            lengths = self.lengths[place] if place in self.lists else None
            grows = lengths is not None and len(lengths) > 1
            room = None if lengths is None else 2 * max(lengths) + 2 if grows else max(lengths)
            if grows:
                leaves[f"{NAME}_count_{len(slots)}"] = {"dtype": "int64", "shape": []}
            slots.append({"place": list(map(list, place)), "room": room, "grows": grows})
            size += 1 if room is None else room
        if size > MOST_SLOTS:
            return None
        leaves.update({f"{NAME}_{name}": {"dtype": "int64", "shape": [size]} for name in ("at", "class")})
        attributes = {}
        for name, values in self.values.items():
            how = _attribute(list(values.values()))
            if how is None:
                return None
            attributes[name] = how
            if "of" in how:
                leaves[f"{NAME}_of_{name}"] = {"dtype": how.pop("dtype"), "shape": [size, *how["shape"]]}
                leaves[f"{NAME}_of_{name}_present"] = {"dtype": "bool", "shape": [size]}
            elif len(how["values"]) > 1:
                leaves[f"{NAME}_of_{name}"] = {"dtype": "int64", "shape": [size]}
        entry = {
            "kind": "things", "place": [], "slots": slots, "classes": sorted(self.has), "has": self.has,
            "attributes": attributes,
        }  # fmt: skip
        return entry, leaves

    def within(self, place: Any) -> bool:
        """Whether a place is a slot, or lies in what a slot holds."""
        return any(place[: len(slot)] == slot for slot in (*self.lists, *self.singles))


def _attribute(values: list[Any]) -> dict[str, Any] | None:
    """How an attribute is read and made again, of all the values that it had."""
    held = [value for value in values if value is not None]
    words = all(isinstance(value, (bool, str)) for value in held)
    if len(values) == 1 or words:
        texts = {repr(value) for value in values}
        if any(isinstance(value, bool) for value in held):
            texts |= {"False", "True"}
        return {"values": sorted(texts)} if len(texts) <= MOST_VALUES and all(map(_is_literal, texts)) else None
    arrays = arrays_of(held)
    if arrays is None:
        return None
    kinds = {KINDS.get(type(value), "scalar") for value in held}
    of = "array" if kinds == {"array"} else "tuple" if "tuple" in kinds else KINDS.get(type(held[0]), "scalar")
    return {"of": of, "shape": list(arrays[0].shape), "dtype": np.result_type(*arrays).name}


def _is_literal(text: str) -> bool:
    try:
        return repr(ast.literal_eval(text)) == text
    except (SyntaxError, ValueError):
        return False


def _is_list(value: Any) -> bool:
    """Whether this is a list of objects, or of nothing in their place, and has one at least."""
    return (
        isinstance(value, list)
        and len(value) <= MOST_SLOTS
        and any(each is not None for each in value)
        and all(each is None or _is_thing(each) for each in value)
    )


def _is_thing(value: Any) -> bool:
    """Whether this is a small object: all its attributes are plain data."""
    if gymnasium_state.is_plain(value) or isinstance(value, (dict, *gymnasium_state.SEQUENCES)):
        return False
    held = getattr(value, "__dict__", None)
    return held is not None and gymnasium_state.may_enter(value) and all(map(gymnasium_state.is_plain, held.values()))
