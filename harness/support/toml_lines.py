"""On which line of a TOML document each key and each array element stands.

`tomllib` gives values without places. This scanner gives places without values: it reads a document that `tomllib` has
already accepted, so it checks nothing and needs to know only where keys, strings, arrays and tables begin and end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

KeyPath = tuple[str | int, ...]
"""Where a value is: table keys, and positions in arrays (of values or of tables) counted from 0."""

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_QUOTED = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


def key_lines(document: str) -> dict[KeyPath, int]:
    """The line (from 1) of every key, table header, table of an array, and array element of a valid document."""
    scanner = _Scanner(document)
    scanner.document()
    return scanner.lines


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """The line of a path, or of the nearest table around it that the document has; 1 for the document itself."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return 1


class _Scanner:
    def __init__(self, document: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = document
        self._at = 0
        self._line, self._counted = 1, 0
        self._tables: dict[KeyPath, int] = {}  # how many tables each array of tables has so far

    def document(self) -> None:
        table: KeyPath = ()
        while self._skip_space():
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text.startswith("[", self._at):
                table = self._header(1)
            else:
                self._pair(table)

    def _header(self, brackets: int) -> KeyPath:
        line = self._here()
        self._at += brackets
        path: KeyPath = ()
        keys = self._key()
        for position, key in enumerate(keys):
            path += (key,)
            self.lines.setdefault(path, line)
            last = position == len(keys) - 1
            if path in self._tables and not (last and brackets == 2):
                path += (self._tables[path] - 1,)  # a name of an array of tables means its latest table
        if brackets == 2:
            self._tables[path] = self._tables.get(path, 0) + 1
            path += (self._tables[path] - 1,)
        self.lines[path] = line  # the header itself, even where a dotted one has named this table before
        self._at += brackets
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self._here()
        path = table
        for key in self._key():
            path += (key,)
            self.lines.setdefault(path, line)
        self._at += 1  # the equals sign
        self._value(path)

    def _key(self) -> list[str]:
        """A dotted key; leaves the scanner at what follows it."""
        parts: list[str] = []
        while True:
            self._skip_space()
            quoted = _QUOTED.match(self._text, self._at)
            match = quoted or _BARE_KEY.match(self._text, self._at)
            assert match is not None, "tomllib accepts only documents with keys here"
            # Escapes in a quoted key are tomllib's business: it reads the key alone as a value.
            parts.append(tomllib.loads(f"key = {match.group()}")["key"] if quoted else match.group())
            self._at = match.end()
            self._skip_space()
            if self._text[self._at] != ".":
                return parts
            self._at += 1

    def _value(self, path: KeyPath) -> None:
        self._skip_space()
        opening = self._text[self._at]
        if opening == "[":
            self._members(path, "]")
        elif opening == "{":
            self._members(path, "}")
        else:
            match = _QUOTED.match(self._text, self._at) or _SCALAR.match(self._text, self._at)
            assert match is not None, "tomllib accepts only documents with values here"
            self._at = match.end()

    def _members(self, path: KeyPath, closing: str) -> None:
        """The elements of an array, or the pairs of an inline table."""
        self._at += 1
        index = 0
        while self._skip_space() and self._text[self._at] != closing:
            if self._text[self._at] == ",":
                self._at += 1
            elif closing == "}":
                self._pair(path)
            else:
                self.lines[(*path, index)] = self._here()
                self._value((*path, index))
                index += 1
        self._at += 1

    def _skip_space(self) -> bool:
        """Go past white space, line ends and comments; False at the end of the document."""
        match = _SPACE.match(self._text, self._at)
        assert match is not None, "the pattern matches the empty string too"
        self._at = match.end()
        return self._at < len(self._text)

    def _here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line
