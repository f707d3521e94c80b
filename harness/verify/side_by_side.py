"""One case, or one input of a probe, on both sides: what `lockstep compare` shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.candidate.start import CandidateWorker
from harness.compare import EXACT, Difference, compare_leaves
from harness.errors import TaskError
from harness.grids import Grid
from harness.model import Array, Case, Leaves, leaves_from_json
from harness.reference.install import setup
from harness.reference.start import start_references
from harness.support.foreign import json_of
from harness.support.progress import Progress, silent
from harness.task.contract import STANDARD_POLICIES, Mode, Task, Tolerance
from harness.verify.leaf_grids import leaf_grid
from harness.verify.levels.known import ProbeCase
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from sandboxes import Driver

MOST_ELEMENTS = 16
"""A vector of at most so many elements is listed element by element."""


@dataclass(frozen=True)
class Episode:
    """A policy's episode to be played: which policy, from which seed, how many steps at most."""

    policy: str
    seed: int
    steps: int


@dataclass(frozen=True)
class SideBySide:
    """What both sides answered.

    Attributes:
        case: what was played; None for a probe, whose `inputs` were asked.
        expected, actual: the leaves of both sides, stacked over timesteps.
        difference: the first one, or None.
        tolerances: by path, with which it was found.
    """

    case: Case | None
    inputs: Leaves | None
    expected: Leaves
    actual: Leaves
    difference: Difference | None
    tolerances: Mapping[str, Tolerance]

    @property
    def steps(self) -> int:
        """How many steps were compared (0 for a probe)."""
        return len(next(iter(self.expected.values()))) - 1


def read_case(path: Path) -> Case | ProbeCase:
    """The case, or the inputs of a probe, in a file such as those in `cases/`.

    Raises:
        TaskError: the file holds neither.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _no_case(error, str(path)) from error
    return parse_case(text, str(path))


def parse_case(text: str, where: str) -> Case | ProbeCase:
    """`read_case` of what stands in a file.

    Raises:
        TaskError: it is neither.
    """
    try:
        described = json_of(text)
        if "probe" in described:
            return ProbeCase(str(described["probe"]), leaves_from_json(described["inputs"]))
        return Case.from_json(described)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise _no_case(error, where) from error


def _no_case(error: Exception, where: str) -> TaskError:
    return TaskError(
        f"this is not a case ({type(error).__name__}: {error})",
        where=where,
        next_step="give a file from `cases/`, or one that a failed verification has named",
    )


@contextmanager
def played(
    task: Task, tree: Path, driver: Driver, what: Case | ProbeCase | Episode, progress: Progress = silent
) -> Iterator[tuple[SideBySide, Pair]]:
    """Play one thing on both sides, and keep both of them running for whoever wants to ask more.

    Args:
        tree: a directory that holds the candidate.
        what: a case, a probe's input, or an episode under a policy of the reference.

    Raises:
        TaskError: the task does not allow the comparison, or has no such probe or policy.
        LockstepError, SandboxError: a side cannot be started, or does not answer.
    """
    _check(task, what)
    asked = (what.probe,) if isinstance(what, ProbeCase) else ()
    with _pair(task, tree, driver, progress, asked) as pair:
        progress("playing on both sides", 0, 1)
        yield _play(pair, what), pair


def _play(pair: Pair, what: Case | ProbeCase | Episode) -> SideBySide:
    if isinstance(what, ProbeCase):
        return _ask(pair, what)
    if isinstance(what, Episode):
        known = dict.fromkeys((*STANDARD_POLICIES, *pair.reference.spec.policies))
        if what.policy not in known:
            raise TaskError(f"{pair.task.name} has no policy {what.policy!r}; it has {', '.join(known)}")
        [expected] = pair.reference.drive(what.policy, [what.seed], what.steps)
    else:
        [expected] = pair.reference.rollout([what])
    [actual] = pair.follow([expected])
    [difference] = pair.differences([expected], [actual])
    return SideBySide(expected.case, None, expected.leaves, actual.leaves, difference, pair.task.tolerances)


def grids_around(both: SideBySide) -> dict[str, Grid]:
    """The grids of the arrays that differ in the timestep of the first difference, by path; that in which it lies first."""
    assert both.difference is not None
    step, paths = both.difference.step, dict.fromkeys([both.difference.path, *both.expected])
    found = {
        path: leaf_grid(
            both.expected, both.actual, path, step, both.tolerances.get(path, EXACT), follows=both.case is not None
        )
        for path in paths
    }
    return {path: grid for path, grid in found.items() if grid is not None}


def values_around(both: SideBySide) -> Iterator[tuple[str, str, str, str, bool]]:
    """The element-wise table of the first difference, differing elements first, and larger arrays in a line each.

    Yields: address, the reference's value one timestep before (empty where there is none), both values, whether they differ.
    """
    assert both.difference is not None
    step = both.difference.step
    found: list[tuple[str, str, str, str, bool]] = []
    for path in dict.fromkeys([*both.expected, *both.actual]):
        wanted, given = _timestep(both.expected, path, step), _timestep(both.actual, path, step)
        before = _timestep(both.expected, path, step - 1) if step > 0 and both.case is not None else None
        if _is_large(wanted) or _is_large(given):
            same = wanted is not None and given is not None and _bytes(wanted) == _bytes(given)
            formed = [_form(side) for side in (wanted, given)]
            found.append((path, "", formed[0], "the same" if same else f"{formed[1]}, other values", not same))
            continue
        for index in np.ndindex(next(side.shape for side in (wanted, given) if side is not None)):
            texts = [_element(side, index) for side in (before, wanted, given)]
            address = path + (f"[{','.join(map(str, index))}]" if index else "")
            found.append((address, texts[0], texts[1], texts[2], texts[1] != texts[2]))
    yield from sorted(found, key=lambda line: not line[4])


def _check(task: Task, what: Case | ProbeCase | Episode) -> None:
    if isinstance(what, ProbeCase):
        probe = task.probes.get(what.probe)
        if probe is None or set(probe.inputs) != set(what.inputs):
            raise TaskError(f"the task {task.name} has no probe {what.probe!r} with the inputs {sorted(what.inputs)}")
        return
    if task.mode is Mode.LAW:
        raise TaskError(
            f"single episodes of {task.name} cannot be compared: its randomness is `law`",
            next_step="run `lockstep verify`, which compares distributions",
        )
    if isinstance(what, Case) and set(what.actions) != set(task.actions):
        raise TaskError(f"the case has the action leaves {sorted(what.actions)}, the task {sorted(task.actions)}")


@contextmanager
def _pair(task: Task, tree: Path, driver: Driver, progress: Progress, asked: Collection[str]) -> Iterator[Pair]:
    """Both sides. A candidate that is not whole yet answers what it can: the probes that are asked for at least."""
    with ExitStack() as stack:
        progress("starting the reference and the candidate", 0, 1)
        installed = setup(task, lambda line: progress(line, 0, 1))
        worker = CandidateWorker(task, driver)  # imports JAX while the reference starts
        stack.callback(worker.close)
        pool = start_references(task, installed, 1)
        stack.callback(pool.close)
        task, candidate = worker.open_for(tree, asked, stack)
        yield Pair(task, Suite(), pool, candidate, 0, progress)


def _ask(pair: Pair, what: ProbeCase) -> SideBySide:
    declared = pair.task.probes[what.probe].inputs
    inputs = {path: np.asarray(array, dtype=declared[path].dtype) for path, array in what.inputs.items()}
    expected, actual = pair.reference.first.probe(what.probe, inputs), pair.candidate.probe(what.probe, inputs)
    prefix = f"probe/{what.probe}/"
    difference = compare_leaves(expected, actual, pair.task.tolerances, prefix)
    sides: list[Mapping[str, Any]] = [{prefix + path: side[path] for path in side} for side in (expected, actual)]
    return SideBySide(None, inputs, sides[0], sides[1], difference, pair.task.tolerances)


def _timestep(leaves: Leaves, path: str, step: int) -> Array | None:
    array = leaves.get(path)
    return None if array is None or step >= len(array) else np.asarray(array[step])


def _is_large(array: Array | None) -> bool:
    """Whether an array is shown as a grid, not element by element."""
    return array is not None and (array.ndim > 1 or array.size > MOST_ELEMENTS)


def _form(array: Array | None) -> str:
    return "" if array is None else f"{array.dtype.name} {list(array.shape)}"


def _bytes(array: Array) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, array.tobytes()


def _element(array: Array | None, index: tuple[int, ...]) -> str:
    if array is None:
        return ""
    return (
        str(array[index])
        if len(index) == array.ndim and all(i < n for i, n in zip(index, array.shape, strict=True))
        else ""
    )
