"""Legal actions in the place of planned ones: computed alike by a candidate's batch and by the verifier."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from harness.candidate.adapters.legal import legal_action, ranked
from harness.candidate.faces.leaves import mask_of

LOW, VALUES = 3, 7


def test_an_action_stays_where_all_are_legal() -> None:
    planned = np.arange(LOW, LOW + VALUES, dtype=np.int64)
    assert legal_action(np, planned, LOW, np.ones((VALUES, VALUES), bool)).tolist() == planned.tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16])
def test_each_legal_action_and_no_other_is_taken(dtype: type) -> None:
    rng = np.random.default_rng(0)
    planned = rng.integers(LOW, LOW + VALUES, (200, 50)).astype(dtype)
    mask = rng.random((200, 1, VALUES)) < 0.5
    mask[:, 0, 2] = True
    legal = np.broadcast_to(mask, (200, 50, VALUES))
    taken = legal_action(np, planned, LOW, legal)
    assert taken.dtype == dtype
    assert np.take_along_axis(legal, taken[..., None].astype(np.int64) - LOW, -1).all()
    assert {len(set(row.tolist())) == allowed.sum() for row, allowed in zip(taken, mask[:, 0], strict=True)} == {True}
    assert np.array_equal(legal_action(jnp, jnp.asarray(planned), LOW, jnp.asarray(legal)), taken)


@pytest.mark.parametrize("values", [1, 31, 32, 33, 64, 100, 255, 300])
def test_a_rank_is_found_among_few_and_many_values(values: int) -> None:
    rng = np.random.default_rng(values)
    legal = rng.random((60, values)) < rng.random((60, 1))
    rank = rng.integers(0, values + 2, 60).astype(np.uint32)
    expected = [
        found[number] if number < len(found := np.flatnonzero(row)) else 0
        for row, number in zip(legal, rank, strict=True)
    ]
    for xp in (np, jnp):
        found = ranked(xp, xp.asarray(legal), xp.asarray(rank))
        assert found.dtype == np.int32 and found.tolist() == expected


def test_where_nothing_is_legal_the_action_stays() -> None:
    """It is of a player who is not to move, and whatever he gives must not matter."""
    nothing = np.zeros((1, VALUES), bool)
    assert legal_action(np, np.array([5]), LOW, nothing).tolist() == [5]
    assert legal_action(jnp, jnp.array([5]), LOW, jnp.asarray(nothing)).tolist() == [5]


def test_each_action_has_a_mask_of_its_own() -> None:
    assert (mask_of("action"), mask_of("action/left")) == ("legal_actions", "legal_actions/left")
