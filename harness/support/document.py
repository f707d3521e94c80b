"""Reading a JSON object field by field: whatever is wrong names the field, what stands there, and what belongs there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
MAX_SHOWN = 80


class DocumentError(ValueError):
    """A document does not have the form of its kind."""


class Document:
    """A JSON object of a known kind.

    Args:
        content: what was parsed.
        kind: what it should be, for errors: `verdict`.

    Raises:
        DocumentError: it is not an object; also raised by every reading of a field.
    """

    def __init__(self, content: object, kind: str) -> None:
        if not isinstance(content, Mapping):
            raise _wrong(kind, content, "an object")
        self.content: Mapping[str, Any] = content
        self.kind = kind

    def text(self, name: str, default: str | None = None) -> str:
        """A text."""
        return self._read(name, "a text", lambda value: isinstance(value, str), default)

    def text_or_none(self, name: str) -> str | None:
        """A text, or null; a field that is not there is null."""
        return self._read(name, "a text or null", lambda value: value is None or isinstance(value, str), None, True)

    def whole(self, name: str, default: int | None = None) -> int:
        """A whole number."""
        return self._read(name, "a whole number", _is_whole, default)

    def number(self, name: str, default: float | None = None) -> float:
        """A number."""
        return float(self._read(name, "a number", _is_number, default))

    def number_or_none(self, name: str) -> float | None:
        """A number, or null; a field that is not there is null."""
        if self.content.get(name) is None:
            return None
        return self.number(name)

    def flag(self, name: str) -> bool:
        """True or false."""
        return self._read(name, "true or false", lambda value: isinstance(value, bool))

    def flag_or_none(self, name: str) -> bool | None:
        """True, false or null; a field that is not there is null."""
        allowed = (True, False, None)
        return self._read(name, "true, false or null", lambda value: any(value is each for each in allowed), None, True)

    def one_of(self, name: str, allowed: Callable[[Any], T]) -> T:
        """A value that `allowed` takes, as an enumeration does."""
        try:
            return allowed(self._read(name, "a known value", lambda value: isinstance(value, str)))
        except ValueError as error:
            raise DocumentError(f"{self.kind}.{name}: {error}") from error

    def object(self, name: str) -> Document:
        """An object."""
        return Document(self._read(name, "an object", lambda value: isinstance(value, Mapping)), f"{self.kind}.{name}")

    def read_or_none(self, name: str, each: Callable[[Any, str], T]) -> T | None:
        """What `each` reads of a field, given it and what to call it; None where it is null or not there."""
        value = self.content.get(name)
        return None if value is None else each(value, f"{self.kind}.{name}")

    def list(self, name: str, each: Callable[[Any, str], T]) -> tuple[T, ...]:
        """A list, of which `each` reads the elements, given one and what to call it."""
        values = self._read(name, "a list", lambda value: isinstance(value, list | tuple))
        return items(each)(values, f"{self.kind}.{name}")

    def mapping(self, name: str, each: Callable[[Any, str], T]) -> dict[str, T]:
        """An object whose names are free, of which `each` reads the values, given one and what to call it."""
        values = self.object(name)
        return {key: each(value, f"{values.kind}.{str(key)[:MAX_SHOWN]}") for key, value in values.content.items()}

    def exactly(self, *names: str) -> None:
        """All these fields are there, and no others."""
        missing = [name for name in names if name not in self.content]
        if missing:
            raise DocumentError(f"{self.kind} has no {missing[0]!r}; expected {', '.join(names)}")
        unknown = [name for name in self.content if name not in names]
        if unknown:
            raise DocumentError(f"{self.kind} has {_shown(unknown[0])}; expected only {', '.join(names)}")

    def optional(self, name: str, read: Callable[[Any], T]) -> T | None:
        """What `read` makes of a field, or None where it is null or not there."""
        value = self.content.get(name)
        if value is None:
            return None
        try:
            return read(value)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise DocumentError(f"{self.kind}.{name}: {type(error).__name__}: {error}") from error

    def _read(
        self, name: str, expected: str, fits: Callable[[Any], bool], default: Any = None, optional: bool = False
    ) -> Any:
        if name not in self.content:
            if default is None and not optional:
                raise DocumentError(f"{self.kind} has no {name!r}; expected {expected}")
            return default
        value = self.content[name]
        if not fits(value):
            raise _wrong(f"{self.kind}.{name}", value, expected)
        return value


def text(value: Any, name: str) -> str:
    """An element that is a text; for `Document.list`."""
    if not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return value


def whole(value: Any, name: str) -> int:
    """An element that is a whole number; for `Document.list`."""
    if not _is_whole(value):
        raise _wrong(name, value, "a whole number")
    return value


def number(value: Any, name: str) -> float:
    """An element that is a number; for `Document.mapping`."""
    if not _is_number(value):
        raise _wrong(name, value, "a number")
    return float(value)


def items(each: Callable[[Any, str], T]) -> Callable[[Any, str], tuple[T, ...]]:
    """A reader of an element that is itself a list, of which `each` reads the elements."""

    def read(value: Any, name: str) -> tuple[T, ...]:
        if not isinstance(value, list | tuple):
            raise _wrong(name, value, "a list")
        return tuple(each(inner, f"{name}[{number}]") for number, inner in enumerate(value))

    return read


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    """Whether `float` takes it: a whole number in JSON may be longer than any float."""
    return isinstance(value, float) or (_is_whole(value) and abs(value) <= sys.float_info.max)


def _wrong(name: str, value: object, expected: str) -> DocumentError:
    return DocumentError(f"{name} is {_shown(value)}; expected {expected}")


def _shown(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        shown = "a whole number that is too long to show"
    return shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + "..."
