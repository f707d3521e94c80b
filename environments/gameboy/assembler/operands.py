"""An instruction's operands: what shape they have, and which expression is in them."""

from __future__ import annotations

from collections.abc import Callable

from .errors import AssemblyError, Place
from .expressions import Expression
from .instructions import ACCUMULATOR_OPERATIONS, FORMS, RESERVED, Form
from .tokens import Token

_POINTER_SPELLINGS = {"hl+": "[hl+]", "hli": "[hl+]", "hl-": "[hl-]", "hld": "[hl-]"}
Parse = Callable[[list[Token]], Expression]


def split_at_commas(tokens: list[Token]) -> list[list[Token]]:
    """The operands: what stands between commas that are in no parentheses. An empty line has none."""
    if not tokens:
        return []
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == "symbol":
            depth += (token.text in "([") - (token.text in ")]")
        if depth == 0 and token.kind == "symbol" and token.text == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def instruction(mnemonic: str, tokens: list[Token], place: Place, parse: Parse) -> tuple[Form, Expression | None]:
    """The form that mnemonic and operands name, and its expression. AssemblyError where the CPU has no such thing."""
    shapes: list[str] = []
    expression: Expression | None = None
    for part in split_at_commas(tokens):
        if not part:
            raise AssemblyError(place, f"{mnemonic}: an operand is missing beside the comma")
        shape, inner = _operand(part, parse)
        shapes.append(shape)
        expression = inner or expression
    if mnemonic in ACCUMULATOR_OPERATIONS and len(shapes) == 1:
        shapes.insert(0, "a")
    spelling = f"{mnemonic} {','.join(shapes)}".rstrip()
    form = FORMS.get(spelling)
    if form is None:
        raise AssemblyError(place, f"no instruction {spelling!r}: {_suggestion(mnemonic, shapes)}")
    return form, expression


def _operand(part: list[Token], parse: Parse) -> tuple[str, Expression | None]:
    names = [token.text.lower() for token in part]
    if len(part) == 1 and part[0].kind == "name" and names[0] in RESERVED:
        return names[0], None
    if names[0] == "[" and names[-1] == "]":
        inner = "".join(names[1:-1])
        if inner in _POINTER_SPELLINGS:
            return _POINTER_SPELLINGS[inner], None
        if inner in RESERVED:
            return f"[{inner}]", None
        return "[n]", parse(part[1:-1])
    if names[0] == "sp" and len(part) > 2 and names[1] in ("+", "-"):
        # The sign stays with the expression, so that `sp-2` is an offset of -2.
        return "sp+n", parse(part[1:])
    return "n", parse(part)


def _suggestion(mnemonic: str, shapes: list[str]) -> str:
    known = [form for form in FORMS if form.split()[0] == mnemonic]
    near = [form for form in known if shapes and form.startswith(f"{mnemonic} {shapes[0]},")]
    return "expected " + ", ".join(sorted(near or known)) + " (n: any expression)"
