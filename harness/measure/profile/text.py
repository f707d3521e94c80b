"""A profile as text, short enough for a prompt and for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.measure.profile.advice import Advice
from harness.measure.profile.contenders import ADAPTER, BARE, CANDIDATE, EPISODES, REFERENCE
from harness.measure.profile.hot import CHANCE, HotStep
from harness.measure.profile.result import MB, Profile
from harness.verdict import Divergence, Outcome

SHOWN_OPERATIONS = 6


def figure(value: float) -> str:
    """A rate with three digits and its unit of a thousand: `12.3M`."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def rows(measured: Profile) -> Iterator[tuple[str, ...]]:
    """One row of text for each measurement: who, kind, batch, steps/s with their spread, per core, times as
    fast per core as the bare reference, seconds to compile, MB that compiling took, and a remark."""
    for each in measured.measurements:
        remark = "SUSPICIOUS" if each.suspicious else ""
        if each.share is not None:
            remark = f"{each.share:.0%} in the environment"
        own, times = each.role == CANDIDATE, measured.speed_up(each)
        yield (
            each.contender,
            each.kind,
            f"{each.batch} workers" if each.kind == EPISODES else str(each.batch),
            figure(each.speed.median),
            f"{figure(each.speed.low)} to {figure(each.speed.high)}",
            figure(each.speed.per_core),
            "" if times is None else figure(times),
            f"{each.compile_s:.1f}" if own and each.compile_s is not None else "",
            f"{each.compile_added / MB:.0f}" if own and each.compile_added is not None else "",
            remark,
        )


def header(measured: Profile) -> tuple[str, ...]:
    """The names of the columns of `rows`; that of the speed-up says against what."""
    against = "" if measured.baseline is None else f"x {measured.baseline.kind}"
    return ("who", "kind", "batch", "steps/s", "low to high", "per core", against, "compile s", "compile MB", "")


def summary(measured: Profile) -> str:
    """A whole profile as plain text: its table, what stands behind it, and where a step's time goes."""
    parts = [table(measured), *behind(measured)]
    if measured.hot is not None:
        parts.append("where a step's time goes (share, kind, line of the candidate):")
        parts += [f"  {share}  {kind}  {source}" for share, kind, source in operations(measured.hot)]
    if measured.advice is not None:
        parts.append(next_step(measured.advice))
    return "\n".join(part for part in parts if part)


def table(measured: Profile) -> str:
    """The measurements in aligned columns."""
    lines = [header(measured), *rows(measured)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def behind(measured: Profile) -> Iterator[str]:
    """What the figures rest on, line by line: machine, spot checks, what was left out, notes."""
    machine = measured.machine
    # Nothing is known of a device where no candidate came as far as to be measured.
    device = machine.get("device")
    computed_on = f"{device['platform']} device {device['device']}, " if device else ""
    yield (
        f"{machine.get('cores_used', machine['cores'])} of {machine['cores']} cores, {machine['cpu']}; "
        f"{computed_on}jax {machine['jax']}; "
        f"{measured.state_bytes} bytes of state per environment"
    )
    if measured.baseline is not None:
        yield from _paces(measured)
    passed = [check for check in measured.checks if check.outcome is Outcome.PASS]
    if passed:
        steps = sum(check.steps for check in passed)
        yield f"{len(passed)} timed runs spot-checked: the reference played {steps:,} of their steps again, and agrees"
    for check in measured.checks:
        if check.outcome is not Outcome.PASS:
            yield f"{check.outcome}: {check.kind} at batch {check.batch}: {check.detail}"
    for each in measured.skipped:
        yield f"not measured: {each.contender}: {each.because.splitlines()[0]}"
    yield from measured.notes


def _paces(measured: Profile) -> Iterator[str]:
    """The reference's rate in each way, and what speed-ups are against."""
    ways = {BARE: "bare in one process", ADAPTER: "through its adapter in one process"}
    told = [
        f"{figure(each.speed.median)} steps/s {ways.get(each.kind, f'with all {each.batch} workers')}"
        for each in measured.measurements
        if each.role == REFERENCE and each.kind in (BARE, ADAPTER, EPISODES)
    ]
    against = "bare" if measured.baseline is not None and measured.baseline.kind == BARE else "through its adapter"
    yield f"the reference makes {', '.join(told)}; speed-ups are per core against it {against}"


def operations(hot: HotStep) -> Iterator[tuple[str, str, str]]:
    """The longest operations of a traced step: share, kind, and line of the candidate or what it belongs to."""
    for each in hot.operations[:SHOWN_OPERATIONS]:
        location = each.source or each.name
        yield f"{each.share:5.1%}", each.kind, location + (" (chance)" if each.origin == CHANCE else "")


def next_step(advice: Advice) -> str:
    """The item of the optimisation prompt that is due."""
    item = f"item {advice.item} of the optimisation prompt, {advice.name}" if advice.item else advice.name
    return f"next: {item}: {advice.because}"


def divergence(found: Divergence) -> str:
    """How a timed run differs from the reference."""
    where = f"{found.address} at step {found.step}"
    return f"{found.check}: {where}: expected {found.expected}, got {found.actual}. {found.cause}"


def compact(measured: Profile) -> list[dict[str, Any]]:
    """The measurements as an event keeps them, for whoever draws speed over time."""
    return [
        {
            "contender": each.contender,
            "role": each.role,
            "kind": each.kind,
            "batch": each.batch,
            "steps_per_s": round(each.speed.median),
            "low": round(each.speed.low),
            "high": round(each.speed.high),
        }
        | ({"suspicious": True} if each.suspicious else {})
        for each in measured.measurements
    ]
