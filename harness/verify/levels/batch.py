"""What a candidate tells about an auto-resetting batch: its form, and whether its chance follows the law.

A batch plays with chance of its own, which the reference then follows. So the reference confirms what was made of the
draws, whatever they are; that they are draws of the right law is a question of its own. Without it a sampler that is honest
when it is asked for samples, and lets every episode of a batch begin alike, would pass.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import BadAnswer
from harness.model import STATE, Array, Draw, Trajectory, is_of_step
from harness.task.contract import Law, Mode, TaskDraw
from harness.verify.pair import Pair
from harness.verify.refusals import answered
from harness.verify.statistics.comparisons import element_name, orderable
from harness.verify.statistics.laws import LawResult, independence_of_actions, independence_of_draws, test_law

MOMENTS = ("reset", "step")
REFERENCE_DRAWS = 2000
REFERENCE_STEPS = 50
SEEDS = TaskDraw("seed", "uint64", at="reset", law=Law("integers", low=0, high=(1 << 31) - 1))
"""What the face of a candidate in mode `shared` draws for each episode (`JaxEnv.sample_reset`)."""
MOST_DRAWS = 1 << 26
"""Bytes of the draws that a batch tells at most."""
SITUATION_ELEMENTS = 16
"""Leaves with more elements are no description of a situation, but a picture or a memory."""


def demand_batch(pair: Pair, answer: Any, steps: int, num_envs: int, where: str) -> dict[str, dict[str, Array]]:
    """The parts of an answer of `autoreset` or `bench_envs`, each an array for each declared name and nothing else.

    Raises:
        BadAnswer: one is missing or is something else; names the part, and what it must be.
    """
    outputs = pair.task.outputs
    leaves = {path: leaf.shape for path, leaf in outputs.items()}
    leaves |= {f"final/{path}": leaf.shape for path, leaf in outputs.items() if not is_of_step(path)}
    checked = {"leaves": demand_arrays(answer, "leaves", (steps + 1, num_envs), leaves, where)}
    return checked | demand_drawn(pair, answer, steps, num_envs, where)


def demand_chance(pair: Pair, answer: Any, steps: int, lanes: int, where: str) -> dict[str, dict[str, Array]]:
    """The part `lanes` of an answer of `autoreset`: its draws, and under `ended` whether an episode ended, `[steps + 1,
    lanes]`.

    Raises:
        BadAnswer: something of it is missing or is something else.
    """
    ended = demand_arrays({"lanes": answer}, "lanes", (steps + 1, lanes), {"ended": ()}, where)
    if ended["ended"].dtype != np.bool_:
        raise BadAnswer(f"in its `lanes`, ended has dtype {ended['ended'].dtype}", where=where, expected="booleans")
    return demand_drawn(pair, answer, steps, lanes, where) | {"lanes": ended}


def demand_drawn(pair: Pair, answer: Any, steps: int, num_envs: int, where: str) -> dict[str, dict[str, Array]]:
    """The parts of such an answer that tell what was drawn, and how often each draw was taken.

    Raises:
        BadAnswer: one is missing or is something else.
    """
    mode = pair.task.mode
    parts: dict[str, tuple[int, Mapping[str, tuple[int, ...]]]] = {}
    for moment, timesteps in (("reset", steps + 1), ("step", steps)):
        draws = [draw for draw in pair.task.draws.values() if mode in (Mode.TAPE, Mode.LAW) and draw.occurs_at(moment)]
        seeded = mode is Mode.SHARED and moment == "reset"
        parts[f"{moment}_draws"] = (
            timesteps,
            {"seed": (2,)} if seeded else {draw.name: drawn_shape(draw) for draw in draws},
        )
        parts[f"{moment}_used"] = (timesteps, {draw.name: () for draw in draws})
    checked = {
        part: demand_arrays(answer, part, (timesteps, num_envs), shapes, where)
        for part, (timesteps, shapes) in parts.items()
    }
    for part in ("reset_used", "step_used"):
        for name, counts in checked[part].items():
            if counts.dtype.kind not in "iu":
                raise BadAnswer(f"in its `{part}`, {name} has dtype {counts.dtype}", where=where, expected="integers")
            if counts.size and counts.min() < 0:
                raise BadAnswer(
                    f"in its `{part}`, {name} is {counts.min()}", where=where, expected="no negative number"
                )
    for part in ("reset_draws", "step_draws"):
        for name, values in checked[part].items():
            _demand_values(values, name, pair.task.draws.get(name, SEEDS).dtype, part, where)
    return checked


def _demand_values(values: Array, name: str, dtype: str, part: str, where: str) -> None:
    """Raise BadAnswer where a draw is told in values that its declared dtype does not hold."""
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            held = np.array_equal(values.astype(dtype), values, equal_nan=values.dtype.kind == "f")
    except (TypeError, ValueError, OverflowError):
        held = False
    if not held:
        raise BadAnswer(
            f"in its `{part}`, {name} has values that are no {dtype}", where=where, expected=f"an array of {dtype}"
        )


def demand_arrays(
    answer: Any, part: str, leading: tuple[int, ...], shapes: Mapping[str, tuple[int, ...]], where: str
) -> dict[str, Array]:
    """One part of an answer: for each name its array `[*leading, *shape]`. What it has under other names is left out.

    Raises:
        BadAnswer: it is not a map, or an array is missing or has another shape.
    """
    given = answer.get(part) if isinstance(answer, dict) else None
    if not isinstance(given, dict):
        raise BadAnswer(f"its `{part}` is not a map", where=where, expected=f"a map with arrays {sorted(shapes)}")
    for name, shape in shapes.items():
        array = given.get(name)
        if not isinstance(array, np.ndarray) or array.shape != (*leading, *shape):
            found = f"has shape {list(array.shape)}" if isinstance(array, np.ndarray) else "is missing"
            raise BadAnswer(
                f"in its `{part}`, {name} {found}", where=where, expected=f"an array of shape {[*leading, *shape]}"
            )
    return {name: given[name] for name in shapes}


def drawn_shape(draw: TaskDraw) -> tuple[int, ...]:
    """The shape in which a candidate's sampler gives a draw: with a slot axis where it can be taken more than once."""
    return ((draw.capacity,) if draw.capacity != 1 else ()) + draw.shape


def bytes_drawn(pair: Pair) -> int:
    """Bytes that one timestep draws in one sub-environment, at most."""
    draws = [*pair.task.draws.values(), SEEDS]
    return sum(2 * draw.capacity * int(np.prod(draw.shape)) * np.dtype(draw.dtype).itemsize for draw in draws)


def laws_of_batch(pair: Pair, played: Sequence[Trajectory], stream: str) -> dict[str, list[LawResult]]:
    """Tests of all draws that episodes of a batch took, by `NAME at MOMENT`; a draw that was taken less than twice has none.

    Each draw is decided by a key of its own, and whether it is taken at all by what came before it. So the values that were
    taken, in their order, are independent draws of the law, whatever the episodes made of them. A stated law is the same in
    every situation: such a draw is independent too of the state before it, of the action, where that was chosen without
    looking, and of other draws.

    In mode `shared` the seeds of the episodes are what a batch draws: the reference follows whatever seed it is told.
    """
    if pair.task.mode is Mode.SHARED:
        seeds = np.array([trajectory.case.seed for trajectory in played], np.uint64)
        name = f"{SEEDS.name} at reset"
        return {name: test_law(seeds, SEEDS, seed=pair.derive(f"{stream}/{name}"))} if len(seeds) > 1 else {}
    blind = not pair.task.masked
    found: dict[str, list[LawResult]] = {}
    for draw in pair.task.draws.values():
        for moment in MOMENTS:
            taken, situations = _taken(played, draw, moment)
            if not draw.occurs_at(moment) or len(taken) < 2:
                continue
            wanted = reference_draws(pair, draw, moment) if draw.law is None else None
            if draw.law is not None or wanted is not None:
                name = f"{draw.name} at {moment}"
                seed = pair.derive(f"{stream}/{name}")
                known = _numbers(situations)
                alike = _alike(known, situations) if draw.law is None else None
                found[name] = test_law(np.stack(taken), draw, wanted, situations=known, alike=alike, seed=seed)
                if moment == "step" and blind and draw.law is not None:
                    found[name] += _independent_of_actions(pair, played, draw, stream)
    for moment in MOMENTS:
        draws = [d for d in pair.task.draws.values() if d.law is not None and f"{d.name} at {moment}" in found]
        if len(draws) > 1:
            name = f"{', '.join(draw.name for draw in draws)} at {moment}"
            tapes = [trajectory.draws or () for trajectory in played]
            timesteps = [each for tape in tapes for each in (tape[:1] if moment == "reset" else tape[1:])]
            found[name] = independence_of_draws(
                draws, *first_of_each(timesteps, draws), seed=pair.derive(f"{stream}/{name}")
            )
    return found


def _independent_of_actions(pair: Pair, played: Sequence[Trajectory], draw: TaskDraw, stream: str) -> list[LawResult]:
    """Whether the first draws of this name in each step are independent of the actions of these steps."""
    values: list[Array] = []
    actions: dict[str, list[Array]] = {path: [] for path in pair.task.actions}
    for trajectory in played:
        for step, timestep in enumerate((trajectory.draws or ())[1:]):
            first = next((one for one in timestep if one.name == draw.name), None)
            if first is not None:
                values.append(np.asarray(first.value))
                for path, taken in actions.items():
                    taken.append(np.asarray(trajectory.case.actions[path][step]))
    if len(values) < 2:
        return []
    given = {path: np.stack(taken) for path, taken in actions.items()}
    return independence_of_actions(
        draw.name, np.stack(values), given, seed=pair.derive(f"{stream}/{draw.name}/actions")
    )


def first_of_each(
    timesteps: Sequence[Sequence[Draw]], draws: Sequence[TaskDraw]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The first draw of each name in each timestep, `[N, *draw.shape]`, and whether there is one, `[N]`."""
    samples = {draw.name: np.zeros((len(timesteps), *draw.shape), draw.dtype) for draw in draws}
    taken = {draw.name: np.zeros(len(timesteps), bool) for draw in draws}
    for number, timestep in enumerate(timesteps):
        for drawn in reversed(timestep):
            if drawn.name in samples:
                samples[drawn.name][number], taken[drawn.name][number] = drawn.value, True
    return samples, taken


def reference_draws(pair: Pair, draw: TaskDraw, moment: str, *, firsts: bool = False) -> Array | None:
    """What chance gave the reference under this name, `[N, *draw.shape]`; None where it reports no such draws.

    Args:
        firsts: only what it gave first in each timestep.
    """
    values, places = reference_draws_at(pair, draw, moment)
    if firsts:
        values = [value for value, slot in zip(values, _slots(places), strict=True) if slot == 0]
    return np.stack(values) if values else None


def reference_draws_at(pair: Pair, draw: TaskDraw, moment: str) -> tuple[list[Array], list[tuple[Trajectory, int]]]:
    """What chance gave the reference under this name, and for each the trajectory and timestep; nothing where it reports no
    such draws.
    """
    if "draws" not in pair.reference.spec.capabilities:
        return [], []
    count = min(pair.task.budgets.samples, REFERENCE_DRAWS)
    seeds = pair.seeds(f"law/{draw.name}/reference", count)
    if moment == "reset":
        return _taken(pair.reference.drive("random", seeds, 0), draw, moment)
    played = pair.reference.drive("random", seeds[: max(1, count // REFERENCE_STEPS)], REFERENCE_STEPS)
    return _taken(played, draw, moment)


def _taken(
    played: Sequence[Trajectory], draw: TaskDraw, moment: str
) -> tuple[list[Array], list[tuple[Trajectory, int]]]:
    """The values of a draw in order, and for each the trajectory and timestep in which it was taken."""
    values, places = [], []
    for trajectory in played:
        for timestep, drawn in enumerate(trajectory.draws or ()):
            if (timestep == 0) is not (moment == "reset"):
                continue
            for one in drawn:
                if one.name == draw.name:
                    values.append(np.asarray(one.value))
                    places.append((trajectory, timestep))
    return values, places


def _numbers(situations: Sequence[tuple[Trajectory, int]]) -> dict[str, Array]:
    """What was known before each draw of a step was made, number by number: the state before it and the action."""
    if any(timestep == 0 for _, timestep in situations):
        return {}
    numbers: dict[str, Array] = {}
    first, _ = situations[0]
    state = {path: array for path, array in first.leaves.items() if path.startswith(STATE)}
    for path, array in {**state, **first.case.actions}.items():
        size = int(np.prod(array.shape[1:]))
        if size > SITUATION_ELEMENTS or array.dtype.kind not in "biuf":
            continue
        source = [t.leaves if path in state else t.case.actions for t, _ in situations]
        column = np.stack([leaves[path][at - 1] for leaves, (_, at) in zip(source, situations, strict=True)])
        for index, values in enumerate(column.reshape(len(column), size).T):
            numbers[element_name(path, index, array.shape[1:])] = orderable(values)
    return numbers


def _alike(known: Mapping[str, Array], situations: Sequence[tuple[Trajectory, int]]) -> Array:
    """Groups of draws of which all is the same that was known before them, and the slot."""
    _, groups = np.unique(np.stack([*known.values(), _slots(situations)], axis=1), axis=0, return_inverse=True)
    return groups


def _slots(situations: Sequence[tuple[Trajectory, int]]) -> Array:
    """How many draws of the name its timestep took before each: a law that is not stated may be another for each."""
    taken: Counter[tuple[int, int]] = Counter()
    slots = []
    for trajectory, timestep in situations:
        slots.append(taken[id(trajectory), timestep])
        taken[id(trajectory), timestep] += 1
    return np.array(slots)


@dataclass(frozen=True)
class Repeated:
    """Episodes of a batch, played once more without the batch around them.

    Attributes:
        expected: what was answered to each; by the reference, or by the candidate where the reference takes no draws.
        seen: the episodes, as far as they were answered.
        by_reference: whether it was the reference.
    """

    expected: Sequence[Trajectory]
    seen: Sequence[Trajectory]
    by_reference: bool

    @property
    def detail(self) -> str:
        """What a reader must know of it."""
        return "" if self.by_reference else "against the candidate's own single steps: the reference takes no draws"


def repeated(pair: Pair, seen: Sequence[Trajectory]) -> Repeated:
    """Play episodes of a batch again, in which the candidate chose the chance and, by its masks, the actions.

    An action that is refused was legal for the candidate. What led there is kept: it has to differ in what is legal.

    Raises:
        Raised: an action is refused, though all before it is equal.
    """
    forced = pair.task.mode in (Mode.NONE, Mode.SHARED) or "force_draws" in pair.reference.spec.capabilities
    by_reference = forced and pair.paired
    judge = pair.reference if by_reference else pair.candidate

    def play(those: Sequence[Trajectory]) -> list[Trajectory]:
        return pair.led(judge.rollout, those) if pair.resynchronised else judge.rollout([one.case for one in those])

    answers = answered(play, seen)
    both = [
        _before_refusal(pair, play, one) if answer is None else (answer, one)
        for one, answer in zip(seen, answers, strict=True)
    ]
    return Repeated([answer for answer, _ in both], [one for _, one in both], by_reference)


def _before_refusal(
    pair: Pair, play: Callable[[Sequence[Trajectory]], list[Trajectory]], seen: Trajectory
) -> tuple[Trajectory, Trajectory]:
    def refuses(steps: int) -> bool:
        return answered(play, [seen.cut(steps)]) == [None]

    cut = seen.cut(max(0, bisect_left(range(seen.steps + 1), True, key=refuses) - 1))
    [answer] = play([cut])
    if pair.differences([answer], [cut], only=frozenset(pair.task.outputs)) == [None]:
        play([seen])  # raises
    return answer, cut
