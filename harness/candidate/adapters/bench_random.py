"""The chance of a measured run: cheap, repeatable, and the same to the last bit in JAX and in numpy.

An action has to be random, but choosing it must not cost what is to be measured. So it comes from a hash of where it is
taken, out of a few integer operations, which the verifier repeats in numpy: it knows the actions of a run without asking.
The keys of the candidate's own chance are counters, from which a cipher like Threefry makes streams as good as any.

What is computed here takes numpy's arrays and JAX's alike; this module imports neither JAX nor more of the harness than its
neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.candidate.adapters.legal import legal_count, ranked

GOLDEN = np.uint32(0x9E3779B9)
MOST_CHOICES = 1 << 16
STRIDE = 16
FEW_WORDS = 16
_FIRST, _SECOND = np.uint32(0x7FEB352D), np.uint32(0x846CA68B)
_HALF, _MIDDLE, _MANTISSA = np.uint32(16), np.uint32(15), np.uint32(8)


def run_key_data(seed: int, repeat: int) -> np.ndarray[Any, Any]:
    """The two 32-bit numbers from which all chance of one repetition of a run comes."""
    return np.random.default_rng([seed, repeat]).integers(0, 1 << 32, 2, np.uint32)


def checked_steps(key_data: Any, length: int) -> np.ndarray[Any, Any]:
    """The steps of a repetition whose outputs are added up: one of every 16, and the last, which depends on all others.

    To add up all of them would cost a tenth of the time that is to be measured.

    Returns:
        Their numbers from 0, `[ceil(length / 16) + 1]`; some may stand there twice.
    """
    first = int(key_data[0] ^ key_data[1]) % STRIDE
    return np.append(np.minimum(np.arange(first, first + length, STRIDE), length - 1), length - 1).astype(np.int32)


def step_key_data(key_data: Any, env_index: Any, timestep: Any) -> tuple[Any, Any]:
    """The two 32-bit numbers of the random key of one timestep of one sub-environment; no two timesteps of a run have the
    same.

    Args:
        key_data: of the run, `[2]`.
        env_index: its number, uint32.
        timestep: 0 for the reset, *t* for step *t*, uint32.
    """
    return key_data[0] + env_index * GOLDEN, key_data[1] + timestep


def random_bits(number: int, key_data: Any, env_index: Any, timestep: Any) -> Any:
    """What an action leaf is chosen by, uint32; arguments as of `random_action`."""
    first, second = step_key_data(key_data, env_index, timestep)
    return _mixed(_mixed(first + np.uint32(number)) ^ second)


def random_legal(xp: Any, leaf: Mapping[str, Any], bits: Any, legal: Any) -> Any:
    """Uniform legal values of a leaf, int32 `[...]`, by `random_bits`; `legal` is `[..., values]`."""
    return int(leaf.get("low") or 0) + ranked(xp, legal, _below(bits, legal_count(xp, legal)))


def random_action(
    xp: Any, number: int, leaf: Mapping[str, Any], key_data: Any, env_index: Any, timestep: Any, legal: Any
) -> Any:
    """Uniform values of one action leaf.

    Args:
        xp: `numpy` or `jax.numpy`.
        number: which of the action leaves it is.
        leaf: `dtype`, `shape`, and closed bounds `low` and `high`, which a leaf without a mask of legal values must have.
        key_data: of the run, `[2]`.
        env_index, timestep: where it is taken; uint32, of shapes that broadcast to the result's leading axes.
        legal: which of its values are legal, `[..., values]`, or None.

    Returns:
        `[..., *shape]`, in int32, uint32, bool or float32: to be cast to the dtype that is held.

    Raises:
        ValueError: it has no finite bounds, or too many values.
    """
    bits = random_bits(number, key_data, env_index, timestep)
    if legal is not None:
        return random_legal(xp, leaf, bits, legal)
    shape = tuple(leaf["shape"])
    count = int(np.prod(shape, dtype=np.int64))
    if shape:
        bits = xp.stack([_mixed(bits + np.uint32(index * int(GOLDEN) & 0xFFFFFFFF)) for index in range(count)], -1)
        bits = bits.reshape((*bits.shape[:-1], *shape))
    if np.dtype(leaf["dtype"]).kind == "b":
        return bits >> np.uint32(31) == 1
    low, high = (np.asarray(leaf.get(end), np.float64) for end in ("low", "high"))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError("an action without a finite `low` and `high` in task.toml cannot be chosen at random")
    if np.dtype(leaf["dtype"]).kind == "f":
        share = (bits >> _MANTISSA).astype(np.float32) * np.float32(2.0**-24)
        return low.astype(np.float32) + share * (high - low).astype(np.float32)
    if (high - low >= MOST_CHOICES).any():
        raise ValueError(f"an action with more than {MOST_CHOICES} values cannot be chosen at random")
    return low.astype(np.int32) + _below(bits, (high - low + 1).astype(np.uint32)).astype(np.int32)


def _below(bits: Any, count: Any) -> Any:
    """Bits as uniform numbers from 0 to `count` - 1, for a count of at most 2**16; no division, which no CPU vectorises."""
    return ((bits >> _HALF) * count) >> _HALF


def _mixed(numbers: Any) -> Any:
    """Each number as another one, each bit of which depends on every bit of the first."""
    numbers = (numbers ^ (numbers >> _HALF)) * _FIRST
    numbers = (numbers ^ (numbers >> _MIDDLE)) * _SECOND
    return numbers ^ (numbers >> _HALF)


def added_up(leaves: Mapping[str, Any], num_envs: int) -> np.ndarray[Any, Any]:
    """The sum of all leaves as 32-bit numbers, modulo 2**32, for each sub-environment by itself.

    Args:
        leaves: each `[num_envs, ...]`.

    Returns:
        uint32 `[num_envs]`.
    """
    total = np.zeros(num_envs, np.uint32)
    for leaf in leaves.values():
        rows = np.ascontiguousarray(leaf).reshape(num_envs, -1)
        words = rows.view(f"<u{min(rows.itemsize, 4)}")
        if words.shape[1] <= FEW_WORDS:
            # Column by column: a sum along short rows takes longer than all of its additions.
            for column in words.T:
                total += column
        else:
            total += words.sum(1, dtype=np.uint32)
    return total
