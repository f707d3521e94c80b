"""What one player sees and does: between an environment's leaves and the numbers of a network.

Where several play each has a seat of its own. Its leaves are those below its name, and those that are of all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.faces.leaves import bounds, is_action, mask_of
from harness.task.training import PpoConfig

Array = Any
F32 = jnp.float32
_POOLED_RANKS = (2, 3)


class Actions(NamedTuple):
    """Actions as a policy chooses them: indices `[..., D]` (int32) and numbers before clipping `[..., C]` (float32)."""

    discrete: Array
    continuous: Array


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


class Seat:
    """One player's leaves, as features and as actions. Arrays have any number of leading axes.

    Args:
        described: an environment's leaves by path, each with dtype, shape, low and high.
        config: says which network sees them.
        player: its name; None where one agent plays.

    Attributes:
        vectors, images: what is seen as numbers and as images, leaves by path as the network sees them.
        features: how many numbers are seen.
        choices: how many values each element of a discrete action has.
        numbers: how many elements are continuous.
        possible: which values each discrete element has, bool `[D, n]`.
        masks: the leaf that says which values of an action leaf are legal, by the action leaf's path.

    Raises:
        ValueError: the network does not fit what is seen, or an action has no bounds.
    """

    def __init__(
        self, described: Mapping[str, Mapping[str, Any]], config: PpoConfig, player: str | None = None
    ) -> None:
        own = described if player is None else _of(described, player)
        self.pool = config.pool
        seen = {path: leaf for path, leaf in own.items() if path.split("/")[0] == "observation"}
        seen = {path: _pooled_leaf(leaf, config.pool) for path, leaf in seen.items()}
        convolves = config.network == "cnn"
        self.images = {path: leaf for path, leaf in seen.items() if convolves and len(leaf["shape"]) == 3}
        self.vectors = {path: leaf for path, leaf in seen.items() if path not in self.images}
        if convolves and not self.images:
            raise ValueError("a network `cnn` needs an observation of rank 3 (height, width, channels); there is none")
        self.features = sum(math.prod(leaf["shape"]) for leaf in self.vectors.values())
        actions = {path: leaf for path, leaf in own.items() if is_action(path)}
        self.discrete = _elements({path: leaf for path, leaf in actions.items() if not _is_float(leaf)})
        self.continuous = _elements({path: leaf for path, leaf in actions.items() if _is_float(leaf)})
        self.choices = [count for leaf in self.discrete for count in _choices(leaf)]
        self.numbers = sum(leaf.size for leaf in self.continuous)
        self.masks = {leaf.path: mask_of(leaf.path) for leaf in self.discrete if mask_of(leaf.path) in described}
        most = max(self.choices, default=1)
        possible = np.arange(most) < np.array(self.choices, np.int32).reshape(-1, 1)
        self.possible = possible.reshape(len(self.choices), most)

    def lead(self, leaves: Mapping[str, Array]) -> tuple[int, ...]:
        """The leading axes of leaves."""
        path, leaf = next(iter((self.vectors | self.images).items()))
        shape = jnp.shape(leaves[path])
        return shape[: len(shape) - len(leaf["shape"])]

    def vector(self, leaves: Mapping[str, Array]) -> Array:
        """What is seen as numbers, `[..., features]`."""
        lead = self.lead(leaves)
        flat = [
            jnp.reshape(_pooled(jnp.asarray(leaves[path]).astype(F32), len(leaf["shape"]), self.pool), (*lead, -1))
            for path, leaf in self.vectors.items()
        ]
        return jnp.concatenate(flat, -1) if flat else jnp.zeros((*lead, 0), F32)

    def pictures(self, leaves: Mapping[str, Array]) -> tuple[Array, ...]:
        """What is seen as images, each `[..., H, W, C]`."""
        images = []
        for path, leaf in self.images.items():
            image = jnp.asarray(leaves[path])
            scale = 1 / 255 if np.dtype(leaf["dtype"]) == np.uint8 else 1.0
            images.append(_pooled(image.astype(F32) * F32(scale), len(leaf["shape"]), self.pool))
        return tuple(images)

    def legal(self, leaves: Mapping[str, Array]) -> Array:
        """Which values are legal, bool `[..., D, n]`."""
        lead, most = self.lead(leaves), self.possible.shape[-1]
        columns = [jnp.zeros((*lead, 0, most), bool)]
        for leaf in self.discrete:
            counts = _choices(leaf)
            possible = self.possible[leaf.start : leaf.start + leaf.size]
            if leaf.path not in self.masks:
                columns.append(jnp.broadcast_to(possible, (*lead, *possible.shape)))
                continue
            mask = jnp.reshape(jnp.asarray(leaves[self.masks[leaf.path]]), (*lead, leaf.size, -1))
            if mask.shape[-1] != max(counts):
                raise ValueError(f"{self.masks[leaf.path]} must say for each value of {leaf.path} whether it is legal")
            room = [(0, 0)] * (mask.ndim - 1) + [(0, most - mask.shape[-1])]
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


def _of(described: Mapping[str, Mapping[str, Any]], player: str) -> dict[str, Mapping[str, Any]]:
    """What a player sees and does: below its name where the tree has such leaves, else what is of all."""
    found: dict[str, Mapping[str, Any]] = {}
    for tree in ("observation", "action"):
        whole = {path: leaf for path, leaf in described.items() if path.split("/")[0] == tree}
        own = {path: leaf for path, leaf in whole.items() if path.split("/")[1:2] == [player]}
        # In one order for all seats: one network sees them all.
        found |= dict(sorted((own or whole).items()))
    return found


def _pooled_leaf(leaf: Mapping[str, Any], side: int) -> dict[str, Any]:
    """An observed leaf in the shape in which the network sees it."""
    shape = leaf["shape"]
    pooled = {"shape": (*(-(-size // side) for size in shape[:2]), *shape[2:])} if len(shape) in _POOLED_RANKS else {}
    return {**leaf, **pooled}


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


def alike(seats: Sequence[Seat]) -> None:
    """Raise ValueError where seats cannot be seen by networks of one shape: their images differ."""
    shapes = [[tuple(leaf["shape"]) for leaf in seat.images.values()] for seat in seats]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("players see images of different shapes: a network `mlp` takes them as numbers")
