"""Many tasks verified, each with each of its candidates: every one is a piece of work, and nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import LockstepError, NoSuchTask
from harness.farm.crew import Crew, Piece
from harness.farm.engine import Engine, Recipe, name_of
from harness.farm.processes import Processes
from harness.policy.floor import permitted
from harness.support.embedded import TASK_FILE, embedded_tasks
from harness.support.progress import Progress
from harness.task.contract import Task
from harness.task.elsewhere import task_parts, task_there
from harness.task.load import load_task
from harness.verdict import Outcome, Verdict
from harness.verify.directory import copy_candidate
from harness.verify.request import LevelsRequest
from harness.verify.streams import Streams
from harness.verify.verifier import Verifier
from sandboxes import SandboxError
from sandboxes.removal import scratch_directory


@dataclass(frozen=True)
class Verified:
    """What was found of one candidate.

    Attributes:
        task, candidate: the name of its task's directory, and its kind.
        verdict: None where the task could not be judged at all; `error` then says why.
    """

    task: str
    candidate: str
    verdict: Verdict | None
    error: str = ""

    @property
    def outcome(self) -> Outcome:
        """That of the verdict."""
        return Outcome.ERROR if self.verdict is None else self.verdict.outcome

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        verdict = None if self.verdict is None else self.verdict.to_json()
        return {
            "task": self.task, "candidate": self.candidate, "outcome": str(self.outcome),
            "verdict": verdict, "error": self.error,
        }  # fmt: skip


class VerifierThere:
    """Verifies a task's own candidate: what a member is.

    Args:
        task, files: as `harness.task.elsewhere` takes them there.
        sandbox: the name of the driver in which the candidate runs.
        workers: of the reference; 0 takes what the task says.

    Raises:
        SetupError, EnvironmentFailure: the reference, or what a crate is compiled with, cannot be had here.
    """

    def __init__(self, *, task: Task, files: Path, sandbox: str, workers: int) -> None:
        self._task = task_there(task, files)
        with ExitStack() as stack:
            self._verifier = stack.enter_context(Verifier(self._task, permitted(sandbox), workers=workers))
            self._verifier.make_ready()
            self.close = stack.pop_all().close

    def verify(self, levels: Sequence[int], seed: int) -> tuple[dict[str, Any] | None, str]:
        """The verdict (`Verdict.to_json`), or None and why there is none."""
        with scratch_directory("lockstep-verify-") as tree:
            try:
                copy_candidate(self._task.directory, tree)
                return self._verifier.verify(tree, LevelsRequest(levels, seed)).to_json(), ""
            except (LockstepError, SandboxError) as error:
                return None, str(error)


def tasks_in(directory: Path | None, name: str | None) -> list[Task]:
    """Every task in a folder, or those that come with Lockstep, for each of its candidates or for that of one name.

    Raises:
        NoSuchTask: there is none.
        TaskError: a task file is wrong.
    """
    if directory is None:
        found = list(embedded_tasks().values())
    else:
        found = sorted(path.parent for path in directory.glob(f"*/{TASK_FILE}"))
    tasks = [each for path in found for each in _candidates(load_task(path)) if name in (None, each.candidate.name)]
    if not tasks:
        raise NoSuchTask(
            f"no directory in {directory} is a task" + (f" with a candidate {name}" if name else ""),
            next_step="name the folder that the task directories lie in",
        )
    return tasks


def verify_all(
    tasks: Sequence[Task],
    level: int | None,
    seed: int,
    sandbox: str | None,
    progress: Progress,
    engine: Engine | None = None,
) -> tuple[list[Verified], Mapping[str, Mapping[str, Any]]]:
    """Verify each task's candidate; gives what was found in the order of the tasks, and the facts of the nodes that worked,
    by name; of an engine of one machine none.

    Args:
        level: up to which; None takes all levels that a task has.
        seed: from which that of each is derived.
        engine: where they are verified; None does one after the other here.
    """
    driver = permitted(sandbox)
    found: dict[str, Verified] = {}
    by_key = {f"{task.directory.name} in {task.candidate.name}": task for task in tasks}
    streams = Streams(seed)

    # Several at once share a machine: each then has one reference.
    chosen_here = {"sandbox": driver.name, "workers": 0 if engine is None else 1}

    def piece(key: str, task: Task) -> Piece:
        levels = [each for each in task.levels if level is None or each <= level]
        arguments, parcels = task_parts(task)
        recipe = Recipe(name_of(VerifierThere), arguments | chosen_here, parcels)
        return Piece(key, "verify", (levels, streams.derive(key)), recipe)

    def done(piece: Piece, answer: Any) -> Iterable[Piece]:
        task, (verdict, error) = by_key[piece.key], answer
        judged = None if verdict is None else Verdict.from_json(verdict)
        found[piece.key] = Verified(task.directory.name, task.candidate.name, judged, error)
        progress(f"{piece.key}: {found[piece.key].outcome}", len(found), len(by_key))
        return ()

    def hopeless(piece: Piece, why: Exception) -> Iterable[Piece]:
        return done(piece, (None, str(why)))

    with Processes(1) as here:
        chosen = engine or here
        crew = Crew(chosen, None, min(chosen.slots, len(by_key)))
        crew.work([piece(*each) for each in by_key.items()], done, hopeless)
    return [found[key] for key in by_key], crew.facts if chosen.apart else {}


def _candidates(task: Task) -> Iterator[Task]:
    yield task
    for other in task.others:
        yield task.with_candidate(other.name)
