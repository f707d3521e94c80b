"""Level 4's trainings in processes that an engine placed, where environments are stepped from outside: each is one piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from harness.candidate.start import CandidateWorker
from harness.farm.crew import Crew, Piece
from harness.farm.engine import Engine, Recipe, name_of
from harness.farm.parcel import Parcel
from harness.policy.floor import permitted
from harness.reference.elsewhere import FarPool
from harness.reference.install import setup
from harness.reference.start import start_reference
from harness.task.contract import Task, caches
from harness.task.elsewhere import task_parts, task_there
from harness.task.training import PpoConfig
from harness.training.host import train_host
from harness.training.ppo import Ppo
from harness.training.trained import Trained
from harness.verify.opponents import policy_of
from harness.verify.pair import Pair
from sandboxes import Driver


class TrainingThere:
    """Trains policies in a reference or a candidate that it steps: what a member is.

    Args:
        task, files: as `harness.task.elsewhere` takes them there.
        backend: how the environment is called.
        sandbox: the name of the driver in which the candidate runs.
        tree: a directory with the candidate; None trains in the reference.
    """

    def __init__(self, *, task: Task, files: Path, backend: str, sandbox: str, tree: Path | None = None) -> None:
        self._task, self._backend = task_there(task, files), backend
        assert task.transfer is not None
        self._config, self._fixed = PpoConfig.from_json(task.transfer.ppo), task.transfer.draws
        self._ppo = Ppo(policy_of(self._task, self._config))
        with ExitStack() as stack:
            if tree is None:
                self._environment = start_reference(self._task, setup(self._task))
                stack.callback(self._environment.close)
            else:
                worker = CandidateWorker(self._task, permitted(sandbox), training=True)
                stack.callback(worker.close)
                self._environment = worker.open(tree)
            self.close = stack.pop_all().close

    def train(self, steps: int, seed: int) -> Trained:
        """One policy."""
        return train_host(
            partial(self._environment.vector, fixed=self._fixed),
            self._task.leaves, self._config, steps, seed, backend=self._backend, ppo=self._ppo,
        )  # fmt: skip


class Elsewhere:
    """Where trainings go, as the head sees it.

    Args:
        tree: the candidate's code.
        driver: in which its sandboxes are.

    Attributes:
        nodes: the facts of the nodes that trained, by name.
    """

    def __init__(self, pair: Pair, engine: Engine, driver: Driver, tree: Path) -> None:
        self._pair, self._engine, self._driver, self._tree = pair, engine, driver, tree
        self.nodes: dict[str, Any] = {}

    def train(
        self,
        backend: str,
        of_candidate: bool,
        seeds: Sequence[int],
        steps: int,
        trained: Callable[[int, Trained], None],
    ) -> None:
        """Train one policy for each seed, and call `trained` with each as soon as it is there."""
        if isinstance(self._pair.reference, FarPool):
            self._pair.reference.rest()  # its slots are for the trainings
        arguments, parcels = task_parts(self._pair.task)
        if of_candidate:
            parcels["tree"] = Parcel.of(self._tree, caches)
        arguments |= {"backend": backend, "sandbox": self._driver.name}
        recipe = Recipe(name_of(TrainingThere), arguments, parcels)

        def done(piece: Piece, answer: Any) -> Iterable[Piece]:
            trained(piece.arguments[1], answer)
            return ()

        pieces = [Piece(f"training in the {backend} from seed {seed}", "train", (steps, seed)) for seed in seeds]
        crew = Crew(self._engine, recipe, min(self._engine.slots, max(1, len(pieces))))
        crew.work(pieces, done)
        self.nodes |= crew.facts
