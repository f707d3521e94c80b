"""Random play, in batches: the candidate's auto-resetting batch under uniform actions.

The candidate is fast enough for a hundred million steps. What is rare in its play is what is rare in the reference's, as
long as it plays the same: some sub-environments of some batches are played again by the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from harness.errors import BadAnswer
from harness.measure.strength.rare.numbers import Numbers
from harness.model import STATE, Array
from harness.verdict import Outcome
from harness.verify.levels import autoreset
from harness.verify.pair import Pair

NAME = "random play"
MOST_STEPS = 1 << 18
"""Steps of a batch."""
MOST_BYTES = 1 << 28
"""And what it may show, twice for each timestep."""
LONGEST = 1 << 13
"""Steps in a row of one sub-environment: twice the horizon, where that is less."""
REPLAYED, REPLAYED_ENVS = 8, 2
"""So many batches of a stream, and of each so many sub-environments, are played by the reference too."""


class RandomPlay:
    """Batches of random play, each of the same size; the same stream and number give the same batch.

    Args:
        pair: whose seed it derives everything from, and whose candidate plays.
        numbers: what is told of each step.
    """

    def __init__(self, pair: Pair, numbers: Numbers) -> None:
        self._pair, self._numbers = pair, numbers
        task = pair.task
        together = max(16, min(MOST_STEPS, MOST_BYTES // (2 * task.timestep_bytes)))
        self._steps = min(2 * task.budgets.horizon, LONGEST, together)
        self._envs = max(1, together // self._steps)

    @property
    def size(self) -> int:
        """Steps of a batch."""
        return self._steps * self._envs

    def batches(self, stream: str, first: int, count: int) -> Iterator[Array]:
        """Numbers `[numbers, steps]` of the batches from `first` to below `count`; the next is played meanwhile.

        Raises:
            BadAnswer: the reference plays otherwise.
        """
        every = max(1, count // REPLAYED)
        replayed = range(self._pair.derive(f"{stream}/replayed") % every, count, every)
        with ThreadPoolExecutor(1, thread_name_prefix="lockstep-play") as threads:
            waiting = threads.submit(self._play, f"{stream}/{first}", first in replayed)
            for number in range(first, count):
                rows = waiting.result()
                if number + 1 < count:
                    waiting = threads.submit(self._play, f"{stream}/{number + 1}", number + 1 in replayed)
                yield rows

    def _play(self, stream: str, replayed: bool) -> Array:
        pair, steps, envs = self._pair, self._steps, self._envs
        actions = pair.random_batch_actions(stream, steps, envs)
        plan = autoreset.Plan(pair.derive(stream) % (1 << 31), envs, steps, np.arange(envs), actions)
        answer = autoreset.play(pair, pair.candidate, plan)
        if replayed:
            self._replay(answer, pair.random(f"{stream}/lanes").choice(envs, min(REPLAYED_ENVS, envs), replace=False))
        leaves = answer["leaves"]
        paths = [path for path in leaves if path.startswith(STATE)]
        before = {path: _flat(leaves[path][:-1]) for path in paths}
        after = {path: _flat(leaves[f"final/{path}"][1:]) for path in paths}
        return self._numbers.of(before, after, {path: _flat(array) for path, array in answer["actions"].items()})

    def _replay(self, answer: Mapping[str, Any], lanes: Array) -> None:
        shown = {part: {name: array[:, lanes] for name, array in arrays.items()} for part, arrays in answer.items()}
        result, _, _ = autoreset.replayed(self._pair, shown, NAME)
        if result.outcome is not Outcome.PASS:
            found = result.divergences[0]
            raise BadAnswer(
                f"the reference plays otherwise: {found.address} is {found.expected}, not {found.actual}", where=NAME
            )


def _flat(array: Array) -> Array:
    return array.reshape(-1, *array.shape[2:])
