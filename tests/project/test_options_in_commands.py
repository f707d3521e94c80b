"""docs/commands.md tells each option of each command, in the command's row or on a page that the row names."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from harness.cli.main import cli
from tests.project.workflows import ROOT

PAGE = "docs/commands.md"
EVERYWHERE = {"--json", "--help"}
"""Told once, above the table."""
_PAGES = re.compile(r"(?:docs/|\()([a-z]+\.md)")


def untold(page: str, commands: click.Group) -> list[str]:
    """The options that nobody finds, each with its command."""
    rows = [line for line in page.splitlines() if line.startswith("| `lockstep ")]
    found = []
    for name, command in _commands(commands, click.Context(commands)):
        told = " ".join(_pages_of(row) for row in rows if _is_of(row, name)) or " ".join(
            _pages_of(row) for row in rows if _is_of(row, name.split()[0])
        )
        options = [each for each in command.params if isinstance(each, click.Option)]
        names = [next((name for name in each.opts if name.startswith("--")), each.opts[0]) for each in options]
        found += [
            f"{name} {option}"
            for option in names
            if option not in EVERYWHERE and not re.search(rf"{re.escape(option)}(?![\w-])", told)
        ]
    return found


def _commands(group: click.Group, context: click.Context, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, context, f"{before}{name} ")
        elif command is not None:
            yield f"{before}{name}", command


def _is_of(row: str, name: str) -> bool:
    return re.search(rf"`lockstep {re.escape(name)}(?![\w-])", row.split("|")[1]) is not None


def _pages_of(row: str) -> str:
    """A row, and what it refers to for more."""
    pages = (ROOT / "docs" / name for name in _PAGES.findall(row))
    return " ".join([row, *(page.read_text(encoding="utf-8") for page in pages)])


def test_every_option_is_told() -> None:
    assert untold((ROOT / PAGE).read_text(encoding="utf-8"), cli) == []


def test_an_option_that_is_not_told_is_named() -> None:
    @click.group()
    def commands() -> None: ...

    @commands.command()
    @click.option("--told")
    @click.option("--untold")
    def walk() -> None: ...

    page = "| `lockstep walk` | Walks. `--told`, `--untold-too`. |\n| `lockstep walk-far` | `--untold`. |"
    assert untold(page, commands) == ["walk --untold"]
