"""The demo's agent: a script that reads a divergence as a person would, and knows a repair for what it recognises.

It looks at the report alone: which rule was broken, where, in which module, and whether one step from the reference's own
state shows it again. What it does not recognise it leaves to a person.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.model import STATE
from mcp_server.demo.faults import CONSTANT, COUNTDOWN, LIMIT, ORDER, SAMPLER, Fault
from mcp_server.results import Finding


@dataclass(frozen=True)
class Diagnosis:
    """What a report means: the kind of mistake, and the reasoning that leads from one to the other."""

    kind: str
    because: str


@dataclass(frozen=True)
class _Symptom:
    shown_by: Callable[[Finding], bool]
    kind: str
    because: str


_SYMPTOMS = (
    _Symptom(
        lambda d: d.rule == "law" and d.path.startswith("draw/"),
        SAMPLER,
        "handed the reference's draws the candidate is right, so its own sampler follows another law",
    ),
    _Symptom(
        lambda d: d.reproduced is False and d.path == "truncated",
        COUNTDOWN,
        "from the reference's state one step is right, yet the limit comes early: a count is kept beside the state's",
    ),
    _Symptom(
        lambda d: d.reproduced is False and d.path.startswith((STATE, "observation")),
        ORDER,
        "from the reference's state one step is right, yet the next one is not: something stale is carried along",
    ),
    _Symptom(
        lambda d: d.reproduced is True and d.module == "termination",
        LIMIT,
        "one step, or the probe alone, ends where the reference goes on, or the reverse: a limit is wrong",
    ),
    _Symptom(
        lambda d: d.reproduced is True and d.module == "dynamics",
        CONSTANT,
        "the numbers are wrong after a single step: the formula or a constant in it is",
    ),
)


def diagnose(found: Finding) -> Diagnosis | None:
    """What a divergence means, or None where this agent does not recognise it."""
    for symptom in _SYMPTOMS:
        if symptom.shown_by(found):
            return Diagnosis(symptom.kind, symptom.because)
    return None


def remaining_after(diagnosis: Diagnosis | None, faults: Sequence[Fault]) -> tuple[Fault, ...] | None:
    """The faults that are left after the repair that a diagnosis asks for; None where it leads to no repair.

    A kind that was repaired before leads to none: the agent would only turn in circles.
    """
    kinds = {fault.kind for fault in faults}
    if diagnosis is None or diagnosis.kind not in kinds:
        return None
    return tuple(fault for fault in faults if fault.kind != diagnosis.kind)
