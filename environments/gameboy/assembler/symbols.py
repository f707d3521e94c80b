"""Names: labels and constants, which are defined once, and variables, which change while the first pass runs."""

from __future__ import annotations

from .errors import AssemblyError, ExpressionError, Place
from .expressions import Expression, Number, Symbol
from .instructions import RESERVED


class Symbols:
    """The names of one program. A local label (`.loop`) belongs to the label before it, and is stored as `label.loop`."""

    def __init__(self) -> None:
        self.labels_and_constants: dict[str, Symbol] = {}
        self._variables: dict[str, int] = {}
        self._owner = ""

    def value(self, name: str) -> int:
        return self._find(name).value

    def bank(self, name: str) -> int:
        bank = self._find(name).bank
        if bank is None:
            raise ExpressionError(f"{name} is a constant: only labels have a bank")
        return bank

    def meaning(self, name: str, place: Place) -> Expression | str:
        """What a name in an expression stands for: a variable's present value, or the full name of the rest."""
        if name.lower() in RESERVED:
            raise AssemblyError(place, f"{name} is a register or a condition: it has no value")
        if name in self._variables:
            return Number(self._variables[name])
        return self._full(name, place)

    def label(self, name: str, address: int, bank: int, place: Place) -> None:
        full = self._full(name, place)
        if not name.startswith("."):
            self._owner = name
        self._define(full, Symbol(address, bank), place)

    def constant(self, name: str, value: int, place: Place) -> None:
        self._define(name, Symbol(value), place)

    def variable(self, name: str, value: int, place: Place) -> None:
        if name in self.labels_and_constants:
            raise AssemblyError(place, f"{name} is a label or a constant already: expected a new name or a variable")
        self._check(name, place)
        self._variables[name] = value

    def _find(self, name: str) -> Symbol:
        if name not in self.labels_and_constants:
            raise ExpressionError(f"{name} is not defined")
        return self.labels_and_constants[name]

    def _full(self, name: str, place: Place) -> str:
        if not name.startswith("."):
            return name
        if not self._owner:
            raise AssemblyError(place, f"local label {name} has no label before it")
        return self._owner + name

    def _define(self, name: str, symbol: Symbol, place: Place) -> None:
        self._check(name, place)
        if name in self.labels_and_constants or name in self._variables:
            raise AssemblyError(place, f"{name} is defined twice")
        self.labels_and_constants[name] = symbol

    def _check(self, name: str, place: Place) -> None:
        if name.lower() in RESERVED:
            raise AssemblyError(place, f"{name} is the name of a register or a condition: expected another name")
