"""Where the time of a compiled program goes, by a trace of it."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from harness.candidate.adapters.jax import trace


@pytest.mark.parametrize(("most_events", "calls"), [(1_000_000, 24), (100, 1)], ids=["short", "loops for long"])
def test_of_a_program_that_runs_many_operations_fewer_calls_are_traced(
    most_events: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "_MOST_EVENTS", most_events)
    argument = jnp.ones((64, 64), jnp.float32)
    compiled = jax.jit(lambda x: jax.lax.fori_loop(0, 200, lambda _, y: jnp.tanh(y @ y), x)).lower(argument).compile()
    found = trace.hot_operations(compiled, lambda: compiled(argument).block_until_ready(), Path(__file__).parent)
    assert found["calls"] == calls
    assert sum(each["share"] for each in found["operations"]) == pytest.approx(1.0, abs=0.01)
    assert any(each["source"].startswith(Path(__file__).name) for each in found["operations"])
