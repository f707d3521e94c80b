"""Train on an exported CartPole with a trainer that is not Lockstep's: `python train_gymnax.py DIRECTORY [UPDATES]`.

The style is PureJaxRL's: environment, policy and PPO are one compiled function, and the environments are a `vmap`. It needs
only JAX, Optax and the exported package. A user would `pip install DIRECTORY`; here it is imported where it lies.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

NUM_ENVS, NUM_STEPS, EPOCHS, MINIBATCHES = 32, 64, 4, 4
GAMMA, LAMBDA, CLIP, ENTROPY, RATE = 0.99, 0.95, 0.2, 0.01, 1e-3


class Batch(NamedTuple):
    """What one rollout gave, `[NUM_STEPS, NUM_ENVS, ...]`."""

    observation: jax.Array
    action: jax.Array
    log_probability: jax.Array
    value: jax.Array
    reward: jax.Array
    terminated: jax.Array
    done: jax.Array
    final_value: jax.Array


def network(key: jax.Array, inputs: int, outputs: int) -> list[tuple[jax.Array, jax.Array]]:
    """Weights and biases of a network with two hidden layers of 64 units."""
    sizes = (inputs, 64, 64, outputs)
    keys = jax.random.split(key, len(sizes) - 1)
    make = jax.nn.initializers.orthogonal()
    return [
        (make(k, (a, b), jnp.float32), jnp.zeros(b, jnp.float32))
        for k, a, b in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def forward(layers: Any, x: jax.Array) -> jax.Array:
    """The network's outputs, `[..., outputs]`."""
    for weights, bias in layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    return x @ layers[-1][0] + layers[-1][1]


def value_of(parameters: Any, observation: jax.Array) -> jax.Array:
    """The critic's estimate, `[...]`."""
    return forward(parameters["critic"], observation)[..., 0]


def advantages(batch: Batch, last_value: jax.Array) -> jax.Array:
    """Generalised advantage estimates. A truncated episode goes on in the value of its last observation."""

    def back(carry: tuple[jax.Array, jax.Array], step: Batch) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        later, following = carry
        following = jnp.where(step.done, step.final_value, following)
        delta = step.reward + GAMMA * following * ~step.terminated - step.value
        later = delta + GAMMA * LAMBDA * ~step.done * later
        return (later, step.value), later

    return jax.lax.scan(back, (jnp.zeros_like(last_value), last_value), batch, reverse=True)[1]


def loss(parameters: Any, batch: Batch, advantage: jax.Array, target: jax.Array) -> jax.Array:
    """PPO's clipped loss, with the critic's error and a bonus for entropy."""
    log_all = jax.nn.log_softmax(forward(parameters["actor"], batch.observation))
    log_probability = jnp.take_along_axis(log_all, batch.action[..., None], -1)[..., 0]
    ratio = jnp.exp(log_probability - batch.log_probability)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    gain = jnp.minimum(ratio * scaled, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * scaled).mean()
    error = jnp.square(value_of(parameters, batch.observation) - target).mean()
    entropy = -(jnp.exp(log_all) * log_all).sum(-1).mean()
    return -gain + 0.5 * error - ENTROPY * entropy


def make_train(env: Any, updates: int) -> Callable[[jax.Array], jax.Array]:
    """A function from a PRNG key to the mean length of the episodes that ended in each update, `[updates]`."""
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(RATE))

    def act(carry: Any, key: jax.Array) -> tuple[Any, tuple[Batch, jax.Array]]:
        parameters, observation, state = carry
        choose, step = jax.random.split(key)
        log_all = jax.nn.log_softmax(forward(parameters["actor"], observation))
        action = jax.random.categorical(choose, log_all)
        following, state, reward, terminated, truncated, info = jax.vmap(env.step)(
            jax.random.split(step, NUM_ENVS), state, action
        )
        batch = Batch(
            observation=observation,
            action=action,
            log_probability=jnp.take_along_axis(log_all, action[:, None], -1)[:, 0],
            value=value_of(parameters, observation),
            reward=reward.astype(jnp.float32),
            terminated=terminated,
            done=terminated | truncated,
            final_value=value_of(parameters, info["final_observation"].astype(jnp.float32)),
        )
        return (parameters, following.astype(jnp.float32), state), (batch, terminated | truncated)

    def improve(carry: Any, data: Any) -> tuple[Any, None]:
        parameters, moments = carry
        changes, moments = optimizer.update(jax.grad(loss)(parameters, *data), moments, parameters)
        return (optax.apply_updates(parameters, changes), moments), None

    def update(carry: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        parameters, moments, observation, state = carry
        play, *shuffles = jax.random.split(key, EPOCHS + 1)
        (_, observation, state), (batch, done) = jax.lax.scan(
            act, (parameters, observation, state), jax.random.split(play, NUM_STEPS)
        )
        advantage = advantages(batch, value_of(parameters, observation))
        data = jax.tree.map(
            lambda x: x.reshape(NUM_STEPS * NUM_ENVS, *x.shape[2:]), (batch, advantage, advantage + batch.value)
        )
        for shuffle in shuffles:
            order = jax.random.permutation(shuffle, NUM_STEPS * NUM_ENVS).reshape(MINIBATCHES, -1)
            (parameters, moments), _ = jax.lax.scan(
                improve, (parameters, moments), jax.tree.map(lambda x, order=order: x[order], data)
            )
        # Steps for each episode that ended: with a reward of 1 a step, near enough the mean return.
        return (parameters, moments, observation, state), done.size / jnp.maximum(done.sum(), 1)

    def train(key: jax.Array) -> jax.Array:
        actor, critic, begin, go = jax.random.split(key, 4)
        observation, state = jax.vmap(env.reset)(jax.random.split(begin, NUM_ENVS))
        width = observation.shape[-1]
        parameters = {"actor": network(actor, width, env.num_actions), "critic": network(critic, width, 1)}
        start = (parameters, optimizer.init(parameters), observation.astype(jnp.float32), state)
        return jax.lax.scan(update, start, jax.random.split(go, updates))[1]

    return jax.jit(train)


def main(directory: str, updates: int = 100) -> int:
    """Train, and print the curve. Returns the exit code."""
    jax.config.update("jax_enable_x64", True)  # CartPole computes in 64 bits, as its reference does; the networks in 32
    sys.path.insert(0, str(Path(directory) / "src"))
    lengths = make_train(import_module("cartpole").make_gymnax(), updates)(jax.random.key(0))
    for number in range(0, updates, max(updates // 10, 1)):
        print(f"update {number:4}: {float(lengths[number]):6.1f} steps an episode")
    tenth = max(updates // 10, 1)
    print(f"at the end: {float(lengths[-tenth:].mean()):.1f} steps an episode, at the start {float(lengths[0]):.1f}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
