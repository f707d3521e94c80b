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
from harness.levels import equivalence
from harness.levels.equivalence import Interval
from harness.model import Array

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


def passed(interval_at: Callable[[int, float], Interval], looks: Sequence[int], pairs: int) -> Array:
    """Which simulated levels passed at one of the looks, `[pairs]`, for a margin of 1."""
    done = np.zeros(pairs, bool)
    for look, level in zip(looks, equivalence.levels(looks), strict=True):
        interval = interval_at(look, level)
        done |= (interval.low > -1.0) & (interval.high < 1.0)
    return done


def of_pairs(law: Sampler, spread: float, looks: Sequence[int], rng: np.random.Generator, pairs: int) -> Errors:
    """The same policies played in both backends, with differences of this law."""
    drawn = spread * law(rng, (pairs, MOST))
    return Errors(
        *(
            _share(lambda n, level, d=drawn + apart: equivalence.of_pairs(d[:, :n], 1.0, level), looks, pairs)
            for apart in (1.0, 0.0)
        )
    )


def of_groups(law: Sampler, spread: float, looks: Sequence[int], rng: np.random.Generator, pairs: int) -> Errors:
    """Trainings here and there, both with this law."""
    one, other = (spread * law(rng, (pairs, MOST)) for _ in range(2))
    return Errors(*_groups(one + 1.0, one, other, looks, pairs))


def constant_beside(law: Sampler, spread: float, looks: Sequence[int], rng: np.random.Generator, pairs: int) -> Errors:
    """Trainings with this law here, and there ones that all earn the same: skewness that no other group balances."""
    one = spread * law(rng, (pairs, MOST))
    return Errors(*_groups(one + 1.0, one, np.zeros_like(one), looks, pairs))


def cart_poles(margin: float, looks: Sequence[int], rng: np.random.Generator, pairs: int) -> Errors:
    """Groups of policies whose episodes mostly last 500 steps, and one in twenty of them 60, as CartPole's do."""
    most, least, fails = 500.0, 60.0, 0.05
    size, more = (pairs, MOST), margin / (most - least)

    def means(share: float) -> Array:
        return (most - (most - least) * rng.binomial(EPISODES, share, size) / EPISODES) / margin

    other = means(fails)
    return Errors(*_groups(means(fails + more), means(fails), other, looks, pairs))


def _groups(apart: Array, equal: Array, other: Array, looks: Sequence[int], pairs: int) -> list[float]:
    return [
        _share(lambda n, a, first=first: equivalence.of_groups(first[:, :n], other[:, :n], 1.0, a), looks, pairs)
        for first in (apart, equal)
    ]


def _share(interval_at: Callable[[int, float], Interval], looks: Sequence[int], pairs: int) -> float:
    return float(passed(interval_at, looks, pairs).mean())


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
        rows.append(row | {"groups: wrong": 100 * found.wrongly, "groups: right": 100 * found.rightly})
    return rows


def _signed(law: Sampler, sign: float, rng: np.random.Generator, size: tuple[int, int]) -> Array:
    return sign * law(rng, size)


KINDS = {"paired": of_pairs, "groups": of_groups, "beside constant": constant_beside}
CART_POLE_MARGINS = (10.0, 25.0, 50.0)


def main() -> None:
    """Measure and report."""
    for looks in SCHEDULES:
        title = f"{PAIRS} simulated levels 4 with looks at {looks}: %, wrong: at a difference of the margin"
        report(f"transfer_errors_{len(looks)}_looks", title, table(looks))
