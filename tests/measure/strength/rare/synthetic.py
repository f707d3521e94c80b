"""Steps of a made-up task, and a made-up curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.measure.strength.rare.curve import Curve, Planted, Run, Trial
from harness.measure.strength.rare.numbers import ACTION, BEFORE, CHANGE, Number, Numbers
from harness.measure.strength.rare.predicates import ABOVE, EQUAL, TAIL, VALUE, Condition, Predicate
from harness.model import Array
from harness.task.load import load_task
from tests.paths import WALK

PLACE, STEPS = Number(BEFORE, "state/place"), Number(BEFORE, "state/steps")
MOVED, TAKEN = Number(CHANGE, "state/place"), Number(ACTION, "action")
NUMBERS = Numbers(load_task(WALK), (PLACE, STEPS, MOVED, TAKEN))
EXPLORED = "level 3, exploration"
SWEPT = "level 2, sequences, sweep"


def steps(count: int, seed: int) -> Array:
    """Numbers `[4, count]`: a place by the normal law, a geometric step, how far it moved, and one of three actions."""
    rng = np.random.default_rng(seed)
    return np.stack(
        [
            rng.normal(size=count),
            rng.geometric(0.2, count).astype(float),
            rng.normal(size=count),
            rng.integers(0, 3, count).astype(float),
        ]
    )


def predicate(share: float = 1e-3, family: str = TAIL) -> Predicate:
    """Something that holds in a share of the steps."""
    condition = Condition(PLACE, ABOVE, 1.5) if family == TAIL else Condition(STEPS, EQUAL, 7.0)
    return Predicate(family, (condition,), share, hits=round(share * 1e6))


def curve(**changes: Any) -> Curve:
    """Ten trials at one share, of which two are missed, six met without exploration, and two by it; three at another."""
    met = [SWEPT] * 6 + [EXPLORED] * 2 + [""] * 2
    trials = [Trial(predicate(), place % 2, {1: check, 10: check or EXPLORED}) for place, check in enumerate(met)]
    trials += [Trial(predicate(1e-2, VALUE), place % 2, {1: SWEPT, 10: SWEPT}) for place in range(3)]
    given: dict[str, Any] = {
        "task": "walk", "task_digest": "0", "candidate": "1", "seed": 7, "settings": {"predicates": 10},
        "sandbox": "bubblewrap", "isolated": True, "played": 1_000_000, "trials": tuple(trials), "machine": {"cpu": "one"},
        "runs": tuple(Run(number, number + 1, times, 1000, 2.0) for number in range(2) for times in (1, 10)),
        "planted": (Planted(0, SWEPT, SWEPT), Planted(9, "", "")),
    }  # fmt: skip
    return Curve(**(given | changes))
