"""What an audit comes to, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing that does not hold.

    Attributes:
        rule: which of the rules in docs/audit.md.
        seq: the place in the log from which on it concerns what follows; None where it concerns no event.
        what: what is wrong, in words.
    """

    rule: str
    seq: int | None
    what: str


@dataclass(frozen=True)
class Row:
    """What one verified commit proved, at what cost, on which machine.

    Attributes:
        seq: the event that verified it; `commit` its id, `time` when, `message` its first line.
        level, module: what was asked for; `levels` holds a line for each level that ran.
        cases: the known cases that ran first.
        examples, episodes, steps: what was compared, over all levels.
        bound: 95% upper bound on the share of episodes that diverge, None where no whole episode was compared.
        seed: of the whole run, drawn after the tree was fixed.
        sandbox, isolated, image: the driver, whether it isolates, the digest of its image (empty where it has none).
        duration_s: of the verification.
        attempts, dollars: verifications and money since the commit before; `dollars_reported` of it are the word of agents.
        machine: as the attestation states it.
        ssh: fingerprint of the SSH key whose signature the commit carries; empty without one.
        unsigned: why a commit of a session with an SSH key carries no signature.
    """

    seq: int
    commit: str
    time: str
    message: str
    level: int
    module: str | None
    levels: tuple[Mapping[str, Any], ...]
    cases: int
    examples: int
    episodes: int
    steps: int
    bound: float | None
    seed: int
    sandbox: str
    isolated: bool
    image: str
    duration_s: float
    attempts: int
    dollars: float
    machine: Mapping[str, Any] = field(default_factory=dict)
    ssh: str = ""
    unsigned: str = ""
    dollars_reported: float = 0.0


@dataclass(frozen=True)
class AuditReport:
    """The result of an audit.

    Attributes:
        session, task, task_digest: what the record is about; `tasks` every task that was in force, as `{"digest", "from"}`
            with the event that brought it.
        key: id of the key that signs now; `keys` every key of the record, as `{"id", "from", "isolated"}` with the event
            from which on it signed, and whether for a session that isolates (None where the record does not say); `pinned`
            is False when they are the record's own word only.
        isolated: whether the session isolates what it runs, as its signed log states; None in a record from before that.
        events: how many there are; `last_event` is the digest of the newest, worth noting for the next audit.
        rows: one for each verified commit, oldest first.
        problems: what does not hold, oldest first.
        last_good: the newest commit that can be relied on; `first_bad` the first that cannot, None where there is none. It
            is one of the verified ones, or one that stands on `main` in their place.
        gate: what was asked of the newest commit (`level`, `directory`), None where nothing was.
    """

    session: str
    task: str
    task_digest: str
    key: str
    keys: tuple[Mapping[str, Any], ...]
    isolated: bool | None
    pinned: bool
    events: int
    last_event: str
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]
    last_good: str | None
    first_bad: str | None
    gate: Mapping[str, Any] | None = None
    tasks: tuple[Mapping[str, Any], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"ok": self.ok, **asdict(self)}
