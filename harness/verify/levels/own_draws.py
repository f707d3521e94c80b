"""What a candidate drew in resets and steps of its own: where laws stand at the places of the draws, it cannot be asked for
samples without a step that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from harness.model import Array, Case, Draw
from harness.task.contract import TaskDraw
from harness.verify.levels import autoreset
from harness.verify.levels.batch import MOST_DRAWS, bytes_drawn
from harness.verify.pair import Pair

OwnTimesteps = Callable[[Pair, str], list[tuple[Draw, ...]]]
"""The draws of each of a candidate's own resets or steps (`reset` or `step`); of one name in their order."""
STEPS = 500
TOTAL = 50_000
"""Steps of a candidate's own episodes in which the draws that it makes are looked at."""
STREAM = "own draws"


def own_timesteps(pair: Pair, moment: str) -> list[tuple[Draw, ...]]:
    """`OwnTimesteps` of a candidate. Actions are random.

    Where a mask says which of them are legal, an auto-resetting batch plays, as only the candidate knows what is legal after
    draws of its own.

    Raises:
        EnvironmentFailure: the candidate could not play, or answered something else.
    """
    if moment == "reset":
        return _of_resets(pair)
    steps, episodes = _size(pair)
    if pair.task.masked:
        return _in_a_batch(pair, steps, max(1, min(episodes, MOST_DRAWS // ((steps + 1) * bytes_drawn(pair)))))
    cases = [
        Case(seed, pair.random_case_actions(f"{STREAM}/{number}", steps))
        for number, seed in enumerate(pair.seeds(STREAM, episodes))
    ]
    return [timestep for played in pair.candidate.rollout(cases) for timestep in (played.draws or ())[1:]]


def driven_timesteps(pair: Pair, moment: str) -> list[tuple[Draw, ...]]:
    """`OwnTimesteps` of a candidate that is a reference itself: it has no batches, and chooses legal actions at random.

    Raises:
        EnvironmentFailure: it could not play.
    """
    if moment == "reset":
        return _of_resets(pair)
    steps, episodes = _size(pair)
    driven = pair.candidate.drive("random", pair.seeds(STREAM, episodes), steps)
    return [timestep for played in driven for timestep in (played.draws or ())[1:]]


def _of_resets(pair: Pair) -> list[tuple[Draw, ...]]:
    none = {path: leaf.zeros(0) for path, leaf in pair.task.actions.items()}
    cases = [Case(seed, none) for seed in pair.seeds(STREAM, pair.task.budgets.samples)]
    return [timestep for played in pair.candidate.rollout(cases) for timestep in (played.draws or ())[:1]]


def _size(pair: Pair) -> tuple[int, int]:
    """How many steps an episode has at most, and how many episodes there are."""
    steps = min(pair.task.budgets.horizon, STEPS)
    return steps, max(1, TOTAL // steps)


def _in_a_batch(pair: Pair, steps: int, envs: int) -> list[tuple[Draw, ...]]:
    flat = pair.random_case_actions(STREAM, steps * envs)
    actions = {path: array.reshape(steps, envs, *array.shape[1:]) for path, array in flat.items()}
    seed = pair.derive(STREAM) % (1 << 31)
    plan = autoreset.Plan(seed, envs, steps, np.arange(1), actions, lanes=np.arange(envs))
    chance = autoreset.play(pair, pair.candidate, plan)[autoreset.LANES]
    drawn: Mapping[str, Array] = chance["step_draws"]
    used: Mapping[str, Array] = chance["step_used"]
    slots = {
        name: values if pair.task.draws[name].capacity != 1 else values[:, :, None] for name, values in drawn.items()
    }
    return [
        tuple(Draw(name, value) for name in slots for value in slots[name][step, env, : used[name][step, env]])
        for env in range(envs)
        for step in range(steps)
    ]


def all_taken(timesteps: Sequence[Sequence[Draw]], draws: Sequence[TaskDraw]) -> dict[str, Array]:
    """All draws of some timesteps by name, each `[count, *draw shape]`."""
    return {
        draw.name: np.array(
            [drawn.value for timestep in timesteps for drawn in timestep if drawn.name == draw.name], draw.dtype
        ).reshape(-1, *draw.shape)
        for draw in draws
    }
