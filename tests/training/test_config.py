"""Hyper-parameters are checked before anything is trained with them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from harness.task.training import PpoConfig


def test_a_config_is_what_its_description_says() -> None:
    config = PpoConfig(num_envs=8, hidden=(32,), anneal=False)
    assert PpoConfig.from_json(config.to_json()) == config
    assert PpoConfig.from_json({"hidden": [32], "num_envs": 8, "anneal": False}).digest == config.digest
    assert PpoConfig().digest != config.digest


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"num_envs": 0}, "num_envs is 0, expected a whole number from 1 on"),
        ({"hold": 0}, "hold is 0, expected a whole number from 1 on"),
        ({"pool": 0.5}, "pool is 0.5, expected a whole number from 1 on"),
        ({"epochs": True}, "epochs is True"),
        ({"discount": 1.5}, "discount is 1.5, expected a number from 0 to 1"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"learning_rate": 10**400}, "learning_rate is 1000"),
        ({"network": "transformer"}, "expected one of mlp, cnn, gru"),
        ({"hidden": []}, "hidden is ()"),
        ({"minibatches": 5}, "a divisor of num_envs x rollout_steps = 4096"),
        ({"network": "gru", "num_envs": 6, "minibatches": 4}, "a divisor of num_envs = 6"),
        ({"learning_rte": 1}, "there is no learning_rte"),
    ],
)
def test_what_is_no_config_is_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError) as refused:
        PpoConfig.from_json(given)
    assert complaint in str(refused.value)


def test_every_mistake_is_reported_at_once() -> None:
    with pytest.raises(ValueError, match=r"num_envs.*; clip"):
        PpoConfig(num_envs=-1, clip=0)


def test_steps_are_rounded_up_to_whole_updates_and_segments() -> None:
    config = PpoConfig(num_envs=8, rollout_steps=16, segment_updates=3)
    assert [config.updates(steps) for steps in (1, 128, 129, 1280)] == [1, 1, 2, 10]
    assert [config.segments(steps) for steps in (1, 3 * 128, 3 * 128 + 1)] == [1, 1, 2]
    held = PpoConfig(num_envs=8, rollout_steps=16, hold=4)
    assert (held.decisions_per_update, held.steps_per_update, held.updates(513)) == (128, 512, 2)


def test_reading_a_config_does_not_import_jax() -> None:
    program = "import sys, harness.task.training; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
