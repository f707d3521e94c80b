"""Editing one member of a JSON text: everything else stays, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from harness.connect.jsonc import Malformed, parse, put, remove

PLACE = ("mcpServers", "lockstep")
ENTRY = {"command": "/opt/lockstep", "args": ["serve"]}

COMMENTED = """\
// my settings
{
    "theme": "dark", // do not touch
    /* servers
       of mine */
    "mcpServers": {
        "other": { "command": "x" }, // mine
    },
    "last": [1, 2,],
}
"""
TEXTS = {
    "empty": "",
    "empty object": "{}",
    "empty section": '{"mcpServers": {}}',
    "one line": '{"a": 1, "mcpServers": {"other": {"command": "x"}}}\n',
    "tabs": '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n',
    "windows": '{\r\n  "a": 1\r\n}\r\n',
    "comments": COMMENTED,
    "no newline at the end": '{\n  "a": 1\n}',
    "brackets in strings": '{"a": "}{,//", "b": "\\"}"}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_member_is_added_and_every_line_that_was_there_is_still_there(text: str) -> None:
    edited = put(text, PLACE, ENTRY)
    assert parse(edited).value["mcpServers"]["lockstep"] == ENTRY
    for line in text.splitlines():
        assert line.rstrip("},") in edited
    assert put(edited, PLACE, ENTRY) == edited
    if "\r\n" in text:
        assert "\n" not in edited.replace("\r\n", "")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_member_that_was_added_can_be_removed_and_nothing_else_goes(text: str) -> None:
    removed = remove(put(text, PLACE, ENTRY), PLACE)
    before, after = parse(text).value, parse(removed).value
    assert after.pop("mcpServers", {}) == before.pop("mcpServers", {})
    assert after == before
    assert remove(removed, PLACE) == removed


def test_comments_and_order_survive_adding_and_removing() -> None:
    edited = put(COMMENTED, PLACE, ENTRY)
    assert (
        edited.index("// do not touch") < edited.index('"other"') < edited.index('"lockstep"') < edited.index('"last"')
    )
    assert '        "lockstep": {\n            "command"' in edited
    assert '"other": { "command": "x" }, // mine\n' in edited
    assert remove(edited, PLACE) == COMMENTED
    assert remove(put('{\n  "a": 1 // one\n}', ("b",), ENTRY), ("b",)) == '{\n  "a": 1 // one\n}'
    assert '"a": 1, // one\n' in put('{\n  "a": 1 // one\n}', ("b",), ENTRY)


def test_a_member_in_the_middle_is_removed_with_its_comma_and_not_with_its_neighbours_comment() -> None:
    text = '{\n  "a": 1,\n  "b": 2,\n  // about c\n  "c": 3\n}\n'
    assert remove(text, ("b",)) == '{\n  "a": 1,\n  // about c\n  "c": 3\n}\n'
    assert parse(remove(text, ("a",))).value == {"b": 2, "c": 3}
    assert parse(remove(text, ("c",))).value == {"a": 1, "b": 2}


def test_a_member_that_is_there_is_replaced_where_it_stands() -> None:
    text = '{\n  "mcpServers": {\n    "lockstep": {"command": "old"},\n    "z": {}\n  }\n}\n'
    edited = put(text, PLACE, ENTRY)
    assert list(parse(edited).value["mcpServers"]) == ["lockstep", "z"]
    assert parse(edited).value["mcpServers"]["lockstep"] == ENTRY


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, "a comma"),
        ('{\n  "a": \n}', 3, "a value is missing"),
        ('{"a": 1', 1, "a comma or"), ('{"a": 1,', 1, "is missing at the end"),
        ('{\n\n  a: 1}', 3, "name in quotes"),
        ('{"a": 1}\n{"b": 2}', 2, "follows the document"),
        ('{"a": nonsense}', 1, "is not a value"),
        ('{"a": 1,\n "a": 2}', 2, "stands twice"),
        ('{"a" 1}', 1, "a colon"),
        ('{"a": "b', 1, "does not end"),
        ('{"a": "\\x"}', 1, "an invalid escape"),
        ("[" * 1000, 1, "too deeply"),
    ],
)  # fmt: skip
def test_a_malformed_text_is_refused_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(Malformed, match=what) as raised:
        put(text, PLACE, ENTRY)
    assert raised.value.line == line


@pytest.mark.parametrize("text", ["[]", '"text"', '{"mcpServers": []}', '{"mcpServers": "x"}'])
def test_what_is_no_object_is_not_overwritten(text: str) -> None:
    with pytest.raises(Malformed, match="is not an object"):
        put(text, PLACE, ENTRY)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=150)
@given(
    document=st.dictionaries(st.text(), VALUES, max_size=4),
    servers=st.none() | st.dictionaries(st.text(), VALUES, max_size=3),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    ascii_only=st.booleans(),
)
def test_any_document_keeps_all_other_values(
    document: dict[str, Any], servers: dict[str, Any] | None, indent: Any, ascii_only: bool
) -> None:
    if servers is not None:
        document = {**document, "mcpServers": servers}
    elif not isinstance(document.get("mcpServers", {}), dict):
        del document["mcpServers"]
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    edited = put(text, PLACE, ENTRY)
    expected = {**document, "mcpServers": {**document.get("mcpServers", {}), "lockstep": ENTRY}}
    assert json.loads(edited) == expected
    del expected["mcpServers"]["lockstep"]
    assert json.loads(remove(edited, PLACE)) == expected
