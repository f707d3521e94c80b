"""What was reached of a reference, level by level: sets of lines and branches, and the figures that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.measure.coverage.reading import Branches, Lines, line_of
from harness.support.document import MAX_SHOWN, Document, DocumentError, items, text, whole

SHOWN_GAPS = 40
SHOWN_LINES = 12
LINE_CHARACTERS = 120
LONGEST_FILE = 1 << 20
"""Lines: what a record names beyond these is no source."""
MAX_DIGITS = 10
"""Of a line's number."""
Count = tuple[int, int]
"""How many were reached, of how many."""


@dataclass(frozen=True, slots=True)
class File:
    """What counts of one file: the lines and branches in the locations that task.toml names, and the text of those lines."""

    lines: Lines = frozenset()
    branches: Branches = frozenset()
    text: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Level:
    """What the questions of one level reached.

    Attributes:
        lines, branches: by file, of what counts there.
        features: in how many steps each declared feature occurred.
        asked: how many questions the level put to the reference; `repeated` of them were asked again here.
        whole: of each file as a whole, lines and branches reached and existing.
        seconds: what it took to ask and to count.
        error: why it could not be measured, or an empty string.
    """

    lines: Mapping[str, Lines] = field(default_factory=dict)
    branches: Mapping[str, Branches] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    asked: int = 0
    repeated: int = 0
    whole: Mapping[str, tuple[int, int, int, int]] = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines that follow each other among those that count, none of which was reached."""

    file: str
    first: int
    last: int

    def __str__(self) -> str:
        name = self.file.rpartition("/")[2]
        return f"{name}:{self.first}" + (f"-{self.last}" if self.last > self.first else "")


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the levels reached of the locations that task.toml names.

    Attributes:
        files: what counts, by the name of the file in task.toml.
        modules: the files, and in each the first and last lines, that each module names.
        levels: what was measured, by level.
        not_measured: what could not be, and why, a line each.
    """

    files: Mapping[str, File] = field(default_factory=dict)
    modules: Mapping[str, tuple[tuple[str, int, int], ...]] = field(default_factory=dict)
    levels: Mapping[int, Level] = field(default_factory=dict)
    not_measured: tuple[str, ...] = ()

    def lines(self, levels: Iterable[int] | None = None, module: str | None = None) -> Count:
        """Lines reached by these levels together (by default all), of all that count (in a module)."""
        reached = self._union({level: found.lines for level, found in self.levels.items()}, levels)
        return self._counted({name: file.lines for name, file in self.files.items()}, reached, module)

    def branches(self, levels: Iterable[int] | None = None, module: str | None = None) -> Count:
        """As `lines`, of branches."""
        taken = self._union({level: found.branches for level, found in self.levels.items()}, levels)
        return self._counted({name: file.branches for name, file in self.files.items()}, taken, module)

    def features(self, levels: Iterable[int] | None = None) -> Count:
        """Declared features that occurred in these levels (by default in any)."""
        chosen = [self.levels[level] for level in (self.levels if levels is None else levels)]
        names = {name for level in self.levels.values() for name in level.features}
        return sum(any(level.features.get(name) for level in chosen) for name in names), len(names)

    @property
    def unreached_features(self) -> tuple[str, ...]:
        """The declared features that no level came to."""
        names = dict.fromkeys(name for level in self.levels.values() for name in level.features)
        return tuple(name for name in names if not any(each.features.get(name) for each in self.levels.values()))

    def never(self) -> tuple[Gap, ...]:
        """What no level reached, in the order of the files."""
        reached = self._union({level: found.lines for level, found in self.levels.items()}, None)
        gaps: list[Gap] = []
        for name, file in self.files.items():
            run: list[int] = []
            for line in [*sorted(file.lines), 0]:
                if line and line not in reached.get(name, frozenset()):
                    run.append(line)
                elif run:
                    gaps.append(Gap(name, run[0], run[-1]))
                    run = []
        return tuple(gaps)

    def untaken(self) -> tuple[tuple[str, str], ...]:
        """Branches that no level took though their line was reached: `(file, branch)`, in order."""
        taken = self._union({level: found.branches for level, found in self.levels.items()}, None)
        reached = self._union({level: found.lines for level, found in self.levels.items()}, None)
        return tuple(
            (name, branch)
            for name, file in self.files.items()
            for branch in sorted(file.branches - taken.get(name, frozenset()), key=lambda b: (line_of(b), b))
            if line_of(branch) in reached.get(name, frozenset())
        )

    def merged(self, newer: Coverage) -> Coverage:
        """Both measurements as one. Where they have a level in common, or count other lines, the newer one holds."""
        if not self.files or (newer.files and _extent(self) != _extent(newer)):
            return newer if newer.levels or not self.levels else self
        if not newer.files:
            return replace(self, levels={**newer.levels, **self.levels})
        files = {name: replace(file, text={**self.files[name].text, **file.text}) for name, file in newer.files.items()}
        return replace(newer, files=files, levels={**self.levels, **newer.levels})

    def added(self, level: int) -> tuple[int, int]:
        """The lines and the branches that a level reached and no measured level below it."""
        below = [each for each in self.levels if each < level]
        together = [*below, level]
        return (
            self.lines(together)[0] - self.lines(below)[0],
            self.branches(together)[0] - self.branches(below)[0],
        )

    def of_file(self, name: str) -> tuple[Count, Count]:
        """Lines and branches of one file that any level reached."""
        mine = replace(self, files={name: self.files[name]})
        return mine.lines(), mine.branches()

    def shown_lines(self, gap: Gap) -> list[str]:
        """The first lines of a gap for a reader, each with its number: `12: lost()`."""
        lines = self.files[gap.file].text
        shown = [(n, lines[n][:LINE_CHARACTERS]) for n in range(gap.first, gap.last + 1) if n in lines]
        return [f"{number}: {line}" for number, line in shown[:SHOWN_LINES]]

    def to_json(self, *, text: bool = True) -> dict[str, Any]:
        """A JSON-ready description.

        Args:
            text: whether the text of what was never reached is in it, for a reader.
        """
        return {
            "together": _figures(self.lines(), self.branches(), self.features()),
            "levels": [self._level(level) for level in sorted(self.levels)],
            "modules": [
                {"name": name, "places": [list(location) for location in locations]}
                | _figures(self.lines(None, name), self.branches(None, name))
                for name, locations in self.modules.items()
            ],
            "never": [
                {"file": gap.file, "first": gap.first, "last": gap.last}
                | ({"text": self.shown_lines(gap)} if text else {})
                for gap in self.never()[:SHOWN_GAPS]
            ],
            "never_count": len(self.never()),
            "untaken": [f"{name}:{branch}" for name, branch in self.untaken()[:SHOWN_GAPS]],
            "unreached_features": list(self.unreached_features),
            "not_measured": list(self.not_measured),
            "files": [
                {
                    "name": name,
                    "lines": ranges(file.lines),
                    "branches": sorted(file.branches),
                    "figures": _figures(*self.of_file(name)),
                }
                for name, file in self.files.items()
            ],
        }

    @classmethod
    def from_json(cls, described: object, kind: str = "coverage") -> Coverage:
        """The inverse of `to_json`. Figures follow from the rest and are not read; of texts there are those of the gaps.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        texts: dict[str, dict[int, str]] = {}
        for name, lines in document.list("never", _gap_text) if "never" in document.content else ():
            texts.setdefault(name, {}).update(lines)
        return cls(
            files={name: replace(file, text=texts.get(name, {})) for name, file in document.list("files", _named_file)},
            modules=dict(document.list("modules", _named_module)),
            levels=dict(document.list("levels", _numbered_level)),
            not_measured=document.list("not_measured", text),
        )

    def _level(self, level: int) -> dict[str, Any]:
        found = self.levels[level]
        lines, branches = self.added(level)
        return {
            "level": level,
            **_figures(self.lines([level]), self.branches([level]), self.features([level])),
            "adds_lines": lines,
            "adds_branches": branches,
            "asked": found.asked,
            "repeated": found.repeated,
            "seconds": round(found.seconds, 2),
            "error": found.error,
            "features": dict(found.features),
            "whole": {name: list(counts) for name, counts in found.whole.items()},
            "reached": {name: ranges(lines) for name, lines in found.lines.items()},
            "taken": {name: sorted(taken) for name, taken in found.branches.items()},
        }

    def _union(self, by_level: Mapping[int, Mapping[str, frozenset[Any]]], levels: Iterable[int] | None) -> Any:
        found: dict[str, frozenset[Any]] = {}
        for level in by_level if levels is None else levels:
            for name, reached in by_level[level].items():
                found[name] = found.get(name, frozenset()) | reached
        return found

    def _counted(
        self, whole: Mapping[str, frozenset[Any]], reached: Mapping[str, frozenset[Any]], module: str | None
    ) -> Count:
        done = total = 0
        of_module = {name for name, _, _ in self.modules.get(module or "", ())}
        for name, all_of_it in whole.items():
            if module is not None and name not in of_module:
                continue
            within = frozenset(each for each in all_of_it if module is None or self._in_module(module, name, each))
            done += len(within & reached.get(name, frozenset()))
            total += len(within)
        return done, total

    def _in_module(self, module: str, name: str, what: int | str) -> bool:
        line = what if isinstance(what, int) else line_of(what)
        return any(file == name and first <= line <= last for file, first, last in self.modules.get(module, ()))


def ranges(lines: Iterable[int]) -> str:
    """Line numbers as `120-137,165`."""
    parts: list[list[int]] = []
    for line in sorted(lines):
        if parts and line == parts[-1][1] + 1:
            parts[-1][1] = line
        else:
            parts.append([line, line])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def numbers(reported: str) -> Lines:
    """The inverse of `ranges`. Raises ValueError for anything else."""
    found: set[int] = set()
    for part in filter(None, reported.split(",")):
        first, _, last = part.partition("-")
        if int(last or first) > LONGEST_FILE:
            raise ValueError(f"{part} are not lines of a file")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def _extent(coverage: Coverage) -> dict[str, Lines]:
    return {name: file.lines for name, file in coverage.files.items()}


def _numbers(value: Any, name: str) -> Lines:
    try:
        return numbers(text(value, name))
    except DocumentError:
        raise
    except ValueError as error:
        shown = repr(value[:MAX_SHOWN])
        raise DocumentError(f"{name} is {shown}; expected numbers of lines such as '120-137,165'") from error


def _branches(value: Any, name: str) -> Branches:
    return frozenset(items(text)(value, name))


def _four(value: Any, name: str) -> tuple[int, int, int, int]:
    counts = items(whole)(value, name)
    if len(counts) != 4:
        raise DocumentError(f"{name} has {len(counts)} numbers; expected 4")
    return counts[0], counts[1], counts[2], counts[3]


def _place(value: Any, name: str) -> tuple[str, int, int]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise DocumentError(f"{name} is not a place; expected a file and its first and last line")
    return text(value[0], f"{name}[0]"), whole(value[1], f"{name}[1]"), whole(value[2], f"{name}[2]")


def _named_file(value: Any, name: str) -> tuple[str, File]:
    document = Document(value, name)
    lines = _numbers(document.text("lines"), f"{name}.lines")
    return document.text("name"), File(lines, frozenset(document.list("branches", text)))


def _named_module(value: Any, name: str) -> tuple[str, tuple[tuple[str, int, int], ...]]:
    document = Document(value, name)
    return document.text("name"), document.list("places", _place)


def _numbered_level(value: Any, name: str) -> tuple[int, Level]:
    document = Document(value, name)
    return document.whole("level"), Level(
        lines=document.mapping("reached", _numbers),
        branches=document.mapping("taken", _branches),
        features=document.mapping("features", whole),
        asked=document.whole("asked"),
        repeated=document.whole("repeated"),
        whole=document.mapping("whole", _four),
        seconds=document.number("seconds"),
        error=document.text("error"),
    )


def _gap_text(value: Any, name: str) -> tuple[str, dict[int, str]]:
    """The file of a gap, and its lines by number where they stand in the document."""
    document = Document(value, name)
    lines: dict[int, str] = {}
    for line in document.list("text", text) if "text" in document.content else ():
        number, separator, content = line.partition(": ")
        if not separator or not (number.isascii() and number.isdigit() and len(number) < MAX_DIGITS):
            raise DocumentError(f"{name}.text has {line[:MAX_SHOWN]!r}; expected a line such as '12: lost()'")
        lines[int(number)] = content
    return document.text("file"), lines


def _figures(lines: Count, branches: Count, features: Count | None = None) -> dict[str, Any]:
    reported: dict[str, Any] = {"lines": list(lines), "branches": list(branches)}
    return reported if features is None else reported | {"features_reached": list(features)}
