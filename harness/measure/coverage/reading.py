"""What the counting workers left behind, as lines and branches of whole files: coverage.py, V8 and gcov.

A reference could have written all of it. So it is read as a stranger's: no link is followed, sizes are bounded, and gcov,
which reads what is not text, does so in a sandbox.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from harness.reference.sandbox import Installed, open_sandbox
from harness.support.foreign import content_of, json_of
from harness.task.contract import Task

Lines = frozenset[int]
Branches = frozenset[str]
"""Each begins with its line, in a form of the tool's: `216->219`, `216/0`."""

GCOV_SECONDS = 120
MOST_BYTES = 64 << 20
"""Of a file of counts in JSON."""
MOST_FILES = 4096
"""Of files with counts; each process and each compiled file leaves one."""
MOST_BLOCKS = 100_000
"""Of a script, as V8 tells them."""
_COUNT = 'mkdir -p "$1" && cp -- "$2.gcda" "$3.gcno" "$1" && cd "$1" && exec "$4" -jtb "$5.gcda"'
"""gcov looks for the notes beside the counts. `-jtb`: JSON, to standard output, with branches."""
_COMMENT = re.compile(r"//.*?$|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"[\w$]")


@dataclass(frozen=True)
class Reach:
    """The lines and branches of a file that can be reached, and those that were."""

    lines: Lines = frozenset()
    reached: Lines = frozenset()
    branches: Branches = frozenset()
    taken: Branches = frozenset()

    def __or__(self, other: Reach) -> Reach:
        return Reach(
            self.lines | other.lines,
            self.reached | other.reached,
            self.branches | other.branches,
            self.taken | other.taken,
        )


def line_of(branch: str) -> int:
    """The line in which a branch begins."""
    found = re.match(r"\d+", branch)
    return int(found.group()) if found else 0


def python(file: Path, paths: Iterable[Path]) -> tuple[dict[Path, Reach], list[str]]:
    """What the tracer wrote; second, for each of these files that it could not read, a line that says so."""
    reported = {Path(name).resolve(): each for name, each in json_of(content_of(file, MOST_BYTES)).items()}
    found = {}
    for path in paths:
        if path in reported:
            each = reported[path]
            taken = _arcs(each.get("executed_branches", ()))
            reached = frozenset(each["executed_lines"])
            found[path] = Reach(
                reached | frozenset(each["missing_lines"]),
                reached,
                taken | _arcs(each.get("missing_branches", ())),
                taken,
            )
    return found, [f"{path.name}: coverage.py cannot read it as Python" for path in paths if path not in found]


def _arcs(pairs: Iterable[Sequence[int]]) -> Branches:
    # A negative line is coverage.py's way to say that the function or module ends there.
    return frozenset(f"{start}->{end if end > 0 else 'exit'}" for start, end in pairs)


def node(directory: Path, paths: Iterable[Path]) -> tuple[dict[Path, Reach], list[str]]:
    """What V8 wrote into a directory, one file for each process.

    V8 tells blocks by their places in the text, not lines: a line that holds code is reached if any of that code was. It
    tells apart only blocks that ran differently often than what surrounds them; each of these is a branch here.
    """
    wanted, found = set(paths), {}
    for file in _left(directory, "coverage-*.json"):
        for script in json_of(content_of(file, MOST_BYTES))["result"]:
            path = Path(unquote(urlsplit(script["url"]).path)).resolve()
            if script["url"].startswith("file:") and path in wanted:
                found[path] = found.get(path, Reach()) | _blocks(path.read_text(encoding="utf-8"), script["functions"])
    missing = [f"{path.name}: Node did not say what was reached of it" for path in wanted - set(found)]
    return found, sorted(missing)


def _blocks(text: str, functions: Sequence[Mapping[str, Any]]) -> Reach:
    units = np.frombuffer(text.encode("utf-16-le"), dtype="<u2")  # V8 counts these
    if sum(len(function["ranges"]) for function in functions) > MOST_BLOCKS:
        raise ValueError(f"V8 tells of more than {MOST_BLOCKS} blocks of one script")
    blocks = [(each["startOffset"], each["endOffset"], each["count"]) for f in functions for each in f["ranges"]]
    counts = np.zeros(len(units), np.int64)
    for start, end, count in sorted(blocks, key=lambda block: block[0] - block[1]):  # the widest first
        counts[start:end] = count
    newlines = np.flatnonzero(units == ord("\n"))
    starts = [0, *(int(at) + 1 for at in newlines)]
    code = _COMMENT.sub(_blank, text).split("\n")
    lines, reached = set(), set()
    at_code = _code_units(text)
    for number, (start, texts) in enumerate(zip(starts, code, strict=True), 1):
        if not _CODE.search(texts):
            continue  # empty, a comment, or closing brackets
        end = starts[number] if number < len(starts) else len(units)
        lines.add(number)
        if counts[start:end][at_code[start:end]].any():
            reached.add(number)
    inner = [block for function in functions for block in _ranges(function)]
    names = {f"{int(np.searchsorted(newlines, start)) + 1}:{start}-{end}": count for start, end, count in inner}
    taken = {name for name, count in names.items() if count}
    return Reach(frozenset(lines), frozenset(reached), frozenset(names), frozenset(taken))


def _ranges(function: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """The blocks inside a function. The first range is the function itself, which is a branch of nothing."""
    return [(each["startOffset"], each["endOffset"], each["count"]) for each in function["ranges"][1:]]


def _blank(found: re.Match[str]) -> str:
    """A comment as blanks of the same length; a string as it stands, whatever it holds."""
    return found.group() if found.group(1) else re.sub(r"[^\n]", " ", found.group())


def _code_units(text: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each UTF-16 unit whether code stands there: no blank, no comment, no bracket that only closes."""
    units = np.frombuffer(_COMMENT.sub(_blank, text).encode("utf-16-le"), dtype="<u2")
    return ~np.isin(units, [ord(each) for each in " \t\r\n})];"])


def _left(directory: Path, pattern: str) -> list[Path]:
    """The files that a worker left in a directory of its own, unless it put a link there."""
    if directory.is_symlink():
        return []
    return sorted(islice((path for path in directory.glob(pattern) if not path.is_symlink()), MOST_FILES))


def native(
    task: Task, environment: Installed, directory: Path, names: Mapping[str, Path]
) -> tuple[dict[Path, Reach], list[str]]:
    """What gcov makes of the counts that a process left below a directory (`GCOV_PREFIX`).

    Args:
        environment: in which the compiler left its notes; gcov sees what the reference saw, and the counts.
        names: the files as task.toml names them, and where they lie: gcov names them as the compiler was given them, so that
            they are reported by their ends.
    """
    gcov = shutil.which("gcov")
    if gcov is None:
        return {}, [
            f"{name}: there is no gcov on PATH; it comes with the compiler (`apt install gcc`)" for name in names
        ]
    found: dict[Path, Reach] = {}
    problems: dict[str, None] = {}
    left = _left(directory, "**/*.gcda")
    if not left:
        return {}, _uncounted(names, {}, {})
    with open_sandbox(task, environment, [gcov], {}, "reading what a reference counted", shown=(directory,)) as sandbox:
        for number, counts in enumerate(left):
            base, stem = Path("/") / counts.relative_to(directory).with_suffix(""), counts.stem
            if not base.with_suffix(".gcno").is_file():
                problems[f"{stem}.gcno is not where the compiler wrote it: the build must keep it there"] = None
                continue
            shown, scratch = sandbox.inside(str(counts.with_suffix(""))), f"{sandbox.inside('/tmp')}/{number}"
            words = ["sh", "-c", _COUNT, "sh", scratch, shown, str(base), gcov, stem]
            ran = sandbox.run(words, timeout=GCOV_SECONDS)
            try:
                files = json_of(ran.stdout)["files"]
            except (ValueError, KeyError, TypeError):
                said = (ran.stderr.decode("utf-8", "replace").strip().splitlines() or ["nothing"])[-1]
                problems[f"gcov cannot read {counts.name} and said: {said[:200]}"] = None
                continue
            _add(files, names, found)
    return found, _uncounted(names, found, problems)


def _add(files: Sequence[Mapping[str, Any]], names: Mapping[str, Path], found: dict[Path, Reach]) -> None:
    for each in files:
        for name, path in names.items():
            if Path(each["file"]).parts[-len(Path(name).parts) :] == Path(name).parts:
                found[path] = found.get(path, Reach()) | _counted(each["lines"])


def _uncounted(names: Mapping[str, Path], found: Mapping[Path, Reach], problems: Mapping[str, None]) -> list[str]:
    """A line for each file of which nothing was counted, which says why."""
    why = "; ".join(problems) or "the reference is not compiled for it"
    return [
        f"{name}: no lines of it were counted ({why}): where LOCKSTEP_COVERAGE is 1 its build script must compile "
        "with --coverage and keep the .gcno files"
        for name, path in names.items()
        if path not in found
    ]


def _counted(lines: Sequence[Mapping[str, Any]]) -> Reach:
    # A line stands there once for each function that it became a part of.
    branches: dict[str, int] = {}
    for line in lines:
        for number, branch in enumerate(each for each in line["branches"] if not each["throw"]):
            name = f"{line['line_number']}/{number}"
            branches[name] = branches.get(name, 0) + branch["count"]
    reached = frozenset(line["line_number"] for line in lines if line["count"])
    return Reach(
        frozenset(line["line_number"] for line in lines),
        reached,
        frozenset(branches),
        frozenset(name for name, count in branches.items() if count),
    )
