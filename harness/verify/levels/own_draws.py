"""What a candidate drew in resets and steps of its own: where laws stand at the places of the draws, it cannot be asked for
samples without a step that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.errors import BadAnswer
from harness.model import Array, Case, Draw
from harness.task.contract import TaskDraw
from harness.verify.levels import autoreset
from harness.verify.levels.batch import MOST_DRAWS, REFERENCE_STEPS, bytes_drawn, reference_draws_at
from harness.verify.pair import Pair
from harness.verify.resynchronised import step_of

OwnTimesteps = Callable[[Pair, str], list[tuple[Draw, ...]]]
"""The draws of each of a candidate's own resets or steps (`reset` or `step`); of one name in their order."""
STEPS = 500
TOTAL = 50_000
"""Steps of a candidate's own episodes in which the draws that it makes are looked at."""
STREAM = "own draws"
RESETS = 1000
"""So many are asked for in one message."""
REPEATS = 4
"""So often a candidate draws where the reference drew once."""


def own_timesteps(pair: Pair, moment: str) -> list[tuple[Draw, ...]]:
    """`OwnTimesteps` of a candidate. Actions are random.

    Where a mask says which of them are legal, an auto-resetting batch plays, as only the candidate knows what is legal after
    draws of its own.

    Raises:
        EnvironmentFailure: the candidate could not play, or answered something else.
    """
    if moment == "reset":
        return _drawn_in_resets(pair)
    steps, episodes = _size(pair)
    if pair.task.masked:
        return _in_a_batch(pair, steps, max(1, min(episodes, MOST_DRAWS // ((steps + 1) * bytes_drawn(pair)))))
    return _played(pair, _episodes(pair, steps, episodes))


def driven_timesteps(pair: Pair, moment: str) -> list[tuple[Draw, ...]]:
    """`OwnTimesteps` of a candidate that is a reference itself: it has no batches, and chooses legal actions at random.

    Raises:
        EnvironmentFailure: it could not play.
    """
    if moment == "reset":
        none = {path: leaf.zeros(0) for path, leaf in pair.task.actions.items()}
        begun = pair.candidate.rollout([Case(seed, none) for seed in pair.seeds(STREAM, pair.task.budgets.samples)])
        return [timestep for played in begun for timestep in (played.draws or ())[:1]]
    steps, episodes = _size(pair)
    driven = pair.candidate.drive("random", pair.seeds(STREAM, episodes), steps)
    return [timestep for played in driven for timestep in (played.draws or ())[1:]]


def in_the_same_situations(pair: Pair, draw: TaskDraw, own: Sequence[Sequence[Draw]]) -> tuple[Array | None, Array]:
    """What the reference drew in steps under this name, and what a candidate draws by itself in the same states under the
    same actions: a law that is not stated may hang on these, and on how long an episode has gone on.

    Args:
        own: the candidate's own timesteps, for where it cannot be put into a state: its episodes are as short as the
            reference's then, unless a mask says which actions are legal.

    Returns:
        Both `[count, *draw shape]`; None where the reference reports no such draws.

    Raises:
        EnvironmentFailure: one of them could not play.
    """
    values, places = reference_draws_at(pair, draw, "step")
    if not values:
        return None, np.zeros((0, *draw.shape), draw.dtype)
    if pair.can_restore:
        steps = list({(id(one), step): (one, step) for one, step in places}.values()) * REPEATS
        seeds = pair.seeds(f"{STREAM}/{draw.name}", len(steps))
        cases = [step_of(one, step, forced=False) for one, step in steps]
        own = _played(pair, [replace(case, seed=seed) for case, seed in zip(cases, seeds, strict=True)])
    elif not pair.task.masked:
        own = _played(pair, _episodes(pair, REFERENCE_STEPS, TOTAL // REFERENCE_STEPS))
    return np.stack(values), all_taken(own, [draw])[draw.name]


def _episodes(pair: Pair, steps: int, count: int) -> list[Case]:
    return [
        Case(seed, pair.random_case_actions(f"{STREAM}/{number}", steps))
        for number, seed in enumerate(pair.seeds(STREAM, count))
    ]


def _played(pair: Pair, cases: Sequence[Case]) -> list[tuple[Draw, ...]]:
    """The draws of each step."""
    return [timestep for played in pair.candidate.rollout(cases) for timestep in (played.draws or ())[1:]]


def _drawn_in_resets(pair: Pair) -> list[tuple[Draw, ...]]:
    """Asked for alone: what a reset leads to may be a thousand times as large as what it draws."""
    seeds = pair.seeds(STREAM, pair.task.budgets.samples)
    drawn: list[tuple[Draw, ...]] = []
    for begin in range(0, len(seeds), RESETS):
        asked = seeds[begin : begin + RESETS]
        answer = pair.candidate.ask("drawn", seeds=asked)
        if not isinstance(answer, list) or len(answer) != len(asked):
            expected = f"the draws of {len(asked)} resets"
            raise BadAnswer("it does not tell what each reset drew", where="drawn", expected=expected)
        drawn += pair.candidate.tape(answer, len(asked), "drawn")
    return drawn


def _size(pair: Pair) -> tuple[int, int]:
    """How many steps an episode has at most, and how many episodes there are."""
    steps = min(pair.task.budgets.horizon, STEPS)
    return steps, max(1, TOTAL // steps)


def _in_a_batch(pair: Pair, steps: int, envs: int) -> list[tuple[Draw, ...]]:
    actions = pair.random_batch_actions(STREAM, steps, envs)
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
