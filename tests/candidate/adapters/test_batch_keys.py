"""The keys of a batch have both forms that users have, and none comes twice."""

from __future__ import annotations

import numpy as np
import pytest

from harness.candidate.adapters.batch_keys import batch_key_data


@pytest.mark.parametrize("seed", range(20))
def test_every_other_key_is_made_of_a_number_whichever_way_one_looks(seed: int) -> None:
    key_data = batch_key_data(seed, 64, 33)
    assert key_data.shape == (65, 33, 2)
    assert key_data.dtype == np.uint32
    numbered = key_data[..., 0] == 0
    assert np.all(np.abs(numbered.mean(axis=0) - 0.5) < 0.02)
    assert np.all(np.abs(numbered.mean(axis=1) - 0.5) < 0.02)


@pytest.mark.parametrize("seed", range(5))
def test_no_key_made_of_a_number_comes_twice(seed: int) -> None:
    key_data = batch_key_data(seed, 512, 511)
    numbers = key_data[key_data[..., 0] == 0, 1]
    assert len(np.unique(numbers)) == numbers.size


def test_numbers_begin_at_small_ones_too() -> None:
    beginnings = [int(batch_key_data(seed, 1, 2)[0, 0, 1]) for seed in range(200)]
    assert min(beginnings) < 100
    assert max(beginnings) > 1 << 28


def test_a_seed_repeats_its_keys() -> None:
    assert np.array_equal(batch_key_data(7, 5, 17), batch_key_data(7, 5, 17))
    assert not np.array_equal(batch_key_data(7, 5, 17), batch_key_data(8, 5, 17))
