"""What a task adds to the generic checks: invariants, generators, features and sequences, declared by decorators.

`properties.py` and `interactions.py` of a task import these decorators. `load_suite` imports both files: it is called in a
sandbox (`harness.verify.suite.server`), and never by the process that holds the keys.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from harness.errors import TaskError
from harness.model import Array, Trajectory
from harness.task.contract import INTERACTIONS_FILE, PROPERTIES_FILE, Task
from harness.task.former import former_names

RowCheck = Callable[[Trajectory], Any]


@dataclass(frozen=True)
class Invariant:
    """Something true of every trajectory; `check` gives one bool for each timestep, or one for all."""

    name: str
    module: str | None
    check: RowCheck

    def violations(self, trajectory: Trajectory) -> Array:
        """The timesteps at which the invariant does not hold."""
        return np.flatnonzero(~_timesteps(self.check(trajectory), trajectory.timesteps))


@dataclass(frozen=True)
class Feature:
    """Something that episodes should reach; `check` gives one bool for each timestep, or one for all."""

    name: str
    check: RowCheck

    def shown(self, trajectory: Trajectory) -> Array:
        """The timesteps that show the feature."""
        return np.flatnonzero(_timesteps(self.check(trajectory), trajectory.timesteps))


@dataclass(frozen=True)
class Generator:
    """A Hypothesis strategy for the inputs of a probe: dictionaries from input name to value."""

    probe: str
    make: Callable[[], Any]


@dataclass(frozen=True)
class Sequence:
    """A Hypothesis strategy for level 2: dictionaries with `start` (state leaves or None) and `actions` (a list)."""

    name: str
    make: Callable[[Task], Any]


@dataclass(frozen=True)
class Suite:
    """All that a task adds."""

    invariants: tuple[Invariant, ...] = ()
    features: tuple[Feature, ...] = ()
    generators: Mapping[str, Generator] = field(default_factory=dict)
    sequences: tuple[Sequence, ...] = ()


def invariant(module: str | None = None) -> Callable[[RowCheck], Invariant]:
    """Declare an invariant of a module, or of the whole environment. It must hold on the reference first."""
    return lambda check: _noted(Invariant(_name(check), module, check), check)


def feature(check: RowCheck) -> Feature:
    """Declare a feature that episodes should reach."""
    return _noted(Feature(_name(check), check), check)


def generator(probe: str) -> Callable[[Callable[[], Any]], Generator]:
    """Declare how inputs of a probe are generated, instead of uniformly within the bounds of its leaves."""
    return lambda make: _noted(Generator(probe, make), make)


def sequence(name: str) -> Callable[[Callable[[Task], Any]], Sequence]:
    """Declare sequences for level 2."""
    return lambda make: _noted(Sequence(name, make), make)


Declared = TypeVar("Declared", Invariant, Feature, Generator, Sequence)
_importing = threading.local()
"""Has `made` while a file is imported: what it declared, each with its function."""


def _noted(declared: Declared, function: Callable[..., Any]) -> Declared:
    if (made := getattr(_importing, "made", None)) is not None:
        made.append((declared, function))
    return declared


def load_suite(task: Task) -> Suite:
    """The suite of a task, from its `properties.py` and `interactions.py`; either may be absent.

    Raises:
        TaskError: a file cannot be imported, names a probe or a module that the task does not have, or declares something
            that none of its names holds, so that nothing would be done with it.
    """
    declared: list[Any] = []
    lost: list[str] = []
    for file in (PROPERTIES_FILE, INTERACTIONS_FILE):
        path = task.directory / file
        if path.is_file():
            module, made = _import(path, f"lockstep_{task.name}_{path.stem}")
            kept = list(vars(module).values())
            declared.extend(kept)
            lost += [
                f"{file}: the {type(item).__name__.lower()} `{_called(item)}` is declared, and no name of the file holds "
                "it; expected each at the top level, by a name of its own"
                for item, function in made
                if getattr(function, "__module__", None) == module.__name__ and not any(item is each for each in kept)
            ]
    suite = Suite(
        invariants=tuple(item for item in declared if isinstance(item, Invariant)),
        features=tuple(item for item in declared if isinstance(item, Feature)),
        generators={item.probe: item for item in declared if isinstance(item, Generator)},
        sequences=tuple(item for item in declared if isinstance(item, Sequence)),
    )
    modules = {module.name for module in task.modules}
    mistakes = (
        lost
        + [
            f"{PROPERTIES_FILE}: the invariant `{item.name}` belongs to module `{item.module}`, which task.toml lacks"
            for item in suite.invariants
            if item.module is not None and item.module not in modules
        ]
        + [
            f"{PROPERTIES_FILE}: a generator is for probe `{probe}`, which task.toml lacks"
            for probe in suite.generators
            if probe not in task.probes
        ]
    )
    if mistakes:
        raise TaskError("the suite does not fit the task", where=str(task.directory), mistakes=tuple(mistakes))
    return suite


def _timesteps(answer: Any, timesteps: int) -> Array:
    array = np.asarray(answer, dtype=bool)
    return array if array.shape == (timesteps,) else np.broadcast_to(array, (timesteps,))


def _called(declared: Any) -> str:
    return declared.probe if isinstance(declared, Generator) else declared.name


def _name(check: Callable[..., Any]) -> str:
    return check.__name__.replace("_", " ")


def _import(path: Path, name: str) -> tuple[ModuleType, list[tuple[Any, Callable[..., Any]]]]:
    """A file as a module, and what was declared while it was imported."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _importing.made = made = []
    try:
        with former_names():
            spec.loader.exec_module(module)
    except Exception as error:
        raise TaskError(
            f"{path.name} cannot be imported: {type(error).__name__}: {error}",
            where=str(path),
            next_step=f"run `python {path.name}` in the task directory",
        ) from error
    finally:
        _importing.made = None
    return module, made
