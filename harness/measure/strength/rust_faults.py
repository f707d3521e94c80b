"""The faults of a Rust file: for each node of its syntax tree, what may take its place.

The operators are those for JAX code, as far as the language has what they change. What macros are given is a run of tokens
to a parser, and stays as it is; so do types, attributes, imports and tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

from harness.errors import SetupError
from harness.measure.strength.faults import MODULE, Edit, Fault
from harness.measure.strength.operators import SMALL, TINY

_COMPARISONS = {
    "<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<"), "==": ("!=", ">="), "!=": ("==",),
}  # fmt: skip
_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "<<": ">>", ">>": "<<"}
_LOGIC = {"&": "|", "|": "&", "^": "|", "&&": "||", "||": "&&"}
_OPTIONAL = ("+", "-", "&", "|", "&&", "||")
_ASSIGNMENTS = {
    "+=": "-=",
    "-=": "+=",
    "*=": "/=",
    "/=": "*=",
    "&=": "|=",
    "|=": "&=",
    "^=": "|=",
    "<<=": ">>=",
    ">>=": "<<=",
}
_PAIRS = (
    ("sin", "cos"), ("min", "max"), ("any", "all"), ("floor", "ceil"), ("wrapping_add", "wrapping_sub"),
    ("saturating_add", "saturating_sub"), ("rotate_left", "rotate_right"), ("first", "last"),
)  # fmt: skip
_FUNCTIONS = dict(_PAIRS) | {b: a for a, b in _PAIRS}
_FORGOTTEN = frozenset({"abs", "clamp", "round", "floor", "ceil", "rem_euclid", "min", "max", "rev", "sqrt"})
"""Methods that a translation may have forgotten to call."""
_SKIPPED = frozenset({
    "attribute_item", "inner_attribute_item", "use_declaration", "macro_invocation", "macro_definition", "line_comment",
    "block_comment", "type_arguments", "type_parameters", "array_type", "reference_type", "generic_type", "parameters",
})  # fmt: skip
_OF_TESTS = re.compile(rb"#\[(?:test|cfg\(\s*(?:test|all\(\s*test\b.*)\s*\))\]", re.DOTALL)
_OTHER_TARGETS = ("benches", "examples", "tests")
"""Directories beside a manifest whose files Cargo compiles into programs of their own."""
_NUMBER = re.compile(rb"(.*?)(_?(?:[iu](?:8|16|32|64|128|size)|f32|f64))?$", re.DOTALL)


def rust_files(candidate: Path) -> list[Path]:
    """The files below a directory that are compiled into a candidate: without tests, benchmarks and examples."""
    files = sorted(candidate.rglob("*.rs"))
    tests = {location for file in files for location in _modules_of_tests(file)}
    tests |= {manifest.parent / name for manifest in candidate.rglob("Cargo.toml") for name in _OTHER_TARGETS}
    return [file for file in files if tests.isdisjoint((file, *file.parents))]


def _modules_of_tests(file: Path) -> Iterator[Path]:
    """Where the modules lie that a file declares for its tests alone (`#[cfg(test)] mod tests;`)."""
    below = file.parent if file.stem in ("lib", "main", "mod") else file.parent / file.stem
    for node, tested in _marked(_parser().parse(file.read_bytes()).root_node):
        name = node.child_by_field_name("name")
        if tested and node.type == "mod_item" and name is not None and node.child_by_field_name("body") is None:
            yield from (below / f"{_text(name)}.rs", below / _text(name))


def rust_faults(file: str, source: bytes) -> list[Fault]:
    """Every fault of a file, in the order in which its tree is walked.

    Raises:
        SetupError: it cannot be parsed.
    """
    root = _parser().parse(source).root_node
    if root.has_error:
        raise SetupError("it cannot be parsed", where=file, expected="a Rust file")
    return [
        Fault(function, operator, edits, (min(edits[0][0], shown.start_byte), max(edits[-1][1], shown.end_byte)))
        for function, operator, edits, shown in _walk(root, ())
    ]


def rust_functions(source: bytes) -> list[tuple[int, int]]:
    """The first and last line of each function of a file that lies in no other, without those that the compiler itself may
    run: what is a `const fn`, or holds one.
    """
    return [(first, last) for first, last, const in _functions(_parser().parse(source).root_node) if not const]


def _functions(node: Node) -> Iterator[tuple[int, int, bool]]:
    for child in node.children:
        inner = list(_functions(child))
        if child.type != "function_item":
            yield from inner
            continue
        modifiers = [_text(each) for each in child.children if each.type == "function_modifiers"]
        const = any("const" in each.split() for each in modifiers) or any(each for _, _, each in inner)
        yield child.start_point.row + 1, child.end_point.row + 1, const


Found = tuple[str, str, tuple[Edit, ...], Node]


def _walk(node: Node, names: tuple[str, ...]) -> Iterator[Found]:
    if node.type in _SKIPPED:
        return
    if node.type in ("function_item", "impl_item", "mod_item", "trait_item"):
        named = node.child_by_field_name("type" if node.type == "impl_item" else "name")
        names = (*names, _text(named)) if named is not None else names
    for operator, edits, shown in _changes(node):
        yield ".".join(names) or MODULE, operator, tuple(sorted(edits)), shown
    for child, tested in _marked(node):
        if not tested:
            yield from _walk(child, names)


def _marked(node: Node) -> Iterator[tuple[Node, bool]]:
    """What a node holds, without attributes, and whether one of these makes it a test."""
    tested = False
    for child in node.children:
        if child.type == "attribute_item":  # it stands before what it is about
            tested = tested or _OF_TESTS.fullmatch(_bytes(child)) is not None
            continue
        yield child, tested
        tested = tested and child.type in ("line_comment", "block_comment")


def _changes(node: Node) -> Iterator[tuple[str, list[Edit], Node]]:
    """Every change of one node, in a fixed order."""
    match node.type:
        case "integer_literal":
            for text in _integers(node):
                yield "index" if _in_index(node) else "constant", [_instead(node, text)], node
        case "float_literal":
            for text in _floats(node):
                yield "constant", [_instead(node, text)], node
        case "boolean_literal":
            yield "constant", [_instead(node, b"false" if node.text == b"true" else b"true")], node
        case "binary_expression":
            yield from _binary(node)
        case "compound_assignment_expr":
            sign = node.child_by_field_name("operator")
            if sign is not None and (text := _ASSIGNMENTS.get(_text(sign))):
                yield "arithmetic", [_instead(sign, text.encode())], node
        case "unary_expression":
            sign, operand = node.children[0], node.children[-1]
            if sign.type in ("-", "!"):
                kind = "arithmetic" if sign.type == "-" else "logic"
                yield kind, [_instead(node, b"(" + _bytes(operand) + b")")], node
        case "if_expression" | "while_expression":
            condition = node.child_by_field_name("condition")
            if condition is not None and condition.type not in ("let_condition", "let_chain"):
                yield "branches", [_instead(condition, b"!(" + _bytes(condition) + b")")], condition
        case "range_expression":
            for sign in node.children:
                if sign.type in ("..", "..=") and sign is not node.children[-1]:
                    yield "comparison", [_instead(sign, b"..=" if sign.type == ".." else b"..")], node
        case "expression_statement":
            inner = node.children[0]
            if inner.type in ("assignment_expression", "compound_assignment_expr"):
                yield "dropped update", [_instead(node, b"")], node
            elif inner.type == "call_expression" and node.children[-1].type == ";":
                yield "dropped call", [_instead(node, b"")], node
        case "block":
            yield from _exchanged_statements(node)
        case "array_expression" | "tuple_expression":
            yield from _neighbours("order", node.named_children)
        case "field_initializer_list":
            fields = [each for each in node.named_children if each.type == "field_initializer"]
            values = [value for each in fields if (value := each.child_by_field_name("value")) is not None]
            yield from _neighbours("order", values)
        case "match_block":
            bodies = [value for each in node.named_children if (value := each.child_by_field_name("value")) is not None]
            yield from _neighbours("branches", bodies)
        case "call_expression":
            yield from _call(node)


def _binary(node: Node) -> Iterator[tuple[str, list[Edit], Node]]:
    sign, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
    if sign is None or left is None:
        return
    text = _text(sign)
    for other in _COMPARISONS.get(text, ()):
        yield "comparison", [_instead(sign, other.encode())], node
    if text in _ARITHMETIC:
        yield "arithmetic", [_instead(sign, _ARITHMETIC[text].encode())], node
    if text in _LOGIC:
        yield "logic", [_instead(sign, _LOGIC[text].encode())], node
    if text in _OPTIONAL:
        yield "dropped operand", [_instead(node, b"(" + _bytes(left) + b")")], node


def _call(node: Node) -> Iterator[tuple[str, list[Edit], Node]]:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return
    if function.type == "field_expression":
        name, receiver = function.child_by_field_name("field"), function.child_by_field_name("value")
        if name is not None and receiver is not None:
            if (text := _text(name)) in _FUNCTIONS:
                yield "function", [_instead(name, _FUNCTIONS[text].encode())], node
            if text in _FORGOTTEN:
                yield "function", [_instead(node, b"(" + _bytes(receiver) + b")")], node
    yield from _neighbours("arguments", arguments.named_children)


def _exchanged_statements(block: Node) -> Iterator[tuple[str, list[Edit], Node]]:
    """Neighbours that assign or call, in the other order."""
    statements = [each for each in block.named_children if each.type == "expression_statement"]
    for one, other in pairwise(statements):
        kinds = {each.children[0].type for each in (one, other)}
        assigned = kinds <= {"assignment_expression", "compound_assignment_expr", "call_expression"}
        if (
            assigned
            and one.next_named_sibling == other
            and _bytes(one) != _bytes(other)
            and not _independent(one, other)
        ):
            yield "order", [_instead(one, _bytes(other)), _instead(other, _bytes(one))], one


def _independent(one: Node, other: Node) -> bool:
    """Whether both assign without any call, and neither to what the other speaks of: then their order means nothing.

    Rust has no other names for a place that is assigned to, so its path tells.
    """
    reported = []
    for statement in (one.children[0], other.children[0]):
        target = statement.child_by_field_name("left")
        if target is None or any(each.type in ("call_expression", "macro_invocation") for each in _below(statement)):
            return False
        reported.append((next(_paths(target), ()), list(_paths(statement))))
    (first, of_one), (second, of_other) = reported
    return not any(_overlap(first, path) for path in of_other) and not any(_overlap(second, path) for path in of_one)


def _paths(node: Node) -> Iterator[tuple[str, ...]]:
    """The places that an expression speaks of, what is assigned to first: `self.ball.x` as its names in order."""
    names: list[str] = []
    inner: Node | None = node
    while inner is not None and inner.type == "field_expression":
        names.insert(0, _text(inner.children[-1]))
        inner = inner.child_by_field_name("value")
    if inner is not None and inner.type in ("identifier", "self"):
        yield (_text(inner), *names)
    else:
        for child in node.named_children:
            yield from _paths(child)


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _below(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _below(child)


def _neighbours(operator: str, values: list[Node]) -> Iterator[tuple[str, list[Edit], Node]]:
    for one, other in pairwise(values):
        if _bytes(one) != _bytes(other) and one.parent is not None:
            yield operator, [_instead(one, _bytes(other)), _instead(other, _bytes(one))], one


def _integers(node: Node) -> Iterator[bytes]:
    number, suffix = _parts(node)
    digits = number.replace(b"_", b"")
    value = int(digits, 0) if digits[:2].lower() in (b"0x", b"0o", b"0b") else int(digits)
    for other in (value + 1, value - 1):
        yield (b"%d" % other if other >= 0 else b"(%d)" % other) + suffix


def _floats(node: Node) -> Iterator[bytes]:
    number, suffix = _parts(node)
    value = float(number.replace(b"_", b""))
    for other in (value * SMALL, value * TINY, -value) if value else (1.0,):
        text = repr(other).encode()
        yield text + suffix if other >= 0 else b"(" + text + suffix + b")"


def _parts(node: Node) -> tuple[bytes, bytes]:
    """The digits of a literal, and its type."""
    text = _bytes(node)
    if text[:2].lower() == b"0x":  # `f32` is three hexadecimal digits
        digits, sign, kind = text.partition(b"u") if b"u" in text else text.partition(b"i")
        return digits, sign + kind
    found = _NUMBER.match(text)
    assert found is not None
    return found.group(1), found.group(2) or b""


def _in_index(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "index_expression"


def _instead(node: Node, text: bytes) -> Edit:
    return node.start_byte, node.end_byte, text


def _bytes(node: Node) -> bytes:
    return node.text or b""


def _text(node: Node) -> str:
    return _bytes(node).decode()


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_rust.language()))
