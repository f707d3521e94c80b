"""What a record says, made fit to be shown: text without tricks, numbers that are numbers, identifiers that are identifiers.

Most of a record was written by somebody who may want to deceive its reader. Markup is the templates' business, which
escape everything. Here goes what escaping leaves in: characters that hide or reorder text (`harness.support.text`
shows them), and text without an end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.support.text import visible

MAX_TEXT = 2000
MAX_LINE = 300
MAX_ITEMS = 200
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SPACES = str.maketrans("\n\t\r", "   ")


def line(value: object, limit: int = MAX_LINE) -> str:
    """A value as one line of text; what hides, or would reorder what stands beside it, is an escape."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return _capped(visible(text[: limit + 1].translate(_SPACES)), len(text), limit)


def block(value: object, limit: int = MAX_TEXT) -> str:
    """A value as text of several lines, otherwise as `line`."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return _capped(visible(text[: limit + 1].expandtabs(4)), len(text), limit)


def number(value: object, default: float = 0.0) -> float:
    """A finite number; `default` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    try:
        found = float(value)
    except OverflowError:
        return default
    return found if math.isfinite(found) else default


def optional(value: object) -> float | None:
    """A finite number, or None."""
    found = number(value, math.nan)
    return None if math.isnan(found) else found


def whole(value: object) -> int:
    """A whole number; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64 else 0


def commit_id(value: object) -> str | None:
    """A commit's id, None for anything else, so that nothing else ever becomes part of a link."""
    return value if isinstance(value, str) and _COMMIT.fullmatch(value) else None


def mapping(value: object) -> Mapping[str, Any]:
    """A JSON object, empty for anything else."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> Sequence[Any]:
    """A JSON list, cut to what a page can hold and empty for anything else."""
    return value[:MAX_ITEMS] if isinstance(value, list | tuple) else ()


def objects(value: object) -> list[Mapping[str, Any]]:
    """The objects in a JSON list."""
    return [each for each in listed(value) if isinstance(each, dict)]


def _capped(text: str, length: int, limit: int) -> str:
    return text if length <= limit else f"{text[:limit]} … (cut, {length:,} characters)"
