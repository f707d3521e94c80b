"""Where the time of a compiled program goes: a trace of JAX's profiler, joined with the program's own text.

The trace says how long each operation ran; the text says, of each, what it is and from which line of source it came. Runs
inside the sandbox, beside the candidate: what it tells is for whoever makes the candidate faster, and decides nothing.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax

SHOWN_OPERATIONS = 16
_CALLS = 24
_MOST_EVENTS = 1_000_000
"""A trace holds each run of each operation in memory: of a program whose loops run many, fewer calls are traced."""

_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = \S+ ([\w\-]+)\(")
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_METADATA = re.compile(r"metadata=\{([^}]*)\}")
_FIELD = re.compile(r'(\w+)=("[^"]*"|\d+)')
_CALLED = re.compile(r"calls=%?([\w.\-]+)")
_TABLES = {
    "FileNames": re.compile(r'^(\d+) "(.*)"$'),
    "FunctionNames": re.compile(r'^(\d+) "(.*)"$'),
    "FileLocations": re.compile(r"^(\d+) \{file_name_id=(\d+) function_name_id=(\d+) line=(\d+)"),
    "StackFrames": re.compile(r"^(\d+) \{file_location_id=(\d+)(?: parent_frame_id=(\d+))?"),
}


def hot_operations(compiled: Any, call: Callable[[], Any], candidate: Path) -> dict[str, Any]:
    """Trace some calls of a compiled program.

    Args:
        compiled: the program, for its text.
        call: runs it once, and returns when its outputs are there.
        candidate: the directory whose lines are worth naming; an operation is traced to the innermost of them that it came
            from.

    Returns:
        `operations`: the longest ones, each with `name`, `kind`, `share` of the time of all, `source` (`file:line
        function`, empty where it is not known) and `origin` (`candidate`, `chance`, or `other`); `origins`: the share of
        each; `kinds`: that of each kind of operation; `calls` that were traced.
    """
    text = _Program(compiled.as_text() or "", candidate)
    call()
    calls = 1
    times, events = _traced(call, calls, text.known)
    if (more := min(_CALLS, _MOST_EVENTS // max(1, events))) > calls:
        calls = more
        times, _ = _traced(call, calls, text.known)
    whole = sum(times.values()) or 1.0
    described = [text.describe(name) | {"share": spent / whole} for name, spent in times.items()]
    described.sort(key=lambda each: -each["share"])
    return {
        "operations": described[:SHOWN_OPERATIONS],
        "origins": _by(described, "origin"),
        "kinds": _by(described, "kind"),
        "calls": calls,
    }


def _traced(call: Callable[[], Any], calls: int, known: Callable[[str], bool]) -> tuple[dict[str, float], int]:
    """What `_own_times` finds in a trace of some calls, and how many runs of operations that is."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = 3
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with jax.profiler.trace(folder, profiler_options=options):
            for _ in range(calls):
                call()
        files = sorted(Path(folder).glob("**/*.xplane.pb"))
        return _own_times(jax.profiler.ProfileData.from_file(str(files[-1])), known) if files else ({}, 0)


def _by(described: Iterable[Mapping[str, Any]], field: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for each in described:
        shares[each[field]] = shares.get(each[field], 0.0) + each["share"]
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _own_times(data: Any, known: Callable[[str], bool]) -> tuple[dict[str, float], int]:
    """Nanoseconds in each operation of the program, without those that ran inside it (a loop's body), and how many ran."""
    times: dict[str, float] = {}
    ran = 0
    for plane in data.planes:
        for line in plane.lines:
            open_until: list[tuple[float, str]] = []
            events = [(e.start_ns, e.duration_ns, e.name) for e in line.events if known(e.name)]
            ran += len(events)
            for start, duration, name in sorted(events, key=lambda event: (event[0], -event[1])):
                while open_until and open_until[-1][0] <= start:
                    open_until.pop()
                if open_until:
                    times[open_until[-1][1]] -= duration
                times[name] = times.get(name, 0.0) + duration
                open_until.append((start + duration, name))
    return {name: max(0.0, spent) for name, spent in times.items()}, ran


class _Program:
    """The text of a compiled program: what each of its operations is, and where it came from."""

    def __init__(self, text: str, candidate: Path) -> None:
        self._candidate = str(candidate)
        self._tables: dict[str, dict[int, tuple[str, ...]]] = {name: {} for name in _TABLES}
        self._kinds: dict[str, str] = {}
        self._metadata: dict[str, dict[str, str]] = {}
        self._inside: dict[str, list[str]] = {}
        self._called: dict[str, str] = {}
        table = computation = ""
        for line in text.splitlines():
            if line in _TABLES:
                table = line
            elif table and (row := _TABLES[table].match(line)):
                number, *rest = row.groups()
                self._tables[table][int(number)] = tuple(each or "0" for each in rest)
            elif found := _INSTRUCTION.match(line):
                self._instruction(line, found[1], found[2], computation)
            elif begun := _COMPUTATION.match(line):
                computation = begun[1]

    def known(self, name: str) -> bool:
        """Whether the program has an operation of this name."""
        return name in self._kinds

    def describe(self, name: str) -> dict[str, Any]:
        """An operation's `name`, `kind`, `source` and `origin`. A fusion is what most of the operations in it are."""
        parts = [name, *self._inside.get(self._called.get(name, ""), ())]
        source_lines = [source_line for part in parts if (source_line := self._source_line(part))]
        source = max(source_lines, key=source_lines.count) if source_lines else ""
        names = " ".join(self._metadata.get(part, {}).get("op_name", "") for part in parts)
        chance = "threefry" in names or "random_bits" in names or "sample_" in source
        return {
            "name": name,
            "kind": _kind(self._kinds[name], [self._kinds[part] for part in parts[1:]]),
            "source": source,
            "origin": "chance" if chance else "candidate" if source else "other",
        }

    def _instruction(self, line: str, name: str, kind: str, computation: str) -> None:
        self._kinds[name] = kind
        self._inside.setdefault(computation, []).append(name)
        if metadata := _METADATA.search(line):
            self._metadata[name] = {key: value.strip('"') for key, value in _FIELD.findall(metadata[1])}
        if called := _CALLED.search(line):
            self._called[name] = called[1]

    def _source_line(self, name: str) -> str:
        """The innermost line of the candidate from which an operation came."""
        metadata = self._metadata.get(name, {})
        file = metadata.get("source_file", "")
        if file.startswith(self._candidate):
            return f"{Path(file).name}:{metadata.get('source_line', '?')}"
        frame, seen = int(metadata.get("stack_frame_id", 0)), 0
        while frame in self._tables["StackFrames"] and seen < 100:
            location, parent = self._tables["StackFrames"][frame]
            file_id, function_id, line = self._tables["FileLocations"].get(int(location), ("0", "0", "0"))
            (file,) = self._tables["FileNames"].get(int(file_id), ("",))
            if file.startswith(self._candidate):
                (function,) = self._tables["FunctionNames"].get(int(function_id), ("",))
                return f"{Path(file).name}:{line} {function}".strip()
            frame, seen = int(parent) - 1, seen + 1  # the text counts parents from one on, 1 being none
        return ""


def _kind(own: str, inside: list[str]) -> str:
    """What an operation does, in the 32-bit numbers of the optimisation prompt."""
    everything = {own, *inside}
    for kind in ("conditional", "while", "sort", "gather", "scatter", "concatenate", "custom-call", "dot"):
        if own == kind or (kind in everything and own == "fusion"):
            return kind
    if own in ("copy", "transpose", "dynamic-update-slice", "dynamic-slice", "pad", "slice", "broadcast"):
        return "copy"
    return "arithmetic"
