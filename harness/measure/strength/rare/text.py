"""A detection curve as text: what the command line prints and what a record keeps of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from harness.measure.strength.rare.curve import AS_SAID, CONTRADICTED, OTHERWISE, Curve
from harness.measure.strength.result import KillRate
from harness.measure.strength.text import share


def header(curve: Curve) -> tuple[str, ...]:
    """The columns of `rows`."""
    return ("holds in", "faults", *(explored(exploring) for exploring in curve.explorings))


def explored(exploring: int) -> str:
    """How long was explored, as a column's name."""
    return "no exploration" if exploring == 0 else "explored" if exploring == 1 else f"explored x{exploring}"


def rows(curve: Curve) -> Iterator[tuple[str, ...]]:
    """The curve as a table."""
    for point in curve.points():
        rates = list(point.caught.values())
        yield (frequency(point.share), str(rates[0].total), *map(rate, rates))


def family_rows(curve: Curve) -> Iterator[tuple[str, ...]]:
    """What was caught of each family, at each share where something of it was missed."""
    for point in curve.points():
        for family, rates in point.families.items():
            if any(each.killed < each.total for each in rates.values()):
                counts = (f"{each.killed} of {each.total}" for each in rates.values())
                yield (frequency(point.share), family, *counts)


def rate(caught: KillRate) -> str:
    """A share with its interval."""
    if caught.interval is None:
        return ""
    low, high = caught.interval
    return f"{share(caught.rate)} ({share(low)} to {share(high)})"


def frequency(held: float) -> str:
    """A share of the steps as people say it: one in so many."""
    return f"1 in {round(1 / held):,}"


def certified(figures: Mapping[str, Any] | None) -> Iterator[str]:
    """The short curve of a certificate, a line for each share; nothing where it has none."""
    for point in (figures or {}).get("curve", ()):
        rates = {int(exploring): each for exploring, each in point["caught"].items()}
        caught = ", ".join(f"{share(each['rate'])} {explored(exploring)}" for exploring, each in sorted(rates.items()))
        yield f"faults that show in {frequency(point['share'])} steps, caught: {caught}"


def summary(curve: Curve) -> list[str]:
    """What was done, a line each."""
    runs = len({run.number for run in curve.runs})
    steps = [run.steps for run in curve.runs]
    lines = [
        f"{len(curve.trials)} predicates, counted in {curve.played:,} steps of random play; {runs} verifications for each "
        f"budget compared {min(steps):,} to {max(steps):,} steps each"
    ]
    if curve.planted:
        counts = Counter(each.outcome for each in curve.planted)
        lines.append(
            f"{len(curve.planted)} made into mutants and judged: {counts[AS_SAID]} by the check that was said, or by none; "
            f"{counts[OTHERWISE]} otherwise; {counts[CONTRADICTED]} passed that should not have"
        )
    return lines


def missed(curve: Curve) -> Iterator[tuple[str, str]]:
    """Predicates that the least exploration missed: how often they hold, and what they say."""
    for trial in curve.trials:
        if not trial.met[min(trial.met)]:
            yield frequency(trial.predicate.share), str(trial.predicate)


def verdict(curve: Curve) -> list[str]:
    """What is wrong with the measurement itself; nothing where nothing is."""
    return [
        f"a mutant passed that should be caught by {each.said}: {curve.trials[each.trial].predicate}"
        for each in curve.planted
        if each.outcome == CONTRADICTED
    ]


def compact(curve: Curve) -> dict[str, Any]:
    """What a record's event keeps of a measurement, whose whole document is attached to it."""
    document = curve.to_json()
    kept = ("seed", "settings", "played", "curve", "runs")
    return {name: document[name] for name in kept} | {
        "planted": dict(Counter(each.outcome for each in curve.planted)),
    }
