"""What came over the socket, held against what a call takes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from harness.errors import SessionError


def checked(call: str, function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, of the types that `function` states for them.

    Raises:
        SessionError: one is unknown, missing, or of another type; all such are named together.
    """
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    hints = get_type_hints(function)
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
    return dict(given)


def _fits(value: Any, hint: Any) -> bool:
    kinds = hint.__args__ if isinstance(hint, types.UnionType) else (hint,)
    # To Python a bool is an int, and an int no float: to JSON's readers it is the other way round.
    if isinstance(value, bool):
        return bool in kinds
    return any(isinstance(value, (int, float) if kind is float else kind) for kind in kinds)


def _named(hint: Any) -> str:
    kinds = hint.__args__ if isinstance(hint, types.UnionType) else (hint,)
    return " or ".join("null" if kind is types.NoneType else kind.__name__ for kind in kinds)
