"""An interrupted training goes on as if it had not been, and nothing passes for its checkpoint that is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import TrainingError
from harness.model import Leaves
from harness.support.progress import silent
from harness.task.training import PpoConfig
from harness.training.host import train_host
from harness.training.local import train_local
from harness.training.policy import Policy
from harness.training.ppo import Ppo
from harness.training.segments import train_segments
from harness.training.trained import Played, Trained
from tests.paths import ROOT
from tests.training.conftest import cue, jax_env, opened
from tests.training.test_backends import CONFIG

STEPS = 9 * CONFIG.steps_per_update


class Interrupted(Exception):
    """As if from a keyboard, between two segments."""


def stop_after(segments: int) -> Any:
    def progress(what: str, done: int, total: int) -> None:
        if done == segments:
            raise Interrupted

    return progress


@pytest.mark.parametrize("backend", [pytest.param("fused", marks=pytest.mark.slow), "host"])
def test_a_training_that_was_interrupted_ends_bit_by_bit_as_one_that_was_not(backend: str, tmp_path: Path) -> None:
    contract = cue("shown")
    environment = opened(contract)

    def train(**options: Any) -> list[Trained]:
        if backend == "fused":
            return train_local(jax_env(contract), CONFIG, STEPS, [3, 4], **options)
        return [train_host(environment.vector, environment.spec.leaves, CONFIG, STEPS, 3, **options)]

    whole = train()
    file = tmp_path / "here" / "checkpoint.npz"
    for segments in (1, 2):
        with pytest.raises(Interrupted):
            train(checkpoint=file, progress=stop_after(segments))
    reported: list[tuple[int, int]] = []
    resumed = train(checkpoint=file, progress=lambda what, done, total: reported.append((done, total)))
    assert reported == [(2, 3), (3, 3)], "finished segments are not trained again"
    assert [one.digest for one in resumed] == [one.digest for one in whole]
    assert [one.curve for one in resumed] == [one.curve for one in whole]
    assert os.listdir(file.parent) == [file.name], "nothing half-written is left"


def test_the_best_of_a_training_is_kept_also_over_an_interruption(tmp_path: Path) -> None:
    """Returns are given by hand, and a learner's `updates` says after how many segments it was."""
    config = PpoConfig.from_json(CONFIG.to_json() | {"segment_updates": 1, "keep_best": True})
    returns = [(1.0, 2.0), (5.0, None), (3.0, 2.0), (4.0, 1.0)]

    def run(learners: Leaves, segment: int, updates: int, total: int) -> tuple[Leaves, Played]:
        counts = np.array([value is not None for value in returns[segment]], float)
        sums = np.array([value or 0.0 for value in returns[segment]])
        return {**learners, "updates": np.full(2, segment + 1, np.int32)}, Played(counts, sums, counts)

    def train(config: PpoConfig, **options: Any) -> list[int]:
        steps = 4 * config.steps_per_update
        ppo = Ppo(Policy(opened(cue("shown")).spec.leaves, config))
        trained = train_segments(run, ppo, steps, [3, 4], backend="by hand", **{"progress": silent, **options})
        return [int(one.learner["updates"]) for one in trained]

    file = tmp_path / "checkpoint.npz"
    for segments in (1, 3):
        with pytest.raises(Interrupted):
            train(config, checkpoint=file, progress=stop_after(segments))
    assert train(config, checkpoint=file) == train(config) == [1, 2]
    assert train(PpoConfig.from_json(config.to_json() | {"keep_best": False})) == [4, 4]


PROGRAM = """
import os, signal, sys
from pathlib import Path
from tests.training.conftest import cue, jax_env
from tests.training.test_checkpoints import CONFIG, STEPS
from harness.training import fused
from harness.training.local import train_local

run, count = fused.FusedTrainer.segment, [0]

def segment(*arguments):
    result = run(*arguments)
    count[0] += 1
    if sys.argv[2] == "inside" and count[0] == 2:
        os.kill(os.getpid(), signal.SIGKILL)  # trained, not yet saved
    return result

def progress(what, done, total):
    if sys.argv[2] == "between" and done == 2:
        os.kill(os.getpid(), signal.SIGKILL)

fused.FusedTrainer.segment = segment
[trained] = train_local(jax_env(cue("shown")), CONFIG, STEPS, [3], checkpoint=Path(sys.argv[1]), progress=progress)
print(trained.digest)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["inside", "between"])
def test_a_training_that_was_killed_ends_with_the_same_policy(moment: str, tmp_path: Path) -> None:
    def run(when: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "checkpoint.npz"), when],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert run(moment).returncode == -signal.SIGKILL
    [whole] = train_local(jax_env(cue("shown")), CONFIG, STEPS, [3])
    assert run("never").stdout.split() == [whole.digest]


@pytest.mark.slow
def test_the_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.npz"
    env = jax_env(cue("shown"))
    train_local(env, CONFIG, CONFIG.steps_per_update, [3], checkpoint=file, identity={"task": "one"})
    other = PpoConfig.from_json(CONFIG.to_json() | {"learning_rate": 1e-4})
    for config, steps, seeds, task, named in (
        (other, CONFIG.steps_per_update, [3], "one", "config"),
        (CONFIG, STEPS, [3], "one", "steps"),
        (CONFIG, CONFIG.steps_per_update, [4], "one", "seeds"),
        (CONFIG, CONFIG.steps_per_update, [3], "two", "task"),
    ):
        with pytest.raises(TrainingError, match=f"another training: {named} differ"):
            train_local(env, config, steps, seeds, checkpoint=file, identity={"task": task})


@pytest.mark.slow
def test_a_damaged_file_is_no_policy_and_no_checkpoint(tmp_path: Path) -> None:
    policy, checkpoint = tmp_path / "policy.npz", tmp_path / "checkpoint.npz"
    env = jax_env(cue("shown"))
    [trained] = train_local(env, CONFIG, 1, [3], checkpoint=checkpoint)
    trained.save(policy)
    assert Trained.load(policy).digest == trained.digest
    whole = policy.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"not a policy"):
        policy.write_bytes(content)
        checkpoint.write_bytes(content)
        with pytest.raises(TrainingError, match="no policy or checkpoint"):
            Trained.load(policy)
        with pytest.raises(TrainingError, match="no policy or checkpoint"):
            train_local(env, CONFIG, 1, [3], checkpoint=checkpoint)


@pytest.mark.slow
def test_tensorboard_reads_what_a_training_logs(tmp_path: Path) -> None:
    from tensorboardX.proto import event_pb2

    train_local(jax_env(cue("shown")), CONFIG, STEPS, [3, 4], log=tmp_path)
    for seed in (3, 4):
        [file] = (tmp_path / f"seed-{seed}").iterdir()
        data, at, values = file.read_bytes(), 0, []
        while at < len(data):  # a record is its length, a checksum, its bytes, and a checksum
            size = int.from_bytes(data[at : at + 8], "little")
            event = event_pb2.Event.FromString(data[at + 12 : at + 12 + size])
            values += [(event.step, value.tag) for value in event.summary.value]
            at += size + 16
        steps = [STEPS // 3 * number for number in (1, 2, 3)]
        assert [step for step, tag in values if tag == "episodes/return"] == steps
