"""Fields of a JSON object: what is wrong is named with its place and what belongs there."""

from __future__ import annotations

import pytest

from harness.support.document import Document, DocumentError, text, whole


def test_a_number_longer_than_any_float_is_no_number() -> None:
    with pytest.raises(DocumentError, match=r"thing\.seconds is 10+\.\.\.; expected a number"):
        Document({"seconds": 10**400}, "thing").number("seconds")


def test_a_number_that_python_does_not_write_is_named_all_the_same() -> None:
    with pytest.raises(DocumentError, match=r"thing\.seconds is a whole number that is too long"):
        Document({"seconds": 10**5000}, "thing").number("seconds")


def test_a_mapping_reads_its_values_and_names_the_wrong_one() -> None:
    assert Document({"seeds": {"run": 3}}, "event").mapping("seeds", whole) == {"run": 3}
    with pytest.raises(DocumentError, match=r"event\.attached\.a is 3; expected a text"):
        Document({"attached": {"a": 3}}, "event").mapping("attached", text)


def test_exactly_names_what_is_missing_and_what_is_too_much() -> None:
    Document({"a": 1, "b": 2}, "thing").exactly("a", "b")
    with pytest.raises(DocumentError, match=r"thing has no 'b'; expected a, b"):
        Document({"a": 1}, "thing").exactly("a", "b")
    with pytest.raises(DocumentError, match=r"thing has 'c'; expected only a, b"):
        Document({"a": 1, "b": 2, "c": 3}, "thing").exactly("a", "b")
