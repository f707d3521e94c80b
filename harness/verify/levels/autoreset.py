"""Whether the batch that users train on is the environment that was verified.

The candidate's auto-resetting batch plays with chance of its own. Each episode in some of its sub-environments is cut out,
with its terminal observation and the draws that it consumed, and played again by the reference under exactly these draws. So
the reset inside the step and the kept terminal observation are held against the reference, and the draws against their law.

How wide the batch is, and which sub-environments are looked at, comes from the run's seed: a batch of a size that is never
trained on would say little, and one of a known size nothing about others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.candidate.adapters.batch_keys import batch_key_data
from harness.candidate.adapters.legal import legal_action
from harness.candidate.faces.leaves import mask_of
from harness.errors import BadAnswer
from harness.model import ENDINGS, Array, Case, Draw, Trajectory, is_of_step
from harness.protocol.environment import Environment
from harness.task.contract import Mode
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.leaf_grids import grid_of
from harness.verify.levels.batch import demand_arrays, demand_batch, demand_chance, laws_of_batch, repeated
from harness.verify.localise import localise
from harness.verify.pair import Pair
from harness.verify.statistics.laws import LawResult, verdict

LEVEL = 3
NAME = "auto-reset batch"
ALL_ACTIONS = "all actions"
"""The actions of every sub-environment, as they were taken; under `actions` stand those that are looked at."""
LANES = "lanes"
"""The part of an answer that tells the chance of many sub-environments, and nothing else of them."""
CHECKED_ENVS = 17
"""Sub-environments that are played again; fewer where these would be more than `MOST_BYTES`, and never less than two."""
MOST_BYTES = 1 << 28
"""What they may show together: an answer has to fit into one frame, and into memory several times."""
WIDEST = 2048
MAX_STEPS = 512
MOST_WORK = 1 << 18
"""Steps of all sub-environments together, which the candidate takes in about a second where it is not very slow."""


@dataclass(frozen=True)
class Plan:
    """The batch of a run: its `envs` sub-environments, its `steps`, the `seed` of its keys, its actions, and the
    sub-environments to look at; and those of whose chance is told, where that is asked for.
    """

    seed: int
    envs: int
    steps: int
    env_indices: Array
    actions: Mapping[str, Array]
    lanes: Array | None = None

    @property
    def key_data(self) -> Array:
        """Of the keys, uint32 `[steps + 1, envs, 2]`, as the call `autoreset` makes them."""
        return batch_key_data(self.seed, self.steps, self.envs)


def planned(pair: Pair) -> Plan:
    """The batch of this run, all of it from the run's seed."""
    steps = _steps(pair)
    rng = pair.random("autoreset lanes")
    # No power of two, to which batches of cases are padded: so it is a size that no other check has.
    envs = int(np.exp(rng.uniform(np.log(CHECKED_ENVS), np.log(widest(pair))))) | 1
    # Each timestep is shown twice: as it is, and as it was before the reset.
    shown = MOST_BYTES // (2 * (steps + 1) * pair.task.timestep_bytes)
    env_indices = np.sort(rng.choice(envs, min(max(shown, 2), CHECKED_ENVS), replace=False))
    actions = pair.random_batch_actions("autoreset", steps, envs)
    return Plan(pair.derive("autoreset") % (1 << 31), envs, steps, env_indices, actions)


def widest(pair: Pair) -> int:
    """How many sub-environments the batch of a run has at most, but for one more."""
    return max(CHECKED_ENVS, min(WIDEST, MOST_WORK // _steps(pair)))


def _steps(pair: Pair) -> int:
    return min(2 * pair.task.budgets.horizon, MAX_STEPS)


def play(pair: Pair, candidate: Environment, plan: Plan) -> dict[str, Any]:
    """What the candidate's auto-resetting batch answers: the call `autoreset` of docs/protocol.md, and its `actions`.

    Raises:
        EnvironmentFailure: it could not answer, or not with all that was asked for.
    """
    told = {} if plan.lanes is None else {LANES: plan.lanes.tolist()}
    answer = candidate.ask(
        "autoreset",
        seed=plan.seed,
        envs=plan.envs,
        steps=plan.steps,
        actions=dict(plan.actions),
        env_indices=plan.env_indices.tolist(),
        **told,
    )
    where = "the candidate, call `autoreset`"
    checked: dict[str, Any] = demand_batch(pair, answer, plan.steps, len(plan.env_indices), where)
    actions = dict(plan.actions)
    if pair.task.masked:  # it takes other actions than those that were planned
        shapes = {path: leaf.shape for path, leaf in pair.task.actions.items()}
        taken = demand_arrays(answer, "actions", (plan.steps, plan.envs), shapes, where)
        actions = demand_legal(pair, checked["leaves"], plan, taken, where)
    if plan.lanes is not None:
        checked[LANES] = demand_chance(pair, answer.get(LANES), plan.steps, len(plan.lanes), where)
    return checked | {
        "actions": {path: array[:, plan.env_indices] for path, array in actions.items()},
        ALL_ACTIONS: actions,
    }


def demand_legal(
    pair: Pair, leaves: Mapping[str, Array], plan: Plan, taken: Mapping[str, Array], where: str
) -> dict[str, Array]:
    """The actions that a batch took, in their declared dtypes.

    Raises:
        BadAnswer: they are others than follow from its plan, and from the masks that it shows; or no such actions at all.
    """
    actions = {}
    for path, leaf in pair.task.actions.items():
        wanted = plan.actions[path][:, plan.env_indices]
        if mask_of(path) in leaves:
            wanted = legal_action(np, wanted, leaf.low, leaves[mask_of(path)][:-1])
        with np.errstate(invalid="ignore"):
            actions[path] = taken[path].astype(leaf.dtype)  # held in 32 bits they are told in 32 bits
        given = actions[path][:, plan.env_indices]
        if not (np.array_equal(actions[path], taken[path]) and np.array_equal(given, wanted)):
            raise BadAnswer(
                f"in its `actions`, {path} is not what was planned", where=where,
                expected="each planned action, or the legal one in its place by the mask of the timestep before",
            )  # fmt: skip
    return actions


def check(pair: Pair, answer: Mapping[str, Any]) -> tuple[CheckResult, int]:
    """Every episode of an auto-resetting batch, replayed one by one, and the law of what it drew; and how many steps the
    reference confirmed.

    Args:
        answer: what `play` returned.
    """
    result, confirmed, seen = replayed(pair, answer, NAME)
    if result.outcome is Outcome.FAIL:
        return result, 0
    for name, results in laws_of_batch(pair, seen, NAME).items():
        passed, worst = verdict(results)
        if not passed:
            return CheckResult(NAME, Outcome.FAIL, examples=len(seen), divergences=(wrong_law(NAME, name, worst),)), 0
    return result, confirmed


def replayed(pair: Pair, answer: Mapping[str, Any], name: str) -> tuple[CheckResult, int, Sequence[Trajectory]]:
    """Every episode of an auto-resetting batch, replayed one by one.

    Args:
        answer: what `play` returned.
        name: of the check.

    Returns:
        The result, how many steps the reference confirmed, and the episodes.
    """
    again = repeated(pair, list(episodes(pair, answer, answer["actions"], name)))
    expected, seen = again.expected, again.seen
    compared = frozenset(pair.task.outputs)
    if again.by_reference:
        pair.watch.compared(expected, compared)
    differences = pair.differences(expected, seen, only=compared, counted=again.by_reference)
    for one, other, found in zip(expected, seen, differences, strict=True):
        if found is None:
            continue
        # The same episode without the batch around it: if it differs too, the fault is not the batch's.
        alone_case = pair.step_of(other, found.step) if pair.resynchronised and found.step else one.case
        [(alone, difference)] = pair.play([alone_case]) if pair.paired else [(one, None)]
        if difference is not None:
            divergence = localise(pair, alone, difference, level=LEVEL, check=name)
        else:
            last = found.step == other.steps and found.step > 0
            divergence = Divergence(
                one.case.cut(found.step), found.step, found.path, found.expected, found.actual, "autoreset", LEVEL, name,
                index=found.index, grid=grid_of(one.leaves, other.leaves, found, pair.task.tolerances),
                cause="stepped alone the candidate agrees with the reference here: the batch differs"
                + (" in an episode's last step" if last else " in an episode's reset" if found.step == 0 else ""),
            )  # fmt: skip
        return CheckResult(name, Outcome.FAIL, examples=len(seen), divergences=(divergence,)), 0, seen
    confirmed = sum(trajectory.steps for trajectory in expected) if again.by_reference else 0
    return CheckResult(name, Outcome.PASS, examples=len(seen), detail=again.detail), confirmed, seen


def wrong_law(check: str, draw: str, worst: LawResult) -> Divergence:
    """What is said of draws (`NAME at MOMENT`) of a batch that do not follow their law."""
    name = draw.split(" ", maxsplit=1)[0]
    return Divergence(
        None, 0, f"draw/{name}", worst.expected, f"{worst.observed} ({worst.statistic})", "law", LEVEL, check,
        cause=f"{worst.name}: over the {worst.n} draws that the batch itself took, of {draw}, this has p = "
        f"{worst.p_value:.2g}; asked for samples alone, the sampler may be honest",
    )  # fmt: skip


def episodes(
    pair: Pair, answer: Mapping[str, Any], actions: Mapping[str, Array], origin: str = NAME
) -> Iterator[Trajectory]:
    """Cut a batch into episodes: trajectories as they would look without auto-reset, each with its tape forced.

    Args:
        answer: what the call `autoreset` answers (docs/protocol.md).
        actions: the actions of the batch, each of shape `[steps, environments, *leaf shape]`.
        origin: of the episodes' cases.
    """
    leaves = answer["leaves"]
    ended = np.logical_or(*(leaves[path] for path in ENDINGS))
    timesteps, environments = ended.shape
    for number in range(environments):
        ends = [int(timestep) for timestep in np.flatnonzero(ended[1:, number]) + 1]
        for start, end in zip([0, *ends], [*ends, timesteps - 1], strict=True):
            if end == start:
                continue
            yield _episode(pair, answer, actions, number, start, end, origin, closed=end in ends)


def _episode(
    pair: Pair,
    answer: Mapping[str, Any],
    actions: Mapping[str, Array],
    number: int,
    start: int,
    end: int,
    origin: str,
    *,
    closed: bool,
) -> Trajectory:
    columns = {}
    for path in pair.task.outputs:
        column = np.array(answer["leaves"][path][start : end + 1, number])
        if is_of_step(path):
            column[0] = 0  # the timestep belongs to the end of the episode before
        elif closed:
            column[-1] = answer["leaves"][f"final/{path}"][end, number]
        columns[path] = column
    case = Case(0, {path: array[start:end, number] for path, array in actions.items()}, origin=origin)
    reset = {name: values[start, number] for name, values in answer["reset_draws"].items()}
    if pair.task.mode is Mode.SHARED:
        return Trajectory(replace(case, seed=_joined(reset["seed"])), columns)
    if pair.task.mode is Mode.NONE:
        return Trajectory(case, columns)
    tape = [_timestep(pair, reset, {name: int(counts[start, number]) for name, counts in answer["reset_used"].items()})]
    for timestep in range(start, end):
        used = {name: int(counts[timestep, number]) for name, counts in answer["step_used"].items()}
        tape.append(
            _timestep(pair, {name: values[timestep, number] for name, values in answer["step_draws"].items()}, used)
        )
    return Trajectory(replace(case, draws=tuple(tape)), columns, tuple(tape))


def _timestep(pair: Pair, values: Mapping[str, Array], used: Mapping[str, int]) -> tuple[Draw, ...]:
    """The draws of one timestep, as many of each name as were used, in the order in which the task names them."""
    draws = []
    for name, declared in pair.task.draws.items():
        if name in values:
            slots = np.asarray(values[name]).reshape(-1, *declared.shape)
            draws.extend(Draw(name, slot) for slot in slots[: used[name]])
    return tuple(draws)


def _joined(key_data: Array) -> int:
    return (int(key_data[0]) << 32) | int(key_data[1])
