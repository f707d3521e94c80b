"""The scanner that says on which line a key stands."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from harness.support.toml_lines import KeyPath, key_lines, line_of


def test_keys_of_the_document_and_of_its_tables_have_their_lines() -> None:
    assert key_lines('a = 1\n\n# a comment = 2\n[t]\nb = 2 # c = 3\n[t.u]\nc = "x"\n') == {
        ("a",): 1,
        ("t",): 4,
        ("t", "b"): 5,
        ("t", "u"): 6,
        ("t", "u", "c"): 7,
    }


def test_dotted_and_quoted_keys_are_taken_apart_as_toml_does() -> None:
    lines = key_lines('a . "b.c" . \'d\' = 1\n"state/x" = 2\n[ x . "y\\u0041" ]\nz = 3\n')
    assert lines[("a", "b.c", "d")] == 1
    assert lines[("state/x",)] == 2
    assert lines[("x", "yA", "z")] == 4


def test_a_table_of_an_array_is_found_by_its_position() -> None:
    lines = key_lines("[[m]]\nn = 1\n[[m]]\nn = 2\n[m.sub]\nk = 1\n[[m.list]]\nq = 1\n[[m.list]]\nq = 2\n")
    assert lines[("m", 0)] == 1
    assert lines[("m", 1, "n")] == 4
    assert lines[("m", 1, "sub", "k")] == 6
    assert lines[("m", 1, "list", 0, "q")] == 8
    assert lines[("m", 1, "list", 1, "q")] == 10


def test_elements_of_arrays_over_several_lines_have_their_own_lines() -> None:
    lines = key_lines("a = [\n  1, # one, two ]\n  [2,\n   3],\n  { b = 4, c = [5,\n 6] },\n]\nd = 1\n")
    assert lines[("a", 0)] == 2
    assert lines[("a", 1, 1)] == 4
    assert lines[("a", 2, "b")] == 5
    assert lines[("a", 2, "c", 1)] == 6
    assert lines[("d",)] == 8


def test_nothing_inside_a_string_is_taken_for_a_key() -> None:
    document = (
        'a = \'\'\'\nb = 1\n[t]\n\'\'\'\'\nc = """\nd = 2 \\""" ]\n"""\ne = "[f] # \\" g = 1"\nh = \'i # \\\'\nj = 1\n'
    )
    assert tomllib.loads(document)["a"] == "b = 1\n[t]\n'"
    assert key_lines(document) == {("a",): 1, ("c",): 5, ("e",): 8, ("h",): 9, ("j",): 10}


def test_dates_floats_and_line_ends_of_windows_are_passed_over() -> None:
    assert key_lines("a = 1979-05-27 07:32:01\r\nb = -inf\r\nc = 1e-9\r\nd = true") == {
        ("a",): 1,
        ("b",): 2,
        ("c",): 3,
        ("d",): 4,
    }


def test_what_is_absent_has_the_line_of_the_table_that_lacks_it() -> None:
    lines = key_lines("a = 1\n[t]\nb = 1\n")
    assert line_of(lines, ("t", "missing", "deeper")) == 2
    assert line_of(lines, ("nowhere",)) == 1


def test_a_header_below_an_implicit_table_gives_that_table_a_line_too() -> None:
    assert key_lines("\n[a.b.c]\nd = 1\n")[("a", "b")] == 2


_text = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=9)
_keys = _text.filter(len)
_values = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_keys, _values, max_size=4))
def test_every_key_of_any_document_is_found(content: dict[str, Any]) -> None:
    document = _rendered(content)
    assert tomllib.loads(document) == content
    lines = key_lines(document)
    for path in _paths(content):
        assert path in lines
        key = path[-1]
        if isinstance(key, str) and key.isascii() and key.isalnum():
            assert key in document.split("\n")[lines[path] - 1]


def _rendered(content: dict[str, Any], header: str = "") -> str:
    """A document with this content: tables under headers, tables in arrays inline, arrays one element a line."""
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    pairs = [f"{_quoted(key)} = {_inline(value)} # }}]" for key, value in content.items() if key not in tables]
    below = [_rendered(value, f"{header}{'.' * bool(header)}{_quoted(key)}") for key, value in tables.items()]
    return "\n".join([f"[{header}]" if header else "", *pairs, *below])


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(_inline, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _paths(value: Any, path: KeyPath = ()) -> list[KeyPath]:
    if isinstance(value, dict):
        below = [_paths(item, (*path, key)) for key, item in value.items()]
    elif isinstance(value, list):
        below = [_paths(item, (*path, index)) for index, item in enumerate(value)]
    else:
        below = []
    return [path] * bool(path) + [deeper for part in below for deeper in part]
