"""Whether what was fast is what was verified: single sub-environments of a timed run, held against the reference.

The timed call answered, for each sub-environment, with the sum of outputs that it computed, under a seed that it could not
know before. Now one repetition and some of its sub-environments are chosen at random, and their outputs are asked for: they
must add up to what was answered then. The actions must be those that follow from the seed. And the same sub-environments are
played again by the reference, episode by episode, under the draws that they consumed. So a run that left work out, answered
from a store, or answered before it was done is found, and with it a candidate that behaves otherwise when it is timed. What
is looked at does not grow with the batch: all outputs of a large one need more memory than a worker has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.candidate.adapters.bench_random import added_up, checked_steps, random_action, run_key_data
from harness.candidate.faces.leaves import mask_of
from harness.measure.profile.contenders import DEADLINE_S, Cell
from harness.measure.profile.result import SpotCheck
from harness.model import Array, Trajectory
from harness.task.contract import Mode
from harness.verdict import Divergence, Outcome
from harness.verify.leaf_grids import grid_of
from harness.verify.levels import autoreset
from harness.verify.levels.batch import demand_arrays, demand_batch, laws_of_batch, repeated
from harness.verify.localise import localise
from harness.verify.pair import Pair
from harness.verify.statistics.laws import verdict

LEVEL = 3
RULE = "profiled"
ENV_INDICES = 16


def spot_check(pair: Pair, cell: Cell, rng: np.random.Generator, most_steps: int) -> SpotCheck:
    """Look at one repetition of one timed reading of a candidate's cell.

    Args:
        rng: chooses them, and the sub-environments; not seeded by anything that the candidate has seen.
        most_steps: how many steps the reference may play again.

    Raises:
        EnvironmentFailure: a side could not answer.
    """
    reading = cell.readings[rng.integers(len(cell.readings))]
    assert reading.sums is not None  # only cells of candidates are looked at
    repeat = int(rng.integers(reading.repeats))
    env_indices = np.sort(rng.choice(cell.batch, min(ENV_INDICES, cell.batch), replace=False))
    name = f"{cell.kind} at batch {cell.batch}, profiled"
    answer = cell.contender.asked.ask(
        "bench_envs", timeout=DEADLINE_S, kind=cell.kind, batch=cell.batch, length=cell.length, seed=reading.seed,
        repeat=repeat, env_indices=env_indices.tolist(),
    )  # fmt: skip

    def failed(path: str, expected: str, actual: str, cause: str) -> SpotCheck:
        return _failed(cell, Divergence(None, 0, path, expected, actual, RULE, LEVEL, name, cause=cause))

    outputs, batch, actions = _checked(pair, cell, answer, len(env_indices))
    leaves = batch["leaves"]
    chosen = checked_steps(run_key_data(reading.seed, repeat), cell.length)
    answered = reading.sums[repeat][env_indices]
    total = np.zeros_like(answered)
    for timestep in chosen:
        total += added_up({path: leaf[timestep] for path, leaf in outputs.items()}, len(env_indices))
    for env_index in np.flatnonzero(total != answered)[:1]:
        return failed(
            "outputs", f"sum {total[env_index]} of sub-environment {env_indices[env_index]}", f"sum {answered[env_index]}",
            "what it answered when it was timed is not the sum of the outputs that it gives afterwards for the same run",
        )  # fmt: skip
    for path, expected in _actions(pair, leaves, reading.seed, repeat, env_indices, cell.length).items():
        if not _same_actions(actions[path], expected):
            return failed(
                path, "the actions that follow from the seed", "others", "it took other actions than it was given"
            )
    if pair.task.mode is Mode.LAW:
        return _bounds_only(pair, cell, outputs, name)
    shown = {path: np.array(leaf) for path, leaf in leaves.items()}
    for path, leaf in outputs.items():
        shown[path][1:] = leaf
    return _replay(pair, cell, {**batch, "leaves": shown}, actions, rng, most_steps, name)


def _replay(
    pair: Pair,
    cell: Cell,
    answer: Mapping[str, Any],
    actions: Mapping[str, Array],
    rng: np.random.Generator,
    most_steps: int,
    name: str,
) -> SpotCheck:
    """Some episodes of the sub-environments, on the reference."""
    found = list(autoreset.episodes(pair, answer, actions))
    chosen: list[Trajectory] = []
    left = most_steps
    for index in rng.permutation(len(found)):
        if left <= 0:
            break
        chosen.append(found[index].cut(left))
        left -= chosen[-1].steps
    again = repeated(pair, chosen)
    differences = pair.differences(again.expected, again.seen, only=frozenset(pair.task.outputs))
    for one, other, difference in zip(again.expected, again.seen, differences, strict=True):
        if difference is None:
            continue
        [(alone, found_alone)] = pair.play([one.case])
        if found_alone is not None:
            divergence = localise(pair, alone, found_alone, level=LEVEL, check=name)
        else:
            divergence = Divergence(
                one.case.cut(max(1, difference.step)), difference.step, difference.path, difference.expected,
                difference.actual, RULE, LEVEL, name, index=difference.index,
                grid=grid_of(one.leaves, other.leaves, difference, pair.task.tolerances),
                cause="stepped alone the candidate agrees with the reference here: it behaves otherwise when it is timed",
            )  # fmt: skip
        return _failed(cell, divergence, len(chosen))
    for draw, results in laws_of_batch(pair, found, name).items():
        passed, worst_law = verdict(results)
        if not passed:
            return _failed(cell, autoreset.wrong_law(name, draw, worst_law), len(chosen))
    steps = sum(trajectory.steps for trajectory in again.expected)
    return SpotCheck(cell.kind, cell.batch, Outcome.PASS, len(chosen), steps, again.detail)


def _failed(cell: Cell, divergence: Divergence, episodes: int = 0) -> SpotCheck:
    return SpotCheck(cell.kind, cell.batch, Outcome.FAIL, episodes, detail=divergence.cause, divergence=divergence)


def _bounds_only(pair: Pair, cell: Cell, outputs: Mapping[str, Array], name: str) -> SpotCheck:
    """Where only laws are compared no run can be played again: that every output is within its bounds is all there is."""
    for path, values in outputs.items():
        leaf = pair.task.outputs[path]
        for bound, outside in ((leaf.low, np.less), (leaf.high, np.greater)):
            if bound is not None and outside(values, np.asarray(bound, dtype=values.dtype)).any():
                divergence = Divergence(
                    None, 0, path, f"values from {leaf.low} to {leaf.high}", "others", "bounds", LEVEL, name,
                    cause="a timed run has values outside the bounds of task.toml",
                )  # fmt: skip
                return _failed(cell, divergence)
    weak = "only the bounds of its outputs were checked (randomness `law`): not that it is the environment"
    return SpotCheck(cell.kind, cell.batch, Outcome.PASS, detail=weak)


def _checked(
    pair: Pair, cell: Cell, answer: Any, env_indices: int
) -> tuple[dict[str, Array], dict[str, dict[str, Array]], dict[str, Array]]:
    """`outputs`, the sub-environments' batch and `actions` of an answer of `bench_envs`, of the shapes that they must have;
    the actions in their declared dtypes: held in 32 bits they are told in 32 bits.

    Raises:
        BadAnswer: they have others.
    """
    where = f"{cell.contender.name}, bench_envs"
    shown = {path: leaf.shape for path, leaf in pair.task.outputs.items() if not path.startswith("state/")}
    acted = {path: leaf.shape for path, leaf in pair.task.actions.items()}
    outputs = demand_arrays(answer, "outputs", (cell.length, env_indices), shown, where)
    actions = demand_arrays(answer, "actions", (cell.length, env_indices), acted, where)
    with np.errstate(invalid="ignore"):
        declared = {path: actions[path].astype(leaf.dtype) for path, leaf in pair.task.actions.items()}
    return outputs, demand_batch(pair, answer, cell.length, env_indices, where), declared


def _actions(
    pair: Pair, leaves: Mapping[str, Array], seed: int, repeat: int, env_indices: Array, length: int
) -> dict[str, Array]:
    """The actions of these sub-environments, computed here."""
    key_data = run_key_data(seed, repeat)
    timesteps = np.arange(1, length + 1, dtype=np.uint32)[:, None]
    chosen = {}
    for number, (path, leaf) in enumerate(pair.task.actions.items()):
        mask = leaves.get(mask_of(path))
        described = {"dtype": leaf.dtype, "shape": leaf.shape, "low": leaf.low, "high": leaf.high}
        legal = None if mask is None else mask[:-1]
        with np.errstate(over="ignore"):
            chosen[path] = random_action(
                np, number, described, key_data, env_indices.astype(np.uint32)[None], timesteps, legal
            )
    return chosen


def _same_actions(given: Array, expected: Array) -> bool:
    """Floats may differ in the last place: XLA may fuse a product and a sum, numpy does not."""
    if given.dtype.kind == "f":
        return bool(np.allclose(given, expected, rtol=1e-5, atol=1e-6))
    return bool(np.array_equal(given, expected))


def worst(checks: Sequence[SpotCheck]) -> Outcome:
    """The outcome of them all."""
    return Outcome.worst([check.outcome for check in checks])
