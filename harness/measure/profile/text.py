"""A profile as text, short enough for a prompt and for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SHOWN_OPERATIONS = 6


def figure(value: float) -> str:
    """A rate with three digits and its unit of a thousand: `12.3M`."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def rows(document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """One row of text for each measurement of a profile's document: who, kind, batch, steps/s with their spread, per core,
    seconds to compile, MB that compiling took, and a remark."""
    for each in document["measurements"]:
        rates = each["steps_per_s"]
        spread = f"{figure(rates['low'])} to {figure(rates['high'])}"
        remark = "SUSPICIOUS" if each.get("suspicious") else ""
        if "environment_share" in each:
            remark = f"{each['environment_share']:.0%} in the environment"
        compiled = f"{each['compile_s']:.1f}" if "compile_s" in each and each["role"] == "candidate" else ""
        memory = f"{each['compile_added_mb']:.0f}" if compiled and "compile_added_mb" in each else ""
        batch = str(each["batch"]) if each["role"] != "reference" else f"{each['batch']} workers"
        yield (
            each["contender"], each["kind"], batch, figure(rates["median"]), spread, figure(each["per_core"]), compiled,
            memory, remark,
        )  # fmt: skip


HEADER = ("who", "kind", "batch", "steps/s", "low to high", "per core", "compile s", "compile MB", "")


def summary(document: Mapping[str, Any]) -> str:
    """A whole profile as plain text: its table, what stands behind it, and where a step's time goes."""
    parts = [table(document), *behind(document)]
    hot = document.get("hot")
    if hot:
        parts.append("where a step's time goes (share, kind, line of the candidate):")
        parts += [f"  {share}  {kind}  {source}" for share, kind, source in operations(hot)]
    if document.get("advice"):
        parts.append(next_step(document["advice"]))
    return "\n".join(part for part in parts if part)


def table(document: Mapping[str, Any]) -> str:
    """The measurements in aligned columns."""
    lines = [HEADER, *rows(document)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def behind(document: Mapping[str, Any]) -> Iterator[str]:
    """What the figures rest on, line by line: machine, spot checks, what was left out, notes."""
    machine = document["machine"]
    device = machine.get("device", {})
    yield (
        f"{machine.get('cores_used', machine['cores'])} of {machine['cores']} cores, {machine['cpu']}; "
        f"{device.get('platform', 'no')} device {device.get('device', '')}, jax {machine['jax']}; "
        f"{document['state_bytes']} bytes of state per environment"
    )
    checks: Sequence[Mapping[str, Any]] = document["checks"]
    passed = [check for check in checks if check["outcome"] == "PASS"]
    if passed:
        steps = sum(check["steps"] for check in passed)
        yield f"{len(passed)} timed runs spot-checked: the reference played {steps:,} of their steps again, and agrees"
    for check in checks:
        if check["outcome"] != "PASS":
            yield f"{check['outcome']}: {check['kind']} at batch {check['batch']}: {check['detail']}"
    for each in document["skipped"]:
        yield f"not measured: {each['contender']}: {each['because'].splitlines()[0]}"
    yield from document["notes"]


def operations(hot: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The longest operations of a traced step: share, kind, and line of the candidate or what it belongs to."""
    for each in hot["operations"][:SHOWN_OPERATIONS]:
        location = each["source"] or each["name"]
        yield f"{each['share']:5.1%}", each["kind"], location + (" (chance)" if each["origin"] == "chance" else "")


def next_step(advice: Mapping[str, Any]) -> str:
    """The item of the optimisation prompt that is due."""
    item = f"item {advice['item']} of the optimisation prompt, {advice['name']}" if advice["item"] else advice["name"]
    return f"next: {item}: {advice['because']}"


def divergence(found: Mapping[str, Any]) -> str:
    """How a timed run differs from the reference."""
    where = f"{found['address']} at step {found['step']}"
    return f"{found['check']}: {where}: expected {found['expected']}, got {found['actual']}. {found['cause']}"


def compact(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The measurements as an event keeps them, for whoever draws speed over time."""
    return [
        {
            "contender": each["contender"],
            "role": each["role"],
            "kind": each["kind"],
            "batch": each["batch"],
            "steps_per_s": each["steps_per_s"]["median"],
            "low": each["steps_per_s"]["low"],
            "high": each["steps_per_s"]["high"],
        }
        | ({"suspicious": True} if each.get("suspicious") else {})
        for each in document["measurements"]
    ]
