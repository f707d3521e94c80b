"""Where level 4's policies come from: trained in the candidate's sandbox or in the reference's workers, kept, and played."""

from __future__ import annotations

import hashlib
import json
import queue
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

from harness.model import Tape, Trajectory
from harness.protocol.environment import Environment, Pool
from harness.support.contents import contents_key
from harness.task.contract import CANDIDATE_DIRECTORY
from harness.task.training import PpoConfig
from harness.training.evaluate import evaluate
from harness.training.host import train_host
from harness.training.opponents import Opponent, Table
from harness.training.ppo import Ppo
from harness.training.remote import train_candidate
from harness.training.trained import Trained
from harness.verify.levels.transfer_elsewhere import Elsewhere
from harness.verify.opponents import opponents, policy_of
from harness.verify.pair import Pair

CANDIDATE, REFERENCE = "candidate", "reference"


class Trainer:
    """Trains policies in both backends and plays them.

    Args:
        pair: reference and candidate; its task says how to train.
        start: starts a worker of the candidate that can train. It trains and nothing else.
        tree: the candidate's code: what was trained in other code is not taken for what this one teaches.
        kept: a directory for policies, and for trainings that an interruption leaves; None keeps nothing.
        elsewhere: where environments are trained in that are stepped from outside; None has them stepped from here.
    """

    def __init__(
        self,
        pair: Pair,
        start: Callable[[], Environment],
        tree: Path,
        kept: Path | None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        assert pair.task.transfer is not None
        self.config = PpoConfig.from_json(pair.task.transfer.ppo)
        self._fixed = pair.task.transfer.draws
        self._pair = pair
        self._elsewhere = elsewhere
        self._start = start
        self._workers: list[Environment] = []
        self._ppo = Ppo(policy_of(pair.task, self.config))
        self.opponents: list[Opponent] = []
        self.table: Table | None = None
        if pair.task.players:
            self.opponents = opponents(pair.task, self._ppo.policy, pair.reference, pair.task.transfer.opponents)
            self.table = Table(self._ppo.policy, self.opponents)
        self._kept = kept
        self._code = {CANDIDATE: contents_key(tree / CANDIDATE_DIRECTORY), REFERENCE: ""}
        self._checkpoints: list[Path] = []

    def train(self, backend: str, seeds: Sequence[int], steps: int) -> list[Trained]:
        """One policy for each seed.

        Raises:
            TrainingError: a training has diverged.
            EnvironmentFailure: a worker failed.
        """
        trained = self._in_candidate(seeds, steps) if backend == CANDIDATE else self._in_reference(seeds, steps)
        if self._kept is not None:
            for policy in trained:
                policy.save(self._kept / f"{policy.digest}.npz")
        return trained

    def play(
        self,
        trained: Sequence[Trained],
        where: Environment | Pool,
        seeds: Sequence[Sequence[int]],
        draws: Sequence[Sequence[Tape | None]] | None = None,
    ) -> list[list[Trajectory]]:
        """Episodes of each policy, closed loop; a policy's chance comes from their seeds, so both backends see the same.

        It acts as it learned to act. Its most probable actions alone are another policy, one that
        was never trained (docs/decisions/0011-equivalence.md).
        """
        horizon = self._pair.task.budgets.horizon
        learners = [policy.learner for policy in trained]
        fixed = self._fixed if draws is None else None  # tapes have them already
        return evaluate(
            where, self._ppo.policy, learners, seeds, horizon=horizon, draws=draws, fixed=fixed, greedy=False,
            opponents=self.opponents,
        )  # fmt: skip

    def conclude(self) -> None:
        """Forget what only an interrupted run would need."""
        for path in self._checkpoints:
            path.unlink(missing_ok=True)

    def _in_candidate(self, seeds: Sequence[int], steps: int) -> list[Trained]:
        if self._pair.task.candidate.kind != "jax":
            if self._elsewhere is not None:
                return self._spread(self._elsewhere, CANDIDATE, seeds, steps)
            return self._in_workers(CANDIDATE, self._started(len(self._pair.reference.environments)), seeds, steps)
        [worker] = self._started(1)
        checkpoint, identity = self._checkpoint(CANDIDATE, seeds, steps)
        return train_candidate(
            worker,
            self._pair.task.leaves,
            self.config,
            steps,
            seeds,
            progress=lambda what, done, total: self._pair.progress(f"level 4: {what}", done, total),
            checkpoint=checkpoint,
            identity=identity,
            players=self._pair.task.player_names,
        )

    def _in_reference(self, seeds: Sequence[int], steps: int) -> list[Trained]:
        if self._elsewhere is not None:
            return self._spread(self._elsewhere, REFERENCE, seeds, steps)
        return self._in_workers(REFERENCE, self._pair.reference.environments, seeds, steps)

    def _started(self, count: int) -> list[Environment]:
        """The candidate's workers that train, started when they are first needed."""
        while len(self._workers) < count:
            self._workers.append(self._start())
        return self._workers

    def _spread(self, elsewhere: Elsewhere, backend: str, seeds: Sequence[int], steps: int) -> list[Trained]:
        """Each seed in a process of its own; what is finished is kept, and what is not begins anew."""
        paths = {seed: self._checkpoint(backend, [seed], steps, finished=True)[0] for seed in seeds}
        found = {seed: Trained.load(path) for seed, path in paths.items() if path is not None and path.exists()}

        def trained(seed: int, policy: Trained) -> None:
            found[seed] = policy
            if (path := paths[seed]) is not None:
                policy.save(path)
            self._pair.progress(f"level 4: trained in the {backend}", len(found), len(seeds))

        missing = [seed for seed in seeds if seed not in found]
        elsewhere.train(backend, backend == CANDIDATE, missing, steps, trained)
        return [found[seed] for seed in seeds]

    def _in_workers(
        self, backend: str, environments: Sequence[Environment], seeds: Sequence[int], steps: int
    ) -> list[Trained]:
        """Each seed in a worker of its own that is stepped from here, as many at once as there are workers."""
        idle: queue.SimpleQueue[Environment] = queue.SimpleQueue()
        for environment in environments:
            idle.put(environment)
        segments = self.config.segments(steps)
        done = [0] * len(seeds)

        def train(index: int) -> Trained:
            def tell(what: str, segment: int, _: int) -> None:
                done[index] = segment
                self._pair.progress(f"level 4: {what}", sum(done), segments * len(seeds))

            checkpoint, identity = self._checkpoint(backend, seeds[index : index + 1], steps)
            environment = idle.get()
            try:
                return train_host(
                    partial(environment.vector, fixed=self._fixed),
                    self._pair.task.leaves,
                    self.config,
                    steps,
                    seeds[index],
                    backend=backend,
                    progress=tell,
                    checkpoint=checkpoint,
                    identity=identity,
                    ppo=self._ppo,
                )
            finally:
                idle.put(environment)

        with ThreadPoolExecutor(len(environments), thread_name_prefix="lockstep-train") as threads:
            futures = [threads.submit(train, index) for index in range(len(seeds))]
            try:
                wait(futures, return_when="FIRST_EXCEPTION")
                return [future.result() for future in futures]
            except BaseException:
                # An interrupt, or a failure: the other trainings would go on for minutes, and nobody asks for them.
                threads.shutdown(wait=False, cancel_futures=True)
                for environment in environments:
                    environment.kill()
                raise

    def _checkpoint(
        self, backend: str, seeds: Sequence[int], steps: int, *, finished: bool = False
    ) -> tuple[Path | None, Mapping[str, Any]]:
        """Where a training is saved on the way, or once it is `finished`, and what makes it the same training."""
        identity = {"task": self._pair.task.digest, "code": self._code[backend]}
        if self._kept is None:
            return None, identity
        whole = identity | {"backend": backend, "seeds": list(seeds), "steps": steps, "config": self.config.digest}
        name = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
        self._checkpoints.append(self._kept / f"{'trained' if finished else 'training'}-{name[:32]}.npz")
        return self._checkpoints[-1], identity
