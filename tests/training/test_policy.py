"""How policies see and act: bounds, masks, distributions, and the same program whatever JAX's default types are."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from harness.candidate.adapters.jax.rollout import random_key
from harness.task.training import PpoConfig
from harness.training.network import convolved
from harness.training.policy import Actions, Policy
from harness.training.ppo import Batch, Ppo
from tests.candidate.adapters.contracts import leaf
from tests.training.conftest import cue

BASIC = {"reward": leaf("float32"), "terminated": leaf("bool"), "truncated": leaf("bool")}
KEY_DATA = np.array([0, 5], np.uint32)


def policy_for(leaves: dict[str, Any], **config: Any) -> Policy:
    return Policy(BASIC | leaves, PpoConfig(**({"num_envs": 4, "rollout_steps": 4} | config)))


def acted(policy: Policy, leaves: dict[str, Any], count: int = 512) -> tuple[Any, Actions]:
    learner = Ppo(policy).begin(0)
    observed = policy.observe({path: np.stack([value] * count) for path, value in leaves.items()})
    given, _ = policy.act(learner.network, learner.stats, observed, policy.memory(count))
    return given, policy.sample(given, policy.noise(random_key(KEY_DATA), (count,)))


@pytest.mark.slow
def test_an_illegal_action_is_never_taken_and_has_no_probability() -> None:
    policy = Policy(cue("shown")["leaves"], PpoConfig())
    mask = np.array([False, True, False, True])
    given, actions = acted(policy, {"observation/shown": np.zeros(4, "f4"), "legal_actions/name": mask})
    assert set(np.asarray(actions.discrete).ravel().tolist()) == {1, 3}
    for index, legal in enumerate(mask):
        chosen = Actions(jnp.full((512, 1), index, jnp.int32), actions.continuous)
        # The density of the number is the same for all, so only the index decides.
        change = policy.log_probability(given, chosen) - policy.log_probability(given, actions)
        assert (np.asarray(jnp.exp(change)) == 0).all() != legal
    assert np.isfinite(np.asarray(policy.entropy(given))).all()


def test_pictures_are_averaged_over_squares_and_what_lies_beyond_the_edge_is_black() -> None:
    leaves = {
        "observation/flat": leaf("uint8", 3, 4),
        "observation/colours": leaf("uint8", 4, 4, 2),
        "observation/row": leaf("float32", 4),
        "action": leaf("int64", low=0, high=1),
    }
    policy = policy_for(leaves, pool=2)
    flat, colours = np.arange(12, dtype=np.uint8).reshape(3, 4), np.arange(32, dtype=np.uint8).reshape(4, 4, 2)
    given = {"observation/flat": flat, "observation/colours": colours, "observation/row": np.arange(4, dtype="f4")}
    observed = policy.observe({path: np.stack([array] * 5) for path, array in given.items()})
    seen = np.asarray(observed.vector)
    assert seen.shape == (5, policy.features) == (5, 4 + 8 + 4)
    by_path = dict(zip(policy.seats[0].vectors, np.split(seen[2], [4, 12]), strict=True))
    assert by_path["observation/flat"].tolist() == [2.5, 4.5, 4.25, 5.25]
    assert by_path["observation/colours"].tolist() == [5, 6, 9, 10, 21, 22, 25, 26]
    assert by_path["observation/row"].tolist() == [0, 1, 2, 3]
    assert policy_for(leaves).features == 12 + 32 + 4


def test_an_action_that_may_become_illegal_is_not_held() -> None:
    with pytest.raises(ValueError, match="cannot be held"):
        Policy(cue("shown")["leaves"], PpoConfig(hold=2))


@pytest.mark.slow
def test_a_leaf_with_fewer_choices_than_another_never_takes_more() -> None:
    policy = policy_for(
        {
            "observation": leaf("float32", 2),
            "action/few": leaf("int8", 2, low=[3, -1], high=[4, 1]),
            "action/flag": leaf("bool"),
            "action/many": leaf("uint16", low=10, high=17),
        }
    )
    _, actions = acted(policy, {"observation": np.ones(2, "f4")})
    leaves = {path: np.asarray(array) for path, array in policy.to_leaves(actions).items()}
    assert {path: (array.dtype, array.shape[1:]) for path, array in leaves.items()} == {
        "action/few": (np.int8, (2,)),
        "action/flag": (np.bool_, ()),
        "action/many": (np.uint16, ()),
    }
    assert set(leaves["action/few"][:, 0].tolist()) == {3, 4}
    assert set(leaves["action/few"][:, 1].tolist()) == {-1, 0, 1}
    assert set(leaves["action/many"].tolist()) == set(range(10, 18))
    assert set(leaves["action/flag"].tolist()) == {False, True}


def test_continuous_actions_keep_to_their_bounds_and_reach_them() -> None:
    bounded = leaf("float64", 2, low=[-2.0, 0.0], high=[2.0, 1.0])
    policy = policy_for({"observation": leaf("int32"), "action": bounded})
    _, actions = acted(policy, {"observation": np.int32(3)})
    taken = np.asarray(policy.to_leaves(actions)["action"])
    assert (taken >= [-2, 0]).all() and (taken <= [2, 1]).all()
    assert (taken.min(0) == [-2, 0]).all() and (taken.max(0) == [2, 1]).all()
    # What is learned from is what was drawn, before it was clipped.
    assert np.abs(np.asarray(actions.continuous)).max() > 1.5


def test_the_density_of_what_was_drawn_is_that_of_a_normal_distribution() -> None:
    policy = policy_for({"observation": leaf("float32"), "action": leaf("float32", low=-1.0, high=1.0)})
    given, actions = acted(policy, {"observation": np.float32(0)})
    away = np.asarray(actions.continuous - given.mean, np.float64)[:, 0]
    expected = -0.5 * away**2 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(np.asarray(policy.log_probability(given, actions)), expected, atol=1e-5)


def test_running_statistics_are_those_of_all_rows_together() -> None:
    policy = policy_for({"observation": leaf("float32", 3), "action": leaf("int32", low=0, high=1)})
    rows = np.random.default_rng(0).normal(3.0, 2.0, (5, 40, 3)).astype(np.float32)
    stats = policy.no_stats()
    for part in rows:
        stats = policy.extended(stats, jnp.asarray(part))
    whole = rows.reshape(-1, 3)
    np.testing.assert_allclose(np.asarray(stats.mean), whole.mean(0), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(stats.variance), whole.var(0), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "network", ["mlp", pytest.param("cnn", marks=pytest.mark.slow), pytest.param("gru", marks=pytest.mark.slow)]
)
def test_a_policy_acts_and_learns_the_same_with_64_bit_types_on_and_off(network: str) -> None:
    policy = Policy(cue("shown", "picture")["leaves"], PpoConfig(num_envs=4, rollout_steps=4, network=network))
    ppo = Ppo(policy)
    learner = ppo.begin(1)

    def outcome() -> Any:
        def both(learner: Any, leaves: Any, key_data: Any) -> Any:
            chance = ppo.chance(ppo.segment_key(key_data, jnp.int32(3)), jnp.int32(2))
            first = jax.tree.map(lambda array: array[0], chance.noise)
            seen, memory = policy.observe(leaves), policy.memory(4)
            actions, _ = ppo.act(learner, seen, memory, first)
            rows = jax.tree.map(lambda array: jnp.stack([array] * 4), (seen, actions))
            yes, paid = jnp.ones((4, 4), bool), jnp.ones((4, 4), jnp.float32)
            batch = Batch(rows[0], rows[0], rows[1], paid, yes, yes, yes, memory)
            return ppo.update(learner, batch, chance.shuffle, jnp.int32(9)), chance.seeds, policy.to_leaves(actions)

        leaves = {path: np.zeros((4, *described["shape"]), described["dtype"]) for path, described in SHOWN.items()}
        return jax.device_get(jax.jit(both)(learner, leaves, KEY_DATA))

    narrow = outcome()
    jax.config.update("jax_enable_x64", True)
    wide = outcome()
    for one, other in zip(jax.tree.leaves(narrow[:2]), jax.tree.leaves(wide[:2]), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert narrow[2].keys() == wide[2].keys() and wide[2]["action/name"].dtype == np.int64


SHOWN = {path: described for path, described in cue("shown", "picture")["leaves"].items() if path[0] in "ol"}


@pytest.mark.parametrize(
    ("leaves", "config", "complaint"),
    [
        ({"action": leaf("int32")}, {}, "the action leaf action has no bounds"),
        ({"action": leaf("bool"), "reward": leaf("float32", 2)}, {}, "the trainer trains one agent"),
        ({"action": leaf("bool")}, {"network": "cnn"}, "needs an observation of rank 3"),
    ],
)
def test_an_environment_that_does_not_fit_is_refused(leaves: Any, config: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        policy_for({"observation": leaf("float32")} | leaves, **config)


@pytest.mark.slow
def test_a_convolution_by_patches_is_the_usual_one() -> None:
    rng = np.random.default_rng(0)
    policy = policy_for(
        {"observation": leaf("float32", 5, 7, 2), "action": leaf("int32", low=0, high=1)}, network="cnn"
    )
    network = policy.network(rng)
    kernels = network.filters[0][0]
    image = rng.standard_normal((6, 5, 7, 2)).astype(np.float32)
    x = jnp.transpose(jnp.asarray(image), (0, 3, 1, 2))
    for kernel in kernels:
        x = jnp.tanh(jax.lax.conv(x, jnp.transpose(jnp.asarray(kernel), (3, 2, 0, 1)), (1, 1), "SAME"))
        x = jax.lax.reduce_window(x, np.float32(0), jax.lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "SAME") / 4
    expected = jnp.transpose(x, (0, 2, 3, 1)).reshape(6, -1)
    np.testing.assert_allclose(convolved(kernels, image, jnp.tanh), expected, rtol=1e-4, atol=1e-5)
