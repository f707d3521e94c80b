"""How often level 4's rule errs: pairs of return laws whose means differ by exactly the margin, and by nothing.

Each simulated level 4 has its looks at 8 and 16 trainings, as those of the shipped tasks, or at 6, 10 and 16, and stops
where the rule says so. A pass at a difference of
exactly the margin is an error; a pass at a difference of 0 is what the rule is for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import report
from harness.model import Array
from harness.verify.statistics import equivalence

SCHEDULES = ((8, 16), (6, 10, 16))
MOST = 16
PAIRS = 2000
SPREADS = (0.25, 0.5, 1.0, 2.0)
"""Standard deviations of one training's mean return, in margins."""
EPISODES = 32

Sampler = Callable[[np.random.Generator, tuple[int, int]], Array]


@dataclass(frozen=True)
class Errors:
    """Shares of simulated levels that passed: `wrongly` at a difference of exactly the margin, `rightly` at 0."""

    wrongly: float
    rightly: float


def _log_normal(rng: np.random.Generator, size: tuple[int, int]) -> Array:
    return (rng.lognormal(0.0, 1.0, size) - math.exp(0.5)) / math.sqrt((math.e - 1.0) * math.e)


FAMILIES: Mapping[str, Sampler] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "exponential": lambda rng, size: rng.exponential(size=size) - 1.0,
    "log-normal": _log_normal,
    "Poisson": lambda rng, size: rng.poisson(1.0, size) - 1.0,
    "1 in 5 fails": lambda rng, size: ((rng.random(size) < 0.2) - 0.2) / 0.4,
}
"""Laws of mean 0 and deviation 1. Each is also taken reflected: which tail is the long one matters."""


def passed(differences: Array, looks: Sequence[int]) -> Array:
    """Which simulated levels passed at one of the looks, `[levels]`, of differences `[levels, MOST]` in margins."""
    done = np.zeros(len(differences), bool)
    for look, level in zip(looks, equivalence.levels(looks), strict=True):
        interval = equivalence.of_pairs(differences[:, :look], 1.0, level)
        done |= (interval.low > -1.0) & (interval.high < 1.0)
    return done


def differing(law: Sampler, spread: float, looks: Sequence[int], rng: np.random.Generator, pairs: int) -> Errors:
    """Pairs with differences of this law: policies in both backends, or trainings beside ones that all earn the same."""
    drawn = spread * law(rng, (pairs, MOST))
    return Errors(_share(drawn + 1.0, looks), _share(drawn, looks))


def apart(law: Sampler, spread: float, looks: Sequence[int], rng: np.random.Generator, pairs: int) -> Errors:
    """Trainings with this law here and there, which share nothing but their seeds' names."""
    one, other = (spread * law(rng, (pairs, MOST)) for _ in range(2))
    return Errors(_share(one + 1.0 - other, looks), _share(one - other, looks))


def cart_poles(margin: float, looks: Sequence[int], rng: np.random.Generator, pairs: int) -> Errors:
    """Pairs that share nothing, whose episodes mostly last 500 steps, and one in twenty of them 60, as CartPole's do."""
    most, least, fails = 500.0, 60.0, 0.05
    size, more = (pairs, MOST), margin / (most - least)

    def means(share: float) -> Array:
        return (most - (most - least) * rng.binomial(EPISODES, share, size) / EPISODES) / margin

    other = means(fails)
    return Errors(_share(means(fails + more) - other, looks), _share(means(fails) - other, looks))


def _share(differences: Array, looks: Sequence[int]) -> float:
    return float(passed(differences, looks).mean())


def table(looks: Sequence[int], pairs: int = PAIRS, seed: int = 2026) -> list[dict[str, Any]]:
    """A row for each law, direction and spread: percentages of simulated levels that passed."""
    rng = np.random.default_rng(seed)
    rows = []
    for name, law in FAMILIES.items():
        for direction, sign in (("", 1.0), (" -", -1.0)):
            for spread in SPREADS:
                row: dict[str, Any] = {"law": name + direction, "spread": f"{spread:g}"}
                for title, kind in KINDS.items():
                    found = kind(partial(_signed, law, sign), spread, looks, rng, pairs)
                    row |= {f"{title}: wrong": 100 * found.wrongly, f"{title}: right": 100 * found.rightly}
                rows.append(row)
    for margin in CART_POLE_MARGINS:
        found = cart_poles(margin, looks, rng, pairs)
        row = dict.fromkeys(rows[0], "") | {"law": f"CartPole, margin {margin:g}"}
        rows.append(row | {"apart: wrong": 100 * found.wrongly, "apart: right": 100 * found.rightly})
    return rows


def _signed(law: Sampler, sign: float, rng: np.random.Generator, size: tuple[int, int]) -> Array:
    return sign * law(rng, size)


KINDS = {"differing": differing, "apart": apart}
CART_POLE_MARGINS = (10.0, 25.0, 50.0)


def main() -> None:
    """Measure and report."""
    for looks in SCHEDULES:
        title = f"{PAIRS} simulated levels 4 with looks at {looks}: %, wrong: at a difference of the margin"
        report(f"transfer_errors_{len(looks)}_looks", title, table(looks))
