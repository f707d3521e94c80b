"""Who is measured: the candidate and its peers, each a worker that answers the calls of a measured run.

    bench_prepare(kind, batch, length)                  compile and allocate; nothing is run
    bench_run(kind, batch, length, seed, repeats)       that many steps, and their outputs are there

The clock is here, on this side of the pipe; a worker's own clock is never read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from harness.errors import BadAnswer
from harness.measure.profile.memory import watched
from harness.model import Array

STEP, SCAN, TRAIN = "step", "scan", "train"
KINDS = (STEP, SCAN)
"""Kinds of runs that the calls above measure."""
BARE, ADAPTER, EPISODES = "bare", "adapter", "episodes"
"""Kinds of runs of a reference: its environment alone in one process, through the adapter in one, and with all workers."""
CANDIDATE, PEER, REFERENCE = "candidate", "peer", "reference"
DEADLINE_S = 300.0
"""How long compiling one program, or one run of it, may take."""

_SHORTEST_TRIAL = 2
_MOST_REPEATS = 100_000


class Asked(Protocol):
    """Whatever can be asked the calls above: a channel, or an environment behind one."""

    def ask(self, call: str, **arguments: Any) -> Any: ...


@dataclass(frozen=True)
class Contender:
    """One of those that are measured.

    Attributes:
        name: what to call it.
        role: `candidate`, `peer` or `reference`.
        asked: its worker.
        pid: the worker's process, for its memory.
        kinds: the kinds of runs that it can do; `train` of those that answer `vector` and `advance` instead.
        fixed: of which kinds the length is compiled in, so that a shorter run is another program.
        cores: how many processors it can use; None for all.
        divides: a batch must be a multiple of it.
    """

    name: str
    role: str
    asked: Asked
    pid: int
    kinds: tuple[str, ...] = KINDS
    fixed: tuple[str, ...] = (SCAN,)
    cores: int | None = None
    divides: int = 1


@dataclass(frozen=True)
class OnDevices:
    """A candidate in JAX whose measured runs are spread over several devices."""

    candidate: Asked
    devices: int

    def ask(self, call: str, **arguments: Any) -> Any:
        """One of the calls of measured runs."""
        return self.candidate.ask(call, **arguments, devices=self.devices)


@dataclass(frozen=True)
class Reading:
    """One timed call: what was asked for, how long it took, and the sums that a candidate answered, uint32 `[repeats,
    batch]`.
    """

    seed: int
    repeats: int
    seconds: float
    sums: Array | None = None


@dataclass
class Cell:
    """One contender in one kind of run at one batch size: how it is run, what preparing it took, and its readings.

    Seconds; bytes, None where they could not be seen.
    """

    contender: Contender
    kind: str
    batch: int
    length: int
    repeats: int = 1
    compile_s: float = 0.0
    compile_peak: int | None = None
    compile_added: int | None = None
    warm_up_s: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Environment steps in one repetition."""
        return self.batch * self.length

    @property
    def rates(self) -> list[float]:
        """Steps per second, one for each reading."""
        return [self.steps * reading.repeats / reading.seconds for reading in self.readings]

    def read(self, seed: int, repeats: int) -> Reading:
        """Time one call.

        Raises:
            EnvironmentFailure: the worker could not answer, or its answer has another form.
        """
        arguments = {"kind": self.kind, "batch": self.batch, "length": self.length, "seed": seed, "repeats": repeats}
        began = time.perf_counter()
        answer = self.contender.asked.ask("bench_run", timeout=DEADLINE_S, **arguments)
        seconds = time.perf_counter() - began
        if self.contender.role != CANDIDATE:
            return Reading(seed, repeats, seconds)
        sums = answer.get("sums") if isinstance(answer, dict) else None
        if not isinstance(sums, np.ndarray) or sums.shape != (repeats, self.batch) or sums.dtype != np.uint32:
            raise BadAnswer(
                "it answered without the sums of its outputs", where=f"{self.contender.name}, bench_run",
                expected=f"`sums`, uint32 of shape {[repeats, self.batch]}",
            )  # fmt: skip
        return Reading(seed, repeats, seconds, sums)


def prepare(
    contender: Contender, kind: str, batch: int, length: int, *, seconds: float, longest_s: float, seed: int
) -> Cell:
    """Compile a run, warm it up, and find out how often it has to be repeated to last `seconds`.

    A length that is not compiled in is shortened until one repetition lasts no longer than that either.

    Args:
        seconds: how long one reading should take.
        longest_s: how long one repetition may take at most, where the length can be chosen.

    Raises:
        EnvironmentFailure: the worker could not.
    """
    cell = Cell(contender, kind, batch, length)
    with watched(contender.pid) as memory:
        began = time.perf_counter()
        answer = contender.asked.ask("bench_prepare", timeout=DEADLINE_S, kind=kind, batch=batch, length=length)
        cell.compile_s = time.perf_counter() - began
    cell.compile_peak, cell.compile_added = memory.peak, memory.added
    cell.facts = dict(answer) if isinstance(answer, dict) else {}
    if kind not in contender.fixed:
        cell.length = min(length, _SHORTEST_TRIAL)
        cell.warm_up_s = cell.read(seed, 1).seconds
        each = cell.read(seed + 1, 1).seconds / cell.length
        cell.length = max(1, min(length, int(min(seconds, longest_s) / each)))
    else:
        cell.warm_up_s = cell.read(seed, 1).seconds
    once = cell.read(seed + 2, 1).seconds
    cell.repeats = max(1, min(_MOST_REPEATS, round(seconds / once)))
    return cell


def interleaved(cells: Sequence[Cell], rounds: int, seeds: Callable[[], int], reported: Callable[[int], None]) -> None:
    """Time all cells round by round, each round in another order, so that a noisy moment of the machine hits all alike."""
    for number in range(rounds):
        turn = number % max(1, len(cells))
        for cell in [*cells[turn:], *cells[:turn]]:
            cell.readings.append(cell.read(seeds(), cell.repeats))
        reported(number + 1)
