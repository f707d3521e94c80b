"""How fast a policy is trained in the candidate, and how much of that time the environment takes.

The trainer is the one of level 4 (`harness.ppo`, rollout and update in one compiled function, in the sandbox). The share is
what as many steps cost as scanned rollouts: where such a step takes an eighth of the time of a step of training, the
environment has an eighth of it. Scans are read in turns with the training, so that both meet the same machine.
"""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import replace
from pathlib import Path

from harness.candidate import CandidateWorker
from harness.profile.contenders import CANDIDATE, Cell
from harness.profile.memory import watched
from harness.profile.result import Measurement
from harness.task import Task
from harness.training.config import PpoConfig
from sandboxes import Driver

TRAIN = "train"
SHORTEST_ROLLOUT, MOST_UPDATES = 8, 64
DEADLINE_S = 600.0


def config_for(task: Task, batch: int) -> PpoConfig:
    """The task's hyper-parameters for `batch` environments: as many steps to an update as with its own number of them."""
    config = PpoConfig.from_json(task.transfer.ppo if task.transfer else {})
    rollout = max(SHORTEST_ROLLOUT, config.steps_per_update // batch)
    items = batch if config.network == "gru" else batch * rollout
    minibatches = math.gcd(items, config.minibatches)
    return replace(config, num_envs=batch, rollout_steps=rollout, minibatches=minibatches, segment_updates=MOST_UPDATES)


def measure_training(
    task: Task, tree: Path, driver: Driver, batch: int, *, seconds: float, rounds: int, scan: Cell | None, cores: int
) -> Measurement:
    """Train for some updates, several times.

    Args:
        batch: environments that are stepped together.
        seconds: how long one reading should take.
        scan: the candidate's scanned rollouts at the same batch size, for the share; None leaves it out.

    Raises:
        ValueError: the task's hyper-parameters do not fit its environment.
        EnvironmentFailure, SandboxError: the worker could not train.
    """
    # With these comes JAX, which nothing else of a profile needs on this side of the pipe.
    from harness.policy import make_policy
    from harness.ppo import Ppo
    from harness.training.trained import stacked

    config = config_for(task, batch)
    ppo = Ppo(make_policy(task.leaves, config))
    learners = stacked([ppo.leaves(ppo.begin(0))])
    worker = CandidateWorker(task, driver, training=True)
    try:
        environment = worker.open(tree)

        def train(segment: int, updates: int) -> float:
            began = time.perf_counter()
            environment.ask(
                "train", timeout=DEADLINE_S, config=config.to_json(), learners=learners, seeds=[0], segment=segment,
                updates=updates, total=MOST_UPDATES,
            )  # fmt: skip
            return time.perf_counter() - began

        with watched(worker.pid) as memory:
            first = train(0, 1)
        once = train(1, 1)
        updates = max(1, min(MOST_UPDATES, round(seconds / once)))
        rates, scanned = [], []
        for number in range(rounds):
            rates.append(updates * config.steps_per_update / train(2 + number, updates))
            if scan is not None:
                reading = scan.read(number, scan.repeats)
                scanned.append(scan.steps * reading.repeats / reading.seconds)
    finally:
        worker.close()
    share = None if not scanned else min(1.0, statistics.median(rates) / statistics.median(scanned))
    return Measurement(
        contender=CANDIDATE,
        role=CANDIDATE,
        kind=TRAIN,
        batch=batch,
        cores=cores,
        rates=tuple(rates),
        length=config.rollout_steps,
        compile_s=max(0.0, first - once),
        warm_up_s=once,
        compile_peak=memory.peak,
        compile_added=memory.added,
        share=share,
    )
