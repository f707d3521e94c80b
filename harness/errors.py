"""The errors that Lockstep raises, and what each asks of its reader.

::

    LockstepError                 anything that Lockstep raises on purpose
    ├── TaskError                 a task file or a task directory is wrong (carries every mistake at once)
    │   └── NoSuchTask            a name or a path means no task
    ├── SetupError                an environment for a reference could not be built
    ├── EnvironmentFailure        a reference or a candidate could not answer (infrastructure: an ERROR, never a FAIL)
    │   ├── Crashed               its process ended before it answered
    │   ├── TimedOut              it did not answer in time
    │   ├── Raised                its own code raised an exception
    │   ├── BadAnswer             it answered something that the protocol does not allow
    │   └── BrokenContract        a candidate's functions do not have the form that its task demands
    ├── TrainingError             a policy cannot be trained, or its checkpoint is of another training
    ├── SessionError              a session cannot do what was asked
    │   ├── NoSuchSession         a name or a path means no session
    │   ├── SessionLocked         another process works on the same session
    │   └── TrustedFileChanged    the workspace changes files that belong to the verifier
    └── RecordError               the git record is damaged or does not verify

A divergence between reference and candidate is never an exception: it is data (`harness.verdict.Divergence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Side(Enum):
    """One of the two environments that are held against each other."""

    REFERENCE = "the reference"
    CANDIDATE = "the candidate"


class Failing(Enum):
    """How an environment failed, as far as code asks for it."""

    UNUSABLE = "it cannot be imported, compiled or traced"
    LATE = "it did not answer in time"
    BROKEN = "it could not answer for another reason"


class Lack(Enum):
    """What a compiler lacks, where that is why a crate does not compile."""

    COUNTERS = "LLVM's runtime, which counts what is reached"


class LockstepError(Exception):
    """An error that names the thing, the place, what was expected, and what to do next.

    Args:
        what: what went wrong, naming the thing.
        where: the file, line, leaf, step or process that it concerns.
        expected: what would have been right.
        next_step: what the reader can do about it.
    """

    def __init__(self, what: str, *, where: str = "", expected: str = "", next_step: str = "") -> None:
        self.what = what
        self.where = where
        self.expected = expected
        self.next_step = next_step
        super().__init__(what)

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.expected:
            parts.append(f"expected: {self.expected}")
        if self.next_step:
            parts.append(f"next: {self.next_step}")
        return "\n  ".join(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__)

    def as_json(self) -> dict[str, str]:
        """The same facts for a program, with the name of the error's class under `error`."""
        return {
            "error": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "expected": self.expected,
            "next": self.next_step,
        }


def _again(kind: type[LockstepError], arguments: tuple[Any, ...], facts: dict[str, Any]) -> LockstepError:
    """An error that another process raised."""
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(facts)
    return error


class TaskError(LockstepError):
    """A task file or directory is wrong; `mistakes` holds one line for each mistake."""

    def __init__(self, what: str, *, mistakes: tuple[str, ...] = (), where: str = "", next_step: str = "") -> None:
        self.mistakes = mistakes
        super().__init__(what, where=where, next_step=next_step)

    def __str__(self) -> str:
        return "\n  ".join([super().__str__(), *self.mistakes])

    def as_json(self) -> dict[str, str]:
        return super().as_json() | {"mistakes": "\n".join(self.mistakes)}


class NoSuchTask(TaskError):
    """A name or a path means no task."""


class SetupError(LockstepError):
    """An environment for a reference could not be built."""


class EnvironmentFailure(LockstepError):
    """A reference or a candidate could not answer: infrastructure, so an ERROR and never a FAIL.

    `side` says which of them, None where it was neither.
    """

    side: Side | None = None

    def __init__(
        self, what: str, *, where: str = "", expected: str = "", next_step: str = "", side: Side | None = None
    ) -> None:
        self.side = side
        super().__init__(what, where=where, expected=expected, next_step=next_step)


class Crashed(EnvironmentFailure):
    """A worker's process ended before it answered.

    `status` is its exit status; None where it was killed, or ended earlier.
    """

    status: int | None = None

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        expected: str = "",
        next_step: str = "",
        side: Side | None = None,
        status: int | None = None,
    ) -> None:
        self.status = status
        super().__init__(what, where=where, expected=expected, next_step=next_step, side=side)


class TimedOut(EnvironmentFailure):
    """A worker did not answer in time; its process has been killed."""


class Raised(EnvironmentFailure):
    """The environment's own code raised an exception while it answered; its process goes on."""


class BadAnswer(EnvironmentFailure):
    """A worker's answer breaks the protocol or contradicts its declared spec."""


class BrokenContract(EnvironmentFailure):
    """A candidate's functions do not have the form that its task demands: this alone is the candidate's own failure.

    `mistakes` has, for each, its `text`, `failing` (`UNUSABLE` where it keeps the candidate from running at all), and where
    it concerns a leaf also `path`, `rule`, `expected` and `actual`. `lack` says what this machine's compiler would need.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str,
        mistakes: tuple[dict[str, str], ...],
        side: Side | None = None,
        lack: Lack | None = None,
    ) -> None:
        self.mistakes = mistakes
        self.lack = lack
        super().__init__(what, where=where, expected="what task.toml declares", side=side)


class TrainingError(LockstepError):
    """A policy cannot be trained, or a file does not hold what it should: says nothing of a candidate."""


class SessionError(LockstepError):
    """A session cannot do what was asked."""


class NoSuchSession(SessionError):
    """A name or a path means no session."""


class SessionLocked(SessionError):
    """Another process works on the same session."""


class TrustedFileChanged(SessionError):
    """The workspace changes files that belong to the verifier: task, tests, tolerances, cases or reference."""


class RecordError(LockstepError):
    """The git record of a session is damaged or does not verify."""


@dataclass(frozen=True)
class Failure:
    """Why something could not be judged, as code asks for it; texts are for readers.

    Attributes:
        how: how it failed.
        side: which environment did; None where it was neither.
        said: the text for readers.
    """

    how: Failing
    side: Side | None
    said: str

    @classmethod
    def of(cls, error: Exception) -> Failure:
        """What an error says of itself."""
        side = error.side if isinstance(error, EnvironmentFailure) else None
        return cls(Failing.LATE if isinstance(error, TimedOut) else Failing.BROKEN, side, str(error))

    @classmethod
    def of_contract(cls, broken: BrokenContract) -> Failure | None:
        """What keeps a candidate from running at all; None where it runs and has another form than its task demands."""
        texts = [each.get("text", "") for each in broken.mistakes if each.get("failing") == Failing.UNUSABLE.name]
        return cls(Failing.UNUSABLE, Side.CANDIDATE, texts[0]) if texts else None
