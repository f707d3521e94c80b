"""Expressions: parsed in the first pass, and evaluated when all labels are known.

Values are integers without a limit; what a byte or a word can hold is checked where the value is written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .errors import AssemblyError, ExpressionError, Place
from .tokens import Token


@dataclass(frozen=True, slots=True)
class Symbol:
    """A label (with the bank that it lies in) or a constant (without one)."""

    value: int
    bank: int | None = None


class Scope(Protocol):
    """What names mean. Both raise ExpressionError for a name that means nothing (yet)."""

    def value(self, name: str) -> int: ...

    def bank(self, name: str) -> int: ...


class Expression(Protocol):
    def evaluate(self, scope: Scope) -> int:
        """The value; ExpressionError where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Number:
    number: int

    def evaluate(self, scope: Scope) -> int:
        return self.number


@dataclass(frozen=True, slots=True)
class Name:
    name: str

    def evaluate(self, scope: Scope) -> int:
        return scope.value(self.name)


@dataclass(frozen=True, slots=True)
class Bank:
    name: str

    def evaluate(self, scope: Scope) -> int:
        return scope.bank(self.name)


@dataclass(frozen=True, slots=True)
class Unary:
    apply: Callable[[int], int]
    operand: Expression

    def evaluate(self, scope: Scope) -> int:
        return self.apply(self.operand.evaluate(scope))


@dataclass(frozen=True, slots=True)
class Binary:
    apply: Callable[[int, int], int]
    left: Expression
    right: Expression

    def evaluate(self, scope: Scope) -> int:
        return self.apply(self.left.evaluate(scope), self.right.evaluate(scope))


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise ExpressionError("division by zero")
    return left // right


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise ExpressionError("division by zero")
    return left % right


def _shift_left(left: int, right: int) -> int:
    if not 0 <= right <= 64:
        raise ExpressionError(f"a shift by {right}: expected 0 to 64")
    return left << right


def _shift_right(left: int, right: int) -> int:
    if not 0 <= right <= 64:
        raise ExpressionError(f"a shift by {right}: expected 0 to 64")
    return left >> right


_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda value: int(not value),
}
_FUNCTIONS: dict[str, Callable[[int], int]] = {
    "high": lambda value: value >> 8 & 0xFF,
    "low": lambda value: value & 0xFF,
}
_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda left, right: int(bool(left) or bool(right))},
    {"&&": lambda left, right: int(bool(left) and bool(right))},
    {
        "==": lambda left, right: int(left == right),
        "!=": lambda left, right: int(left != right),
        "<": lambda left, right: int(left < right),
        ">": lambda left, right: int(left > right),
        "<=": lambda left, right: int(left <= right),
        ">=": lambda left, right: int(left >= right),
    },
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"<<": _shift_left, ">>": _shift_right},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _quotient, "%": _remainder},
)
"""Binary operators, the loosest first."""
_DEEPEST = 32


class ExpressionParser:
    """Recursive descent over the tokens of one operand; `name` says what a name in the source stands for."""

    def __init__(self, tokens: list[Token], place: Place, here: int, name: Callable[[str], Expression | str]) -> None:
        self._tokens = tokens
        self._place = place
        self._here = here
        self._name = name
        self._next = 0
        self._open = 0

    def parse(self) -> Expression:
        """The whole of the tokens as one expression; AssemblyError where something is missing or left over."""
        result = self._level(0)
        if self._next < len(self._tokens):
            raise AssemblyError(self._place, f"unexpected {self._tokens[self._next]} after the expression")
        return result

    def _level(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while (sign := self._sign()) in _LEVELS[level]:
            self._next += 1
            left = Binary(_LEVELS[level][sign], left, self._level(level + 1))
        return left

    def _sign(self) -> str:
        if self._next < len(self._tokens) and self._tokens[self._next].kind == "symbol":
            return self._tokens[self._next].text
        return ""

    def _unary(self) -> Expression:
        sign = self._sign()
        if sign in _UNARY:
            self._next += 1
            return Unary(_UNARY[sign], self._unary())
        return self._primary()

    def _primary(self) -> Expression:
        if self._next == len(self._tokens):
            raise AssemblyError(self._place, "the expression ends too early: expected a number, a name or (")
        token = self._tokens[self._next]
        self._next += 1
        if token.kind == "number":
            return Number(token.value)
        if token.kind == "string":
            if len(token.text) != 1:
                raise AssemblyError(self._place, f"{token} is not one character: only that has a value")
            return Number(ord(token.text))
        if token.text == "@":
            return Number(self._here)
        if token.text == "(":
            return self._inside(lambda inner: inner)
        if token.kind == "name":
            return self._named(token.text)
        raise AssemblyError(self._place, f"unexpected {token}: expected a number, a name or (")

    def _named(self, name: str) -> Expression:
        function = name.lower()
        if self._sign() == "(" and (function in _FUNCTIONS or function == "bank"):
            self._next += 1
            if function == "bank":
                if self._next == len(self._tokens) or self._tokens[self._next].kind != "name":
                    raise AssemblyError(self._place, "bank() takes the name of a label")
                label = self._name(self._tokens[self._next].text)
                if not isinstance(label, str):
                    raise AssemblyError(self._place, "bank() takes the name of a label, not of a variable")
                self._next += 1
                return self._closed(Bank(label))
            return self._inside(lambda inner: Unary(_FUNCTIONS[function], inner))
        meaning = self._name(name)
        return Name(meaning) if isinstance(meaning, str) else meaning

    def _inside(self, of: Callable[[Expression], Expression]) -> Expression:
        self._open += 1
        if self._open > _DEEPEST:
            raise AssemblyError(self._place, f"more than {_DEEPEST} parentheses inside each other")
        inner = self._closed(of(self._level(0)))
        self._open -= 1
        return inner

    def _closed(self, inner: Expression) -> Expression:
        if self._sign() != ")":
            raise AssemblyError(self._place, "expected )")
        self._next += 1
        return inner
