"""A measurement of strength as text: what the command line prints and what a record keeps of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.measure.strength.judging import UNREACHED
from harness.measure.strength.mutants import Mutant
from harness.measure.strength.result import Judged, Strength
from harness.measure.strength.statuses import (
    ARGUED,
    BYTECODE,
    COMPILED,
    ERROR,
    KILLED,
    LOWERED,
    OPTIMISED,
    PROVED,
    STILLBORN,
    SURVIVED,
    UNJUDGED,
)

LEVEL_HEADER = ("level", "judged", "killed first", "so far", "rate", "to detection")
EVERY_HEADER = (*LEVEL_HEADER, "kills alone", "only it kills")
KEPT = ("id", "file", "line", "function", "operator", "before", "after", "status", "unreached", "proof", "explanation")
LEFT = (SURVIVED, UNJUDGED, ARGUED, PROVED)
"""The statuses of mutants that ran and were not killed."""
LONGEST = 160
MOST_KEPT = 200


def level_rows(measured: Strength) -> Iterator[tuple[str, ...]]:
    """The table of levels under `LEVEL_HEADER`, or `EVERY_HEADER` where each level ran on every mutant."""
    for each in measured.levels():
        seconds = each.median_seconds
        row = (
            f"level {each.level}",
            str(each.judged),
            str(each.killed),
            str(each.cumulative),
            share(each.cumulative_rate),
            "" if seconds is None else f"{seconds:.1f} s",
        )
        yield row if each.alone is None else (*row, str(each.alone), str(each.only_here))


def share(rate: float | None) -> str:
    """A rate as a percentage, cut and not rounded: 100% is said of everything only."""
    return "" if rate is None else f"{int(rate * 1000) / 10:.1f}%"


def summary(measured: Strength) -> list[str]:
    """The counts and rates, a line each."""
    counts, rates, mutants = measured.counts, measured.rates(), len(measured.judged)
    chosen = f"{mutants} mutants"
    if mutants < measured.enumerated:
        chosen += f", {'drawn' if measured.settings['sample'] else 'chosen'} from {measured.enumerated}"
    lines = [
        f"{chosen}: {counts[KILLED]} killed, {counts[SURVIVED]} survived, {counts[ARGUED]} argued and {counts[PROVED]} "
        f"proved to be equivalent, {counts[STILLBORN]} never ran"
        + (f", {counts[UNJUDGED]} not judged" if counts[UNJUDGED] else "")
    ]
    if unreached := sum(each.unreached for each in measured.judged):
        lines.append(f"{unreached} of those that survived lie in functions that no level runs from this seed")
    names = {
        "non_equivalent": "killed of those not proved to be equivalent",
        "argued": "killed of those neither proved nor argued to be equivalent",
        "all": "killed of all that ran",
    }
    for kind, label in names.items():
        rate = rates[kind]
        line = f"{share(rate.rate)} {label} ({rate.killed} of {rate.total})"
        if rate.interval is not None:
            low, high = rate.interval
            line += f"; of all mutants, with 95% confidence, {share(low)} to {share(high)}"
        lines.append(line)
    return lines


def name(mutant: Mutant, longest: int = LONGEST) -> str:
    """A mutant in one line: its place and its change."""
    change = f"{_cut(mutant.before, longest // 2)} -> {_cut(mutant.after, longest // 2)}"
    return f"{mutant.file}:{mutant.line} {mutant.function}: {change}"


def remaining(measured: Strength) -> Iterator[tuple[str, str, str, str]]:
    """Status, id, name and explanation of every mutant that ran and was not killed."""
    for each in measured.judged:
        if each.status in LEFT:
            yield each.status, each.mutant.id, name(each.mutant), why(each)


def why(judged: Judged) -> str:
    """What is known of why a mutant was not killed."""
    if judged.status == PROVED:
        return {
            BYTECODE: "Python compiles both to the same instructions",
            LOWERED: "JAX traces both to the same program",
            OPTIMISED: "XLA compiles both to the same program",
            COMPILED: "Rust compiles both to the same module",
        }[judged.proof]
    if judged.explanation is not None:
        return f"{judged.explanation.verdict}: {judged.explanation.because}"
    if judged.status == UNJUDGED:
        return next(finding.why for finding in judged.findings if finding.outcome == ERROR)
    return f"not explained{f': {UNREACHED}' if judged.unreached else ''}"


def verdict(measured: Strength, at_least: float | None = None) -> list[str]:
    """What is left to do; nothing where every survivor is explained and the rate is high enough.

    Args:
        at_least: the share of mutants not proved or argued to be equivalent that must be killed; None asks for nothing.
    """
    found = []
    if measured.unexplained:
        found.append(f"{len(measured.unexplained)} survivors are not explained in survivors.toml")
    found += [
        f"survivors.toml speaks of a mutant that is {each.status}: {name(each.mutant)}; remove that entry"
        for each in measured.contradicted
    ]
    rate = measured.rates()["argued"].rate
    if at_least is not None and (rate is None or rate < at_least):
        found.append(f"the kill rate {share(rate) or 'of nothing'} is less than {at_least:.1%}")
    return found


def compact(measured: Strength) -> dict[str, Any]:
    """What a record's event keeps of a measurement, whose whole document is attached to it."""
    document = measured.to_json()
    left = [mutant for mutant in document["mutants"] if mutant["status"] in LEFT]
    kept = ("seed", "enumerated", "counts", "rates", "levels", "settings")
    return {key: document[key] for key in kept} | {
        "survivors": [
            {key: _cut(mutant[key], LONGEST) if isinstance(mutant[key], str) else mutant[key] for key in KEPT}
            for mutant in left[:MOST_KEPT]
        ],
        "survivors_left_out": max(0, len(left) - MOST_KEPT),
    }


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
