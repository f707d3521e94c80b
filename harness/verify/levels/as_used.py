"""Whether the candidate is the same for its users: an exported package, which a plain program steps.

The program steps the batch that `autoreset` has held against the reference, with the same keys and actions, in each way in
which users do (harness/candidate/as_user.py). What it shows must be what the reference confirmed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from harness.candidate.as_user import FINAL, User, ways
from harness.compare import Difference, compare_leaves
from harness.model import ENDINGS, STATE, Array, is_observed
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.leaf_grids import grid_of
from harness.verify.levels.autoreset import LEVEL, episodes, planned
from harness.verify.levels.batch import demand_arrays
from harness.verify.levels.shown_states import can_be_led, first_wrong_step
from harness.verify.open_loop import comparable_steps, together
from harness.verify.pair import Pair

USED = "as its users run it"
USER = "the candidate, as users run it"
Shown = Mapping[str, Mapping[str, Array]]
"""What a user sees: by way, the outputs by path, each `[steps + 1, sub-environments, ...]`."""


class Use:
    """What a user of the exported package sees of the same batch, in each way in which it is used.

    The batch comes from the run's seed alone. So the user's program may be at work beside checks that leave a core idle; but
    where masks decide about actions, those that the verified batch took are given to `start`.
    """

    def __init__(self, pair: Pair, user: User) -> None:
        self._pair, self._user = pair, user
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="lockstep-user")
        self._seen: Future[Shown] | None = None

    @property
    def starts_early(self) -> bool:
        """Whether nothing has to be known before, and `close` can break it off at any moment."""
        return self._user.may_start_early and not self._pair.task.masked

    def start(self, actions: Mapping[str, Array] | None = None) -> None:
        """Have it played, where that has not begun: with these actions, or with the planned ones."""
        if self._seen is None:
            self._seen = self._threads.submit(self._play, actions)

    def then(self, follows: Callable[[], None]) -> None:
        """Call this when what was started is over, however it ends; on the thread on which it ends."""
        assert self._seen is not None
        self._seen.add_done_callback(lambda _: follows())

    def shown(self) -> Shown:
        """What is seen, once it is over.

        Raises:
            EnvironmentFailure: the user's program could not answer.
        """
        self.start()
        assert self._seen is not None
        return self._seen.result()

    def close(self) -> None:
        """Break it off: after a failure nobody waits for the rest."""
        self._user.stop()
        self._threads.shutdown(cancel_futures=True)

    def _play(self, actions: Mapping[str, Array] | None) -> Shown:
        pair, plan = self._pair, planned(self._pair)
        order = pair.random("ways of use").permutation(len(ways(pair.task)))
        states = can_be_led(pair)
        answer = self._user.play(plan.key_data, actions or plan.actions, plan.env_indices, order, with_state=states)
        shapes = {path: leaf.shape for path, leaf in pair.task.outputs.items() if states or not path.startswith(STATE)}
        shapes |= {FINAL + path: shape for path, shape in shapes.items() if is_observed(path)}
        found = {
            way.name: demand_arrays(answer, way.name, way.sizes(plan.steps, len(plan.env_indices)), shapes, USER)
            for way in ways(pair.task)
        }
        for path in pair.task.state if states else ():
            for outputs in found.values():  # what is held in 32 bits is shown in 32 bits
                outputs[path] = outputs[path].astype(pair.task.state[path].dtype)
        return found


def check_used(pair: Pair, answer: Mapping[str, Any], shown: Shown) -> CheckResult:
    """Whether a user sees what the reference confirmed of the batch; `answer` and `shown` are those of `play` and `Use`."""
    examples, details = 0, dict[str, None]()
    parted = _Parted(pair, answer)
    tolerances = dict(pair.task.tolerances)
    tolerances |= {FINAL + path: tolerance for path, tolerance in tolerances.items()}
    for way, outputs in shown.items():
        timesteps, env_indices = outputs["terminated"].shape
        examples += env_indices
        for number in range(env_indices):
            expected = {
                path: np.ascontiguousarray(answer["leaves"][_in_batch(path)][:timesteps, number]) for path in outputs
            }
            actual = {path: np.ascontiguousarray(array[:, number]) for path, array in outputs.items()}
            found = compare_leaves(expected, actual, tolerances)
            grid = None if found is None else grid_of(expected, actual, found, tolerances)
            if found is not None and parted.may:
                found, detail = parted.judged(found, expected, actual, number)
                grid, details[detail] = None, None
            if found is not None:
                divergence = Divergence(
                    None, found.step, found.path, found.expected,
                    found.actual + (f" ({found.gap})" if found.gap else ""), "exported", LEVEL, USED, index=found.index,
                    grid=grid,
                    cause="in a plain program that imports the exported package, and steps "
                    f"{way}, the candidate is another one than in the verifier's worker: its code must not depend on "
                    "who runs it, or from where",
                )  # fmt: skip
                return CheckResult(USED, Outcome.FAIL, examples=examples, divergences=(divergence,))
    return CheckResult(USED, Outcome.PASS, examples=examples, detail="; ".join(details))


class _Parted:
    """What is made of a user's program that differs from the verified batch where floats may be off: XLA compiles both
    otherwise, and what that puts off is enlarged by each step.

    Attributes:
        may: whether both may part at all. A crate is the same machine code in both.
    """

    def __init__(self, pair: Pair, answer: Mapping[str, Any]) -> None:
        self._pair, self._answer = pair, answer
        self._ended = np.logical_or(*(answer["leaves"][path] for path in ENDINGS))
        self.may = pair.resynchronised and pair.task.candidate.kind != "rust"

    def judged(
        self, found: Difference, verified: Mapping[str, Array], shown: Mapping[str, Array], number: int
    ) -> tuple[Difference | None, str]:
        """The difference that is no excuse, or None; and how it was judged. `number` is the sub-environment's."""
        if can_be_led(self._pair):
            actions = {
                path: array[: len(shown["terminated"]) - 1, number] for path, array in self._answer["actions"].items()
            }
            wrong = first_wrong_step(self._pair, verified, shown, actions)
            return wrong, "each step from the state that the program shows"
        excused = found.step >= together(self._ended[:, number], self._steps)
        return (
            None if excused else found,
            f"the first {self._steps} steps of episodes: then the reference parts from itself, moved a little",
        )

    @cached_property
    def _steps(self) -> int:
        pair, answer = self._pair, self._answer
        return comparable_steps(pair, list(episodes(pair, answer, answer["actions"], USED)))


def _in_batch(path: str) -> str:
    """The path under which the call `autoreset` answers what a user sees at `path`."""
    return f"final/{path.removeprefix(FINAL)}" if path.startswith(FINAL) else path
