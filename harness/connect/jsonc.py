"""Changing one member of a JSON file and nothing else of it.

People's settings have an order, an indentation, and in some clients comments and commas at the end. A parser that loads and
dumps would lose all that, so this one knows where in the text each member stands, and edits the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}\[{:\"/]+")
_NOTE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
_INDENT = re.compile(r"\n([ \t]*)\Z")
MAX_DEPTH = 200


class Malformed(ValueError):
    """The text is not a JSON document; `line` counts from 1."""

    def __init__(self, what: str, line: int) -> None:
        self.what, self.line = what, line
        super().__init__(f"line {line}: {what}")


@dataclass
class Member:
    """One member of an object: where its name begins, and its value."""

    begin: int
    value: Node


@dataclass
class Node:
    """A value: what it is, from where to where it stands, and for an object its members."""

    value: Any
    begin: int
    end: int = 0
    members: dict[str, Member] = field(default_factory=dict)


def parse(text: str) -> Node:
    """The document, with places. An empty one counts as an empty object that is yet to be written.

    Raises:
        Malformed: it is not JSON, even with comments and commas at the end allowed, or a name stands twice.
    """
    scanner = _Scanner(text)
    scanner.space()
    if scanner.at == len(text):
        return Node({}, len(text), len(text))
    node = scanner.value(0)
    scanner.space()
    if scanner.at != len(text):
        raise scanner.wrong("something follows the document")
    return node


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with an object at a path; what is there is replaced, objects around it are made.

    Raises:
        Malformed: the text is not JSON, or what is on the way to the path is not an object.
    """
    node = parse(text)
    if node.begin == node.end:  # an empty document
        made: Any = value
        for name in reversed(path):
            made = {name: made}
        return text + json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    unit = _unit(text, node)
    for depth, name in enumerate(path):
        _demand_object(text, node, path[:depth])
        member = node.members.get(name)
        if member is None:
            made = value
            for below in reversed(path[depth + 1 :]):
                made = {below: made}
            return _insert(text, node, name, made, unit)
        node = member.value
    outer = _indentation(text, node.begin)
    return text[: node.begin] + _dumped(value, unit, outer, text) + text[node.end :]


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path; unchanged if there is none.

    Raises:
        Malformed: the text is not JSON, or what is on the way to the path is not an object.
    """
    node = parse(text)
    for depth, name in enumerate(path[:-1]):
        _demand_object(text, node, path[:depth])
        if name not in node.members:
            return text
        node = node.members[name].value
    _demand_object(text, node, path[:-1])
    names = list(node.members)
    if path[-1] not in names:
        return text
    position = names.index(path[-1])
    member = node.members[path[-1]]
    if position + 1 < len(names):  # up to where the next one begins, so that its own comments stay with it
        return text[: member.begin] + _after_comma(text, member.value.end)
    end = _past_comma(text, member.value.end)
    if position:  # what was written behind the one before stays; its comma goes unless the last one had one too
        before = node.members[names[position - 1]].value.end
        comma = _past_comma(text, before)
        note = _NOTE.match(text, comma)
        behind = note.end() if note else comma
        kept = text[:behind] if end > member.value.end else text[:before] + text[comma:behind]
        return kept + text[end:]
    return text[: node.begin + 1] + text[end:].lstrip(" \t\r\n")


def line_at(text: str, at: int) -> int:
    """The line, from 1, of a position."""
    return text.count("\n", 0, at) + 1


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def wrong(self, what: str) -> Malformed:
        return Malformed(what, line_at(self.text, self.at))

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None, "the pattern matches the empty string too"
        self.at = match.end()

    def value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.wrong("it is nested too deeply")
        begin = self.at
        opening = self.text[begin : begin + 1]
        if opening == "{":
            node = self._object(depth)
        elif opening == "[":
            node = self._array(depth)
        elif opening == '"':
            node = Node(self._string(), begin)
        else:
            match = _SCALAR.match(self.text, self.at)
            if match is None:
                raise self.wrong("a value is missing")
            try:
                node = Node(json.loads(match.group()), begin)
            except ValueError:
                raise self.wrong(f"{match.group()[:40]!r} is not a value") from None
            self.at = match.end()
        node.end = self.at
        return node

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.wrong("a string does not end")
        try:
            string: str = json.loads(match.group())
        except ValueError:
            raise self.wrong("a string has an invalid escape") from None
        self.at = match.end()
        return string

    def _object(self, depth: int) -> Node:
        node = Node({}, self.at)
        self.at += 1
        while not self._ends("}", bool(node.members)):
            begin = self.at
            if self.text[self.at : self.at + 1] != '"':
                raise self.wrong("a name in quotes is missing")
            name = self._string()
            if name in node.members:
                raise self.wrong(f"the name {name!r} stands twice")
            self.space()
            if self.text[self.at : self.at + 1] != ":":
                raise self.wrong(f"a colon is missing after {name!r}")
            self.at += 1
            self.space()
            node.members[name] = Member(begin, self.value(depth + 1))
        node.value = {name: member.value.value for name, member in node.members.items()}
        return node

    def _array(self, depth: int) -> Node:
        node = Node([], self.at)
        self.at += 1
        while not self._ends("]", bool(node.value)):
            node.value.append(self.value(depth + 1).value)
        return node

    def _ends(self, closing: str, inside: bool) -> bool:
        """Go to the next member, past a comma where one is due; True past the end of the object or array."""
        self.space()
        if inside and self.text[self.at : self.at + 1] == ",":
            self.at += 1
            self.space()
        elif inside and self.text[self.at : self.at + 1] != closing:
            raise self.wrong(f"a comma or {closing!r} is missing")
        if self.at == len(self.text):
            raise self.wrong(f"{closing!r} is missing at the end")
        if self.text[self.at] != closing:
            return False
        self.at += 1
        return True


def _demand_object(text: str, node: Node, path: Sequence[str]) -> None:
    if not isinstance(node.value, dict):
        what = f"`{'.'.join(path)}`" if path else "the document"
        raise Malformed(f"{what} is not an object", line_at(text, node.begin))


def _insert(text: str, node: Node, name: str, value: Any, unit: str) -> str:
    """A member more, at the end of an object, in the object's own manner."""
    outer = _indentation(text, node.begin)
    newline = "\r\n" if "\r\n" in text else "\n"
    if not node.members:
        inner = outer + unit
        inside = text[node.begin + 1 : node.end - 1].rstrip()
        member = f"{json.dumps(name, ensure_ascii=False)}: {_dumped(value, unit, inner, text)}"
        return f"{text[: node.begin + 1]}{inside}{newline}{inner}{member}{newline}{outer}{text[node.end - 1 :]}"
    *_, last = node.members.values()
    begin = list(node.members.values())[-1].begin
    same_line = "\n" not in text[node.begin : begin]
    inner = outer + unit if same_line else _indentation(text, begin)
    member = f"{json.dumps(name, ensure_ascii=False)}: {_dumped(value, unit, inner, text)}"
    # What is written behind the last member stays behind it; a comma at the end is there or is made.
    end = _past_comma(text, last.value.end)
    trailing = end > last.value.end
    note = _NOTE.match(text, end)
    behind = note.end() if note else end
    before = text[:behind] if trailing else f"{text[:end]},{text[end:behind]}"
    return f"{before}{newline}{inner}{member}{',' if trailing else ''}{text[behind:]}"


def _dumped(value: Any, unit: str, outer: str, text: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    newline = "\r\n" if "\r\n" in text else "\n"
    return newline.join([lines[0], *(outer + line for line in lines[1:])])


def _indentation(text: str, at: int) -> str:
    """The white space at the beginning of the line of a position."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str, node: Node) -> str:
    """By how much the document indents: as its first member is, else two spaces."""
    for member in node.members.values():
        match = _INDENT.search(text[: member.begin])
        if match and match.group(1):
            return match.group(1)
    return "  "


def _past_comma(text: str, at: int) -> int:
    """Past a comma that follows a value, if there is one."""
    gap = _SPACE.match(text, at)
    assert gap is not None
    return gap.end() + 1 if text[gap.end() : gap.end() + 1] == "," else at


def _after_comma(text: str, at: int) -> str:
    """What follows a member and its comma, without the white space (but with comments) before the next one."""
    return text[_past_comma(text, at) :].lstrip(" \t\r\n")
