"""From where a step's time goes to the item of the optimisation prompt that is due next (prompts/optimise_jax.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.measure.profile.hot import CANDIDATE, CHANCE, HotStep, Operation
from harness.support.document import Document

LARGE_SHARE = 0.25
COMPILE_S, COMPILE_BYTES = 60.0, 4 << 30


@dataclass(frozen=True)
class Advice:
    """The number and the name of an item of the prompt's checklist (0: none of them), and why."""

    item: int
    name: str
    because: str

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"item": self.item, "name": self.name, "because": self.because}

    @staticmethod
    def from_json(described: object, kind: str = "advice") -> Advice:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return Advice(document.whole("item"), document.text("name"), document.text("because"))


def advise(hot: HotStep, *, x64: bool, compile_s: float, compile_added: int | None, state_bytes: int) -> Advice:
    """What a profile points to.

    Args:
        hot: where the time of the candidate's step goes.
        x64: whether 64-bit types are on.
        compile_s, compile_added: seconds and bytes that compiling took, the most of any program.
        state_bytes: of one sub-environment.
    """
    if compile_s > COMPILE_S or (compile_added or 0) > COMPILE_BYTES:
        size = "" if compile_added is None else f" and {compile_added / (1 << 20):,.0f} MB"
        return Advice(2, "Branches", f"compiling took {compile_s:.0f} s{size}: look for a `switch` of many branches")
    own: dict[str, float] = {}
    for each in hot.operations:
        if each.origin == CANDIDATE:
            own[each.kind] = own.get(each.kind, 0.0) + each.share

    def share(*kinds: str) -> float:
        return sum(own.get(kind, 0.0) for kind in kinds)

    chance = hot.origins.get(CHANCE, 0.0)
    conditional, loops = share("conditional"), share("while")
    moved = share("gather", "scatter", "concatenate", "copy", "sort")
    moving = f"{moved:.0%} is moving data (gather, scatter, concatenate, copy); an instance carries {state_bytes} bytes"
    rules = [
        (conditional, Advice(2, "Branches", f"{conditional:.0%} is in conditionals")),
        (loops, Advice(5, "Loops", f"{loops:.0%} is in inner loops: unroll small fixed ones")),
        (moved, Advice(7, "Memory", moving)),
    ]
    largest, advice = max(rules, key=lambda rule: rule[0])
    if chance >= max(LARGE_SHARE, largest):
        return Advice(
            0, "Chance",
            f"{chance:.0%} is the making of random numbers. `sample_reset` and `sample_step` run in every step: make "
            "them draw fewer bits, in one call, without changing their law",
        )  # fmt: skip
    if largest >= LARGE_SHARE:
        return Advice(advice.item, advice.name, f"{advice.because}{_at(hot.operations)}")
    if x64:
        reason = "most of it is arithmetic, with 64-bit types on: use them only where the comparison needs them"
        return Advice(6, "Types", f"{reason}{_at(hot.operations)}")
    return Advice(0, "The rules themselves", f"most of it is arithmetic{_at(hot.operations)}")


def _at(operations: Sequence[Operation]) -> str:
    shares: dict[str, float] = {}
    for each in operations:
        if each.source:
            shares[each.source] = shares.get(each.source, 0.0) + each.share
    top = sorted(shares.items(), key=lambda item: -item[1])[:3]
    return f"; most at {', '.join(f'{source} ({share:.0%})' for source, share in top)}" if top else ""
