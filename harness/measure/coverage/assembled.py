"""What was reached of whole files, by level, as a result that is kept to the places that count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.measure.coverage.reading import Branches, Lines, Reach, line_of
from harness.measure.coverage.result import Coverage, File, Level
from harness.measure.coverage.sources import Location
from harness.support.text import visible


def assembled(
    found: Sequence[Location],
    levels: Mapping[int, Level],
    reaches: Mapping[int, Mapping[Path, Reach]],
    unmeasured: Sequence[str],
) -> Coverage:
    """The result: what was reached, kept to what counts.

    Args:
        found: the places that count.
        levels: of each level the figures that are about no line.
        reaches: of each level what it reached, by file.
        unmeasured: what could not be measured, and why, a line each.
    """
    named = {location.name: location.path for location in found}
    known = {path: _together(level.get(path) for level in reaches.values()) for path in named.values()}
    within: dict[str, tuple[Lines, Branches]] = {}
    for name, path in named.items():
        spans = [location for location in found if location.name == name]
        lines = frozenset(line for line in known[path].lines if any(span.holds(line) for span in spans))
        branches = frozenset(b for b in known[path].branches if any(span.holds(line_of(b)) for span in spans))
        within[name] = (lines, branches)
    files = {
        name: File(*within[name], _text(path, within[name][0])) for name, path in named.items() if known[path].lines
    }
    measured = {}
    for number, level in levels.items():
        own = {name: _complete(reaches[number].get(path, Reach()), known[path]) for name, path in named.items()}
        measured[number] = Level(
            lines={name: own[name].reached & within[name][0] for name in files},
            branches={name: own[name].taken & within[name][1] for name in files},
            features=level.features,
            asked=level.asked,
            repeated=level.repeated,
            whole={
                name: (len(own[name].reached), len(known[path].lines), len(own[name].taken), len(known[path].branches))
                for name, path in named.items()
                if name in files
            },
            seconds=level.seconds,
            error=level.error,
        )
    modules: dict[str, tuple[tuple[str, int, int], ...]] = {}
    for location in found:
        modules[location.module] = (*modules.get(location.module, ()), (location.name, location.first, location.last))
    return Coverage(files, modules, measured, tuple(dict.fromkeys(unmeasured)))


def _together(found: Iterable[Reach | None]) -> Reach:
    whole = Reach()
    for each in found:
        whole = whole if each is None else whole | each
    return whole


def _complete(own: Reach, known: Reach) -> Reach:
    """A level's own reach, with the branches that only other levels tell apart.

    V8 leaves out a block that ran as often as what surrounds it: it was reached where its line was.
    """
    silent = frozenset(branch for branch in known.branches - own.branches if line_of(branch) in own.reached)
    return Reach(known.lines, own.reached, known.branches, own.taken | silent)


def _text(path: Path, lines: Lines) -> dict[int, str]:
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    shown = {line: text[line - 1] for line in lines if line <= len(text)}
    return {n: visible(line.expandtabs(4)).rstrip() for n, line in shown.items()}
