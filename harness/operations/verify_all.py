"""Many tasks verified, each with each of its candidates: every one is a piece of work, and nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import LockstepError, NoSuchTask
from harness.farm.crew import Crew, DeadlyPiece, Piece
from harness.farm.engine import Engine, Recipe, name_of
from harness.farm.parcel import Parcel
from harness.farm.processes import Processes
from harness.policy.floor import permitted
from harness.support.embedded import TASK_FILE, embedded_tasks
from harness.support.progress import Progress
from harness.task.contract import Task, caches
from harness.task.elsewhere import task_there
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
    """Verifies whatever candidate it is asked about: what a member is."""

    def __init__(self, *, sandbox: str, workers: int) -> None:
        self._driver, self._workers = permitted(sandbox), workers

    def verify(self, task: Task, files: Parcel, levels: Sequence[int], seed: int) -> tuple[dict[str, Any] | None, str]:
        """The verdict (`Verdict.to_json`), or None and why there is none."""
        with scratch_directory("lockstep-verify-") as scratch:
            unpacked = task_there(task, files.unpack(scratch))
            tree = scratch / "tree"
            tree.mkdir()
            try:
                copy_candidate(unpacked.directory, tree)
                with Verifier(unpacked, self._driver, workers=self._workers) as verifier:
                    return verifier.verify(tree, LevelsRequest(levels, seed)).to_json(), ""
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
) -> list[Verified]:
    """Verify each task's candidate; gives what was found in the order of the tasks.

    Args:
        level: up to which; None takes all levels that a task has.
        seed: from which that of each is derived.
        engine: where they are verified; None does one after the other here.
    """
    driver = permitted(sandbox)
    found: dict[str, Verified] = {}
    by_key = {f"{task.directory.name} in {task.candidate.name}": task for task in tasks}
    streams = Streams(seed)

    def piece(key: str, task: Task) -> Piece:
        levels = [each for each in task.levels if level is None or each <= level]
        files = Parcel.of(task.directory, caches)
        return Piece(key, "verify", (task, files, levels, streams.derive(key)))

    def done(piece: Piece, answer: Any) -> Iterable[Piece]:
        task, (verdict, error) = by_key[piece.key], answer
        judged = None if verdict is None else Verdict.from_json(verdict)
        found[piece.key] = Verified(task.directory.name, task.candidate.name, judged, error)
        progress(f"{piece.key}: {found[piece.key].outcome}", len(found), len(by_key))
        return ()

    def deadly(piece: Piece, why: DeadlyPiece) -> Iterable[Piece]:
        return done(piece, (None, str(why)))

    with Processes(1) as here:
        chosen = engine or here
        # Several at once share a machine: each then has one reference.
        arguments = {"sandbox": driver.name, "workers": 0 if engine is None else 1}
        recipe = Recipe(name_of(VerifierThere), arguments)
        Crew(chosen, recipe, min(chosen.slots, len(by_key))).work(
            [piece(*each) for each in by_key.items()], done, deadly
        )
    return [found[key] for key in by_key]


def _candidates(task: Task) -> Iterator[Task]:
    yield task
    for other in task.others:
        yield task.with_candidate(other.name)
