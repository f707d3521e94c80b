"""A measurement of strength as text: what the command line prints and what a record keeps of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.measure.strength.statuses import (
    ARGUED,
    BYTECODE,
    COMPILED,
    LOWERED,
    OPTIMISED,
    PROVED,
    STILLBORN,
    SURVIVED,
    UNJUDGED,
)

Document = Mapping[str, Any]
LEVEL_HEADER = ("level", "judged", "killed first", "so far", "rate", "to detection")
EVERY_HEADER = (*LEVEL_HEADER, "kills alone", "only it kills")
KEPT = ("id", "file", "line", "function", "operator", "before", "after", "status", "proof", "explanation")
LONGEST = 160
MOST_KEPT = 200


def level_rows(document: Document) -> Iterator[tuple[str, ...]]:
    """The table of levels under `LEVEL_HEADER`, or `EVERY_HEADER` where each level ran on every mutant."""
    for each in document["levels"]:
        seconds = each["median_seconds"]
        row = (
            f"level {each['level']}",
            str(each["judged"]),
            str(each["killed"]),
            str(each["cumulative"]),
            share(each["cumulative_rate"]),
            "" if seconds is None else f"{seconds:.1f} s",
        )
        yield (*row, str(each["killed_alone"]), str(each["killed_only_here"])) if "killed_alone" in each else row


def share(rate: float | None) -> str:
    """A rate as a percentage, cut and not rounded: 100% is said of everything only."""
    return "" if rate is None else f"{int(rate * 1000) / 10:.1f}%"


def summary(document: Document) -> list[str]:
    """The counts and rates, a line each."""
    counts, rates = document["counts"], document["rates"]
    chosen = f"{counts['mutants']} mutants"
    if counts["mutants"] < document["enumerated"]:
        chosen += f", {'drawn' if document['settings']['sample'] else 'chosen'} from {document['enumerated']}"
    lines = [
        f"{chosen}: {counts['killed']} killed, {counts[SURVIVED]} survived, {counts[ARGUED]} argued and {counts[PROVED]} "
        f"proved to be equivalent, {counts[STILLBORN]} never ran"
        + (f", {counts[UNJUDGED]} not judged" if counts[UNJUDGED] else "")
    ]
    names = {
        "non_equivalent": "killed of those not proved to be equivalent",
        "argued": "killed of those neither proved nor argued to be equivalent",
        "all": "killed of all that ran",
    }
    for name, label in names.items():
        rate = rates[name]
        line = f"{share(rate['rate'])} {label} ({rate['killed']} of {rate['total']})"
        if "interval_95" in rate:
            low, high = rate["interval_95"]
            line += f"; of all mutants, with 95% confidence, {share(low)} to {share(high)}"
        lines.append(line)
    return lines


def name(mutant: Mapping[str, Any], longest: int = LONGEST) -> str:
    """A mutant of a document in one line: its place and its change."""
    change = f"{_cut(mutant['before'], longest // 2)} -> {_cut(mutant['after'], longest // 2)}"
    return f"{mutant['file']}:{mutant['line']} {mutant['function']}: {change}"


def remaining(document: Document) -> Iterator[tuple[str, str, str, str]]:
    """Status, id, name and explanation of every mutant that ran and was not killed."""
    for mutant in document["mutants"]:
        if mutant["status"] in (SURVIVED, UNJUDGED, ARGUED, PROVED):
            yield mutant["status"], mutant["id"], name(mutant), why(mutant)


def why(mutant: Mapping[str, Any]) -> str:
    """What is known of why a mutant was not killed."""
    if mutant["status"] == PROVED:
        return {
            BYTECODE: "Python compiles both to the same instructions",
            LOWERED: "JAX traces both to the same program",
            OPTIMISED: "XLA compiles both to the same program",
            COMPILED: "Rust compiles both to the same module",
        }[mutant["proof"]]
    explanation = mutant["explanation"]
    if explanation is not None:
        return f"{explanation['verdict']}: {explanation['because']}"
    if mutant["status"] == UNJUDGED:
        return next(kill["why"] for kill in mutant["kills"].values() if kill["outcome"] == "error")
    return "not explained"


def verdict(document: Document, at_least: float | None = None) -> list[str]:
    """What is left to do; nothing where every survivor is explained and the rate suffices.

    Args:
        at_least: the share of mutants not proved or argued to be equivalent that must be killed; None asks for nothing.
    """
    found = []
    by_id = {mutant["id"]: mutant for mutant in document["mutants"]}
    if document["unexplained"]:
        found.append(f"{len(document['unexplained'])} survivors are not explained in survivors.toml")
    found += [
        f"survivors.toml speaks of a mutant that is {by_id[each]['status']}: {name(by_id[each])}; remove that entry"
        for each in document["contradicted"]
    ]
    rate = document["rates"]["argued"]["rate"]
    if at_least is not None and (rate is None or rate < at_least):
        found.append(f"the kill rate {share(rate) or 'of nothing'} is less than {at_least:.1%}")
    return found


def compact(document: Document) -> dict[str, Any]:
    """What a record's event keeps of a document that is attached to it."""
    left = [mutant for mutant in document["mutants"] if mutant["status"] in (SURVIVED, UNJUDGED, ARGUED, PROVED)]
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
