"""Networks: from features and images to what decides about actions, and to a value; with a memory or without.

All weights are float32, made by numpy: compiling a decomposition for each shape takes longer than all of them together.
Arrays have any number of leading axes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from harness.task.training import PpoConfig

Array = Any
ACTIVATIONS = {"tanh": jnp.tanh, "relu": jax.nn.relu, "swish": jax.nn.swish}
FILTERS = ((32, 3), (64, 3))
"""Output channels and size (odd) of each convolution; all have stride 1, and each is followed by pooling."""


class Dense(eqx.Module):
    """`x @ weight + bias` over the last axis."""

    weight: Array
    bias: Array

    def __init__(self, rng: np.random.Generator, inputs: int, outputs: int, gain: float) -> None:
        self.weight = _orthogonal(rng, (inputs, outputs), gain)
        self.bias = np.zeros(outputs, np.float32)

    def __call__(self, x: Array) -> Array:
        return x @ self.weight + self.bias


class Cell(eqx.Module):
    """A gated recurrent unit (Cho et al., 2014)."""

    entering: Dense
    remembered: Dense

    def __init__(self, rng: np.random.Generator, inputs: int, size: int) -> None:
        self.entering = Dense(rng, inputs, 3 * size, 1.0)
        self.remembered = Dense(rng, size, 3 * size, 1.0)

    def __call__(self, x: Array, memory: Array) -> Array:
        reset, keep, new = jnp.split(self.entering(x), 3, -1)
        reset_by, keep_by, new_by = jnp.split(self.remembered(memory), 3, -1)
        keeping = jax.nn.sigmoid(keep + keep_by)
        candidate = jnp.tanh(new + jax.nn.sigmoid(reset + reset_by) * new_by)
        return keeping * memory + (1 - keeping) * candidate


class Network(eqx.Module):
    """Weights, and what becomes of features `[..., F]` and images `[..., H, W, C]` by them.

    Actor and critic share nothing, except the encoder and the memory `[..., H]` of a network that has one; one that has none
    hands back the memory that it got.

    Args:
        config: says which network, and how large.
        rng: chooses the weights.
        features: how many numbers it sees; `images`: the shapes of the images that it sees beside them.
        outputs: how many numbers decide about actions.
        deviations: how many logarithms of standard deviations are learned, the same for every observation.
    """

    actor: tuple[Dense, ...]
    critic: tuple[Dense, ...]
    encoder: tuple[Dense, ...]
    cell: Cell | None
    filters: tuple[tuple[tuple[Array, ...], ...], ...]
    action: Dense
    value: Dense
    log_std: Array
    function: str = eqx.field(static=True)

    def __init__(
        self,
        config: PpoConfig,
        rng: np.random.Generator,
        *,
        features: int,
        images: Sequence[Sequence[int]],
        outputs: int,
        deviations: int,
    ) -> None:
        self.function = config.activation
        self.filters, inputs = (), features
        if images:
            self.filters = tuple(tuple(_filters(rng, shape[2]) for shape in images) for _ in range(2))
            inputs += sum(_convolved_size(shape) for shape in images)
        sizes = (inputs, *config.hidden)
        if config.network == "gru":
            self.actor = self.critic = ()
            self.encoder = tuple(_stack(rng, sizes[:-1]))
            self.cell = Cell(rng, sizes[-2], sizes[-1])
        else:
            self.actor, self.critic = tuple(_stack(rng, sizes)), tuple(_stack(rng, sizes))
            self.encoder, self.cell = (), None
        # Small weights at the end: every action is about as probable at first.
        self.action, self.value = Dense(rng, sizes[-1], outputs, 0.01), Dense(rng, sizes[-1], 1, 1.0)
        self.log_std = np.zeros(deviations, np.float32)

    def act(self, features: Array, images: Sequence[Array], memory: Array) -> tuple[Array, Array]:
        """What decides about the next action `[..., outputs]`, and what is remembered after it; no value is computed."""
        if self.cell is not None:
            memory = self.cell(self._through(self.encoder, features), memory)
            return self.action(memory), memory
        return self._actor(features, images), memory

    def judge(
        self, features: Array, images: Sequence[Array], begins: Array, memory: Array
    ) -> tuple[Array, Array, Array]:
        """Outputs, values `[...]` and memories of whole sequences; axis 0 is time where the network has memory.

        Args:
            begins: whether an episode begins in that timestep: nothing is remembered from before.
            memory: at timestep 0.
        """
        cell = self.cell
        if cell is None:
            values = self._critic(features, images)
            return self._actor(features, images), values, memory

        def body(memory: Array, given: tuple[Array, Array]) -> tuple[Array, Array]:
            remembered = cell(given[0], jnp.where(given[1][..., None], jnp.float32(0), memory))
            return remembered, remembered

        _, memories = jax.lax.scan(body, memory, (self._through(self.encoder, features), begins))
        values = _only(self.value, memories)
        return self.action(memories), values, memories

    def values(self, features: Array, images: Sequence[Array], memory: Array) -> Array:
        """Values `[...]` of what is seen, with what is remembered from before."""
        if self.cell is not None:
            return _only(self.value, self.cell(self._through(self.encoder, features), memory))
        return self._critic(features, images)

    def _actor(self, features: Array, images: Sequence[Array]) -> Array:
        return self.action(self._through(self.actor, self._joined(0, features, images)))

    def _critic(self, features: Array, images: Sequence[Array]) -> Array:
        return _only(self.value, self._through(self.critic, self._joined(1, features, images)))

    def _through(self, layers: Sequence[Dense], x: Array) -> Array:
        for layer in layers:
            x = ACTIVATIONS[self.function](layer(x))
        return x

    def _joined(self, which: int, features: Array, images: Sequence[Array]) -> Array:
        """The features with those of the images behind them, through the actor's convolutions (0) or the critic's (1)."""
        parts = [features]
        for image, filters in zip(images, self.filters[which] if self.filters else (), strict=True):
            parts.append(convolved(filters, image, ACTIVATIONS[self.function]))
        return jnp.concatenate(parts, -1) if len(parts) > 1 else features


def convolved(filters: Sequence[Array], image: Array, activation: Callable[[Array], Array]) -> Array:
    """Features `[..., K]` of images `[..., H, W, C]`.

    A convolution is written as a product of patches and weights. With weights that differ from seed to seed the usual
    operation becomes one of many groups, for which XLA has only slow loops on a CPU.
    """
    x = jnp.reshape(image, (-1, *image.shape[-3:]))
    for kernel in filters:
        size, _, channels, outputs = kernel.shape
        height, width = x.shape[1:3]
        wide = jnp.pad(x, ((0, 0), (size // 2, size // 2), (size // 2, size // 2), (0, 0)))
        shifts = itertools.product(range(size), repeat=2)
        patches = jnp.concatenate([wide[:, down : down + height, right : right + width] for down, right in shifts], -1)
        x = activation(patches @ jnp.reshape(kernel, (size * size * channels, outputs)))
        x = jnp.pad(x, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)))
        x = jnp.mean(jnp.reshape(x, (-1, x.shape[1] // 2, 2, x.shape[2] // 2, 2, outputs)), (2, 4))
    return jnp.reshape(x, (*image.shape[:-3], -1))


def _convolved_size(shape: Sequence[int]) -> int:
    height, width = shape[0], shape[1]
    for _ in FILTERS:
        height, width = -(-height // 2), -(-width // 2)
    return height * width * FILTERS[-1][0]


def _filters(rng: np.random.Generator, channels: int) -> tuple[Array, ...]:
    made = []
    for outputs, size in FILTERS:
        made.append(_orthogonal(rng, (size, size, channels, outputs), math.sqrt(2)))
        channels = outputs
    return tuple(made)


def _stack(rng: np.random.Generator, sizes: Sequence[int]) -> list[Dense]:
    return [Dense(rng, inputs, outputs, math.sqrt(2)) for inputs, outputs in itertools.pairwise(sizes)]


def _only(layer: Dense, x: Array) -> Array:
    """What a layer with one output gives, `[...]`."""
    return layer(x)[..., 0]


def _orthogonal(rng: np.random.Generator, shape: tuple[int, ...], gain: float) -> Array:
    """An orthogonal matrix times `gain`, over all axes but the last: it keeps the length of what goes through it."""
    inputs, outputs = math.prod(shape[:-1]), shape[-1]
    tall = rng.standard_normal((max(inputs, outputs), min(inputs, outputs)))
    basis, triangle = np.linalg.qr(tall)
    basis = basis * np.where(np.diag(triangle) < 0, -1.0, 1.0)  # uniform over all such matrices
    return (gain * (basis if inputs >= outputs else basis.T)).reshape(shape).astype(np.float32)
