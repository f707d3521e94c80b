"""Hypothesis strategies made from a task's leaves, and the search for the simplest example that fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypedDict

import hypothesis
import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, Phase
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from harness.errors import EnvironmentFailure
from harness.model import Array, Leaf
from harness.task.contract import Task, TaskProbe

SEED = "seed"


class Search(TypedDict):
    """The settings of one search, see `simplest_failure`."""

    seed: int
    examples: int
    shrink: bool


class _Searches:
    """Searches that run now, in whatever threads: the first one changes what the last one puts back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._usual = providers._get_local_constants

    @contextmanager
    def began(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._usual = providers._get_local_constants
                self._replace(Constants)
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._replace(self._usual)

    def _replace(self, constants: Callable[[], Constants]) -> None:
        providers._get_local_constants = constants
        providers.CONSTANTS_CACHE.cache.clear()


_searches = _Searches()


class _Fails(Exception):
    """Tells Hypothesis that an example fails."""


@contextmanager
def _repeatable() -> Iterator[None]:
    """Have examples chosen by the seed alone.

    Hypothesis also draws constants that it finds in the source of whatever local modules happen to be imported, and has
    no setting against it. Another process would then judge other examples from the same seed, and no verdict could be
    repeated.
    """
    with _searches.began():
        yield


def simplest_failure(
    strategy: st.SearchStrategy[Any], fails: Callable[[Any], bool], *, seed: int, examples: int, shrink: bool = True
) -> tuple[Any | None, int]:
    """Search a strategy for an example that fails, and shrink it.

    Args:
        fails: the judgement; it may ask workers.
        seed: makes the search repeatable.
        examples: how many to try.
        shrink: whether to look for a simpler one than the first that fails.

    Returns:
        The simplest failing example found, or None, and the number of examples that were judged.

    Raises:
        EnvironmentFailure: as soon as `fails` raises one; it is no failing example.
    """
    simplest: list[Any] = []
    broken: list[EnvironmentFailure] = []
    judged = 0

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(strategy)
    def judge(example: Any) -> None:
        nonlocal judged
        if broken:
            return
        judged += 1
        try:
            failed = fails(example)
        except EnvironmentFailure as failure:
            broken.append(failure)
            return
        if failed:
            simplest[:] = [example]
            raise _Fails

    try:
        with _repeatable():
            judge()
    except _Fails:
        pass
    except Exception:
        # Hypothesis wraps a failure that it could not repeat: the example is kept all the same, as what was seen.
        if not simplest:
            raise
    if broken:
        raise broken[0]
    return (simplest[0] if simplest else None), judged


def leaf_values(leaf: Leaf) -> st.SearchStrategy[Array]:
    """Values of a leaf within its bounds."""
    dtype = np.dtype(leaf.dtype)
    if leaf.shape == ():
        return _scalars(dtype, leaf.low, leaf.high).map(lambda value: np.asarray(value, dtype=dtype))
    size = int(np.prod(leaf.shape))
    bounds = zip(_spread(leaf.low, leaf, size), _spread(leaf.high, leaf, size), strict=True)
    elements = st.tuples(*(_scalars(dtype, low, high) for low, high in bounds))
    return elements.map(lambda values: np.asarray(values, dtype=dtype).reshape(leaf.shape))


def probe_inputs(probe: TaskProbe) -> st.SearchStrategy[dict[str, Array]]:
    """Inputs of a probe, uniformly over the bounds of its leaves."""
    return st.fixed_dictionaries({name: leaf_values(leaf) for name, leaf in probe.inputs.items()})


def stacked_inputs(probe: TaskProbe, inputs: Mapping[str, Any]) -> dict[str, Array]:
    """One input of a probe as stacked leaves, `[1, *leaf shape]`."""
    return {name: np.asarray(inputs[name], dtype=leaf.dtype)[None] for name, leaf in probe.inputs.items()}


def actions(task: Task, length: int) -> st.SearchStrategy[dict[str, Array]]:
    """Stacked action leaves for 1 to `length` steps."""
    one = st.fixed_dictionaries({path: leaf_values(leaf) for path, leaf in task.actions.items()})
    return st.lists(one, min_size=1, max_size=length).map(lambda steps: stack_actions(task, steps))


def stack_actions(task: Task, steps: list[Any]) -> dict[str, Array]:
    """A list of actions (values, or one dictionary for each step) as stacked leaves."""
    timesteps = [step if isinstance(step, Mapping) else {"action": step} for step in steps]
    return {
        path: np.asarray([timestep[path] for timestep in timesteps], dtype=leaf.dtype).reshape(
            (len(timesteps), *leaf.shape)
        )
        for path, leaf in task.actions.items()
    }


def _scalars(dtype: np.dtype[Any], low: Any, high: Any) -> st.SearchStrategy[Any]:
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return st.integers(info.min if low is None else int(low), info.max if high is None else int(high))
    low = None if low is None or np.isinf(low) else float(dtype.type(low))
    high = None if high is None or np.isinf(high) else float(dtype.type(high))
    width = 8 * dtype.itemsize
    assert width in (16, 32, 64)
    # XLA flushes subnormal numbers to zero on the CPU: no candidate could agree on them (docs/levels.md).
    normal = {"allow_nan": False, "allow_infinity": False, "allow_subnormal": False}
    return st.floats(low, high, width=width, **normal)


def _spread(bound: Any, leaf: Leaf, size: int) -> list[Any]:
    if bound is None:
        return [None] * size
    return np.broadcast_to(np.asarray(bound), leaf.shape).ravel().tolist()
