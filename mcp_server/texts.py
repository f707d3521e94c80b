"""A document as text: the same facts, in the same order, and no more of them than a client can take.

Some clients show a model only the structured data of a result and others only its text, so neither may hold anything that
the other lacks. The text is therefore always made from the data, here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcp_server.limits import FIELD_CHARACTERS, RESULT_CHARACTERS

ROW_CHARACTERS = 200
SHORTEST = 400
"""A text is not cut below this; a document that is still too long then loses the tails of its lists."""


def cut(text: str, limit: int, rest: str = "") -> str:
    """The beginning of a text, with a line that says how much is missing and where it is.

    Args:
        limit: the characters that the result may have.
        rest: where the whole text can be read.
    """
    if len(text) <= limit:
        return text
    note = f"\n[cut: {limit} of {len(text)} characters{'; all of it: ' + rest if rest else ''}]"
    return text[: max(0, limit - len(note))] + note


def ends(text: str, limit: int) -> str:
    """The beginning and the end of a text, where the end says more than the middle: what a command printed."""
    if len(text) <= limit:
        return text
    note = f"\n[{len(text)} characters; the middle is left out]\n"
    half = (limit - len(note)) // 2
    return text[:half] + note + text[-half:]


def fitted(document: dict[str, Any], rest: str = "", limit: int = RESULT_CHARACTERS) -> dict[str, Any]:
    """A document of at most `limit` characters as JSON: its longest texts are cut first, then its longest lists.

    Args:
        document: JSON-ready; it is not changed.
        rest: where all of it can be read.
    """
    allowed = FIELD_CHARACTERS
    shown: dict[str, Any] = _shorten(document, allowed, None, rest)
    while len(json.dumps(shown, ensure_ascii=False)) > limit and allowed > SHORTEST:
        allowed //= 2
        shown = _shorten(document, allowed, None, rest)
    rows = 256
    while len(json.dumps(shown, ensure_ascii=False)) > limit and rows > 1:
        rows //= 2
        shown = _shorten(document, allowed, rows, rest)
    return shown


def text(document: Mapping[str, Any]) -> str:
    """A document as an outline: one line for each fact, lists as dashes, long texts as indented blocks."""
    return "\n".join(_lines(document, ""))


def _shorten(value: Any, characters: int, rows: int | None, rest: str) -> Any:
    if isinstance(value, str):
        return cut(value, characters, rest)
    if isinstance(value, Mapping):
        return {name: _shorten(each, characters, rows, rest) for name, each in value.items()}
    if isinstance(value, list | tuple):
        kept = [_shorten(each, characters, rows, rest) for each in value[:rows]]
        if rows is not None and len(value) > rows and all(isinstance(each, str) for each in kept):
            kept.append(f"[cut: {rows} of {len(value)}{'; all of it: ' + rest if rest else ''}]")
        return kept
    return value


def _lines(value: Any, indent: str) -> list[str]:
    lines: list[str] = []
    entries: Sequence[tuple[str, Any]]
    if isinstance(value, Mapping):
        entries = [(f"{name}:", each) for name, each in value.items()]
    else:
        entries = [("-", each) for each in value]
    for label, each in entries:
        if each is None or each in ({}, [], ""):
            lines.append(f"{indent}{label} {_nothing(each)}")
        elif isinstance(each, str) and "\n" in each:
            lines += [f"{indent}{label}", *(f"{indent}  {line}" for line in each.split("\n"))]
        elif label == "-" and isinstance(each, Mapping) and (row := _row(each)) is not None:
            lines.append(f"{indent}- {row}")
        elif isinstance(each, Mapping | list | tuple):
            lines += [f"{indent}{label}", *_lines(each, indent + "  ")]
        else:
            lines.append(f"{indent}{label} {_scalar(each)}")
    return lines


def _row(entry: Mapping[str, Any]) -> str | None:
    """An entry of a list in one line, where it has only short facts."""
    facts = []
    for name, each in entry.items():
        if isinstance(each, Mapping | list | tuple) and each:
            return None
        facts.append(f"{name}: {_nothing(each) if each in (None, {}, [], '') else _scalar(each)}")
    row = "; ".join(facts)
    return row if len(row) <= ROW_CHARACTERS and "\n" not in row else None


def _nothing(value: Any) -> str:
    return "none" if value is None else '""' if value == "" else "(empty)"


def _scalar(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
