"""The chance of a measured run: the same in JAX and in numpy, uniform, and legal."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from harness.candidate.adapters.bench_random import FEW_WORDS, added_up, random_action, run_key_data, step_key_data

KEY_DATA = run_key_data(11, 3)
ENV_INDICES, TIMESTEPS = np.arange(500, dtype=np.uint32)[None], np.arange(1, 41, dtype=np.uint32)[:, None]
LEAVES: dict[str, dict[str, Any]] = {
    "one of three": {"dtype": "int64", "shape": [], "low": 2, "high": 4},
    "a vector": {"dtype": "int32", "shape": [2], "low": [0, -3], "high": [1, 3]},
    "a flag": {"dtype": "bool", "shape": []},
    "a force": {"dtype": "float32", "shape": [2], "low": -1.0, "high": [0.5, 2.0]},
    "six forces": {"dtype": "float32", "shape": [6], "low": -1.0, "high": 1.0},
}


@pytest.mark.parametrize("name", LEAVES)
def test_numpy_repeats_the_actions_that_jax_takes(name: str) -> None:
    leaf = LEAVES[name]
    ours = random_action(np, 1, leaf, KEY_DATA, ENV_INDICES, TIMESTEPS, None)
    theirs = np.asarray(random_action(jnp, 1, leaf, KEY_DATA, ENV_INDICES, TIMESTEPS, None))
    assert ours.shape == theirs.shape == (40, 500, *leaf["shape"])
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6 if ours.dtype.kind == "f" else 0)
    low, high = (np.asarray(leaf.get(end, default)) for end, default in (("low", 0), ("high", 1)))
    assert (ours >= low).all() and (ours <= high).all()
    if ours.dtype.kind in "iu":
        for element in range(int(np.prod(leaf["shape"], dtype=int))):
            values = ours.reshape(20_000, -1)[:, element]
            _, counts = np.unique(values, return_counts=True)
            expected = 20_000 / (np.broadcast_to(high - low + 1, leaf["shape"]).reshape(-1)[element])
            assert (np.abs(counts - expected) < 6 * np.sqrt(expected)).all()


def test_only_legal_actions_are_taken_each_as_often_as_the_others() -> None:
    mask = np.random.default_rng(0).random((40, 500, 6)) < 0.5
    mask[..., 4] = True
    leaf = {"dtype": "int32", "shape": [], "low": 1, "high": 6}
    ours = random_action(np, 0, leaf, KEY_DATA, ENV_INDICES, TIMESTEPS, mask)
    theirs = np.asarray(random_action(jnp, 0, leaf, KEY_DATA, ENV_INDICES, TIMESTEPS, jnp.asarray(mask)))
    np.testing.assert_array_equal(ours, theirs)
    assert np.take_along_axis(mask, ours[..., None] - 1, -1).all()
    expected = (mask / mask.sum(-1, keepdims=True)).sum((0, 1))
    counts = np.bincount(ours.ravel() - 1, minlength=6)
    assert (np.abs(counts - expected) < 6 * np.sqrt(expected)).all()


@pytest.mark.parametrize(
    "leaf",
    [
        {"dtype": "float32", "shape": [], "low": None, "high": 1.0},
        {"dtype": "int32", "shape": [], "low": 0, "high": 1 << 20},
    ],
    ids=["unbounded", "too many"],
)
def test_an_action_that_cannot_be_chosen_is_refused(leaf: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cannot be chosen at random"):
        random_action(np, 0, leaf, KEY_DATA, ENV_INDICES, TIMESTEPS, None)


def test_no_two_timesteps_of_a_run_have_the_same_key() -> None:
    first, second = np.broadcast_arrays(*step_key_data(KEY_DATA, ENV_INDICES, TIMESTEPS))
    assert len({(int(a), int(b)) for a, b in zip(first.ravel(), second.ravel(), strict=True)}) == 20_000


def test_the_sum_of_a_sub_environment_sees_every_element_of_its_leaves_and_no_others() -> None:
    leaves = {
        "a": np.arange(6, dtype=np.float64).reshape(2, 3),
        "b": np.array([True, False]),
        "c": np.array([-1, 7], np.int8),
        "more than are added column by column": np.arange(2 * (FEW_WORDS + 1), dtype=np.uint8).reshape(2, -1),
        "none": np.zeros((2, 0), np.float32),
    }
    whole = added_up(leaves, 2)
    assert (whole.dtype, whole.shape) == (np.uint32, (2,))
    for path, leaf in leaves.items():
        for index in np.ndindex(leaf.shape):
            other = leaf.copy()
            other[index] = not other[index] if other.dtype == bool else other[index] + 1
            assert (added_up({**leaves, path: other}, 2) != whole).tolist() == [index[0] == 0, index[0] == 1]


def test_sums_of_short_and_long_rows_are_those_of_whole_numbers() -> None:
    rng = np.random.default_rng(4)
    for dtype in (np.uint8, np.uint16, np.uint32):
        for words in (1, FEW_WORDS, FEW_WORDS + 1, 3000):
            leaf = rng.integers(0, np.iinfo(dtype).max, (5, words), dtype, endpoint=True)
            assert added_up({"it": leaf}, 5).tolist() == [sum(row) % (1 << 32) for row in leaf.tolist()]
