"""Scenarios: situations with the outcome that the specification states, as data that cites its statements.

A file of `specification/scenarios/` is TOML: tables `[[scenario]]`, and `[[without]]` for statements of which no situation
can be made. Whoever wrote a scenario had read the text alone, so that it can be held against any reading of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import TaskError
from harness.model import STATE, Array, Case, Draw, Leaf, Tape
from harness.protocol.worker import SEEDS
from harness.specification.sheet import Sheet
from harness.specification.values import addressed, value_of
from harness.task.schema import (
    INVALID,
    Location,
    Required,
    anything,
    array_of,
    describe,
    table,
    table_of,
    text,
    valid,
    whole,
)
from harness.task.toml_file import read_toml

SCENARIOS_DIRECTORY = "scenarios"
MOST_STEPS = 10_000


@dataclass(frozen=True)
class Expectation:
    """What one value is in one timestep: of a leaf, or of the element `index` of it."""

    step: int
    path: str
    index: tuple[int, ...]
    value: Array

    @property
    def address(self) -> str:
        """`state/board[3,4]`."""
        return self.path + (f"[{','.join(map(str, self.index))}]" if self.index else "")


@dataclass(frozen=True)
class Scenario:
    """One situation and its outcome.

    Attributes:
        name: what happens, in words.
        file, line: where it stands.
        cites: the statements from which the outcome follows.
        case: the start, the chance and the actions.
        expects: the outcome, by timestep.
    """

    name: str
    file: str
    line: int
    cites: tuple[int, ...]
    case: Case
    expects: tuple[Expectation, ...]

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Scenarios:
    """All scenarios, and the statements that need none with the reason."""

    scenarios: tuple[Scenario, ...]
    without: Mapping[int, str]

    def uncovered(self, statements: Collection[int]) -> list[int]:
        """The statements that no scenario cites and nobody argued away, in order."""
        cited = {number for scenario in self.scenarios for number in scenario.cites}
        return sorted(set(statements) - cited - self.without.keys())


def read_scenarios(directory: Path, sheet: Sheet, statements: Collection[int]) -> Scenarios:
    """All scenarios below a directory, by the names of the files.

    Args:
        statements: the numbers that may be cited.

    Raises:
        TaskError: a file is wrong, or two scenarios have one name; every mistake of all files is named.
    """
    scenarios: list[Scenario] = []
    without: dict[int, str] = {}
    mistakes: list[str] = []
    for path in sorted(directory.glob("*.toml")):
        reader = _Reader(path.name, sheet, statements)
        try:
            read_toml(path, "the scenarios", _FILE, reader.read, next_step="write scenarios there")
        except TaskError as error:
            mistakes += error.mistakes or (str(error),)
            continue
        scenarios += reader.scenarios
        without |= reader.without
    names: dict[str, Scenario] = {}
    for scenario in scenarios:
        if scenario.name in names:
            first = names[scenario.name].where
            mistakes.append(f"{scenario.where}: the scenario of {first} has the same name; expected another one")
        names.setdefault(scenario.name, scenario)
    if mistakes:
        count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        raise TaskError(f"the scenarios have {count}", mistakes=tuple(mistakes), where=str(directory))
    return Scenarios(tuple(scenarios), without)


def _seed(value: Any, location: Location) -> Any:
    read = whole(0)(value, location)
    return location.wrong("it is too large", "a number below 2^63") if isinstance(read, int) and read >= SEEDS else read


_FILE = table(
    {
        "scenario": array_of(
            table(
                {
                    "name": Required(text()),
                    "cites": Required(array_of(whole(1), at_least=1, unique=True)),
                    "seed": _seed,
                    "start": table_of(anything, text()),
                    "draws": anything,
                    "actions": Required(anything),
                    "expect": Required(
                        array_of(
                            table({"step": Required(whole(0)), "leaves": Required(table_of(anything, text()))}),
                            at_least=1,
                        )
                    ),
                }
            )
        ),
        "without": array_of(table({"statement": Required(whole(1)), "because": Required(text())})),
    }
)


class _Reader:
    """Reads the scenarios of one file, and notes what is wrong with them."""

    def __init__(self, file: str, sheet: Sheet, statements: Collection[int]) -> None:
        self.scenarios: list[Scenario] = []
        self.without: dict[int, str] = {}
        self._file, self._sheet, self._statements = file, sheet, statements
        self._actions = {path: leaf for path, leaf in sheet.leaves.items() if path.split("/")[0] == "action"}
        self._outputs = {path: leaf for path, leaf in sheet.leaves.items() if path not in self._actions}
        self._state = {path: leaf for path, leaf in sheet.leaves.items() if path.startswith(STATE)}

    def read(self, written: Mapping[str, Any], read: Mapping[str, Any], root: Location) -> None:
        """Note every mistake; `scenarios` and `without` are complete where there is none."""
        for place, one in valid(read.get("without", ())):
            self._known(one.get("statement", INVALID), root.at("without", place, "statement"))
            if {"statement", "because"} <= one.keys():
                self.without[one["statement"]] = one["because"]
        for place, one in valid(read.get("scenario", ())):
            location = root.at("scenario", place)
            for number, cited in enumerate(one.get("cites", ())):
                self._known(cited, location.at("cites", number))
            if {"name", "cites", "actions", "expect"} <= one.keys():
                self._scenario(one, location)

    def _known(self, number: Any, location: Location) -> None:
        if number is not INVALID and number not in self._statements:
            location.wrong(f"there is no statement {number}", "the number of a statement")

    def _scenario(self, one: Mapping[str, Any], location: Location) -> None:
        if ("seed" in one) == ("start" in one):
            location.wrong("it begins nowhere, or in two places", "`seed` for a reset, or `start` for a state")
            return
        actions = self._taken(one["actions"], location.at("actions"))
        start = self._start(one["start"], location.at("start")) if "start" in one else None
        draws = self._tape(one["draws"], location.at("draws")) if "draws" in one else None
        if actions is INVALID or start is INVALID or draws is INVALID:
            return
        length = len(next(iter(actions.values())))
        expects = self._expected(one["expect"], length, location.at("expect"))
        if draws is not None and len(draws) > length + 1:
            location.at("draws").wrong(f"{len(draws)} timesteps for {length} actions", f"at most {length + 1}")
        elif expects is not INVALID:
            case = Case(one.get("seed", 0), actions, start, draws, name=one["name"], origin="scenario")
            line = location.mistakes.line_at(location.path)
            self.scenarios.append(Scenario(one["name"], self._file, line, one["cites"], case, expects))

    def _taken(self, written: Any, location: Location) -> Any:
        """Action leaves over steps: a list of values where `action` is the only leaf, else a list of tables."""
        if not isinstance(written, list) or len(written) > MOST_STEPS:
            return location.wrong(f"it is {describe(written)}", f"an array with one entry a step, at most {MOST_STEPS}")
        alone = list(self._actions) == ["action"]
        read: dict[str, list[Any]] = {path: [] for path in self._actions}
        for step, entry in enumerate(written):
            given = {"action": entry} if alone else entry
            if not isinstance(given, dict) or given.keys() != self._actions.keys():
                location.at(step).wrong(f"it is {describe(entry)}", f"a table of {', '.join(self._actions)}")
                return INVALID
            for path, value in given.items():
                here = location.at(step) if alone else location.at(step, path)
                read[path].append(value_of(self._actions[path], value, here))
        if any(value is INVALID for values in read.values() for value in values):
            return INVALID
        return {
            path: np.array(values, self._actions[path].dtype).reshape(-1, *self._actions[path].shape)
            for path, values in read.items()
        }

    def _start(self, written: Mapping[str, Any], location: Location) -> Any:
        """A whole state: what is written, and the background for all else."""
        if not self._state:
            return location.wrong("the sheet has no state", "`seed`, as no state can be restored")
        state = dict(self._sheet.background)
        for path, value in written.items():
            if path not in self._state:
                known = ", ".join(self._state)
                location.at(path).wrong(
                    "this is no leaf of the state", f"one of {known}", given=path, choices=self._state
                )
                state[path] = INVALID
            else:
                state[path] = value_of(self._state[path], value, location.at(path))
        if lacking := [path for path in self._state if path not in state]:
            return location.wrong(
                f"{', '.join(lacking)} has no value", "a value here, or in `[background]` of the sheet"
            )
        wrong = any(value is INVALID for value in state.values())
        return INVALID if wrong else {path: state[path] for path in self._state}

    def _tape(self, written: Any, location: Location) -> Tape | Any:
        """Draws by timestep, each a list of `[name, value]`."""
        if not isinstance(written, list) or not all(isinstance(timestep, list) for timestep in written):
            return location.wrong(f"it is {describe(written)}", 'an array with a list of `["name", value]` a timestep')
        tape: list[tuple[Draw, ...]] = []
        for step, timestep in enumerate(written):
            draws: list[Draw] = []
            for place, entry in enumerate(timestep):
                here = location.at(step, place)
                if not isinstance(entry, list) or len(entry) != 2 or entry[0] not in self._sheet.draws:
                    known = ", ".join(self._sheet.draws) or "there are none"
                    return here.wrong(f"it is {describe(entry)}", f"`[name, value]` of a draw of the sheet ({known})")
                draw = self._sheet.draws[entry[0]]
                value = value_of(_drawn(draw.name, draw.dtype, draw.shape, draw.law), entry[1], here)
                if value is INVALID:
                    return INVALID
                draws.append(Draw(draw.name, value))
            tape.append(tuple(draws))
        return tuple(tape)

    def _expected(self, written: Sequence[Any], length: int, location: Location) -> Any:
        found: list[Expectation] = []
        for place, one in valid(written):
            here = location.at(place)
            step = one.get("step", 0)
            if step > length:
                here.at("step").wrong(f"it is step {step} of {length} actions", f"at most {length}")
            for key, value in one.get("leaves", {}).items():
                target = addressed(key, self._outputs, here.at("leaves", key))
                if target is INVALID:
                    continue
                leaf, index = target
                read = value_of(leaf, value, here.at("leaves", key), index, bounded=False)
                if read is not INVALID:
                    found.append(Expectation(step, leaf.path, index, read))
        return tuple(found)


def _drawn(name: str, dtype: str, shape: tuple[int, ...], law: Any) -> Leaf:
    """A draw as a leaf: its law bounds it where it has ends."""
    ends = (law.low, law.high) if law is not None and law.kind in ("uniform", "integers") else (None, None)
    return Leaf(name, dtype, shape, *ends)
