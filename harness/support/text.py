"""Texts of agents, records and tasks as a reader may see them: whatever hides, moves or steers is written out.

A character that nobody sees, that turns the direction of writing, or that a terminal obeys is shown by its escape
(`\\x1b`, `\\u202e`, `\\U000e0041`), so that a reader sees that it is there and which it is. A byte that was no UTF-8 (a
surrogate from `os.fsdecode`) is shown as `\\xff`, a control character above U+007F as `\\u009b`: the two differ.

Every way out goes through here: terminals (`harness.support.console`, `guarded`), documents (`visible_document`), pages,
messages of commits, the server. A text that went through is not changed when it goes through again.
"""

from __future__ import annotations

import contextlib
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, TextIO, cast

MOST_MARKS = 4
"""So many combining marks may stand on one character: more of them grow into the lines around it."""
_PLAIN = re.compile(r"[\n\t -~]*")
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""What `str.isprintable` lets through and no reader sees: fillers, selectors of variants, joiners."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_FIRST_MARK = "\u0300"


def visible(text: str) -> str:
    """A text of any number of lines, in which everything but line feeds, tabs and what can be seen is an escape."""
    return text if _PLAIN.fullmatch(text) else "".join(_characters(text))


def one_line(text: str) -> str:
    """`visible`, with line feeds and tabs as escapes too: nothing that it says can pass for another line."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def visible_document(value: Any) -> Any:
    """A JSON document in which every text, names of members included, is `visible`. Two names stay two."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        shown: dict[Any, Any] = {}
        for name, each in value.items():
            called = visible(name) if isinstance(name, str) else name
            while called in shown:
                called += " (again)"
            shown[called] = visible_document(each)
        return shown
    if isinstance(value, list | tuple):
        return [visible_document(each) for each in value]
    return value


def encodable(text: str) -> str:
    """A text in which halves of characters and bytes that were no UTF-8 are escapes, so that it can be stored in UTF-8.

    It may be a JSON document: their backslashes are doubled as that demands.
    """
    return _SURROGATE.sub(lambda found: "\\" + _escape(found[0]), text)


def _characters(text: str) -> Iterator[str]:
    marks, before = MOST_MARKS, " "
    for character in text:
        if character in "\n\t":
            yield character
        elif not character.isprintable() or _BLANK.match(character):
            yield _escape(character)
        elif character >= _FIRST_MARK and unicodedata.category(character) in ("Mn", "Me"):
            marks = MOST_MARKS + 1 if before.isspace() else marks + 1
            yield character if marks <= MOST_MARKS else _escape(character)
            continue
        else:
            yield character
        marks, before = 0, character


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return _SHORT.get(character) or f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


class Guarded:
    """A text stream on which everything is `visible`; `unguarded` is the stream below, for a console that filters itself."""

    def __init__(self, unguarded: TextIO) -> None:
        self.unguarded = unguarded

    def write(self, text: str) -> int:
        """Write a text; returns its length, as a stream does."""
        self.unguarded.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Standard output and standard error, guarded for as long as this lasts: prints, logs, warnings and tracebacks too."""
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, Guarded(unguarded(stream))) for stream in (out, err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def unguarded(stream: TextIO) -> TextIO:
    """The stream below a guarded one; any other is itself."""
    return stream.unguarded if isinstance(stream, Guarded) else stream
