"""Policies: from leaves to features, through a network, to a distribution over actions and a value.

A policy is made from the leaves that an environment declares, so it fits any environment behind the protocol. Everything
works on batches: arrays have any number of leading axes. All numbers are float32 and say so, so that the results
are the same, bit for bit, whether JAX's 64-bit types are on or off.

**Discrete actions** (integer and boolean leaves) are one categorical distribution for each element. Where the environment
tells which actions are legal, the others have no probability. **Continuous actions** are independent normal distributions
around the network's output, in a unit in which the leaf's bounds are -1 and 1, and are *clipped* to the bounds when they
are handed to the environment. Squashing them through a tanh would bound them too. But the correction that it needs makes
densities near the bounds useless in float32, and the bounds, where the best action often lies, would never be reached.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.legal import mask_of
from harness.candidate.faces.leaves import bounds, is_action
from harness.task.training import PpoConfig
from harness.training.network import Network

Array = Any
F32 = jnp.float32
ILLEGAL = -1e9
"""The logit of an action that cannot be chosen: its probability is exactly 0 in float32, and no NaN comes of it."""
CLIP_FEATURES = 10.0
_POOLED_RANKS = (2, 3)


class Observed(NamedTuple):
    """What a network gets to see: numbers `[..., F]`, images `[..., H, W, C]`, and legal actions `[..., D, n]` or None."""

    vector: Array
    images: tuple[Array, ...]
    legal: Array | None


class Actions(NamedTuple):
    """Actions as a policy chooses them: indices `[..., D]` (int32) and numbers before clipping `[..., C]` (float32)."""

    discrete: Array
    continuous: Array


class Distribution(NamedTuple):
    """Over actions: logits `[..., D, n]` of which the illegal ones are `ILLEGAL`, mean and log deviation `[..., C]`."""

    logits: Array
    mean: Array
    log_std: Array


class Stats(NamedTuple):
    """Running mean and variance of the features `[F]`, and of how many rows they are."""

    mean: Array
    variance: Array
    count: Array


@dataclass(frozen=True)
class _Element:
    """A leaf as a policy sees it: where its elements lie among all of its kind."""

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    size: int
    low: np.ndarray[Any, Any]
    high: np.ndarray[Any, Any]


class Policy:
    """How one kind of network acts in one kind of environment. It holds no weights.

    Args:
        leaves: an environment's leaves by path, each a `harness.model.Leaf` or a mapping with its fields.
        config: says which network, and how large.

    Raises:
        ValueError: the environment is not one that a single agent can be trained in, or the network does not fit it.
    """

    def __init__(self, leaves: Mapping[str, Any], config: PpoConfig) -> None:
        described = {path: _described(leaf) for path, leaf in leaves.items()}
        self._identity = f"{config.digest} {described}"
        if "reward" not in described:
            raise ValueError("each of several players has a reward of its own: the trainer trains one agent")
        if described["reward"]["shape"]:
            raise ValueError(f"reward has the shape {described['reward']['shape']}: the trainer trains one agent")
        self.config = config
        seen = {path: leaf for path, leaf in described.items() if path.split("/")[0] == "observation"}
        if config.hold > 1 and any(path.split("/")[0] == "legal_actions" for path in described):
            raise ValueError("an action cannot be held (`hold`) where it may not be legal any more (`legal_actions`)")
        seen = {path: _pooled_leaf(leaf, config.pool) for path, leaf in seen.items()}
        convolves = config.network == "cnn"
        self.images = {path: leaf for path, leaf in seen.items() if convolves and len(leaf["shape"]) == 3}
        self.vectors = {path: leaf for path, leaf in seen.items() if path not in self.images}
        if convolves and not self.images:
            raise ValueError("a network `cnn` needs an observation of rank 3 (height, width, channels); there is none")
        self.features = sum(math.prod(leaf["shape"]) for leaf in self.vectors.values())
        actions = {path: leaf for path, leaf in described.items() if is_action(path)}
        self.discrete = _elements({path: leaf for path, leaf in actions.items() if not _is_float(leaf)})
        self.continuous = _elements({path: leaf for path, leaf in actions.items() if _is_float(leaf)})
        self.choices = [count for leaf in self.discrete for count in _choices(leaf)]
        self.most_choices = max(self.choices, default=1)
        self.numbers = sum(leaf.size for leaf in self.continuous)
        self.masks = {leaf.path: mask_of(leaf.path) for leaf in self.discrete if mask_of(leaf.path) in described}
        self.observed_leaves = (*self.vectors, *self.images, *self.masks.values())
        possible = np.arange(self.most_choices) < np.array(self.choices, np.int32).reshape(-1, 1)
        self._possible = possible.reshape(len(self.choices), self.most_choices)

    def __eq__(self, other: object) -> bool:
        """Whether the same programs compute both: what was compiled for one serves the other."""
        return isinstance(other, Policy) and other._identity == self._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    # --- between leaves and features ----------------------------------------------------------------------------------

    def observe(self, leaves: Mapping[str, Array]) -> Observed:
        """What the network sees of leaves with any leading axes; `observed_leaves` names those that it needs."""
        path, leaf = next(iter((self.vectors | self.images).items()))
        shape = jnp.shape(leaves[path])
        lead = shape[: len(shape) - len(leaf["shape"])]
        pool = self.config.pool
        flat = [
            jnp.reshape(_pooled(jnp.asarray(leaves[path]).astype(F32), len(leaf["shape"]), pool), (*lead, -1))
            for path, leaf in self.vectors.items()
        ]
        vector = jnp.concatenate(flat, -1) if flat else jnp.zeros((*lead, 0), F32)
        images = []
        for path, leaf in self.images.items():
            image = jnp.asarray(leaves[path])
            scale = 1 / 255 if np.dtype(leaf["dtype"]) == np.uint8 else 1.0
            images.append(_pooled(image.astype(F32) * F32(scale), len(leaf["shape"]), pool))
        return Observed(vector, tuple(images), self._legal(leaves, lead) if self.masks else None)

    def _legal(self, leaves: Mapping[str, Array], lead: tuple[int, ...]) -> Array:
        columns = []
        for leaf in self.discrete:
            counts = _choices(leaf)
            possible = self._possible[leaf.start : leaf.start + leaf.size]
            if leaf.path not in self.masks:
                columns.append(jnp.broadcast_to(possible, (*lead, *possible.shape)))
                continue
            mask = jnp.reshape(jnp.asarray(leaves[self.masks[leaf.path]]), (*lead, leaf.size, -1))
            if mask.shape[-1] != max(counts):
                raise ValueError(f"{self.masks[leaf.path]} must say for each value of {leaf.path} whether it is legal")
            room = [(0, 0)] * (mask.ndim - 1) + [(0, self.most_choices - mask.shape[-1])]
            columns.append(jnp.pad(mask, room) & possible)
        return jnp.concatenate(columns, -2)

    def to_leaves(self, actions: Actions) -> dict[str, Array]:
        """Actions as the environment takes them, by path, inside the bounds of their leaves."""
        leaves = {}
        for leaf in self.discrete:
            chosen = actions.discrete[..., leaf.start : leaf.start + leaf.size]
            shaped = jnp.reshape(chosen, (*chosen.shape[:-1], *leaf.shape))
            held = jax.dtypes.canonicalize_dtype(leaf.dtype)
            taken = shaped.astype(held)
            leaves[leaf.path] = taken if held == np.bool_ else taken + leaf.low.astype(held)
        for leaf in self.continuous:
            number = actions.continuous[..., leaf.start : leaf.start + leaf.size]
            shaped = jnp.reshape(number, (*number.shape[:-1], *leaf.shape))
            held = jax.dtypes.canonicalize_dtype(leaf.dtype)
            bounded = np.isfinite(leaf.low) & np.isfinite(leaf.high)
            low, high = (np.where(bounded, bound, unit) for bound, unit in ((leaf.low, -1.0), (leaf.high, 1.0)))
            middle, reach = ((low + high) / 2).astype(np.float32), ((high - low) / 2).astype(np.float32)
            scaled = (shaped * reach + middle).astype(held)
            leaves[leaf.path] = jnp.clip(scaled, leaf.low.astype(held), leaf.high.astype(held))
        return {path: leaves[path] for path in sorted(leaves)}

    # --- statistics of observations -----------------------------------------------------------------------------------

    def no_stats(self) -> Stats:
        """Statistics of nothing, under which features pass unchanged."""
        return Stats(jnp.zeros(self.features, F32), jnp.ones(self.features, F32), jnp.zeros((), F32))

    def extended(self, stats: Stats, vector: Array) -> Stats:
        """Statistics with the rows `[..., F]` added (Chan's formula for two groups)."""
        if not self.config.normalise_observations:
            return stats
        rows = jnp.reshape(vector, (math.prod(vector.shape[:-1]), self.features))
        count = stats.count + F32(rows.shape[0])
        mean = jnp.mean(rows, 0)
        delta, share = mean - stats.mean, F32(rows.shape[0]) / count
        spread = jnp.mean(jnp.square(rows - mean), 0)
        variance = stats.variance * (1 - share) + spread * share + jnp.square(delta) * share * (1 - share)
        return Stats(stats.mean + delta * share, variance, count)

    def _normal(self, stats: Stats, vector: Array) -> Array:
        if not self.config.normalise_observations:
            return vector
        scaled = (vector - stats.mean) * jax.lax.rsqrt(stats.variance + F32(1e-8))
        return jnp.clip(scaled, F32(-CLIP_FEATURES), F32(CLIP_FEATURES))

    # --- the network --------------------------------------------------------------------------------------------------

    def network(self, rng: np.random.Generator) -> Network:
        """Fresh weights."""
        return Network(
            self.config,
            rng,
            features=self.features,
            images=[leaf["shape"] for leaf in self.images.values()],
            outputs=len(self.choices) * self.most_choices + self.numbers,
            deviations=self.numbers,
        )

    def memory(self, count: int) -> Array:
        """What `count` instances remember at the begin of their episodes: `[count, H]`, H = 0 without memory."""
        return jnp.zeros((count, self.config.hidden[-1] if self.config.network == "gru" else 0), F32)

    def act(self, network: Network, stats: Stats, observed: Observed, memory: Array) -> tuple[Distribution, Array]:
        """The distribution of the next action, and what is remembered after it; no value is computed."""
        out, memory = network.act(self._normal(stats, observed.vector), observed.images, memory)
        return self._distribution(network, out, observed.legal), memory

    def judge(
        self, network: Network, stats: Stats, observed: Observed, begins: Array, memory: Array
    ) -> tuple[Distribution, Array, Array]:
        """Distributions, values `[...]` and memories of whole sequences; see `Network.judge`."""
        seen = self._normal(stats, observed.vector)
        out, values, memories = network.judge(seen, observed.images, begins, memory)
        return self._distribution(network, out, observed.legal), values, memories

    def value(self, network: Network, stats: Stats, observed: Observed, memory: Array) -> Array:
        """Values `[...]` of observations, seen with what is remembered from before them `[..., H]`."""
        return network.values(self._normal(stats, observed.vector), observed.images, memory)

    def _distribution(self, network: Network, out: Array, legal: Array | None) -> Distribution:
        size = len(self.choices) * self.most_choices
        logits = jnp.reshape(out[..., :size], (*out.shape[:-1], len(self.choices), self.most_choices))
        if legal is not None:
            logits = jnp.where(legal, logits, F32(ILLEGAL))
        elif not self._possible.all():
            logits = jnp.where(self._possible, logits, F32(ILLEGAL))
        return Distribution(logits, out[..., size:], network.log_std)

    # --- distributions ------------------------------------------------------------------------------------------------

    def noise(self, key: jax.Array, lead: Sequence[int]) -> Actions:
        """The chance of `sample`, for leading axes `lead`: Gumbel `[*lead, D, n]` and normal `[*lead, C]`."""
        one, two = jax.random.split(key)
        discrete = jax.random.gumbel(one, (*lead, len(self.choices), self.most_choices), F32)
        return Actions(discrete, jax.random.normal(two, (*lead, self.numbers), F32))

    def sample(self, given: Distribution, noise: Actions) -> Actions:
        """Actions drawn with the chance that `noise` made."""
        chosen = jnp.argmax(given.logits + noise.discrete, -1).astype(jnp.int32)
        return Actions(chosen, given.mean + jnp.exp(given.log_std) * noise.continuous)

    def mode(self, given: Distribution) -> Actions:
        """The most probable actions."""
        return Actions(jnp.argmax(given.logits, -1).astype(jnp.int32), given.mean)

    def log_probability(self, given: Distribution, actions: Actions) -> Array:
        """Logarithm of the probability (density) of actions, `[...]`."""
        total = jnp.zeros(actions.discrete.shape[:-1], F32)
        if self.discrete:
            logs = jax.nn.log_softmax(given.logits)
            chosen = actions.discrete[..., None] == jnp.arange(self.most_choices, dtype=jnp.int32)
            total += jnp.sum(jnp.where(chosen, logs, F32(0)), (-2, -1))
        if self.continuous:
            away = (actions.continuous - given.mean) * jnp.exp(-given.log_std)
            total -= jnp.sum(F32(0.5) * jnp.square(away) + given.log_std + F32(0.5 * math.log(2 * math.pi)), -1)
        return total

    def entropy(self, given: Distribution) -> Array:
        """Entropy, `[...]`."""
        total = jnp.zeros(given.logits.shape[:-2], F32)
        if self.discrete:
            logs = jax.nn.log_softmax(given.logits)
            total -= jnp.sum(jnp.exp(logs) * logs, (-2, -1))
        if self.continuous:
            total += jnp.sum(given.log_std + F32(0.5 * math.log(2 * math.pi * math.e)), -1)
        return total


# --- leaves -----------------------------------------------------------------------------------------------------------


def _described(leaf: Any) -> dict[str, Any]:
    if isinstance(leaf, Mapping):
        return {
            "dtype": leaf["dtype"],
            "shape": tuple(leaf.get("shape", ())),
            **{n: leaf.get(n) for n in ("low", "high")},
        }
    return {"dtype": leaf.dtype, "shape": tuple(leaf.shape), "low": leaf.low, "high": leaf.high}


def _pooled_leaf(leaf: dict[str, Any], side: int) -> dict[str, Any]:
    """An observed leaf in the shape in which the network sees it."""
    shape = leaf["shape"]
    pooled = len(shape) in _POOLED_RANKS
    return leaf | {"shape": (*(-(-size // side) for size in shape[:2]), *shape[2:])} if pooled else leaf


def _pooled(array: Array, rank: int, side: int) -> Array:
    """Means over squares of the first two of a leaf's `rank` axes, which come last; what a square lacks at the edge is 0."""
    if side == 1 or rank not in _POOLED_RANKS:
        return array
    *lead, height, width, channels = array.shape if rank == 3 else (*array.shape, 1)
    edges = [(0, 0)] * len(lead) + [(0, -height % side), (0, -width % side), (0, 0)]
    whole = jnp.pad(jnp.reshape(array, (*lead, height, width, channels)), edges)
    rows, columns = whole.shape[-3] // side, whole.shape[-2] // side
    means = jnp.mean(jnp.reshape(whole, (*lead, rows, side, columns, side, channels)), (-4, -2))
    return means if rank == 3 else means[..., 0]


def _is_float(leaf: Mapping[str, Any]) -> bool:
    return np.dtype(leaf["dtype"]).kind == "f"


def _elements(leaves: Mapping[str, Mapping[str, Any]]) -> tuple[_Element, ...]:
    elements, start = [], 0
    for path in sorted(leaves):
        leaf = leaves[path]
        shape, size = tuple(leaf["shape"]), math.prod(leaf["shape"])
        if (
            not _is_float(leaf)
            and np.dtype(leaf["dtype"]).kind != "b"
            and (leaf["low"] is None or leaf["high"] is None)
        ):
            raise ValueError(f"the action leaf {path} has no bounds, so there is no number of actions to choose from")
        elements.append(_Element(path, np.dtype(leaf["dtype"]), shape, start, size, *bounds(leaf)))
        start += size
    return tuple(elements)


def _choices(leaf: _Element) -> list[int]:
    if leaf.dtype.kind == "b":
        return [2] * leaf.size
    return [int(high) - int(low) + 1 for low, high in zip(leaf.low.ravel(), leaf.high.ravel(), strict=True)]
