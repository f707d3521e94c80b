"""Policies trained in a task's candidate or in its reference, and what they earn in the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.candidate.start import CandidateWorker
from harness.errors import TrainingError
from harness.protocol.environment import Environment, Pool
from harness.reference.install import setup
from harness.reference.start import start_references
from harness.support.progress import Progress, silent
from harness.task.contract import Task, Transfer
from harness.task.training import PpoConfig
from harness.training.trained import Trained
from sandboxes import Driver

if TYPE_CHECKING:
    from harness.training.opponents import Table
    from harness.training.policy import Policy

CANDIDATE, REFERENCE = "candidate", "reference"
DEFAULT_STEPS = 200_000
"""Environment steps for each policy, where the task does not say."""


@dataclass(frozen=True)
class Played:
    """What a policy did in the reference.

    Attributes:
        returns: of each episode.
        results: of several players, for each place at the table `player`, `opponent`, and the shares of wins, draws and
            losses (`harness.verify.levels.transfer_groups.results_by_place`).
    """

    returns: list[float]
    results: list[dict[str, Any]] = field(default_factory=list)


def train(
    task: Task,
    driver: Driver,
    *,
    backend: str = CANDIDATE,
    config: PpoConfig | None = None,
    steps: int | None = None,
    seeds: Sequence[int] = (0,),
    episodes: int = 32,
    against: Sequence[str] = (),
    checkpoints: Path,
    log: Path | None = None,
    progress: Progress = silent,
) -> tuple[list[Trained], list[Played]]:
    """Train one policy for each seed with PPO, and play each in the reference.

    Args:
        driver: the sandbox that the candidate runs in.
        backend: where to train, `candidate` or `reference`.
        config: hyper-parameters; by default the task's.
        steps: environment steps for each policy; by default the task's.
        episodes: how many each policy plays afterwards, with its most probable actions; of several players rounded up, so
            that each seat meets each opponent equally often.
        against: of several players, whom it meets (`harness.verify.opponents`); by default the task's opponents.
        checkpoints: a directory. A training that was interrupted goes on from what lies there.
        log: a directory for TensorBoard's event files.

    Returns:
        The policies, and for each what it did in its episodes.

    Raises:
        TrainingError: it cannot be trained, there is no such opponent, or the checkpoints are of another training.
        LockstepError, SandboxError: an environment cannot be started, or does not answer.
    """
    from harness.verify.opponents import policy_of

    config = config or configured(task, {})
    budget = steps or (task.transfer.steps if task.transfer and task.transfer.steps else DEFAULT_STEPS)
    identity = {"task": task.digest}
    with ExitStack() as stack:
        built = setup(task, lambda line: progress(line, 0, 1))
        pool = start_references(task, built)
        stack.callback(pool.close)
        policy = policy_of(task, config)
        table = _table(pool, task, policy, against)  # before anything is trained: it may name nobody
        outside = partial(_from_outside, backend, task, config, budget, seeds, progress, checkpoints, identity, log)
        if backend == CANDIDATE:
            worker = CandidateWorker(task, driver, training=True)
            stack.callback(worker.close)
            environment = worker.open(task.directory)
            if task.candidate.kind == "jax":
                policies = _inside(environment, task, config, budget, seeds, progress, checkpoints, identity, log)
            else:
                policies = outside(environment)
            worker.close()
        else:
            policies = outside(pool)
        return policies, [_played(pool, task, policy, each, episodes, table, progress) for each in policies]


def configured(task: Task, settings: Mapping[str, Any]) -> PpoConfig:
    """The task's hyper-parameters, with some of them chosen otherwise.

    Raises:
        TrainingError: there is no such hyper-parameter, or it cannot have this value.
    """
    try:
        return PpoConfig.from_json({**(task.transfer.ppo if task.transfer else {}), **settings})
    except (ValueError, TypeError) as error:
        raise TrainingError(f"the hyper-parameters are wrong: {error}") from error


def drop_checkpoints(location: Path) -> None:
    """Remove what an interrupted training would have gone on from: its policies are kept elsewhere now."""
    for leftover in location.glob("checkpoint*.npz"):
        leftover.unlink()


def _inside(
    environment: Environment, task: Task, config: PpoConfig, steps: int, seeds: Sequence[int], progress: Progress,
    checkpoints: Path, identity: Mapping[str, str], log: Path | None,
) -> list[Trained]:  # fmt: skip
    """All policies at once, fused with a candidate in JAX in its sandbox."""
    from harness.training.remote import train_candidate

    return train_candidate(
        environment, task.leaves, config, steps, list(seeds),
        progress=progress, checkpoint=checkpoints / "checkpoint.npz", identity=identity, log=log,
        players=task.player_names,
    )  # fmt: skip


def _from_outside(
    backend: str, task: Task, config: PpoConfig, steps: int, seeds: Sequence[int], progress: Progress,
    checkpoints: Path, identity: Mapping[str, str], log: Path | None, where: Environment | Pool,
) -> list[Trained]:  # fmt: skip
    """One training after the other, stepped from here: in the reference, or in a candidate without JAX."""
    from harness.training.host import train_host

    fixed = task.transfer.draws if task.transfer else {}
    return [
        train_host(
            partial(where.vector, fixed=fixed), task.leaves, config, steps, seed, backend=backend,
            progress=progress, checkpoint=checkpoints / f"checkpoint-{seed}.npz", identity=identity, log=log,
            players=task.player_names,
        )
        for seed in seeds
    ]  # fmt: skip


def _table(pool: Pool, task: Task, policy: Policy, against: Sequence[str]) -> Table | None:
    """Whom policies of several players meet afterwards, and who sits where; None where one plays."""
    from harness.training.opponents import Table
    from harness.verify.opponents import opponents

    if not task.players:
        return None
    return Table(policy, opponents(task, policy, pool, against or (task.transfer or Transfer(0, "")).opponents))


def _played(
    pool: Pool, task: Task, policy: Policy, trained: Trained, episodes: int, table: Table | None, progress: Progress
) -> Played:
    """What a policy's most probable actions earn in the reference."""
    from harness.training.evaluate import evaluate
    from harness.verify.levels.transfer_groups import results_by_place

    if not episodes:
        return Played([])
    progress(f"playing policy {trained.seed} in the reference", 0, 1)
    count = episodes + -episodes % len(table.places()) if table else episodes
    [played] = evaluate(
        pool, policy, [trained.learner], [range(count)],
        horizon=task.budgets.horizon, fixed=task.transfer.draws if task.transfer else {}, state=table is not None,
        opponents=table.opponents if table else (),
    )  # fmt: skip
    if table is None:
        return Played([float(episode.leaves["reward"].sum()) for episode in played])
    return Played(table.returns(played).tolist(), list(results_by_place(table, [table.results(played)])))
