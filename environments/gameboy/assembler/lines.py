"""The lines of a source, and the blocks (macro, rept, if) that are taken or expanded as a whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import AssemblyError, Place

_CLOSING = {"macro": "endm", "rept": "endr", "if": "endc"}
_FIRST_WORD = re.compile(r"\s*([A-Za-z]+)\b(?!:)")
_ARGUMENT = re.compile(r"\\([1-9@#])")


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    place: Place

    @property
    def first_word(self) -> str:
        """The word that the line begins with, in lower case; empty where it begins with a label or something else."""
        match = _FIRST_WORD.match(self.text)
        return match.group(1).lower() if match else ""


def read_lines(path: Path, name: str) -> list[Line]:
    """The lines of a file, under the name that messages give it. OSError and UnicodeDecodeError pass through."""
    texts = path.read_text(encoding="utf-8").splitlines()
    return [Line(text, Place(name, number)) for number, text in enumerate(texts, start=1)]


def take_block(lines: list[Line], start: int) -> tuple[list[Line], int]:
    """The lines between the opening line at `start` and the line that closes it, and the index behind that one."""
    opening = lines[start].first_word
    waiting = [_CLOSING[opening]]
    for index in range(start + 1, len(lines)):
        word = lines[index].first_word
        if word == waiting[-1]:
            waiting.pop()
            if not waiting:
                return lines[start + 1 : index], index + 1
        elif word in _CLOSING:
            waiting.append(_CLOSING[word])
    raise AssemblyError(lines[start].place, f"{opening} is never closed: expected {_CLOSING[opening]}")


def split_branches(lines: list[Line]) -> list[tuple[Line | None, list[Line]]]:
    """The branches inside an `if`: each with the elif or else line that begins it (the first one with none)."""
    branches: list[tuple[Line | None, list[Line]]] = [(None, [])]
    depth = 0
    for line in lines:
        word = line.first_word
        depth += (word in _CLOSING) - (word in _CLOSING.values())
        if depth == 0 and word in ("elif", "else"):
            branches.append((line, []))
        else:
            branches[-1][1].append(line)
    return branches


def expand(body: list[Line], caller: Place, arguments: list[str], unique: int) -> list[Line]:
    r"""A body with `\1` to `\9` replaced by the arguments, `\@` by a number of its own, `\#` by their count."""
    result: list[Line] = []
    for line in body:
        place = Place(line.place.file, line.place.line, caller)

        def argument(match: re.Match[str], place: Place = place) -> str:
            sign = match.group(1)
            if sign == "@":
                return f"_{unique}"
            if sign == "#":
                return str(len(arguments))
            if int(sign) > len(arguments):
                raise AssemblyError(place, f"argument \\{sign} is missing: the call has {len(arguments)}")
            return arguments[int(sign) - 1]

        result.append(Line(_ARGUMENT.sub(argument, _without_comment(line.text)), place))
    return result


def split_arguments(text: str) -> list[str]:
    """What a macro's call passes: the text between commas that are in no parentheses and no quotes."""
    parts = [""]
    depth = 0
    quote = ""
    for character in _without_comment(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character in "([") - (character in ")]")
            if character == "," and depth == 0:
                parts.append("")
                continue
        parts[-1] += character
    return [part.strip() for part in parts] if any(part.strip() for part in parts) else []


def _without_comment(text: str) -> str:
    quote = ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == ";":
            return text[:position]
    return text
