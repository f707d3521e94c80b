"""Whom the policies of a task for several players meet, made from the names that a task or a user gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import TrainingError
from harness.protocol.environment import Pool
from harness.task.contract import Task
from harness.task.training import PpoConfig
from harness.training.opponents import RANDOM, AtRandom, Checkpoint, Opponent, Scripted
from harness.training.policy import Policy
from harness.training.trained import Trained

CHOOSE = "choose"


def policy_of(task: Task, config: PpoConfig) -> Policy:
    """How a network of this config acts in a task.

    Raises:
        TrainingError: they do not fit.
    """
    try:
        return Policy(task.leaves, config, task.player_names)
    except ValueError as error:
        raise TrainingError(
            f"the task and its hyper-parameters do not fit: {error}",
            where=task.name,
            next_step="correct [transfer.ppo]",
        ) from error


def opponents(task: Task, policy: Policy, reference: Pool, names: Sequence[str]) -> list[Opponent]:
    """Each name's opponent: `random`, a scripted policy of the reference's adapter, or a file with a policy (`*.npz`), which
    is looked for in the task's directory.

    Raises:
        TrainingError: there is no such policy, or the file holds none for this task.
    """
    return [_opponent(task, policy, reference, name) for name in names]


def _opponent(task: Task, policy: Policy, reference: Pool, name: str) -> Opponent:
    if name == RANDOM:
        return AtRandom(policy)
    if name.endswith(".npz"):
        trained = Trained.load(task.directory / Path(name))
        try:
            return Checkpoint(Path(name).name, policy_of(task, trained.config), trained.learner)
        except ValueError as error:
            raise TrainingError(f"the policy is none for this task: {error}", where=name) from error
    scripted = sorted(reference.spec.policies) if CHOOSE in reference.spec.capabilities else []
    if name not in scripted:
        raise TrainingError(
            f"there is no opponent {name!r}",
            where=task.name,
            expected=f"one of {', '.join([RANDOM, *scripted])}, or a file *.npz",
        )
    return Scripted(name, reference.first.choose)
