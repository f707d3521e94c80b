"""What is learned from a batch: how episodes end, which minibatches are drawn, and what a learner is made of."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from harness.task.training import PpoConfig
from harness.training.policy import Actions, Observed, Policy
from harness.training.ppo import Batch, Ppo, _orders, advantage
from tests.training.conftest import cue

CONFIG = PpoConfig(num_envs=4, rollout_steps=8, epochs=2, minibatches=2, discount=0.9, gae_lambda=0.8)


def batch(timesteps: int = 8, num_envs: int = 4, **changes: Any) -> Batch:
    rng = np.random.default_rng(0)
    seen = Observed(jnp.asarray(rng.normal(size=(timesteps, num_envs, 4)), jnp.float32), (), None)
    actions = Actions(
        jnp.asarray(rng.integers(0, 4, (timesteps, num_envs, 1)), jnp.int32),
        jnp.asarray(rng.normal(size=(timesteps, num_envs, 1)), jnp.float32),
    )
    no = jnp.zeros((timesteps, num_envs), bool)
    reward = jnp.asarray(rng.normal(size=(timesteps, num_envs)), jnp.float32)
    made = Batch(seen, seen, actions, reward, no, no, no, jnp.zeros((num_envs, 0), jnp.float32))
    return made._replace(**changes)


def expected_advantage(reward: Any, values: Any, after: Any, terminated: Any, ended: Any) -> Any:
    """By the definition, one step and one sub-environment at a time."""
    timesteps, num_envs = reward.shape
    result = np.zeros((timesteps, num_envs))
    for env_index in range(num_envs):
        for timestep in range(timesteps):
            factor = 1.0
            for later in range(timestep, timesteps):
                worth = 0.0 if terminated[later, env_index] else after[later, env_index]
                surprise = reward[later, env_index] + 0.9 * worth - values[later, env_index]
                result[timestep, env_index] += factor * surprise
                if ended[later, env_index]:
                    break
                factor *= 0.9 * 0.8
    return result


def test_a_terminated_episode_is_worth_nothing_more_and_a_truncated_one_what_the_critic_says() -> None:
    rng = np.random.default_rng(1)
    terminated = rng.random((8, 4)) < 0.2
    ended = terminated | (rng.random((8, 4)) < 0.2)
    values, after = rng.normal(size=(2, 8, 4)).astype(np.float32)
    given = batch(terminated=jnp.asarray(terminated), ended=jnp.asarray(ended))
    actual = advantage(CONFIG, given, jnp.asarray(values), jnp.asarray(after))
    expected = expected_advantage(np.asarray(given.reward), values, after, terminated, ended)
    np.testing.assert_allclose(np.asarray(actual), expected, atol=1e-5)
    confused = expected_advantage(np.asarray(given.reward), values, after, ended, ended)
    assert np.abs(confused - expected).max() > 0.1, "the case would not tell truncation from termination"


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 8, 64, 4096, 6, 100])
def test_every_epoch_sees_every_item_once_in_an_order_of_its_own(count: int) -> None:
    orders = np.asarray(_orders(np.array([1, 2], np.uint32), 4, count))
    assert (np.sort(orders, 1) == np.arange(count)).all()
    if count >= 64:
        assert len({order.tobytes() for order in orders}) == 4
        assert not np.array_equal(orders, np.asarray(_orders(np.array([1, 3], np.uint32), 4, count)))


def test_arithmetic_orders_mix_minibatches_as_chance_would() -> None:
    """Two neighbours fall into the same one of four minibatches in about a quarter of all orders."""
    together = []
    for seed in range(40):
        order = np.asarray(_orders(np.array([0, seed], np.uint32), 8, 1024))
        place = np.argsort(order, 1) // 256
        together.append((place[:, 1:] == place[:, :-1]).mean())
    assert abs(float(np.mean(together)) - 0.25) < 0.03


@pytest.mark.slow
def test_an_update_makes_what_paid_more_probable() -> None:
    policy = Policy(cue("shown", masked=False)["leaves"], CONFIG)
    ppo = Ppo(policy)
    learner = ppo.begin(0)
    given = batch()
    given = given._replace(reward=(given.actions.discrete[..., 0] == 2).astype(jnp.float32))
    update = jax.jit(ppo.update)
    for turn in range(20):
        learner = update(learner, given, np.array([0, turn], np.uint32), np.int32(100))
    after, _ = policy.act(learner.network, learner.stats, given.observed, policy.memory(4))
    chances = np.asarray(jax.nn.softmax(after.logits))[..., 0, :].mean((0, 1))
    assert chances.argmax() == 2 and int(learner.updates) == 20


@pytest.mark.slow
def test_the_learning_rate_falls_to_nothing_over_the_training() -> None:
    ppo = Ppo(Policy(cue("shown", masked=False)["leaves"], CONFIG))
    learner = ppo.begin(0)._replace(updates=jnp.int32(10))
    after = jax.jit(ppo.update)(learner, batch(), np.zeros(2, np.uint32), np.int32(10))
    same = jax.tree.map(np.array_equal, learner.network, after.network)
    assert all(jax.tree.leaves(same))


def test_a_learner_crosses_a_border_by_its_leaves_and_nothing_else_passes_for_one() -> None:
    ppo = Ppo(Policy(cue("shown")["leaves"], CONFIG))
    leaves = ppo.leaves(ppo.begin(3))
    again = ppo.leaves(ppo.learner(leaves))
    assert leaves.keys() == again.keys() and all(np.array_equal(leaves[name], again[name]) for name in leaves)
    assert any(not np.array_equal(leaves[name], leaf) for name, leaf in ppo.leaves(ppo.begin(4)).items())
    weight = next(name for name in leaves if name.endswith("weight"))
    for wrong, complaint in (
        ({name: leaf for name, leaf in leaves.items() if name != weight}, "has the leaves"),
        (leaves | {weight: leaves[weight].astype(np.float64)}, "is float64"),
        (leaves | {weight: leaves[weight][1:]}, "expected float32"),
        (leaves | {weight: np.full_like(leaves[weight], np.nan)}, "not finite"),
    ):
        with pytest.raises(ValueError, match=complaint):
            ppo.learner(wrong)
