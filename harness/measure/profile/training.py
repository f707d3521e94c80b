"""How fast a policy is trained, and how much of that time the environment takes.

The trainer is the one of level 4 (`harness.training.ppo`): rollout and update in one compiled function in the sandbox of a
candidate in JAX, and the same update around steps that are asked for one by one in all others. The candidate's share is
what as many steps cost as scanned rollouts: where such a step takes an eighth of the time of a step of training, the
environment has an eighth of it. All are read in turns, so that they meet the same machine.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.candidate.start import CandidateWorker
from harness.errors import EnvironmentFailure
from harness.measure.profile.contenders import CANDIDATE, PEER, REFERENCE, TRAIN, Cell, Contender
from harness.measure.profile.memory import watched
from harness.measure.profile.result import Measurement, Speed
from harness.model import STATE, Tape
from harness.protocol.environment import Pool
from harness.protocol.spec import Spec
from harness.protocol.vector import VectorEnv
from harness.task.contract import Task
from harness.task.training import PpoConfig
from sandboxes import Driver

if TYPE_CHECKING:
    from harness.training.ppo import Ppo

SHORTEST_ROLLOUT, MOST_UPDATES = 8, 64
DEADLINE_S = 600.0

Updates = Callable[[int, int], float]
"""Trains for so many updates, from the seed that comes first, and tells how many seconds that took."""


def config_for(task: Task, batch: int) -> PpoConfig:
    """The task's hyper-parameters for `batch` environments: as many steps to an update as with its own number of them."""
    config = PpoConfig.from_json(task.transfer.ppo if task.transfer else {})
    rollout = max(SHORTEST_ROLLOUT, config.decisions_per_update // batch)
    items = batch if config.network == "gru" else batch * rollout
    minibatches = math.gcd(items, config.minibatches)
    return replace(config, num_envs=batch, rollout_steps=rollout, minibatches=minibatches, segment_updates=MOST_UPDATES)


@dataclass
class _Trainee:
    """One of those that policies are trained in."""

    name: str
    role: str
    cores: int
    train: Updates
    pid: int | None = None
    updates: int = 1
    first: float = 0.0
    once: float = 0.0
    compile_peak: int | None = None
    compile_added: int | None = None
    rates: list[float] = field(default_factory=list)


def measure_training(
    task: Task,
    tree: Path,
    driver: Driver,
    batch: int,
    *,
    seconds: float,
    rounds: int,
    scan: Cell | None,
    cores: int,
    reference: Pool | None = None,
    peers: Iterable[Contender] = (),
    skip: Callable[[str, str], None] = lambda name, because: None,
) -> list[Measurement]:
    """Train for some updates, several times, in the candidate and beside it in the reference and in peers.

    Args:
        batch: environments that are stepped together.
        seconds: how long one reading should take.
        scan: the candidate's scanned rollouts at the same batch size, for the share; None leaves it out.
        reference, peers: where to train as well. A peer must answer `vector` and `advance` (docs/profiling.md).
        skip: reported of each of them that could not, and why.

    Raises:
        ValueError: the task's hyper-parameters do not fit its environment.
        EnvironmentFailure, SandboxError: the candidate's worker could not train.
    """
    # With these comes JAX, which nothing else of a profile needs on this side of the pipe.
    from harness.training.policy import Policy
    from harness.training.ppo import Ppo

    config = config_for(task, batch)
    ppo = Ppo(
        Policy(task.leaves, config, task.player_names)
    )  # one for all that are stepped from here: it is compiled once
    scanned: list[float] = []
    with ExitStack() as stack:
        trainees = [_in_candidate(task, tree, driver, ppo, cores, stack)]
        for peer in peers:
            trainees.append(
                _in_vector(peer.name, PEER, task, ppo, _PeerVectorEnv(task, peer).vector, peer.cores or cores)
            )
        if reference is not None:
            count = min(cores, len(reference.environments))
            trainees.append(_in_vector(REFERENCE, REFERENCE, task, ppo, reference.vector, count))
        for each in list(trainees):
            try:
                _warm_up(each, seconds)
            except EnvironmentFailure as failure:
                if each.role == CANDIDATE:
                    raise
                skip(each.name, str(failure))
                trainees.remove(each)
        for number in range(rounds):
            for each in trainees:
                steps = each.updates * config.steps_per_update
                each.rates.append(steps / each.train(2 + number, each.updates))
            if scan is not None:
                reading = scan.read(number, scan.repeats)
                scanned.append(scan.steps * reading.repeats / reading.seconds)
    share = None
    if scanned:
        share = min(1.0, statistics.median(trainees[0].rates) / statistics.median(scanned))
    return [
        Measurement(
            contender=each.name,
            role=each.role,
            kind=TRAIN,
            batch=batch,
            speed=Speed.of(each.rates, each.cores),
            length=config.rollout_steps,
            compile_s=max(0.0, each.first - each.once),
            warm_up_s=each.once,
            compile_peak=each.compile_peak,
            compile_added=each.compile_added,
            share=share if each.role == CANDIDATE else None,
        )
        for each in trainees
    ]


def _warm_up(trainee: _Trainee, seconds: float) -> None:
    """Compile, and find out how many updates last `seconds`."""
    if trainee.pid is None:
        trainee.first = trainee.train(0, 1)
    else:
        with watched(trainee.pid) as memory:
            trainee.first = trainee.train(0, 1)
        trainee.compile_peak, trainee.compile_added = memory.peak, memory.added
    trainee.once = trainee.train(1, 1)
    trainee.updates = max(1, min(MOST_UPDATES, round(seconds / trainee.once)))


def _in_candidate(task: Task, tree: Path, driver: Driver, ppo: Ppo, cores: int, stack: ExitStack) -> _Trainee:
    from harness.training.trained import stacked

    worker = CandidateWorker(task, driver, training=True)
    stack.callback(worker.close)
    environment = worker.open(tree)
    if task.candidate.kind != "jax":
        return _in_vector(CANDIDATE, CANDIDATE, task, ppo, environment.vector, cores)
    learners = stacked([ppo.leaves(ppo.begin(0))])

    def train(segment: int, updates: int) -> float:
        began = time.perf_counter()
        environment.ask(
            "train", timeout=DEADLINE_S, config=ppo.config.to_json(), learners=learners, seeds=[0], segment=segment,
            updates=updates, total=MOST_UPDATES,
        )  # fmt: skip
        return time.perf_counter() - began

    return _Trainee(CANDIDATE, CANDIDATE, cores, train, worker.pid)


def _in_vector(name: str, role: str, task: Task, ppo: Ppo, vector: Any, cores: int) -> _Trainee:
    """A trainee that is stepped from here, all its environments in one message."""
    from harness.training.host import train_host

    def train(seed: int, updates: int) -> float:
        began = time.perf_counter()
        steps = updates * ppo.config.steps_per_update
        train_host(vector, task.leaves, ppo.config, steps, seed, backend=name, ppo=ppo)
        return time.perf_counter() - began

    return _Trainee(name, role, cores, train)


class _PeerVectorEnv:
    """A peer as something that sub-environments can be asked of: it shows what a policy sees, and neither state nor
    draws.
    """

    def __init__(self, task: Task, peer: Contender) -> None:
        shown = {path: leaf for path, leaf in task.leaves.items() if not path.startswith(STATE)}
        self.spec = Spec(shown, frozenset({"vector"}))
        self._asked = peer.asked

    def ask(self, call: str, **arguments: Any) -> Any:
        """One call of the protocol."""
        return self._asked.ask(call, **arguments)

    def tape(self, described: Any, timesteps: int, where: str) -> Tape:
        """Nothing: its chance is its own."""
        return ((),) * timesteps

    def vector(self, seeds: Any) -> VectorEnv:
        """Begin one episode for each seed."""
        return VectorEnv(self, seeds)
