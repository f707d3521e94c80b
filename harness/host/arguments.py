"""What came over the socket, held against what a call takes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from harness.errors import SessionError

REQUEST = "request"


def checked(call: str, function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, of the types that `function` states for them. Where it takes a `request`, they are what that
    is made of.

    Raises:
        SessionError: one is unknown, missing, or of another type; all such are named together.
    """
    request = get_type_hints(function).get(REQUEST)
    parameters, hints = _taken(request or function)
    wrong = [f"`{name}` is unknown" for name in given if name not in parameters]
    for name, parameter in parameters.items():
        if name not in given:
            if parameter.default is inspect.Parameter.empty:
                wrong.append(f"`{name}` is missing")
        elif not _fits(given[name], hints[name]):
            wrong.append(f"`{name}` is a {type(given[name]).__name__} instead of {_named(hints[name])}")
    if wrong:
        raise SessionError(
            f"{call} was called wrongly: {'; '.join(wrong)}",
            expected=", ".join(f"{name}: {_named(hints[name])}" for name in parameters) or "no arguments",
        )
    return dict(given) if request is None else {REQUEST: request(**given)}


def _taken(function: Callable[..., Any]) -> tuple[dict[str, inspect.Parameter], dict[str, Any]]:
    """What a function takes by name alone, or all that makes an object of a class; and their types."""
    parameters = inspect.signature(function).parameters
    if isinstance(function, type):
        return dict(parameters), get_type_hints(function)
    by_name = {name: each for name, each in parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    return by_name, get_type_hints(function)


def _fits(value: Any, hint: Any) -> bool:
    kinds = hint.__args__ if isinstance(hint, types.UnionType) else (hint,)
    # To Python a bool is an int, and an int no float: to JSON's readers it is the other way round.
    if isinstance(value, bool):
        return bool in kinds
    return any(isinstance(value, (int, float) if kind is float else kind) for kind in kinds)


def _named(hint: Any) -> str:
    kinds = hint.__args__ if isinstance(hint, types.UnionType) else (hint,)
    return " or ".join("null" if kind is types.NoneType else kind.__name__ for kind in kinds)
