"""One target's inputs, one after the other, in one process: what is wrong with each, and how memory goes meanwhile."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import hashlib
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import psutil

from tests.fuzz.target import Target

WALL_S = 60.0
"""An input that takes longer ends the process, whatever the processor does: it waits for something that never comes."""
PEAK_BYTES = 128 << 20
"""By so much one input may raise the memory that the process has at most."""
GROWTH_BYTES = 48 << 20
"""By so much memory may have grown between the end of the warm-up and the end."""
WARM_UP = 0.25
SAMPLE_S = 2.0
KEPT = 400
DONORS = 40
TRACED = 500
SHRINKS, SHRINK_S = 150, 60.0


@dataclass(frozen=True)
class Finding:
    """Something that must not be.

    Attributes:
        kind: `crash`, `hang`, `peak` (one input took much memory), `growth` (all together did), `died` (the process).
        mark: the same for findings of the same place.
    """

    kind: str
    what: str
    trace: str
    data: bytes

    @property
    def mark(self) -> str:
        """Names its file."""
        place = [line for line in self.trace.splitlines() if line.startswith("  File ")][-1:]
        return hashlib.sha256(f"{self.kind} {place}".encode()).hexdigest()[:10]


@dataclass
class Run:
    """How far one target has come.

    Attributes:
        refused: how many inputs the target declared to be wrong.
        kept: how many inputs the corpus has by now.
        samples: memory in bytes, each with the number of inputs before it.
    """

    inputs: int = 0
    refused: int = 0
    kept: int = 0
    seconds: float = 0.0
    findings: dict[str, Finding] = field(default_factory=dict)
    samples: list[tuple[int, int]] = field(default_factory=list)

    @property
    def growth(self) -> int:
        """By how many bytes memory has grown since the warm-up: the median of the last samples less that of the first."""
        after = [size for count, size in self.samples if count >= WARM_UP * self.inputs] or [0]
        few = max(1, len(after) // 5)
        return sorted(after[-few:])[few // 2] - sorted(after[:few])[few // 2]


class _Hung(BaseException):
    """Raised inside an input that has used up its time; nothing that reads input catches it."""


def _expired(*_: Any) -> None:
    raise _Hung


def attempt(target: Target, data: bytes) -> tuple[Finding | None, str]:
    """Run one input. Returns what is wrong, and where it was refused: which differs where other code was reached."""
    _forget_peak()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.setitimer(signal.ITIMER_PROF, target.cpu_s)
    try:
        target.run(data)
        found, place = None, "accepted"
    except target.allowed as error:
        found, place = None, _place(error)
    except _Hung:
        found, place = (
            Finding("hang", f"no end within {target.cpu_s:g} s", traceback.format_exc()[-6_000:], data),
            "hang",
        )
    except Exception as error:
        what = f"{type(error).__name__}: {str(error)[:300]}"
        found, place = Finding("crash", what, traceback.format_exc()[-6_000:], data), _place(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    rise = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * (1 if sys.platform == "darwin" else 1024)
    if found is None and rise > PEAK_BYTES:
        found = Finding("peak", f"an input of {len(data)} bytes took {rise >> 20} MiB", "", data)
    return found, place


@contextlib.contextmanager
def watched(log: TextIO | None = None) -> Iterator[Callable[[], None]]:
    """Make deadlines work in this process. Call what it gives before each input: it moves the deadline on the wall's clock.

    Where `log` is given and an input never comes back, all stacks are written to it and the process ends.
    """
    before = signal.signal(signal.SIGPROF, _expired)
    moved = 0.0

    def begin() -> None:
        nonlocal moved
        if log is not None and time.monotonic() - moved > 1.0:
            moved = time.monotonic()
            faulthandler.dump_traceback_later(WALL_S, exit=True, file=log)

    try:
        yield begin
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGPROF, before)


def fuzz(
    target: Target,
    seed: int,
    *,
    inputs: int | None = None,
    seconds: float | None = None,
    begin: Callable[[], None] = lambda: None,
    remember: Callable[[bytes], None] = lambda data: None,
    tell: Callable[[Run], None] = lambda run: None,
    growth_bytes: int = GROWTH_BYTES,
) -> Run:
    """Run a target's corpus and inputs made of it, so many or for so long. The same seed and number make the same inputs.

    Inputs that are refused at a place where none was before are kept, so that others are made of them: a cheap measure
    of what was reached, which needs no instrumentation.

    Args:
        begin: reported before each input; remember: called with each input, for the case that the process does not survive
            it.
        tell: reported now and then how far it has come.
    """
    rng = random.Random(f"{seed}/{target.name}")
    run, began, sampled = Run(), time.monotonic(), 0.0
    corpus = list(target.corpus)
    reached: set[str] = set()
    every = max(1, (inputs or 0) // 10)
    pending = list(corpus)
    gc.collect()
    gc.freeze()  # what was imported is not looked through again each time that memory is measured
    while (inputs is None or run.inputs < inputs) and (seconds is None or time.monotonic() - began < seconds):
        if pending:
            data = pending.pop(0)
        else:
            donors = corpus if len(corpus) <= DONORS else rng.sample(corpus, DONORS)
            data = target.mutate(rng, rng.choice(corpus), donors)
        begin()
        remember(data)
        found, place = attempt(target, data)
        run.inputs += 1
        run.refused += found is None and place != "accepted"
        if found is not None and found.mark not in run.findings:
            run.findings[found.mark] = found if found.kind != "crash" else _shrunk(target, found, rng, begin)
        elif found is None and place not in reached and len(corpus) < KEPT:
            reached.add(place)
            corpus.append(data)
        run.kept, run.seconds = len(corpus), time.monotonic() - began
        if run.inputs % every == 0 if inputs is not None else time.monotonic() - sampled > SAMPLE_S:
            sampled = time.monotonic()
            run.samples.append((run.inputs, _memory()))
            tell(run)
    gc.unfreeze()
    if run.growth > growth_bytes:
        culprit = _culprit(target, rng, corpus)
        what = f"memory grew by {run.growth >> 20} MiB over {run.inputs} inputs"
        run.findings["growth"] = Finding("growth", what, culprit, b"")
    return run


def _forget_peak() -> None:
    """Have the system count the most memory anew, so that one input's rise is seen below an earlier one's."""
    with contextlib.suppress(OSError):  # elsewhere only what exceeds the highest so far is seen
        Path("/proc/self/clear_refs").write_text("5")


def _place(error: BaseException) -> str:
    """Which error, and the two innermost places of its traceback: other ones mean that other code was reached."""
    outer = inner = error.__traceback__
    while inner is not None and inner.tb_next is not None:
        outer, inner = inner, inner.tb_next
    places = (f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" for at in (outer, inner) if at is not None)
    return " ".join([type(error).__name__, *places])


def _memory() -> int:
    """Bytes that this process holds, without those that are free for use again."""
    gc.collect()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library than GNU's
            ctypes.CDLL(None).malloc_trim(0)
    return psutil.Process().memory_info().rss


def _shrunk(target: Target, found: Finding, rng: random.Random, begin: Callable[[], None]) -> Finding:
    """A shorter input with the same finding, as far as cutting parts out leads in a few attempts."""
    best = found
    size = max(1, len(found.data) // 2)
    until = time.monotonic() + SHRINK_S
    for _ in range(SHRINKS):
        if len(best.data) < 2 or time.monotonic() > until:
            break
        at = rng.randrange(len(best.data))
        data = best.data[:at] + best.data[at + size :]
        begin()
        again, _ = attempt(target, data)
        if len(data) < len(best.data) and again is not None and again.mark == found.mark:
            best = again
        else:
            size = max(1, size * 3 // 4)
    return best


def _culprit(target: Target, rng: random.Random, corpus: list[bytes]) -> str:
    """The lines at which memory was taken that was not given back, over some more inputs."""
    import tracemalloc

    tracemalloc.start(8)
    gc.collect()
    before = tracemalloc.take_snapshot()
    for _ in range(TRACED):
        attempt(target, target.mutate(rng, rng.choice(corpus), corpus[:DONORS]))
    gc.collect()
    compared = tracemalloc.take_snapshot().compare_to(before, "lineno")
    tracemalloc.stop()
    return "\n".join(str(line) for line in compared[:8])
