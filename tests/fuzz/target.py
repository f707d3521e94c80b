"""What is fuzzed: a reader of foreign bytes, inputs to begin with, and what may come of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import LockstepError

Mutator = Callable[[random.Random, bytes, Sequence[bytes]], bytes]
"""Makes an input of another one; the last argument are others of which parts may be taken."""


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes:
        name: as the command line takes it.
        corpus: valid inputs, and some that were found to reach far.
        run: reads one input. It returns, or raises one of `allowed`: everything else is a finding.
        mutate: makes new inputs.
        allowed: the declared errors.
        close: lets go of what the target holds.
        cpu_s: processor time that one input may take.
        share: of the time that all targets have together.
    """

    name: str
    corpus: Sequence[bytes]
    run: Callable[[bytes], None]
    mutate: Mutator
    allowed: tuple[type[BaseException], ...] = (LockstepError,)
    close: Callable[[], None] = lambda: None
    cpu_s: float = 5.0
    share: float = 1.0


class Wrong(Exception):
    """A reader accepted an input and made something of it that it must not: always a finding."""


def each(*reads: Callable[[], object], allowed: type[Exception] = LockstepError) -> None:
    """Read one input in several ways, each whatever came of the others; then raise the first declared error, if any."""
    first: Exception | None = None
    for read in reads:
        try:
            read()
        except allowed as error:
            first = first or error
    if first is not None:
        raise first
