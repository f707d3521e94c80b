"""What was reached of a reference, level by level: sets of lines and branches, and the figures that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.measure.coverage.reading import Branches, Lines, line_of

SHOWN_GAPS = 40
SHOWN_LINES = 12
LINE_CHARACTERS = 120
LONGEST_FILE = 1 << 20
"""Lines: what a record names beyond these is no source."""
Count = tuple[int, int]
"""How many were reached, of how many."""


@dataclass(frozen=True)
class File:
    """What counts of one file: the lines and branches in the locations that task.toml names, and the text of those lines."""

    lines: Lines = frozenset()
    branches: Branches = frozenset()
    text: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Gap:
    """Lines that follow each other among those that count, none of which was reached."""

    file: str
    first: int
    last: int

    def __str__(self) -> str:
        name = self.file.rpartition("/")[2]
        return f"{name}:{self.first}" + (f"-{self.last}" if self.last > self.first else "")


@dataclass(frozen=True)
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

    def to_json(self, *, text: bool = True) -> dict[str, Any]:
        """A JSON-ready description, from which `from_json` makes an equal one but for the text of lines.

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
            "never": [self._gap(gap, text) for gap in self.never()[:SHOWN_GAPS]],
            "never_count": len(self.never()),
            "untaken": [f"{name}:{branch}" for name, branch in self.untaken()[:SHOWN_GAPS]],
            "unreached_features": list(self.unreached_features),
            "not_measured": list(self.not_measured),
            "files": [
                {
                    "name": name,
                    "lines": ranges(file.lines),
                    "branches": sorted(file.branches),
                    "figures": self._of(name),
                }
                for name, file in self.files.items()
            ],
        }

    @staticmethod
    def from_json(described: Mapping[str, Any]) -> Coverage:
        """The inverse of `to_json`. Raises KeyError, TypeError or ValueError for anything else."""
        return Coverage(
            files={
                str(each["name"]): File(numbers(each["lines"]), frozenset(map(str, each["branches"])))
                for each in described["files"]
            },
            modules={
                str(each["name"]): tuple((str(file), int(first), int(last)) for file, first, last in each["places"])
                for each in described["modules"]
            },
            levels={
                int(each["level"]): Level(
                    lines={str(file): numbers(lines) for file, lines in each["reached"].items()},
                    branches={str(file): frozenset(map(str, taken)) for file, taken in each["taken"].items()},
                    features={str(name): int(count) for name, count in each["features"].items()},
                    asked=int(each["asked"]),
                    repeated=int(each["repeated"]),
                    whole={str(name): _four(counts) for name, counts in each["whole"].items()},
                    seconds=float(each["seconds"]),
                    error=str(each["error"]),
                )
                for each in described["levels"]
            },
            not_measured=tuple(map(str, described["not_measured"])),
        )

    def _level(self, level: int) -> dict[str, Any]:
        found = self.levels[level]
        below = [each for each in self.levels if each < level]
        before, after = self.lines(below)[0], self.lines([*below, level])[0]
        return {
            "level": level,
            **_figures(self.lines([level]), self.branches([level]), self.features([level])),
            "adds_lines": after - before,
            "adds_branches": self.branches([*below, level])[0] - self.branches(below)[0],
            "asked": found.asked,
            "repeated": found.repeated,
            "seconds": round(found.seconds, 2),
            "error": found.error,
            "features": dict(found.features),
            "whole": {name: list(counts) for name, counts in found.whole.items()},
            "reached": {name: ranges(lines) for name, lines in found.lines.items()},
            "taken": {name: sorted(taken) for name, taken in found.branches.items()},
        }

    def _of(self, name: str) -> dict[str, Any]:
        """The figures of one file."""
        mine = replace(self, files={name: self.files[name]})
        return _figures(mine.lines(), mine.branches())

    def _gap(self, gap: Gap, text: bool) -> dict[str, Any]:
        reported: dict[str, Any] = {"file": gap.file, "first": gap.first, "last": gap.last}
        if not text:
            return reported
        lines = self.files[gap.file].text
        shown = [(n, lines[n][:LINE_CHARACTERS]) for n in range(gap.first, gap.last + 1) if n in lines]
        return reported | {"text": [f"{number}: {line}" for number, line in shown[:SHOWN_LINES]]}

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
            raise ValueError(f"{part} are no lines of a file")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def _extent(coverage: Coverage) -> dict[str, Lines]:
    return {name: file.lines for name, file in coverage.files.items()}


def _four(counts: Sequence[Any]) -> tuple[int, int, int, int]:
    lines, of_lines, branches, of_branches = (int(each) for each in counts)
    return lines, of_lines, branches, of_branches


def _figures(lines: Count, branches: Count, features: Count | None = None) -> dict[str, Any]:
    reported: dict[str, Any] = {"lines": list(lines), "branches": list(branches)}
    return reported if features is None else reported | {"features_reached": list(features)}
