"""Serves a task's own code. This runs in a sandbox: nothing here is called by the process that holds the keys.

A search asks the other way round: Hypothesis runs here, beside the task's strategies, and each example that it makes is an
answer. Whether the example fails comes with the next request. So the search waits in a thread between two requests.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import hypothesis.strategies as st
import numpy as np

from harness.errors import EnvironmentFailure, TaskError
from harness.model import Trajectory
from harness.task.contract import Task
from harness.task.load import load_task
from harness.task.suite import Suite, load_suite
from harness.verify.strategies import simplest_failure, stack_actions, stacked_inputs
from harness.verify.suite.wire import Unsent, trajectory_from_wire

MOST_SEED = (1 << 31) - 1
"""The largest seed of a sequence's case."""
Answers = list[list[Any]] | dict[str, str]
"""What each check says; or which leaf it needs, that the message does not hold."""


class SuiteServer:
    """The worker's side. `open` comes before every other call."""

    answers_batches = True
    _task: Task
    _suite: Suite
    _search: _Search | None = None

    def open(self, options: dict[str, Any]) -> dict[str, Any]:
        """Import the files of the task in the directory `options["task"]`, afresh; answers what they declare, or what is
        wrong.
        """
        self.close()
        try:
            self._task = load_task(Path(options["task"]))
            self._suite = load_suite(self._task)
        except TaskError as error:
            return {"mistake": error.as_json()}
        return {
            "invariants": [[invariant.name, invariant.module] for invariant in self._suite.invariants],
            "features": [feature.name for feature in self._suite.features],
            "generators": list(self._suite.generators),
            "sequences": [sequence.name for sequence in self._suite.sequences],
        }

    def judge(self, trajectories: list[dict[str, Any]]) -> Answers:
        """For each invariant the first timestep that breaks it in each trajectory, -1 where it holds, up to the trajectory
        on which it raised; and what it raised.
        """
        return _of_each([(invariant.violations, _first) for invariant in self._suite.invariants], trajectories)

    def show(self, trajectories: list[dict[str, Any]]) -> Answers:
        """For each feature two numbers for each trajectory, how many timesteps show it and the first of these, -1 where none
        does, up to the trajectory on which it raised; and what it raised.
        """
        return _of_each([(feature.shown, _count_and_first) for feature in self._suite.features], trajectories)

    def search(self, kind: str, name: str, seed: int, examples: int, shrink: bool) -> dict[str, Any]:
        """Begin a search over what a generator (`kind` is `inputs`, `name` its probe) or a sequence (`cases`) makes.

        Answers the first `example`, or nothing where there is none. One that was going on is given up.
        """
        self.close()
        if kind == "inputs":
            probe = self._task.probes[name]
            strategy, cast = self._suite.generators[name].make(), lambda made: stacked_inputs(probe, made)
        else:
            strategy, cast = self._cases(name), dict
        self._search = _Search(strategy, cast, seed, examples, shrink)
        return self._search.next()

    def searched(self, failed: bool) -> dict[str, Any]:
        """Whether the last example fails; answers the next one, or nothing where the search is over."""
        assert self._search is not None
        return self._search.next(failed)

    def close(self) -> None:
        """Give up the search that goes on."""
        if self._search is not None:
            self._search.give_up()
            self._search = None

    def _cases(self, name: str) -> st.SearchStrategy[dict[str, Any]]:
        [sequence] = [sequence for sequence in self._suite.sequences if sequence.name == name]

        def case(seed: int, made: dict[str, Any]) -> dict[str, Any]:
            start = made.get("start")
            if start is not None:
                start = {path: np.asarray(value, self._task.leaves[path].dtype) for path, value in start.items()}
            return {"seed": seed, "actions": stack_actions(self._task, list(made["actions"])), "start": start}

        return st.builds(case, st.integers(0, MOST_SEED), sequence.make(self._task))


class _GivenUp(EnvironmentFailure):
    """Ends a search that nobody waits for any more: it is what a search stops for at once."""


class _Search:
    """One search, in a thread that works while its caller waits for the next example, and waits in between."""

    def __init__(
        self,
        strategy: st.SearchStrategy[Any],
        cast: Callable[[Any], dict[str, Any]],
        seed: int,
        examples: int,
        shrink: bool,
    ) -> None:
        self._examples: SimpleQueue[dict[str, Any] | Exception] = SimpleQueue()
        self._judgements: SimpleQueue[bool | None] = SimpleQueue()

        def fails(example: Any) -> bool:
            # Not by `strategy.map`: Hypothesis would then choose other examples.
            self._examples.put({"example": cast(example)})
            failed = self._judgements.get()
            if failed is None:
                raise _GivenUp("the search was given up")
            return failed

        def run() -> None:
            try:
                simplest_failure(strategy, fails, seed=seed, examples=examples, shrink=shrink)
                self._examples.put({})
            except Exception as error:
                self._examples.put(error)

        self._thread = threading.Thread(target=run, name="search", daemon=True)
        self._thread.start()

    def next(self, failed: bool | None = None) -> dict[str, Any]:
        """The next example, once it is known whether the last one fails. Raises what the search raised."""
        if failed is not None:
            self._judgements.put(failed)
        found = self._examples.get()
        if isinstance(found, Exception):
            raise found
        return found

    def give_up(self) -> None:
        """End the thread."""
        self._judgements.put(None)
        self._thread.join()


def _of_each(
    checks: Sequence[tuple[Callable[[Trajectory], Any], Callable[[Any], tuple[int, ...]]]],
    trajectories: Sequence[Mapping[str, Any]],
) -> Answers:
    played = [trajectory_from_wire(each) for each in trajectories]
    try:
        return [_in_turn(check, played, answer) for check, answer in checks]
    except Unsent as unsent:
        return {"unsent": unsent.path}


def _in_turn(
    check: Callable[[Trajectory], Any], played: Sequence[Trajectory], answer: Callable[[Any], tuple[int, ...]]
) -> list[Any]:
    answers: list[int] = []
    try:
        for trajectory in played:
            answers.extend(answer(check(trajectory)))
    except Exception as error:  # whatever the task's code raises is an answer about that check alone
        return [answers, f"{type(error).__name__}: {error}"]
    return [answers, ""]


def _first(timesteps: Any) -> tuple[int]:
    return (int(timesteps[0]) if len(timesteps) else -1,)


def _count_and_first(timesteps: Any) -> tuple[int, int]:
    return len(timesteps), *_first(timesteps)
