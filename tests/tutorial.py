"""Runs a page of documentation: files are written, differences applied, commands run, and shown output has to come.

A block is of one of these kinds, and any other is a mistake of the page:

- `console`: lines `$ COMMAND`, with `# exit code N` behind one that is to fail; the lines below a command stand in its
  output, in this order. `…` is anything.
- `diff`: applied where the last `cd` has led.
- another language, below a line that ends with the name of a file and a colon: that file.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.cli import main
from tests.home import new_home

BLOCK = re.compile(r"(?:`(?P<file>[^`\n]+)`:\n\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"# exit code (\d+)$")
TIMEOUT_S = 900

Lockstep = Callable[[list[str], Path], tuple[int, str]]
"""Runs `lockstep` with arguments in a directory: its exit code, and what it printed."""


class PageIsWrong(AssertionError):
    """Something of a page does not hold."""


@dataclass(frozen=True)
class Block:
    """A block of code: its language, the file that the line above it names, and its text."""

    kind: str
    file: str | None
    text: str


def blocks(page: str) -> Iterator[Block]:
    """All blocks of a page, in order."""
    for found in BLOCK.finditer(page):
        yield Block(found["kind"], found["file"], found["text"])


class Reader:
    """Does what a page says, block by block.

    Args:
        place: where to begin.
        lockstep: what runs the command `lockstep`.
        environment: variables of all other commands.
    """

    def __init__(self, place: Path, lockstep: Lockstep, environment: Mapping[str, str]) -> None:
        self._here, self._lockstep, self._environment = place, lockstep, dict(environment)

    def read(self, page: str) -> None:
        """Do all of a page.

        Raises:
            PageIsWrong: a command ends otherwise, an output lacks what is shown, or a block is of no known kind.
        """
        for block in blocks(page):
            if block.kind == "console":
                self._type(block.text)
            elif block.kind == "diff":
                self._run("git apply -", block.text, 0)
            elif block.file is not None:
                (self._here / block.file).write_text(block.text, encoding="utf-8")
            else:
                raise PageIsWrong(f"nothing runs this block of {block.kind or 'no language'}:\n{block.text}")

    def _type(self, text: str) -> None:
        if not text.startswith("$ "):
            raise PageIsWrong(f"this console begins without a command:\n{text}")
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            code = EXIT_CODE.search(command)
            words = shlex.split(command, comments=True)
            if words[0] == "cd":
                self._here = (self._here / words[1]).resolve()
                continue
            said = self._run(command, "", int(code[1]) if code else 0)
            _demand_shown(command, shown.splitlines(), said)

    def _run(self, command: str, given: str, expected: int) -> str:
        words = shlex.split(command, comments=True)
        if words[0] == "lockstep":
            code, said = self._lockstep(words[1:], self._here)
        else:
            done = subprocess.run(
                ["bash", "-c", command], cwd=self._here, env=self._environment, input=given, text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S,
            )  # fmt: skip
            code, said = done.returncode, done.stdout
        if code != expected:
            raise PageIsWrong(f"`{command}` ended with {code}, not with {expected}:\n{said}")
        return said


def _demand_shown(command: str, shown: list[str], said: str) -> None:
    lines = iter(said.splitlines())
    for line in shown:
        pattern = re.compile(".*".join(map(re.escape, line.strip().split("…"))))
        if not any(pattern.search(each) for each in lines):
            raise PageIsWrong(f"`{command}` does not say `{line}` there:\n{said}")


def reader_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], **variables: str
) -> Reader:
    """Reads from an empty directory, with a home that shares nothing with the person's own but what was built."""
    new_home(tmp_path, monkeypatch, "envs", "crates")
    place = tmp_path / "place"
    place.mkdir()

    def lockstep(arguments: list[str], here: Path) -> tuple[int, str]:
        monkeypatch.chdir(here)
        capfd.readouterr()
        code = main(arguments)
        return code, capfd.readouterr().out

    return Reader(place, lockstep, environment_with(Path(sys.executable).parent, **variables))


def environment_with(path: Path, **variables: str) -> dict[str, str]:
    """The variables of this process, with a directory before all others on the search path."""
    return {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}", **variables}
