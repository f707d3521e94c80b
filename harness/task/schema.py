"""What a TOML table may hold, said as data, and every mistake that a document makes against it.

A *kind* is a function `(value, location) -> value`. It returns the value as the program wants it, or notes what is wrong
at its place and returns `INVALID`. Kinds for tables and arrays are made from kinds for their members, so a schema reads
like the document that it describes; after a mistake everything else is still read.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.support.toml_lines import KeyPath, line_of

INVALID: Any = object()
"""What a kind returns after it noted a mistake."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Mistakes:
    """Every mistake found in a document, with its line."""

    def __init__(self, file: str, lines: Mapping[KeyPath, int]) -> None:
        self._file = file
        self._lines = lines
        self._found: set[tuple[int, str]] = set()

    def add(self, path: KeyPath, what: str) -> None:
        """Note a mistake at a key, or at the table that lacks it."""
        line = self.line_at(path)
        key = f"{show(path)}: " if path else ""
        self._found.add((line, f"{self._file}:{line}: {key}{what}"))

    def line_at(self, path: KeyPath) -> int:
        """The line of a key, or of the table that lacks it."""
        return line_of(self._lines, path)

    def __len__(self) -> int:
        return len(self._found)

    def sorted(self) -> tuple[str, ...]:
        """One line for each mistake, in the order of the document."""
        return tuple(text for _, text in sorted(self._found))


@dataclass(frozen=True)
class Location:
    """A place in the document, where mistakes can be noted."""

    mistakes: Mistakes
    path: KeyPath = ()

    def at(self, *keys: str | int) -> Location:
        """A place below this one."""
        return Location(self.mistakes, self.path + keys)

    def wrong(self, what: str, expected: str = "", *, given: str = "", choices: Iterable[str] = ()) -> Any:
        """Note a mistake: what is wrong, what is expected, and which of `choices` is close to what was `given`."""
        close = difflib.get_close_matches(given, list(choices), n=1, cutoff=0.6) if given else []
        parts = [what, f"expected {expected}" if expected else "", f"did you mean `{close[0]}`?" if close else ""]
        self.mistakes.add(self.path, "; ".join(part for part in parts if part))
        return INVALID


Kind = Callable[[Any, Location], Any]


@dataclass(frozen=True)
class Required:
    """Marks a key that a table must have."""

    kind: Kind


def show(path: KeyPath) -> str:
    """A path as a person would write it: `leaves."state/x".low[1]`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            quoted = key if _BARE.fullmatch(key) else f'"{key}"'
            text += f".{quoted}" if text else quoted
    return text


def describe(value: Any) -> str:
    """A value of the document, with its type where that is what may be wrong."""
    names = {bool: "boolean", int: "integer", float: "float", str: "string", list: "array", dict: "table"}
    kind = names.get(type(value), "date")
    if isinstance(value, (list, dict)):
        return f"an array of {len(value)}" if isinstance(value, list) else "a table"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    return f"the {kind} {value!r}"


def table(keys: Mapping[str, Kind | Required]) -> Kind:
    """A table with these keys and no others; keys that are absent or invalid are absent from the result."""

    def read(value: Any, location: Location) -> Any:
        if not isinstance(value, dict):
            return location.wrong(f"it is {describe(value)}", "a table")
        for name in value:
            if name not in keys:
                known = ", ".join(keys)
                location.at(name).wrong("unknown key", f"one of {known}", given=name, choices=keys)
        result = {}
        for name, entry in keys.items():
            if name in value:
                kind = entry.kind if isinstance(entry, Required) else entry
                result[name] = kind(value[name], location.at(name))
            elif isinstance(entry, Required):
                location.wrong(f"the key `{name}` is missing" if location.path else f"`{name}` is missing")
        return _without_invalid(result)

    return read


def table_of(kind: Kind, name: Kind) -> Kind:
    """A table whose keys the document chooses: each key satisfies `name`, each value is of `kind`."""

    def read(value: Any, location: Location) -> Any:
        if not isinstance(value, dict):
            return location.wrong(f"it is {describe(value)}", "a table")
        valid = {key: location.at(key) for key in value if name(key, location.at(key)) is not INVALID}
        return _without_invalid({key: kind(value[key], here) for key, here in valid.items()})

    return read


def array_of(kind: Kind, *, at_least: int = 0, unique: bool = False) -> Kind:
    """An array as a tuple, with `INVALID` instead of each wrong element; see `valid`."""

    def read(value: Any, location: Location) -> Any:
        if not isinstance(value, list):
            return location.wrong(f"it is {describe(value)}", "an array")
        if len(value) < at_least:
            return location.wrong(f"has {len(value)} elements", f"at least {at_least}")
        read = [kind(element, location.at(index)) for index, element in enumerate(value)]
        for index, element in enumerate(read):
            if unique and element is not INVALID and element in read[:index]:
                location.at(index).wrong(f"{describe(element)} stands here twice")
        return tuple(read)

    return read


def text(expected: str = "a string that is not empty", pattern: str = r"(?s).*\S.*") -> Kind:
    """A string that matches a pattern as a whole."""
    compiled = re.compile(pattern)

    def read(value: Any, location: Location) -> Any:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            return location.wrong(f"it is {describe(value)}", expected)
        return value

    return read


def one_of(*choices: str) -> Kind:
    """One of a few strings."""

    def read(value: Any, location: Location) -> Any:
        if value not in choices:
            expected = "one of " + ", ".join(choices)
            return location.wrong(f"it is {describe(value)}", expected, given=str(value), choices=choices)
        return value

    return read


def flag(value: Any, location: Location) -> Any:
    """A boolean."""
    return value if isinstance(value, bool) else location.wrong(f"it is {describe(value)}", "true or false")


def whole(at_least: int) -> Kind:
    """An integer from `at_least` on."""

    def read(value: Any, location: Location) -> Any:
        if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
            return location.wrong(f"it is {describe(value)}", f"an integer of at least {at_least}")
        return value

    return read


def number(expected: str = "a finite number", holds: Callable[[float], bool] = lambda value: True) -> Kind:
    """A finite number, as a float, for which `holds` is true."""

    def read(value: Any, location: Location) -> Any:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return location.wrong(f"it is {describe(value)}", expected)
        if not abs(value) <= sys.float_info.max or not holds(value):  # an integer may be beyond any float
            return location.wrong(f"it is {describe(value)}", expected)
        return float(value)

    return read


def valid(elements: Iterable[Any]) -> list[tuple[int, Any]]:
    """The elements of an array that are what they should be, each with its position."""
    return [(index, element) for index, element in enumerate(elements) if element is not INVALID]


def anything(value: Any, location: Location) -> Any:
    """Any value, as it is."""
    return value


def _without_invalid(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if value is not INVALID}
