"""The rules of a specification as numbered statements: what scenarios, readings and rulings cite.

A statement is a paragraph or a list item of a Markdown text that begins with its number and a full stop (`12. A die is
rolled.`). What is indented below it, tables and code that follow it belong to it. Headings, quotations and comments
(`<!-- -->`) are no statements. A number that a statement has is never changed, since others cite it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import TaskError

RULINGS_HEADING = "## Rulings"
_NUMBERED = re.compile(r"(?:[-*+] )?(\d{1,6})[.)] +(?=\S)")
_ITEM = re.compile(r"[-*+] +")
_HEADING = re.compile(r"#{1,6} |(?:=+|-{2,})\s*$")
_UNDERLINE = re.compile(r"(?:=+|-+)\s*$")
"""Below a paragraph it makes a heading of it."""
_COMMENT, _COMMENT_END = "<!--", "-->"
_FENCE = re.compile(r"(```+(?=[^`]*$)|~~~+)")
_RULING = re.compile(r"Ruling on (\d+(?:(?:, | and )\d+)*): ", re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """One rule.

    Attributes:
        number: by which it is cited, from 1.
        text: all of it, without its number; lines are kept.
        line: on which line of the file it begins, from 1.
        section: the heading above it, empty where there is none.
        rules_on: of a ruling the numbers of the statements that it makes clear; empty of all others.
    """

    number: int
    text: str
    line: int
    section: str = ""
    rules_on: tuple[int, ...] = ()


def read_statements(text: str, where: str) -> tuple[Statement, ...]:
    """The statements of a text in which all are numbered, in its order.

    Args:
        where: what messages call the file.

    Raises:
        TaskError: there are none, one has no number, a number stands twice, or a ruling speaks of a statement that is
            not there. Every such line is named.
    """
    statements: list[Statement] = []
    mistakes: list[str] = []
    lines: dict[int, int] = {}
    for block in _blocks(text):
        match = _NUMBERED.match(block.text)
        if match is None:
            mistakes.append(
                f"{where}:{block.line}: this has no number: `{_start(block.text)}`; expected `NUMBER. text`; "
                "`lockstep spec number` numbers it, and a quotation (`> `) is no statement"
            )
            continue
        number, said = int(match[1]), block.text[match.end() :].rstrip()
        if number < 1:
            mistakes.append(f"{where}:{block.line}: the number is {number}; expected one from 1 on")
        elif number in lines:
            mistakes.append(
                f"{where}:{block.line}: number {number} stands on line {lines[number]} already; expected another one"
            )
        lines.setdefault(number, block.line)
        ruling = _RULING.match(said)
        cited = () if ruling is None else tuple(map(int, re.findall(r"\d+", ruling[1])))
        statements.append(Statement(number, said, block.line, block.section, cited))
    for one in statements:
        for cited in one.rules_on:
            if cited not in lines or cited == one.number:
                mistakes.append(
                    f"{where}:{one.line}: ruling {one.number} is about statement {cited}, which is not there; "
                    "expected the number of another statement"
                )
    if not statements and not mistakes:
        mistakes.append(f"{where}:1: there are no statements; expected a paragraph or a list item for each rule")
    if mistakes:
        count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        raise TaskError(f"the specification has {count}", mistakes=tuple(mistakes), where=where)
    return tuple(statements)


def numbered(text: str) -> str:
    """The same text with a number on each statement that had none.

    New numbers follow the greatest one that is there. A list item loses its bullet, since `- 3. ...` is a list in a list.
    """
    blocks = _blocks(text)
    following = 1 + max((int(match[1]) for block in blocks if (match := _NUMBERED.match(block.text))), default=0)
    lines = text.rstrip("\n").split("\n")
    apart: set[int] = set()
    for block in blocks:
        if _NUMBERED.match(block.text):
            continue
        position = block.line - 1
        line = lines[position]
        lines[position] = f"{following}. {line[match.end() :] if (match := _ITEM.match(line)) else line}"
        if match is not None and position and lines[position - 1].strip():
            apart.add(position)
        following += 1
    # Numbers that do not follow one another are one list to Markdown, which would count them anew.
    spaced = [("\n" if position in apart else "") + line for position, line in enumerate(lines)]
    return "\n".join(spaced) + "\n"


def count_numbered(text: str) -> int:
    """How many statements of a text have a number."""
    return sum(_NUMBERED.match(block.text) is not None for block in _blocks(text))


def with_ruling(text: str, ruling: str, rules_on: Sequence[int], where: str) -> tuple[str, Statement]:
    """The text with one more statement at its end, under the heading `Rulings`, and that statement.

    Args:
        ruling: what holds from now on, one paragraph.
        rules_on: the numbers of the statements that it makes clear, one at least.

    Raises:
        TaskError: the text or the ruling is wrong, or a number is not there.
    """
    there = read_statements(text, where)
    said = " ".join(ruling.split())
    if not said:
        raise TaskError("a ruling without words", where=where, next_step="say what holds from now on")
    if not rules_on:
        raise TaskError("the ruling is about no statement", where=where, next_step="name the statements with `--on`")
    known = {one.number for one in there}
    if unknown := [number for number in rules_on if number not in known]:
        raise TaskError(
            f"there is no statement {', '.join(map(str, unknown))} to rule on",
            where=where,
            next_step=f"name statements from {min(known)} to {max(known)}",
        )
    number = 1 + max(known)
    cited = ", ".join(map(str, dict.fromkeys(rules_on)))
    lines = text.rstrip().split("\n")
    if not any(line.strip() == RULINGS_HEADING for line in lines):
        lines += ["", RULINGS_HEADING, ""]
    elif not _NUMBERED.match(lines[-1]):
        lines.append("")  # a ruling that follows another one is an item of the same list
    changed = "\n".join([*lines, f"{number}. Ruling on {cited}: {said}\n"])
    added = read_statements(changed, where)[-1]
    if added.number != number:
        raise TaskError(
            "a ruling cannot be added at the end: it would be part of what stands there",
            where=where,
            next_step="close the block of code (```), or the comment, with which the text ends",
        )
    return changed, added


# --- Markdown ---------------------------------------------------------------------------------------------------------


@dataclass
class _Block:
    """A paragraph or a list item, with what belongs to it."""

    text: str
    line: int
    section: str


def _blocks(text: str) -> list[_Block]:
    """The paragraphs and top-level list items of a text; indented lines, tables and code go with what stands before them."""
    blocks: list[_Block] = []
    section, fence, begins, quoted, hidden = "", "", True, False, False
    for number, line in enumerate(text.split("\n"), 1):
        opened = _FENCE.match(line.lstrip())
        if hidden or (not fence and line.lstrip().startswith(_COMMENT)):
            hidden, begins = _COMMENT_END not in line, True
        elif fence or opened:
            fence = "" if fence and _closes(line.strip(), fence) else fence or (opened[1] if opened else "")
            _go_on(blocks, line)
            begins = True
        elif not line.strip():
            _go_on(blocks, "")
            begins, quoted = True, False
        elif not (begins or quoted) and _UNDERLINE.match(line) and _is_paragraph(blocks[-1]):
            section, begins = " ".join(blocks.pop().text.split()), True
        elif _HEADING.match(line):
            section, begins = line.lstrip("# ").strip() if line.startswith("#") else section, True
        elif line.startswith(">") or (quoted and not begins):
            quoted, begins = True, False
        elif line[0].isspace() or line.startswith("|"):
            _go_on(blocks, line)
            begins = line.startswith("|")
        elif begins or _ITEM.match(line) or _NUMBERED.match(line):
            blocks.append(_Block(line, number, section))
            begins = False
        else:
            _go_on(blocks, line)
    return blocks


def _is_paragraph(block: _Block) -> bool:
    """Whether a block is neither an item of a list nor a numbered statement, which to Markdown is one too."""
    return not (_ITEM.match(block.text) or _NUMBERED.match(block.text))


def _closes(line: str, fence: str) -> bool:
    """Whether a line ends a block of code that began with this fence: the same sign as often, or more often."""
    return len(line) >= len(fence) and not line.strip(fence[0])


def _go_on(blocks: list[_Block], line: str) -> None:
    if blocks:
        blocks[-1].text += f"\n{line}"


def _start(text: str) -> str:
    return text.splitlines()[0][:60]
