"""Do the reference's probes answer all that level 1 will ask them?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.authoring.conformance.kit import Failed, Kit, Passed, Skipped, shown
from harness.compare import compare_leaves
from harness.errors import EnvironmentFailure, TimedOut
from harness.model import STATE, Array, Leaf, Leaves
from harness.task.contract import TaskProbe
from harness.task.every_input import count_inputs, every_input
from harness.task.leaf_values import anywhere

SAMPLE = 32
SWEEP = 10
"""Where not all inputs can be asked, as many times more than the task's examples are: what level 1 sweeps."""
PART = 2048
"""So many inputs are asked at once: an answer that is late is the fault of one of few."""
LATE_SECONDS = 10.0
"""So long a part of what was late is waited for, to find the input that is late."""
SHOWN = 160
"""So many characters of one leaf of an input are shown."""


def answers_probes(kit: Kit) -> Passed:
    """Each probe answers all inputs that task.toml allows (of many, a sweep), and the same inputs the same way."""
    if not kit.can("probe"):
        raise Skipped("without the capability probe, modules are tested only through whole steps")
    names = [name for name in kit.task.probes if name in kit.spec.probes]
    if not names:
        raise Skipped("the task has no probes")
    asked, said = 0, []
    for name in names:
        probe = kit.task.probes[name]
        total = count_inputs(probe, kit.task.budgets.exhaustive)
        for inputs in (sample_inputs(kit, name), *([] if total else [_sweep(kit, probe)])):
            asked += _ask_twice(kit, name, inputs)
        for inputs in every_input(probe) if total else ():
            for part in _parts(inputs):
                _ask(kit, name, part)
        asked += total or 0
        said.append(f"{name}: {f'all {total} inputs' if total else 'a sweep over the bounds'}")
    return Passed(asked, "; ".join(said))


def sample_inputs(kit: Kit, name: str, size: int = SAMPLE) -> dict[str, Array]:
    """Inputs from reached states and actions where they are named so, else from within their bounds, `[size, *shape]`."""
    rng = np.random.default_rng(0)
    reached = kit.reached
    picks = [reached[pick] for pick in rng.integers(0, len(reached), size)]
    inputs = {}
    for path, leaf in kit.task.probes[name].inputs.items():
        state = kit.spec.outputs.get(path if path.startswith(STATE) else STATE + path)
        if state is not None and (state.dtype, state.shape) == (leaf.dtype, leaf.shape):
            inputs[path] = np.stack([episode.leaves[state.path][timestep] for episode, timestep in picks])
        elif path in kit.actions:
            inputs[path] = np.stack([episode.case.actions[path][timestep] for episode, timestep in picks])
        else:
            inputs[path] = _within(leaf, rng, size)
    return inputs


def _sweep(kit: Kit, probe: TaskProbe) -> dict[str, Array]:
    """Inputs over the bounds and exactly on them; where a leaf has none, what was reached."""
    rng = np.random.default_rng(1)
    size = SWEEP * (probe.examples or kit.task.budgets.examples)
    bounded = {path: _within(leaf, rng, size) for path, leaf in probe.inputs.items() if _bounded(leaf)}
    return {**sample_inputs(kit, probe.name, size), **bounded}


def _bounded(leaf: Leaf) -> bool:
    return leaf.dtype == "bool" or (leaf.low is not None and leaf.high is not None)


def _within(leaf: Leaf, rng: np.random.Generator, size: int) -> Array:
    low, high = (default if bound is None else bound for bound, default in ((leaf.low, 0), (leaf.high, 1)))
    return anywhere(Leaf(leaf.path, leaf.dtype, leaf.shape, low, high), rng, size)


def _ask_twice(kit: Kit, name: str, inputs: Leaves) -> int:
    """Ask inputs, and the other way round again; returns how many there were."""
    first = [_ask(kit, name, part) for part in _parts(inputs)]
    backwards = {path: array[::-1] for path, array in inputs.items()}
    again = [_ask(kit, name, part) for part in _parts(backwards)]
    one, other = (
        {path: np.concatenate([answer[path] for answer in answers]) for path in answers[0]}
        for answers in (first, again)
    )
    difference = compare_leaves(one, {path: array[::-1] for path, array in other.items()}, {}, f"probe/{name}/")
    if difference is not None:
        which = _shown({path: array[difference.step] for path, array in inputs.items()})
        raise Failed(f"probe {name} answers the same inputs differently, as {which}: {shown(difference)}")
    return len(next(iter(inputs.values())))


def _ask(kit: Kit, name: str, inputs: Leaves) -> Leaves:
    """The probe's answers; where it has none, a failure that names the first input that it cannot answer."""
    try:
        return kit.environment.probe(name, inputs)
    except EnvironmentFailure as failure:
        size = len(next(iter(inputs.values())))
        found = _first_unanswered(kit, name, inputs, failure)
        if found is None:
            raise Failed(
                f"probe {name} does not answer {size} inputs in one message, though it answers each part of it: {failure}"
            ) from failure
        which, alone = found
        raise Failed(
            f"probe {name} cannot answer an input within the bounds of task.toml: "
            f"{_shown({path: array[which] for path, array in inputs.items()})}: {alone}\n"
            "next: let the adapter's probe answer it, or narrow the bounds of the inputs in task.toml"
        ) from failure


def _first_unanswered(
    kit: Kit, name: str, inputs: Leaves, failure: EnvironmentFailure
) -> tuple[int, EnvironmentFailure] | None:
    """The first input that is not answered when it is asked alone, found by halving, and why; None where each half is."""

    def again(part: Leaves) -> None:
        if isinstance(failure, TimedOut):
            kit.environment.ask("probe", timeout=LATE_SECONDS, name=name, inputs=part)
        else:
            kit.environment.probe(name, part)

    low, high = 0, len(next(iter(inputs.values())))
    if high == 1:
        return 0, failure
    found = None
    while found is None or high - low > 1:
        middle = (low + high) // 2
        for start, end in ((low, middle), (middle, high)):
            try:
                again({path: array[start:end] for path, array in inputs.items()})
            except EnvironmentFailure as smaller:
                found, low, high = smaller, start, end
                break
        else:
            return None
    return low, found


def _parts(inputs: Leaves) -> Iterator[Leaves]:
    size = len(next(iter(inputs.values())))
    for start in range(0, size, PART):
        yield {path: array[start : start + PART] for path, array in inputs.items()}


def _shown(one: Leaves) -> str:
    """One input in words, each leaf cut to a length that a line can hold."""
    said = ((path, np.array2string(np.asarray(array), separator=", ", threshold=20)) for path, array in one.items())
    return ", ".join(f"{path} = {' '.join(text.split())[:SHOWN]}" for path, text in said)
