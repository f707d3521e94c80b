"""The reference's source as a prompt quotes it: the lines that task.toml names, read where the reference is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.reference.install import Installed, installed
from harness.reference.source_files import candidates
from harness.support.text import visible
from harness.task.contract import Module, Task
from harness.verify.explain import as_data

MAX_CHARACTERS = 14_000
"""Cap of all source in one prompt, about 4,000 tokens; what is cut is named by file and lines."""
MAX_FILE_BYTES = 4 << 20


@dataclass(frozen=True)
class Excerpt:
    """One place of task.toml: the file where it was found (None if nowhere), its lines, and how many the file has."""

    location: str
    path: Path | None
    first: int = 0
    lines: tuple[str, ...] = ()
    total: int = 0

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1


def excerpts(task: Task, module: Module | None) -> tuple[Excerpt, ...]:
    """The sources of a module, or of all modules, each place once."""
    modules = task.modules if module is None else (module,)
    locations = dict.fromkeys(location for each in modules for location in each.source)
    environment = installed(task) if locations else None
    return tuple(_read(location, task, environment) for location in locations)


def quoted(found: Sequence[Excerpt], uri: Callable[[str], str] | None = None) -> str:
    """The excerpts as marked data under their places; long ones are cut, with a pointer to the rest.

    Args:
        uri: the resource of a place, for a reader who has the server and no files; without a place, of the list of them.
    """
    if not found:
        begin = "`reference/`" if uri is None else f"one of the files that {uri('')} names"
        return f"task.toml names no places for it: read the reference beginning at its adapter, {begin}."
    left = MAX_CHARACTERS
    parts = []
    for excerpt in found:
        if excerpt.path is None:
            parts.append(
                f"`{excerpt.location}` could not be read: it is neither in the task directory nor in the reference's own "
                "environment. Build that with `lockstep setup`, then ask again."
            )
            continue
        shown = _within(excerpt.lines, left)
        left -= sum(len(line) + 1 for line in shown)
        place = f"`{excerpt.path}`" if uri is None else uri(excerpt.location)
        head = f"`{excerpt.location}`: lines {excerpt.first} to {excerpt.last} of {excerpt.total}, from {place}"
        if len(shown) < len(excerpt.lines):
            missing = len(excerpt.lines) - len(shown)
            rest = f"read lines {excerpt.first + len(shown)} to {excerpt.last} there"
            head += f"\n(cut: {missing} lines are not shown; {rest})"
        parts.append(f"{head}\n\n{as_data(chr(10).join(shown))}" if shown else head)
    return "\n\n".join(parts)


def counted(found: Sequence[Excerpt]) -> str:
    """How much there is to read: `28 lines in 2 locations`."""
    lines, locations = sum(len(excerpt.lines) for excerpt in found), len(found)
    return f"{lines} line{'' if lines == 1 else 's'} in {locations} place{'' if locations == 1 else 's'}"


def _within(lines: Sequence[str], limit: int) -> list[str]:
    shown: list[str] = []
    for line in lines:
        limit -= len(line) + 1
        if limit < 0:
            break
        shown.append(line)
    return shown


def _read(location: str, task: Task, environment: Installed | None) -> Excerpt:
    name, _, lines = location.partition(":")
    path = next((path for path in candidates(name, task, environment) if path.is_file()), None)
    if path is None or path.stat().st_size > MAX_FILE_BYTES:
        return Excerpt(location, None)
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    first, _, last = lines.partition("-")
    begin = min(int(first), len(text) + 1) if first else 1
    end = int(last or first) if first else len(text)
    shown = tuple(map(visible, text[begin - 1 : end]))
    return Excerpt(location, path, begin, shown, len(text))
