"""Cheat probes: the same questions asked in every way that a candidate could take for another occasion.

A candidate may answer the levels honestly and others not: when it is asked alone, late, elsewhere, or for training. So some
fresh episodes of the reference are put to it on each such occasion, and each time it has to answer as the reference did.
Nothing here looks at what the candidate's code says.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.candidate.start import CandidateWorker
from harness.model import ENDINGS, Trajectory
from harness.protocol.environment import Environment
from harness.task.contract import CANDIDATE_DIRECTORY, Mode, Task
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.levels.by_itself import held_alone
from harness.verify.pair import Pair
from sandboxes import Driver
from sandboxes.removal import scratch_directory

LEVEL = 3
RULE = "occasion"
EPISODES = 4
"""Under each policy."""
LONGEST = 128
"""Steps of an episode that is asked for again and again."""
WALKED = 2
CALLS = 400
"""Small calls between the first answer and the late one."""
STEPS = (256, 512)
"""Environments and steps of the batch that runs before the late answer."""

Another = Callable[..., Environment]
"""Starts another process of the candidate: `training` as for `CandidateWorker`, `moved` with its code at another path."""


def starter(task: Task, driver: Driver, tree: Path, stack: object) -> Another:
    """How `checks` gets other processes of the candidate in `tree`; they end with the `ExitStack`."""

    def another(*, training: bool = False, moved: str = "") -> Environment:
        worker = CandidateWorker(_moved(task, moved), driver, training=training)
        stack.callback(worker.close)  # type: ignore[attr-defined]
        if not moved:
            return worker.open(tree)
        with scratch_directory("lockstep-tree-") as scratch:
            location = scratch / CANDIDATE_DIRECTORY / moved
            shutil.copytree(tree / CANDIDATE_DIRECTORY, location)
            return worker.open(scratch)

    return another


def checks(pair: Pair, another: Another) -> Iterator[CheckResult]:
    """All probes, each as one check; a task whose trajectories cannot be compared has none.

    Args:
        pair: a reference, and a candidate's worker that nothing else has asked yet.
        another: starts further processes of the same candidate.

    Raises:
        EnvironmentFailure: a worker could not answer.
    """
    if not pair.paired:
        yield CheckResult(
            "occasions", Outcome.SKIPPED, detail="only laws are compared: no answer can be held against another"
        )
        return
    expected = _episodes(pair)
    candidate = pair.candidate
    yield _same(pair, "in batches of other sizes", _spread(expected), pair.follow, led=True)
    halves = pair.reference.rollout([one.case.cut(max(1, one.steps // 2)) for one in expected])
    yield _same(pair, "episodes cut short", [halves], pair.follow, led=True)
    yield _same(pair, "stepped one by one", [expected[:WALKED]], lambda part: [_walked(pair, each) for each in part])
    if "vector" in candidate.spec.capabilities:
        yield _same(
            pair, "in a vector environment, as for training", [expected], lambda part: _in_vector(pair, candidate, part)
        )
    trainer = another(training=True)
    yield _same(pair, "in a process made for training", [expected], lambda part: _asked(pair, trainer, part))
    elsewhere = another(moved=f"place_{pair.derive('another place'):x}")
    yield _same(pair, "from another path", [expected], lambda part: _asked(pair, elsewhere, part))
    _use(pair)
    yield _same(pair, "after long use", [expected], pair.follow, led=True)


def _episodes(pair: Pair) -> list[Trajectory]:
    horizon = min(pair.task.budgets.horizon, LONGEST)
    played = [
        trajectory
        for policy in pair.task.budgets.policies
        for trajectory in pair.reference.drive(policy, pair.seeds(f"occasions/{policy}", EPISODES), horizon)
    ]
    pair.witness(played)
    return played


def _spread(expected: Sequence[Trajectory]) -> list[Sequence[Trajectory]]:
    """The episodes alone, in small batches, and many times over in a large one."""
    small = [expected[start : start + 3] for start in range(0, len(expected), 3)]
    return [[expected[0]], *small, [*expected] * 8]


def _same(
    pair: Pair,
    occasion: str,
    parts: Sequence[Sequence[Trajectory]],
    answer: Callable[[Sequence[Trajectory]], Sequence[Trajectory]],
    *,
    led: bool = False,
) -> CheckResult:
    """What the candidate answers on an occasion, part by part, against what the reference did.

    Args:
        led: whether each step that is answered began at the reference's state, where steps are resynchronised. Where they
            are not led, the reference is held against them from the states that the candidate came to.
    """
    pair.progress(f"probe: {occasion}", 0, 1)
    done = 0
    for part in parts:
        answers = answer(part)
        if pair.resynchronised and not led:
            _, differences = held_alone(pair, answers)
        else:
            differences = pair.differences(part, answers)
        for one, found in zip(part, differences, strict=True):
            done += 1
            if found is None:
                continue
            divergence = Divergence(
                pair.as_case(one).cut(max(found.step, 0)), found.step, found.path, found.expected,
                found.actual + (f" ({found.gap})" if found.gap else ""), RULE, LEVEL, occasion, index=found.index,
                cause=f"asked {occasion}, the candidate answers otherwise than the reference",
            )  # fmt: skip
            return CheckResult(occasion, Outcome.FAIL, examples=done, divergences=(divergence,))
    return CheckResult(occasion, Outcome.PASS, examples=done)


def _asked(pair: Pair, environment: Environment, expected: Sequence[Trajectory]) -> list[Trajectory]:
    return environment.rollout([pair.as_case(trajectory) for trajectory in expected])


def _walked(pair: Pair, expected: Trajectory) -> Trajectory:
    return pair.candidate.walk(pair.as_case(expected))


def _in_vector(pair: Pair, candidate: Environment, expected: Sequence[Trajectory]) -> list[Trajectory]:
    """The episodes side by side, in the call by which a trainer steps its environments."""
    tapes = [trajectory.draws for trajectory in expected] if pair.task.mode is Mode.TAPE else None
    vector = candidate.vector([trajectory.case.seed for trajectory in expected], draws=tapes, state=True)
    timesteps = [
        [{path: array[env_index] for path, array in vector.leaves.items()}] for env_index in range(vector.count)
    ]
    draws = [[vector.draws[env_index]] for env_index in range(vector.count)]
    over = np.zeros(vector.count, bool)
    for timestep in range(max(trajectory.steps for trajectory in expected)):
        over |= np.array([timestep >= trajectory.steps for trajectory in expected])
        if over.all():
            break
        actions = {
            path: np.stack([t.case.actions[path][min(timestep, t.steps - 1)] for t in expected])
            for path in pair.task.actions
        }
        stepped = vector.advance(actions)
        for env_index in np.flatnonzero(~over):
            timesteps[env_index].append({path: array[env_index] for path, array in stepped.leaves.items()})
            draws[env_index].append(stepped.draws[env_index])
            over[env_index] |= any(stepped.leaves[path][env_index] for path in ENDINGS)
    return [
        Trajectory(
            trajectory.case,
            {path: np.stack([each[path] for each in timesteps[env_index]]) for path in timesteps[env_index][0]},
            None if trajectory.draws is None else tuple(draws[env_index]),
        )
        for env_index, trajectory in enumerate(expected)
    ]


def _use(pair: Pair) -> None:
    """Ask the candidate for a lot that nobody looks at: many small calls, and one long run of a large batch."""
    envs, steps = STEPS
    cases = [pair.as_case(one) for one in pair.reference.drive(pair.task.budgets.policies[0], [pair.derive("use")], 1)]
    for number in range(CALLS):
        pair.candidate.rollout(cases)
        if number % 50 == 0:
            pair.progress("probe: long use", number, CALLS)
    actions = pair.random_batch_actions("use", steps, envs)
    # Of one alone it is told what it did: all that 256 instances show and are in may be more than a process may hold.
    pair.candidate.ask(
        "autoreset", seed=pair.derive("use") % (1 << 31), envs=envs, steps=steps, actions=actions, env_indices=[0]
    )


def _moved(task: Task, location: str) -> Task:
    """The task with its candidate's code one directory deeper."""
    if not location:
        return task
    inside = Path(task.candidate.entry).relative_to(CANDIDATE_DIRECTORY)
    entry = (Path(CANDIDATE_DIRECTORY) / location / inside).as_posix()
    return replace(task, candidate=replace(task.candidate, entry=entry))
