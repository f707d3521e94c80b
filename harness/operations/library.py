"""What Python code asks for by a task's name: the package `lockstep` offers these. Nothing is recorded; sessions record.

Each takes a task as it is at hand (a name, a directory, or a loaded one), shows its progress, and returns objects.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import TaskError
from harness.model import Case
from harness.support.embedded import find_task
from harness.support.progress import Progress, shown, silent
from harness.task import load
from harness.task.contract import Task
from harness.verdict import Verdict
from harness.verify.levels.known import ProbeCase
from harness.verify.side_by_side import Episode, SideBySide, read_case
from sandboxes.removal import scratch_directory

if TYPE_CHECKING:
    from harness.measure.profile.result import Profile
    from harness.training.trained import Trained

Named = str | Path | Task


def load_task(task: Named, *, candidate: str | None = None) -> Task:
    """Load a task.

    Args:
        task: the name of one that comes with Lockstep, or a task directory.
        candidate: `jax` or `rust`, where the task has both; by default its first.

    Raises:
        TaskError: there is no such task, or its files are wrong; it lists every mistake.
    """
    loaded = task if isinstance(task, Task) else load.load_task(find_task(str(task)))
    return loaded if candidate is None else loaded.with_candidate(candidate)


def verify(
    task: Named,
    *,
    levels: Sequence[int] | None = None,
    module: str | None = None,
    seed: int | None = None,
    candidate: str | None = None,
    sandbox: str | None = None,
    progress: bool = True,
) -> Verdict:
    """Judge whether a task's candidate is its reference. Builds the reference first, if that was not done.

    Args:
        task: the name of one that comes with Lockstep, a task directory, or a loaded task.
        levels: 1 property, 2 interaction, 3 rollout, 4 transfer; by default all that the task has. A level runs if all
            below it passed.
        module: only this module, at level 1.
        seed: from which everything random is derived; by default a fresh one, as only that shows something new.
        candidate: `jax` or `rust`, where the task has both.
        sandbox: `docker`, `bubblewrap` or `process`; by default the best that works here.
        progress: show what goes on.

    Returns:
        The verdict. `passed` says whether all levels passed; `print` shows it.

    Raises:
        TaskError: there is no such task, level or module, or the task's files are wrong.
        SetupError: the reference cannot be built.
    """
    from harness.policy.floor import permitted
    from harness.verify.directory import verify_directory
    from harness.verify.request import LevelsRequest

    loaded = load_task(task, candidate=candidate)
    wanted = (1,) if module is not None and levels is None else tuple(levels or loaded.levels)
    if unknown := sorted(set(wanted) - set(loaded.levels)):
        raise TaskError(f"{loaded.name} has no level {unknown[0]}", next_step=f"its levels: {loaded.levels}")
    names = [each.name for each in loaded.modules]
    if module is not None and (module not in names or wanted != (1,)):
        raise TaskError(f"{loaded.name} has no module {module!r} at level 1 alone", next_step=f"its modules: {names}")
    with _shown(progress) as report:
        request = LevelsRequest(wanted, _drawn(seed, 63), module)
        return verify_directory(loaded, permitted(sandbox), request, progress=report)


def rollout(
    task: Named,
    *,
    policy: str = "random",
    steps: int | None = None,
    seed: int | None = None,
    candidate: str | None = None,
    sandbox: str | None = None,
    progress: bool = True,
) -> SideBySide:
    """Play one episode on the reference, and the same actions and chance on the candidate.

    Args:
        task: the name of one that comes with Lockstep, a task directory, or a loaded task.
        policy: `random`, or another of the reference's policies.
        steps: its length at most; by default the task's horizon.
        seed: from which everything random is derived; by default a fresh one.
        candidate: `jax` or `rust`, where the task has both.
        sandbox: `docker`, `bubblewrap` or `process`; by default the best that works here.
        progress: show what goes on.

    Returns:
        Both sides' leaves, `[steps + 1, ...]`, and the first difference, or None.

    Raises:
        TaskError: there is no such task or policy.
        LockstepError, SandboxError: a side cannot be started, or does not answer.
    """
    loaded = load_task(task, candidate=candidate)
    episode = Episode(policy, _drawn(seed, 31), steps or loaded.budgets.horizon)
    return _played(loaded, episode, sandbox, progress)


def compare(
    task: Named,
    case: Case | Path | str,
    *,
    candidate: str | None = None,
    sandbox: str | None = None,
    progress: bool = True,
) -> SideBySide:
    """Play one case on both sides, as a counterexample that a verification kept.

    Args:
        task: the name of one that comes with Lockstep, a task directory, or a loaded task.
        case: a case, or the file of one.
        candidate: `jax` or `rust`, where the task has both.
        sandbox: `docker`, `bubblewrap` or `process`; by default the best that works here.
        progress: show what goes on.

    Raises:
        TaskError: there is no such task, or the file holds no case.
        LockstepError, SandboxError: a side cannot be started, or does not answer.
    """
    played = case if isinstance(case, Case) else read_case(Path(case))
    return _played(load_task(task, candidate=candidate), played, sandbox, progress)


def train(
    task: Named,
    *,
    backend: str = "candidate",
    steps: int | None = None,
    seeds: Sequence[int] = (0,),
    settings: Mapping[str, Any] | None = None,
    candidate: str | None = None,
    sandbox: str | None = None,
    progress: bool = True,
) -> list[Trained]:
    """Train one policy for each seed with PPO, in the candidate or in the reference.

    Args:
        task: the name of one that comes with Lockstep, a task directory, or a loaded task.
        backend: `candidate` or `reference`.
        steps: environment steps for each policy; by default the task's.
        settings: hyper-parameters by name, over those of the task.
        candidate: `jax` or `rust`, where the task has both.
        sandbox: `docker`, `bubblewrap` or `process`; by default the best that works here.
        progress: show what goes on.

    Raises:
        TaskError: there is no such task.
        TrainingError: it cannot be trained, or there is no such hyper-parameter.
    """
    from harness.operations import training
    from harness.policy.floor import permitted

    if backend not in (training.CANDIDATE, training.REFERENCE):
        raise TaskError(f"there is no backend {backend!r}", next_step="train in `candidate` or in `reference`")
    loaded = load_task(task, candidate=candidate)
    config = training.configured(loaded, settings or {})
    with _shown(progress) as report, scratch_directory("lockstep-training-") as location:
        policies, _ = training.train(
            loaded, permitted(sandbox), backend=backend, config=config, steps=steps, seeds=seeds, episodes=0,
            checkpoints=location, progress=report,
        )  # fmt: skip
    return policies


def profile(
    task: Named,
    *,
    batches: Sequence[int] | None = None,
    seconds_per: float = 0.5,
    seed: int | None = None,
    candidate: str | None = None,
    sandbox: str | None = None,
    progress: bool = True,
) -> Profile:
    """Measure the candidate's steps per second beside its reference's and its peers', in one run.

    Args:
        task: the name of one that comes with Lockstep, a task directory, or a loaded task.
        batches: batch sizes; by default the task's.
        seconds_per: seconds of measuring for each kind of run at each batch size.
        seed: from which everything random is derived; by default a fresh one.
        candidate: `jax` or `rust`, where the task has both.
        sandbox: `docker`, `bubblewrap` or `process`; by default the best that works here.
        progress: show what goes on.

    Raises:
        TaskError: there is no such task.
    """
    from harness.measure.profile import run
    from harness.policy.floor import permitted
    from harness.verify.directory import copy_candidate

    loaded = load_task(task, candidate=candidate)
    settings = run.Settings(batches=None if batches is None else tuple(batches), seconds_per=seconds_per)
    with _shown(progress) as report, scratch_directory("lockstep-tree-") as tree:
        copy_candidate(loaded.directory, tree)
        return run.profile(loaded, tree, permitted(sandbox), settings, seed=seed, progress=report)


def _played(task: Task, what: Case | ProbeCase | Episode, sandbox: str | None, progress: bool) -> SideBySide:
    from harness.operations.comparison import compare as play
    from harness.policy.floor import permitted

    with _shown(progress) as report:
        return play(task, task.directory, permitted(sandbox), what, report).both


def _drawn(seed: int | None, bits: int) -> int:
    return secrets.randbits(bits) if seed is None else seed


@contextmanager
def _shown(wanted: bool) -> Iterator[Progress]:
    if not wanted:
        yield silent
        return
    with shown() as report:
        yield report
