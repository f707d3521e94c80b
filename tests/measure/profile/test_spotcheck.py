"""What was fast must be what was verified: planted cheats, each with what finds it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.measure.profile.spotcheck import RULE
from harness.task.load import load_task
from harness.verdict import Outcome
from tests.measure.profile.conftest import Measure
from tests.paths import ENVIRONMENTS
from tests.verify.levels.conftest import Walk

LAZY = """
from jax.custom_batching import custom_vmap

honest = step


@custom_vmap
def step(state, action, draws):
    return honest(state, action, draws)


@step.def_vmap
def first_ones_only(size, batched, *given):
    done = jax.vmap(honest)(*jax.tree.map(lambda leaf: leaf[:64], given))
    if size > 64:
        done = jax.tree.map(lambda leaf: leaf[jnp.arange(size) % 64], done)
    return done, jax.tree.map(lambda leaf: True, done)
"""
STORED = """
from harness.candidate.adapters.jax.bench import Bench

kept, honest = {}, Bench.run


def run(self, kind, batch, length, seed, repeats, devices=1):
    if (kind, batch) not in kept:
        kept[kind, batch] = honest(self, kind, batch, length, seed, 1)["sums"]
    return {"sums": kept[kind, batch].repeat(repeats, 0)}


Bench.run = run
"""
EARLY = """
import threading

import numpy as np
from harness.candidate.adapters.jax.bench import Bench

honest = Bench.run


def run(self, kind, batch, length, seed, repeats, devices=1):
    threading.Thread(target=honest, args=(self, kind, batch, length, seed, repeats)).start()
    return {"sums": np.zeros((repeats, batch), np.uint32)}


Bench.run = run
"""
FITTED = """
from harness.candidate.adapters.bench_random import added_up, checked_steps, run_key_data

honest_envs = Bench.bench_envs


def bench_envs(self, kind, batch, length, seed, repeat, env_indices, devices=1):
    answer = honest_envs(self, kind, batch, length, seed, repeat, env_indices, devices)
    outputs = {path: np.array(leaf) for path, leaf in answer["outputs"].items()}
    for timestep in set(checked_steps(run_key_data(seed, repeat), length).tolist()):
        seen = {path: leaf[timestep] for path, leaf in outputs.items()}
        outputs["reward"][timestep].view(np.uint32).reshape(len(env_indices), -1)[:, 0] -= added_up(seen, len(env_indices))
    return {**answer, "outputs": outputs}


Bench.bench_envs = bench_envs
"""


def cheating(walk: Walk, cheat: str) -> Walk:
    path = walk.directory / "candidate" / "env.py"
    path.write_text(path.read_text() + cheat)
    return walk


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("step", marks=pytest.mark.slow), "scan"])
def test_an_honest_run_is_played_again_by_the_reference(walk: Walk, measured: Measure, kind: str) -> None:
    cell, found = measured(walk.directory, kind, 80, 48)
    assert found.outcome is Outcome.PASS
    assert found.episodes > 1 and 0 < found.steps <= 400
    assert len(cell.rates) == 3 and min(cell.rates) > 0
    assert cell.compile_s > 0 and (cell.compile_peak or 0) > 50 << 20
    assert cell.facts["state_bytes"] == 12


@pytest.mark.slow
def test_work_that_is_skipped_beyond_batch_64_is_found(walk: Walk, measured: Measure) -> None:
    _, found = measured(cheating(walk, LAZY).directory, "scan", 512, 48)
    divergence = found.divergence
    assert divergence is not None
    assert (found.outcome, divergence.rule) == (Outcome.FAIL, RULE)
    assert "behaves otherwise when it is timed" in divergence.cause and divergence.case is not None


@pytest.mark.slow
@pytest.mark.parametrize("cheat", [STORED, EARLY], ids=["stored", "early"])
def test_an_answer_that_is_not_the_sum_of_its_own_outputs_is_found(walk: Walk, measured: Measure, cheat: str) -> None:
    _, found = measured(cheating(walk, cheat).directory, "scan", 64, 48)
    divergence = found.divergence
    assert divergence is not None
    assert (found.outcome, divergence.path) == (Outcome.FAIL, "outputs")
    assert "what it answered when it was timed" in divergence.cause


@pytest.mark.slow
def test_outputs_that_are_made_to_fit_what_was_answered_are_found_by_the_reference(
    walk: Walk, measured: Measure
) -> None:
    _, found = measured(cheating(walk, EARLY + FITTED).directory, "scan", 64, 48)
    divergence = found.divergence
    assert divergence is not None
    assert (found.outcome, divergence.path) == (Outcome.FAIL, "reward")
    assert "behaves otherwise when it is timed" in divergence.cause


@pytest.mark.slow
def test_a_candidate_that_is_simply_wrong_is_found_and_localised(walk: Walk, measured: Measure) -> None:
    walk.edit("candidate/env.py", [('state["place"] + move', 'state["place"] + 0.5 * move')])
    _, found = measured(walk.directory, "step", 64, 48)
    divergence = found.divergence
    assert divergence is not None
    assert (divergence.rule, divergence.path) == ("value", "state/place") and divergence.reproduced


@pytest.mark.slow
@pytest.mark.pong
def test_actions_of_64_bits_that_are_held_in_32_are_played_again(measured: Measure, tmp_path: Path) -> None:
    pong = tmp_path / "pong"
    shutil.copytree(ENVIRONMENTS / "pong", pong, ignore=shutil.ignore_patterns("__pycache__", "rust"))
    path = pong / "candidate" / "env.py"
    text = path.read_text()
    path.write_text(text.replace("PADDLE_SPEED, BALL_SPEED = 8.0", "PADDLE_SPEED, BALL_SPEED = 8.24"))
    assert load_task(pong).actions["action"].dtype == "int64" and path.read_text() != text
    _, found = measured(pong, "scan", 64, 48)
    divergence = found.divergence
    assert divergence is not None and divergence.case is not None
    assert (found.outcome, divergence.rule, divergence.case.actions["action"].dtype) == (Outcome.FAIL, "value", "int64")


@pytest.mark.slow
def test_chance_that_is_left_out_when_it_is_timed_is_found(walk: Walk, measured: Measure) -> None:
    honest = "jax.random.normal(key, dtype=jnp.float64)"
    walk.edit("candidate/env.py", [(honest, f"jnp.where(action == 2, 0.5, {honest})")])
    _, found = measured(walk.directory, "scan", 64, 48)
    divergence = found.divergence
    assert divergence is not None
    assert (found.outcome, divergence.rule, divergence.path) == (Outcome.FAIL, "law", "draw/gust")


@pytest.mark.slow
def test_where_only_laws_are_compared_the_check_says_that_it_is_weak(walk: Walk, measured: Measure) -> None:
    walk.edit("task.toml", [('mode = "tape"', 'mode = "law"')])
    _, found = measured(walk.directory, "scan", 64, 48)
    assert found.outcome is Outcome.PASS and "only the bounds" in found.detail and found.steps == 0
