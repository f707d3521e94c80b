"""Statements: what is one, how they are numbered, and what is wrong with a text."""

from __future__ import annotations

import pytest

from harness.errors import TaskError
from harness.specification.statements import numbered, read_statements, with_ruling
from tests.specification.conftest import HARBOUR

PLAIN = """\
# A game

> Written by hand. It has
two lines.

## Board

The board has 5 cells,
in one row.

- A stone lies on a cell.
- A cell holds one stone:

  | cell | value |
  |---|---|
  | 1 | 2 |

```
not a statement
```
* The last rule.
"""
NUMBERED = """\
# A game

> Written by hand. It has
two lines.

## Board

1. The board has 5 cells,
in one row.

2. A stone lies on a cell.

3. A cell holds one stone:

  | cell | value |
  |---|---|
  | 1 | 2 |

```
not a statement
```

4. The last rule.
"""


def test_paragraphs_and_list_items_are_numbered_and_nothing_else_is() -> None:
    assert numbered(PLAIN) == NUMBERED


def test_numbering_twice_changes_nothing() -> None:
    assert numbered(NUMBERED) == NUMBERED


def test_only_a_line_feed_ends_a_line() -> None:
    """Other characters that Python takes for ends of lines are part of a text, and stay there."""
    text = "one\x85two\u2028three\r\n\r\nfour"
    assert numbered(text) == "1. one\x85two\u2028three\r\n\r\n2. four\n"
    assert [one.line for one in read_statements(numbered(text), "RULES.md")] == [1, 3]


def test_numbers_that_are_there_stay_and_new_ones_follow_the_greatest() -> None:
    assert numbered("7. one\n\ntwo\n\n3. three\n") == "7. one\n\n8. two\n\n3. three\n"


def test_what_belongs_to_a_statement_is_part_of_it() -> None:
    statements = read_statements(NUMBERED, "RULES.md")
    assert [one.number for one in statements] == [1, 2, 3, 4]
    assert [one.line for one in statements] == [8, 11, 13, 23]
    assert {one.section for one in statements} == {"Board"}
    assert "| 1 | 2 |" in statements[2].text
    assert "not a statement" in statements[2].text
    assert " ".join(statements[0].text.split()) == "The board has 5 cells, in one row."


def test_every_mistake_is_named_with_its_line() -> None:
    with pytest.raises(TaskError) as caught:
        read_statements("1. one\n\nno number\n\n1. again\n\n0. nought\n\n9. Ruling on 5 and 9: so\n", "RULES.md")
    lines = caught.value.mistakes
    assert [line.split(": ")[0] for line in lines] == [f"RULES.md:{n}" for n in (3, 5, 7, 9, 9)]
    assert "lockstep spec number" in lines[0]


def test_a_text_without_statements_is_refused() -> None:
    with pytest.raises(TaskError, match="one mistake"):
        read_statements("# Title\n\n> only this\n", "RULES.md")


def test_a_ruling_is_a_statement_that_names_what_it_is_about() -> None:
    once, first = with_ruling(NUMBERED, "a stone  on the edge\nstays", [2, 3], "RULES.md")
    twice, second = with_ruling(once, "and so does a coin", [5], "RULES.md")
    assert (first.number, first.rules_on, first.section) == (5, (2, 3), "Rulings")
    assert first.text == "Ruling on 2, 3: a stone on the edge stays"
    assert (second.number, second.rules_on) == (6, (5,))
    assert twice.count("## Rulings") == 1
    assert twice.startswith(NUMBERED.rstrip())
    assert twice.endswith("\n\n5. Ruling on 2, 3: a stone on the edge stays\n6. Ruling on 5: and so does a coin\n")
    table = once.rstrip() + "\n\n| stone | stays |\n"
    assert with_ruling(table, "so", [1], "RULES.md")[0].endswith("| stone | stays |\n\n6. Ruling on 1: so\n")


@pytest.mark.parametrize(
    ("ruling", "on", "said"), [("", [1], "without words"), ("x", [], "no statement"), ("x", [8], "8")]
)
def test_a_ruling_on_nothing_is_refused(ruling: str, on: list[int], said: str) -> None:
    with pytest.raises(TaskError, match=said):
        with_ruling(NUMBERED, ruling, on, "RULES.md")


def test_the_small_game_has_thirty_statements() -> None:
    text = (HARBOUR / "RULES.md").read_text()
    assert [one.number for one in read_statements(text, "RULES.md")] == list(range(1, 31))
    assert numbered(text) == text


def test_code_ends_with_a_longer_fence_and_does_not_begin_with_code_in_a_line() -> None:
    text = "1. One.\n\n```\ncode\n`````\n\n2. Two.\n\n```x``` is a word.\n\n4. Four.\n"
    assert [each.number for each in read_statements(text.replace("```x```", "3. ```x```"), "RULES.md")] == [1, 2, 3, 4]


def test_underlined_titles_and_comments_are_no_statements() -> None:
    """The planted texts: each was numbered as a rule."""
    titles = "A game\n======\n\nThe board\nof stones\n---\n\nIt has 5 cells.\n"
    assert numbered(titles) == titles.replace("It has", "1. It has")
    [one] = read_statements(numbered(titles), "RULES.md")
    assert (one.text, one.section) == ("It has 5 cells.", "The board of stones")
    comments = "<!-- a note\n\n- not a rule\n-->\nOne stone.\n<!-- another -->\n\n- Two stones.\n  <!-- x\ny -->\n"
    assert [each.text for each in read_statements(numbered(comments), "RULES.md")] == ["One stone.", "Two stones."]


def test_what_is_no_title_stays_a_statement() -> None:
    """A line below an item of a list, or apart from it, underlines nothing."""
    text = "1. One.\n---\n\n2. Two.\n\n---\n\n3. Three.\n===\n\n```\n<!--\n```\n\n4. Four.\n\n> quoted\n---\n5. Five.\n"
    assert [each.number for each in read_statements(text, "RULES.md")] == [1, 2, 3, 4, 5]


def test_no_ruling_is_added_inside_of_a_comment() -> None:
    with pytest.raises(TaskError, match="part of what stands there"):
        with_ruling("1. One.\n\n<!-- open\n", "it is two", [1], "RULES.md")


def test_no_ruling_is_added_inside_of_code() -> None:
    with pytest.raises(TaskError, match="part of what stands there"):
        with_ruling("1. One.\n\n```\ncode\n", "it is two", [1], "RULES.md")
