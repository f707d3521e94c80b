"""Level 3, batches as wide as users make them: the largest that the task names, and one of an odd size below it.

The auto-reset batch of `autoreset` is long, so it has to be narrow. These are short and wide: a fault of the upper half of a
batch of 8192 shows in a few steps. Some sub-environments, drawn by the run's seed, are replayed as there. Of many more only
their chance is told: each step draws once for each of them, and those draws must be independent of one another, too. One key
for all of a batch is honest along each sub-environment, and no batch at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.model import Array
from harness.task.contract import Mode, TaskDraw
from harness.verdict import CheckResult, Outcome
from harness.verify.levels import autoreset
from harness.verify.levels.autoreset import Plan, wrong_law
from harness.verify.levels.batch import MOMENTS, MOST_DRAWS, SEEDS, bytes_drawn, reference_draws
from harness.verify.pair import Pair
from harness.verify.statistics.laws import LawResult, independence_of_lanes, test_law, verdict

LARGEST, ODD = "auto-reset batch, largest", "auto-reset batch, odd size"
SIZES = (LARGEST, ODD)
CHANCE = "chance across lanes"
STEPS = 24
"""Enough that episodes end where they are short."""
FEWEST_STEPS = 4
REPLAYED = 32
"""Sub-environments that are played again."""
MOST_STATES = 1 << 27
"""Bytes of the states of one timestep: a batch holds several of them at once."""
TESTED = 16_384
"""So many draws of a name and moment are tested at most."""
PERIOD = 8
"""A law must not depend on a lane's number, nor on what is left of it modulo this: vectors have such widths."""


def planned(pair: Pair, name: str) -> Plan:
    """The wide batch of this name, all of it from the run's seed."""
    task, rng = pair.task, pair.random(f"{name}/lanes")
    largest = max(2, min(max(task.batch_sizes), MOST_STATES // task.timestep_bytes))
    envs = largest if name == LARGEST else _odd(pair, largest, rng)
    steps = min(task.budgets.horizon, STEPS, max(FEWEST_STEPS, autoreset.MOST_WORK // envs))
    most = max(2, autoreset.MOST_BYTES // (2 * (steps + 1) * task.timestep_bytes))
    actions = pair.random_batch_actions(name, steps, envs)
    told = max(2, MOST_DRAWS // ((steps + 1) * bytes_drawn(pair)))
    return Plan(
        pair.derive(name) % (1 << 31),
        envs,
        steps,
        looked_at(envs, min(most, REPLAYED), rng),
        actions,
        lanes(envs, told),
    )


def _odd(pair: Pair, largest: int, rng: np.random.Generator) -> int:
    """An odd size below the largest, and above the sizes of the long batch where there is room."""
    least = autoreset.widest(pair)
    if least >= largest - 2:
        least = 1
    return int(np.exp(rng.uniform(np.log(least), np.log(largest - 1)))) // 2 * 2 + 1


def looked_at(envs: int, count: int, rng: np.random.Generator) -> Array:
    """The sub-environments to replay, ascending: the first, the last, one beyond each power of two, and others."""
    powers = [1 << bit for bit in range((envs - 1).bit_length())]
    wanted = [0, envs - 1, *(int(rng.integers(power, min(2 * power, envs))) for power in reversed(powers))]
    others = rng.permutation(envs).tolist()
    return np.sort(np.array(list(dict.fromkeys([*wanted, *others]))[: min(count, envs)], np.int64))


def lanes(envs: int, count: int) -> Array:
    """The sub-environments of whose chance is told: all, or the first of either half, neighbours all of them."""
    if count >= envs:
        return np.arange(envs)
    half = np.arange(count // 2)
    return np.concatenate([half, envs // 2 + half])


def check(pair: Pair, answer: Mapping[str, Any], name: str) -> tuple[CheckResult, int]:
    """Every episode of a wide batch, replayed one by one; and how many steps the reference confirmed."""
    result, confirmed, _ = autoreset.replayed(pair, answer, name)
    return result, confirmed


def check_chance(pair: Pair, answers: Mapping[str, Mapping[str, Any]]) -> CheckResult:
    """Whether what the lanes of these batches drew follows its law from lane to lane, in each step.

    Args:
        answers: what the batches answered, by name.
    """
    results: list[LawResult] = []
    drawn: list[str] = []
    examples = 0
    for batch, answer in answers.items():
        for draw, moment in _draws(pair):
            values, taken = _told(pair, answer[autoreset.LANES], draw, moment)
            if np.count_nonzero(taken) > 1:
                found = _across_lanes(pair, draw, moment, values, taken, f"{CHANCE}/{batch}/{draw.name} at {moment}")
                results += found
                drawn += [f"{draw.name} at {moment}"] * len(found)
                examples += int(np.count_nonzero(taken))
    if not results:
        return CheckResult(CHANCE, Outcome.SKIPPED, detail="hardly anything was drawn that has a law")
    passed, worst = verdict(results)
    if passed:
        return CheckResult(CHANCE, Outcome.PASS, examples=examples, detail=f"smallest p {worst.p_value:.2g}")
    divergence = wrong_law(CHANCE, drawn[results.index(worst)], worst)
    return CheckResult(CHANCE, Outcome.FAIL, examples=examples, divergences=(divergence,))


def _draws(pair: Pair) -> list[tuple[TaskDraw, str]]:
    if pair.task.mode is Mode.SHARED:
        return [(SEEDS, "reset")]
    return [(draw, moment) for draw in pair.task.draws.values() for moment in MOMENTS if draw.occurs_at(moment)]


def _told(pair: Pair, chance: Mapping[str, Any], draw: TaskDraw, moment: str) -> tuple[Array, Array]:
    """Draws `[timesteps, lanes, *draw.shape]`, the first of each timestep, and which of them were taken."""
    values = chance[f"{moment}_draws"][draw.name]
    if pair.task.mode is Mode.SHARED:
        values = values[..., 0].astype(np.uint64) << np.uint64(32) | values[..., 1]
        taken = np.ones(values.shape[:2], bool)
    else:
        values = values[:, :, 0] if draw.capacity != 1 else values
        taken = chance[f"{moment}_used"][draw.name] > 0
    if moment == "reset":
        taken = taken & chance["lanes"]["ended"]
        taken[0] = True if pair.task.mode is Mode.SHARED else chance["reset_used"][draw.name][0] > 0
    return values, taken


def _across_lanes(pair: Pair, draw: TaskDraw, moment: str, values: Array, taken: Array, stream: str) -> list[LawResult]:
    """Every test of draws as they stand side by side: along the lanes, step after step."""
    wanted = reference_draws(pair, draw, moment, firsts=True) if draw.law is None else None
    if draw.law is None and wanted is None:
        return []
    timesteps, numbers = (places[:TESTED] for places in np.nonzero(taken))
    situations = {"the lane's number": numbers, f"the lane's number modulo {PERIOD}": numbers % PERIOD}
    seed = pair.derive(stream)
    # At a step a law that is not stated may be another in each state.
    alike = np.arange(len(numbers)) if moment == "step" else None
    results = test_law(values[timesteps, numbers], draw, wanted, situations=situations, alike=alike, seed=seed)
    return [*results, *independence_of_lanes(draw.name, values, taken, seed=seed)]
