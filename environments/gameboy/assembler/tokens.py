"""One line of source, cut into tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .errors import AssemblyError, Place

Kind = Literal["name", "number", "string", "symbol"]


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is what stood in the source (a string without its quotes); `value` is what a number says."""

    kind: Kind
    text: str
    value: int = 0

    def __str__(self) -> str:
        return f'"{self.text}"' if self.kind == "string" else self.text


_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("blank", re.compile(r"[ \t]+")),
    ("comment", re.compile(r";.*")),
    ("string", re.compile(r'"((?:[^"\\]|\\.)*)"')),
    ("character", re.compile(r"'((?:[^'\\]|\\.))'")),
    ("hexadecimal", re.compile(r"\$([0-9A-Fa-f_]+)")),
    ("binary", re.compile(r"%([01][01_]*)")),
    ("pixels", re.compile(r"`([.0-3]{8})(?![.0-9])")),
    ("decimal", re.compile(r"[0-9][0-9_]*(?![A-Za-z])")),
    ("name", re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*)?\.?[A-Za-z_][A-Za-z0-9_]*")),
    ("symbol", re.compile(r"<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!()\[\],:@=<>]")),
)
_ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\", '"': '"', "'": "'"}


def tokenize(text: str, place: Place) -> list[Token]:
    """The tokens of one line, its comment left out. AssemblyError for a character that begins none of them."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        for rule, pattern in _PATTERNS:
            # `X%10` and `X % 10` are remainders; with a blank before and none behind, as in `db %10`, it is a number.
            if rule == "binary" and tokens and _is_operand(tokens[-1]) and text[position - 1] not in " \t":
                continue
            match = pattern.match(text, position)
            if match is not None:
                break
        else:
            unknown = text[position:].split(maxsplit=1)[0]
            raise AssemblyError(place, f"unexpected {unknown!r}: neither a number, a name nor a sign")
        position = match.end()
        if rule not in ("blank", "comment"):
            tokens.append(_token(rule, match, place))
    return tokens


def _is_operand(token: Token) -> bool:
    return token.kind in ("name", "number", "string") or token.text in (")", "]", "@")


def _token(rule: str, match: re.Match[str], place: Place) -> Token:
    text = match.group()
    if rule == "string":
        return Token("string", _unescape(match.group(1), place))
    if rule == "character":
        return Token("number", text, ord(_unescape(match.group(1), place)))
    if rule == "hexadecimal":
        return Token("number", text, int(match.group(1).replace("_", ""), 16))
    if rule == "binary":
        return Token("number", text, int(match.group(1).replace("_", ""), 2))
    if rule == "pixels":
        return Token("number", text, _plane_bytes(match.group(1)))
    if rule == "decimal":
        return Token("number", text, int(text.replace("_", "")))
    return Token("name" if rule == "name" else "symbol", text)


def _unescape(text: str, place: Place) -> str:
    result = ""
    characters = iter(text)
    for character in characters:
        if character != "\\":
            result += character
            continue
        escaped = next(characters)
        if escaped not in _ESCAPES:
            raise AssemblyError(place, f"unknown escape \\{escaped}: expected one of \\n \\t \\0 \\\\ \\\" \\'")
        result += _ESCAPES[escaped]
    return result


def _plane_bytes(pixels: str) -> int:
    """Eight pixels of a tile's row as the console stores them: the low bits' byte first, the left pixel in bit 7."""
    low = high = 0
    for pixel in pixels.replace(".", "0"):
        low = low << 1 | int(pixel) & 1
        high = high << 1 | int(pixel) >> 1
    return high << 8 | low
