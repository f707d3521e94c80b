"""What LLVM's tools make of the counts that a crate left behind.

The candidate's own process wrote the counts, and its own sources are in the module. So the tools read both in a sandbox
that shows nothing else, and their answer is treated as JSON from a stranger.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.candidate.crates.toolchain import Toolchain
from harness.candidate.start import COUNTS, COUNTS_FILE
from harness.errors import Crashed, SetupError
from harness.measure.coverage.reading import Reach
from harness.measure.coverage.result import LONGEST_FILE
from harness.support.foreign import json_of
from sandboxes import Driver, Finished, Limits, Mount, Sandbox, SandboxSpec

MODULE = "/lockstep/module.so"
MERGED = "/tmp/reached.profdata"
LIMITS = Limits(memory_bytes=4 << 30, processes=64, wall_seconds=120.0, output_bytes=256 << 20)
CODE = 0
"""The kind of a region that is code; others are expansions of macros, gaps and what was left out."""
MOST_SAID = 300


@dataclass(frozen=True, order=True)
class Function:
    """A function of a crate, in the file that is called so, from its first line to its last."""

    file: str
    first: int
    last: int


def tools(driver: Driver, rust: Toolchain) -> str:
    """The directory, as a driver's sandboxes see it, of the tools that read what a compiler's counters write.

    Raises:
        SetupError: there are none; the message says how to get them.
    """
    with driver.open(_spec(rust)) as sandbox:
        said = _demand(sandbox, ["rustc", "--version", "--verbose"])
        found = {name: re.search(rf"^{name}: (\S+)$", said, re.MULTILINE) for name in ("host", "LLVM version")}
        host, version = (each.group(1) if each else "" for each in found.values())
        release = version.partition(".")[0]
        root = _demand(sandbox, ["rustc", "--print", "sysroot"]).strip()
        for location in (f"{root}/lib/rustlib/{host}/bin", f"/usr/lib/llvm-{release}/bin"):
            if all(
                sandbox.run([f"{location}/{tool}", "--version"]).exit_code == 0
                for tool in ("llvm-cov", "llvm-profdata")
            ):
                return location
    raise SetupError(
        f"there is no llvm-cov of LLVM {release}, which reads what {rust.version} counts",
        next_step=f"`rustup component add llvm-tools`, or where Rust is Debian's `apt install llvm-{release}`",
    )


def exported(driver: Driver, rust: Toolchain, tools: str, module: Path, counts: Path) -> Any:
    """The document that `llvm-cov export` makes of a module and of the counts in a directory's `COUNTS_FILE`.

    Args:
        tools: where they are, as `tools` found them.

    Raises:
        Crashed: they cannot read it.
        ValueError: what they say is not JSON.
    """
    # The directory is shown, not the file: a link in its place leads nowhere then.
    with driver.open(_spec(rust, Mount(module, MODULE), Mount(counts, COUNTS))) as sandbox:
        inside = sandbox.inside
        written = inside(f"{COUNTS}/{COUNTS_FILE}")
        _demand(sandbox, [f"{tools}/llvm-profdata", "merge", "-sparse", written, "-o", inside(MERGED)])
        export = [f"{tools}/llvm-cov", "export", "--format=text", f"--instr-profile={inside(MERGED)}", inside(MODULE)]
        return json_of(_demand(sandbox, export))


def reached(document: Any, lengths: Mapping[str, int]) -> tuple[dict[str, Reach], list[Function]]:
    """What was reached of some files, and which functions are in them.

    A branch is a region here: a stretch of code that runs as a whole (`216:9-217:20`, lines and columns). It was taken where
    any of a generic function's instances ran it.

    Args:
        document: of `exported`.
        lengths: the files that count, as the compiler named them, and how many lines each has.

    Raises:
        ValueError: the document has another form.
    """
    try:
        [data] = document["data"]
        files = [each for each in data["files"] if each["filename"] in lengths]
        found = {each["filename"]: _lines(each["segments"], lengths[each["filename"]]) for each in files}
        regions: dict[str, dict[str, bool]] = {name: {} for name in found}
        functions = set()
        for function in data["functions"]:
            own = _code(function["regions"], [str(name) for name in function["filenames"]])
            for begin, end, count, name in own:
                if name in regions:
                    text = f"{begin[0]}:{begin[1]}-{end[0]}:{end[1]}"
                    regions[name][text] = regions[name].get(text, False) or count > 0
            if own and own[0][3] in found:
                functions.add(Function(own[0][3], own[0][0][0], max(end[0] for _, end, _, _ in own)))
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"what llvm-cov says cannot be read: {type(error).__name__}: {error}") from error
    reaches = {}
    for name, lines in found.items():
        taken = frozenset(text for text, ran in regions[name].items() if ran)
        ran = frozenset(line for line, count in lines.items() if count)
        reaches[name] = Reach(frozenset(lines), ran, frozenset(regions[name]), taken)
    return reaches, sorted(functions)


Position = tuple[int, int]
Region = tuple[Position, Position, int, str]
"""Line and column of its begin and of its end, how often it ran, and its file."""


def _code(regions: Sequence[Sequence[int]], files: Sequence[str]) -> list[Region]:
    """The regions of a function that are code, in their order; the first one is where it begins."""
    found = []
    for begin, column, end, last, count, file, _, kind in regions:
        if kind == CODE:
            found.append(((_line(begin), int(column)), (_line(end), int(last)), int(count), files[_line(file)]))
    return found


def _lines(segments: Sequence[Sequence[Any]], length: int) -> dict[int, int]:
    """How often each line of a file ran, of those that hold code, as LLVM's own reports count it.

    A segment is a place from which on another count holds: line, column, count, whether there is one (there is none between
    functions), whether a region begins there, and whether that is a gap between statements.
    """
    counts: dict[int, int] = {}
    before: tuple[int, bool] = (0, False)  # what holds at the beginning of a line: its count, and whether there is one
    next_line = 0
    for line, those in _by_line(segments, length):
        if before[1]:
            counts.update(dict.fromkeys(range(next_line, line), before[0]))
        begun = [count for count, counted, begins, gap in those if counted and begins and not gap]
        left_out = not those[0][1] and those[0][2]
        if not left_out and (before[1] or begun):
            counts[line] = max([*begun, *([before[0]] if before[1] else [])])
        before, next_line = those[-1][:2], line + 1
    return counts


def _by_line(
    segments: Sequence[Sequence[Any]], length: int
) -> Iterator[tuple[int, list[tuple[int, bool, bool, bool]]]]:
    lines: dict[int, list[tuple[int, bool, bool, bool]]] = {}
    for line, _, count, counted, begins, gap in segments:
        lines.setdefault(_line(line, length), []).append((int(count), bool(counted), bool(begins), bool(gap)))
    yield from sorted(lines.items(), key=lambda each: each[0])


def _line(number: Any, length: int = LONGEST_FILE) -> int:
    if not isinstance(number, int) or not 0 <= number <= length:
        raise ValueError(f"{str(number)[:40]} is not a line of a file")
    return number


def _spec(rust: Toolchain, *mounts: Mount) -> SandboxSpec:
    return SandboxSpec(
        mounts=(*mounts, *rust.mounts),
        environment={"PATH": rust.path},
        purpose="reading what a crate counted",
        limits=LIMITS,
    )


def _demand(sandbox: Sandbox, command: Iterable[str]) -> str:
    """What a command says that has to succeed."""
    line = list(command)
    finished: Finished = sandbox.run(line)
    if finished.exit_code != 0 or finished.stdout_truncated:
        how = finished.killed_by or ("too much output" if finished.exit_code == 0 else finished.exit_code)
        said = " ".join(finished.stderr.decode("utf-8", "replace").split())[-MOST_SAID:]
        raise Crashed(
            f"{Path(line[0]).name} ended with {how}: {said}", where="what was counted of the candidate's crate"
        )
    return finished.stdout.decode("utf-8", "replace")
