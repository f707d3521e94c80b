"""What is known in a session of what its levels reached of the reference, folded from the event log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from harness.errors import LockstepError
from harness.measure.coverage.result import Count, Coverage
from harness.record.event import Event
from harness.record.task_update import TASK_UPDATED
from harness.session.recipe import VERDICT
from harness.support import former
from harness.support.document import DocumentError
from harness.task.contract import TRAINING_LEVEL
from harness.verdict import Outcome
from sandboxes import SandboxError

COVERAGE = "coverage"
"""The kind of event that a measurement of its own leaves, and its name in the detail of that and of a verdict's event."""
CANDIDATE = "candidate"
"""Where in that detail stands what was reached of the candidate's own code."""
LONGEST_LEVEL = TRAINING_LEVEL - 1
"""Level 4 asks in millions of training steps what nobody could ask again."""
SHOWN_GAPS = 6
MAX_ERROR = 300


@runtime_checkable
class Measures(Protocol):
    """A verifier that can tell what its last verification reached; a stand-in need not."""

    def coverage(self, levels: Sequence[int]) -> Coverage:
        """What these levels reached, measured now."""
        ...


@dataclass(frozen=True)
class Known:
    """What a session knows so far.

    Attributes:
        bound: 95% bound on the share of episodes that diverge, of the newest verdict that has one.
        error: why the newest attempt at measuring came to nothing; empty where it did not.
        candidate: what the newest measurement of a candidate's own code said, in lines of text.
    """

    coverage: Coverage
    bound: float | None = None
    error: str = ""
    candidate: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description for whoever is shown a verdict: figures, and `summary`, the same in lines of text."""
        reached = self.coverage
        gaps = reached.never()
        return {
            "summary": lines_of(reached, self.bound) + ([f"not measured: {self.error}"] if self.error else []),
            "levels": [
                {"level": level, "lines": list(reached.lines([level])), "branches": list(reached.branches([level]))}
                | {"features": list(reached.features([level])), "seconds": round(found.seconds, 2)}
                for level, found in sorted(reached.levels.items())
            ],
            "together": {
                "lines": list(reached.lines()),
                "branches": list(reached.branches()),
                "features": list(reached.features()),
            },
            "never": [str(gap) for gap in gaps[:SHOWN_GAPS]],
            "never_count": len(gaps),
            "divergence_bound_95": self.bound,
        }


def known(events: Iterable[Event]) -> Known:
    """Everything that these events say of it since the last change of the task; what cannot be read counts as not said."""
    coverage, bound, error = Coverage(), None, ""
    candidate: tuple[str, ...] = ()
    for event in events:
        if event.kind == TASK_UPDATED:
            coverage, bound, error, candidate = Coverage(), None, "", ()
        if event.kind not in (VERDICT, COVERAGE):
            continue
        if event.kind == VERDICT and event.outcome == Outcome.PASS:
            lines = event.detail.get("levels")
            texts = [each for each in (lines if isinstance(lines, list) else []) if isinstance(each, dict)]
            bounds = [each.get("divergence_bound_95") for each in texts]
            bound = next((each for each in bounds if isinstance(each, float)), bound)
        described = event.detail.get(COVERAGE)
        if not isinstance(described, dict):
            continue
        error = str(described.get("error", ""))[:MAX_ERROR]
        own = described.get(CANDIDATE)
        lines = former.read(own, "summary") if isinstance(own, dict) else None
        candidate = tuple(map(str, lines)) if isinstance(lines, list) else candidate
        if "levels" in described:
            try:
                coverage = coverage.merged(Coverage.from_json(described))
            except DocumentError:
                continue
    return Known(coverage, bound, error, candidate)


def due(events: Iterable[Event], levels: Iterable[int], module: str | None) -> list[int]:
    """The levels of a verdict that should be measured now: each once in a session, and not by one module's tests alone."""
    if module is not None:
        return []
    done = {level for level, found in known(events).coverage.levels.items() if not found.error}
    return [level for level in levels if level <= LONGEST_LEVEL and level not in done]


def measured(verifier: object, levels: Sequence[int]) -> dict[str, Any]:
    """What an event keeps of what the last verification reached; empty where there is nothing to measure.

    A verdict stands whatever goes wrong here: then `error` says it in one line.
    """
    if not levels or not isinstance(verifier, Measures):
        return {}
    try:
        return verifier.coverage(levels).to_json(text=False)
    except (LockstepError, SandboxError, OSError) as failure:
        return {"error": " ".join(str(failure).split())[:MAX_ERROR]}


def lines_of(coverage: Coverage, bound: float | None = None, *, of: str = "reference") -> list[str]:
    """What was reached, in lines of text: one for each level, one for all of them, and one for each thing not measured."""
    texts = []
    for level, found in sorted(coverage.levels.items()):
        if found.error:
            texts.append(f"level {level}: not measured: {' '.join(found.error.split())[:MAX_ERROR]}")
            continue
        sample = f" (by {found.repeated} of {found.asked} questions)" if found.repeated < found.asked else ""
        texts.append(f"level {level} reached of the {of}: {_counts(coverage, [level])}{sample}")
    if coverage.files:
        texts.append(f"{of} reached: {_counts(coverage, None)}{_rest(coverage, bound)}")
    return texts + [f"not measured: {each}" for each in coverage.not_measured]


def _counts(coverage: Coverage, levels: list[int] | None) -> str:
    counts = [
        ("lines", coverage.lines(levels)),
        ("branches", coverage.branches(levels)),
        ("features", coverage.features(levels)),
    ]
    return ", ".join(f"{name} {count(each)}" for name, each in counts if each[1])


def count(reached: Count) -> str:
    """`41/43 (95%)`: never 100% where something is missing."""
    done, total = reached
    if not total:
        return "none"
    return f"{done}/{total}" + (f" ({int(100 * done / total)}%)" if done < total else "")


def _rest(coverage: Coverage, bound: float | None) -> str:
    gaps = coverage.never()
    more = f" and {len(gaps) - SHOWN_GAPS} more" if len(gaps) > SHOWN_GAPS else ""
    parts = [f"never: {', '.join(str(gap) for gap in gaps[:SHOWN_GAPS])}{more}"] if gaps else []
    parts += [f"features never seen: {', '.join(coverage.unreached_features)}"] if coverage.unreached_features else []
    parts += [] if bound is None else [f"divergence ≤ {bound:.2%} of episodes (95%)"]
    return "".join(f"; {part}" for part in parts)
