"""Mutation operators over JAX code: for each node of a syntax tree, what may take its place.

An operator is a small fault that a person or an agent makes when translating: a wrong constant, a flipped comparison, an
update that is forgotten or comes too early, exchanged arguments. What is certain to be no program (a name before its first
assignment) is not proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import libcst as cst
import libcst.matchers as m


@dataclass(frozen=True)
class Change:
    """One fault: which nodes get which new text, and the node whose text tells a reader what changed."""

    operator: str
    edits: tuple[tuple[cst.CSTNode, str], ...]
    shown: cst.CSTNode | None = None


Code = Callable[[cst.CSTNode], str]
"""The text of a node."""

SMALL, TINY = 1.001, 1 - 1e-6
"""A float is made greater by a thousandth, and less by a millionth."""
_DTYPES = {
    "float32": "float64", "float64": "float32", "int32": "int64", "int64": "int32", "uint32": "int32", "uint8": "int8",
    "int8": "uint8", "int16": "int32", "uint64": "uint32", "float16": "float32", "bfloat16": "float32",
}  # fmt: skip
_PAIRS = (
    ("sin", "cos"), ("tan", "tanh"), ("minimum", "maximum"), ("min", "max"), ("any", "all"), ("floor", "ceil"),
    ("argmin", "argmax"), ("sum", "prod"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("cumsum", "cumprod"),
    ("logical_and", "logical_or"), ("exp", "expm1"), ("log", "log1p"), ("arcsin", "arccos"), ("add", "subtract"),
)  # fmt: skip
_FUNCTIONS = dict(_PAIRS) | {b: a for a, b in _PAIRS} | {"square": "abs", "round": "floor", "sqrt": "square"}
_FORGOTTEN = frozenset({"abs", "clip", "round", "floor", "ceil", "mod", "remainder", "square", "sqrt", "negative"})
"""Functions of their first argument that a translation may have forgotten to apply."""
_COMMUTATIVE = frozenset({"minimum", "maximum", "add", "multiply", "logical_and", "logical_or", "equal", "not_equal"})
_UPDATES = {"set": "add", "add": "set", "min": "max", "max": "min", "multiply": "add"}
_NUMERIC = frozenset({"jnp", "np", "numpy", "lax", "jax", "math"})
_COMPARISONS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.LessThan: ("<=", ">"), cst.LessThanEqual: ("<", ">"), cst.GreaterThan: (">=", "<"),
    cst.GreaterThanEqual: (">", "<"), cst.Equal: ("!=", ">="), cst.NotEqual: ("==",),
}  # fmt: skip
_BINARY: dict[type[cst.CSTNode], str] = {
    cst.Add: "-", cst.Subtract: "+", cst.Multiply: "/", cst.Divide: "*", cst.FloorDivide: "/", cst.Modulo: "//",
    cst.Power: "*", cst.BitAnd: "|", cst.BitOr: "&", cst.BitXor: "|", cst.LeftShift: ">>", cst.RightShift: "<<",
    cst.And: "or", cst.Or: "and",
    cst.AddAssign: "-=", cst.SubtractAssign: "+=", cst.MultiplyAssign: "/=", cst.DivideAssign: "*=",
}  # fmt: skip
_LOGIC = (cst.BitAnd, cst.BitOr, cst.BitXor, cst.And, cst.Or)
_OPTIONAL = (cst.Add, cst.Subtract, cst.BitAnd, cst.BitOr)
"""Operators whose right side a translation may have forgotten."""


def expression_changes(node: cst.CSTNode, code: Code, in_index: bool) -> Iterator[Change]:
    """Every change of one node that is not a statement, in a fixed order.

    Args:
        in_index: whether the node is an index or a bound of a slice.
    """

    def instead(operator: str, location: cst.CSTNode, text: str) -> Change:
        return Change(operator, ((location, text),))

    match node:
        case cst.Integer():
            for value in (node.evaluated_value + 1, node.evaluated_value - 1):
                yield instead("index" if in_index else "constant", node, _number(value))
        case cst.Float():
            value = node.evaluated_value
            for other in (value * SMALL, value * TINY, -value) if value else (1.0,):
                yield instead("constant", node, _number(other))
        case cst.Name(value="True" | "False"):
            yield instead("constant", node, str(node.value == "False"))
        case cst.Comparison():
            for target in node.comparisons:
                for text in _COMPARISONS.get(type(target.operator), ()):
                    yield Change("comparison", ((target.operator, text),), node)
        case cst.BinaryOperation():
            if not (m.matches(node.left, m.Dict()) or m.matches(node.right, m.Dict())):  # dictionaries are merged
                if text := _BINARY.get(type(node.operator)):
                    kind = "logic" if isinstance(node.operator, _LOGIC) else "arithmetic"
                    yield Change(kind, ((node.operator, text),), node)
                if isinstance(node.operator, _OPTIONAL):
                    yield instead("dropped operand", node, f"({code(node.left)})")
        case cst.BooleanOperation():
            yield Change("logic", ((node.operator, _BINARY[type(node.operator)]),), node)
        case cst.AugAssign():
            if text := _BINARY.get(type(node.operator)):
                yield Change("arithmetic", ((node.operator, text),), node)
        case cst.UnaryOperation():
            if isinstance(node.operator, (cst.BitInvert, cst.Not, cst.Minus)):
                kind = "arithmetic" if isinstance(node.operator, cst.Minus) else "logic"
                yield instead(kind, node, f"({code(node.expression)})")
        case cst.IfExp():
            yield _exchanged("branches", node.body, node.orelse, code)
        case cst.If():
            yield instead("branches", node.test, f"not ({code(node.test)})")
        case cst.Tuple() | cst.List() | cst.Dict():
            elements = [each for each in node.elements if isinstance(each, (cst.Element, cst.DictElement))]
            if len(elements) == len(node.elements):
                yield from _neighbours("order", [each.value for each in elements], code, elements)
        case cst.Attribute(value=cst.Name(value="jnp" | "np"), attr=cst.Name(value=name)) if name in _DTYPES:
            yield instead("dtype", node.attr, _DTYPES[name])
        case cst.Call():
            yield from _call_changes(node, code)


def statement_changes(statements: Sequence[cst.CSTNode], parameters: frozenset[str], code: Code) -> Iterator[Change]:
    """Assignments of one function that are dropped, or come before the one that they follow.

    Args:
        statements: its body.
        parameters: its parameters.
    """
    bound = parameters
    small = [_only_part(statement) for statement in statements]
    for number, statement in enumerate(small):
        targets = _assigned(statement)
        if statement is None or not targets:
            continue
        if targets <= bound:
            yield Change("dropped update", ((statement, "pass"),))
        follower = small[number + 1] if number + 1 < len(small) else None
        later, reads = _assigned(follower), _read(follower)
        related = targets & (reads | later) or later & _read(statement)
        if follower is not None and later and related and not (reads & targets) - bound:
            yield _exchanged("order", statement, follower, code)
        bound = bound | targets


def _call_changes(node: cst.Call, code: Code) -> Iterator[Change]:
    name, numeric = _callee(node)
    positional = [argument.value for argument in node.args if argument.keyword is None and not argument.star]
    keywords = [argument for argument in node.args if argument.keyword is not None]
    if numeric and name in _FUNCTIONS and isinstance(node.func, cst.Attribute):
        yield Change("function", ((node.func.attr, _FUNCTIONS[name]),), node)
    if numeric and name in _FORGOTTEN and positional:
        yield Change("function", ((node, f"({code(positional[0])})"),))
    if numeric and name == "where" and len(positional) == 3:
        yield _exchanged("branches", positional[1], positional[2], code)
    elif name not in _COMMUTATIVE and not any(argument.star for argument in node.args):
        yield from _neighbours("arguments", positional, code)
    if name == "astype" and isinstance(node.func, cst.Attribute):
        yield Change("dtype", ((node, code(node.func.value)),))
    if m.matches(node.func, m.Attribute(value=m.Subscript(value=m.Attribute(attr=m.Name("at"))))) and name in _UPDATES:
        assert isinstance(node.func, cst.Attribute)
        yield Change("function", ((node.func.attr, _UPDATES[name]),), node)
    if name == "split" and positional and m.matches(node.func, m.Attribute(value=m.Attribute(attr=m.Name("random")))):
        count = code(positional[1]) if len(positional) > 1 else "2"
        yield Change("key reuse", ((node, f"(({code(positional[0])},) * {count})"),))
    if name == "fold_in" and positional:
        yield Change("key reuse", ((node, f"({code(positional[0])})"),))
    yield from _neighbours("order", [argument.value for argument in keywords], code, keywords)
    if name == "_replace" and isinstance(node.func, cst.Attribute):
        for argument in keywords:
            assert argument.keyword is not None
            kept = f"{code(node.func.value)}.{argument.keyword.value}"
            if code(argument.value) != kept:
                yield Change("dropped update", ((argument.value, kept),))


def _callee(node: cst.Call) -> tuple[str, bool]:
    """The last name of what is called, and whether it belongs to a numeric library."""
    root: cst.BaseExpression = node.func
    while isinstance(root, cst.Attribute):
        root = root.value
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", "")
    numeric = isinstance(node.func, cst.Attribute) and isinstance(root, cst.Name) and root.value in _NUMERIC
    return (name if isinstance(name, str) else ""), numeric


def _neighbours(
    operator: str, values: Sequence[cst.CSTNode], code: Code, shown: Sequence[cst.CSTNode] | None = None
) -> Iterator[Change]:
    for one, other in pairwise(zip(values, values if shown is None else shown, strict=True)):
        # A dtype in place of a value, or the other way round, is an error and no fault.
        if code(one[0]) != code(other[0]) and _is_dtype(one[0]) == _is_dtype(other[0]):
            yield _exchanged(operator, one[0], other[0], code, one[1])


def _exchanged(
    operator: str, one: cst.CSTNode, other: cst.CSTNode, code: Code, shown: cst.CSTNode | None = None
) -> Change:
    return Change(operator, ((one, code(other)), (other, code(one))), shown)


def _is_dtype(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value in _DTYPES


def _number(value: float) -> str:
    return repr(value) if value >= 0 else f"({value!r})"


def _only_part(statement: cst.CSTNode) -> cst.CSTNode | None:
    """The one small statement of a line."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        return statement.body[0]
    return None


def _assigned(statement: cst.CSTNode | None) -> frozenset[str]:
    """The plain names that an assignment gives a value; none where it is no assignment to plain names alone."""
    match statement:
        case cst.Assign():
            targets = [target.target for target in statement.targets]
        case cst.AnnAssign() | cst.AugAssign():
            targets = [statement.target]
        case _:
            return frozenset()
    names: set[str] = set()
    for target in targets:
        found = target.elements if isinstance(target, (cst.Tuple, cst.List)) else [cst.Element(target)]
        for element in found:
            value = element.value
            if not isinstance(value, cst.Name):
                return frozenset()
            names.add(value.value)
    return frozenset(names)


def _read(statement: cst.CSTNode | None) -> frozenset[str]:
    """Every plain name in the value of an assignment."""
    if not isinstance(statement, (cst.Assign, cst.AnnAssign, cst.AugAssign)) or statement.value is None:
        return frozenset()
    names = frozenset(found.value for found in m.findall(statement.value, m.Name()) if isinstance(found, cst.Name))
    return names | _assigned(statement) if isinstance(statement, cst.AugAssign) else names
