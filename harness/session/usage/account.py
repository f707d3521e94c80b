"""Recording what was spent, and telling it per commit and per session.

Everything is in the event log: an event of kind `usage` holds the tokens and dollars of one report or one reading, so the
recipe's limit sees them at once. What a reading counted is in its `detail`, by transcript and model; the next one records
only what there is beyond that, whether or not the process that read before came to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import SessionError
from harness.record.event import Event
from harness.session import recipe
from harness.session.recipe import READ, REPORTED
from harness.session.usage.prices import PriceTable, price_table
from harness.session.usage.tokens import Response, Tokens, count
from harness.session.usage.transcripts import CLAUDE, CODEX, responses
from harness.session.view import OpenSession, SessionView

USAGE = "usage"
MAX_TOKENS = 1 << 50
MAX_DOLLARS = 1e9
_UNSEEN = "the cost of these tokens is unknown, and the limit in dollars does not see them"
KINDS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def report(
    session: OpenSession,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cache_read_tokens: int = 0,
    cache_write_tokens: int = 0,
    dollars: float | None = None,
    model: str = "",
    client: str = "",
) -> dict[str, Any]:
    """Record what an agent says that it spent since its last report.

    Args:
        input_tokens: those read without a cache; those from or into a cache are the next two and are not among these.
        dollars: what it cost, where the agent knows; else the price table says it, or nobody does.
        client: who reports. Where this client's transcripts have been read for the session, they have counted the same
            tokens already, so the report is kept but adds nothing.

    Returns the session's `usage` in all, what was `recorded`, and a `note` where something is to be said.

    Raises:
        SessionError: a number is negative or too large.
        LockstepError: a person's own price table is malformed.
    """
    given = dict(zip(KINDS, (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens), strict=True))
    for name, value in given.items():
        if not 0 <= value <= MAX_TOKENS:
            raise SessionError(f"`{name}` is {value}", expected=f"a count of tokens from 0 to {MAX_TOKENS}")
    if dollars is not None and not 0 <= dollars <= MAX_DOLLARS:
        raise SessionError(f"`dollars` is {dollars}", expected=f"a sum from 0 to {MAX_DOLLARS:.0f}")
    tokens = Tokens(input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
    cost = dollars if dollars is not None else _table(session).cost(model, tokens) if tokens.total else 0.0
    arguments = {"source": REPORTED, "client": client[:100], "model": model[:100]}
    note = ""
    if cost is None:
        who = f"the model {model!r} has" if model else "no model was named, so there is"
        note = f"{who} no price: {_UNSEEN}"
    if _source_of(client) in {row["source"] for row in _rows(session.events)}:
        note = "nothing was added: the transcripts of this client have been read for this session and count the same tokens"
        session.report_usage(arguments=arguments, detail={"not_counted": {**given, "dollars": cost}})
        return {"usage": summary(session)["session"], "recorded": None, "note": note}
    detail = {"unpriced": {model[:100] or "unknown": tokens.total}} if cost is None else {}
    spent = {**given, **({} if cost is None else {"dollars": cost})}
    session.report_usage(arguments=arguments, detail=detail, **spent)
    return {"usage": summary(session)["session"], "recorded": {**given, "dollars": cost}, "note": note}


def import_transcripts(session: OpenSession, *, directories: Sequence[Path] = ()) -> dict[str, Any]:
    """Record what the local transcripts of Claude Code and Codex show beyond what has been recorded.

    Counted is what an agent spent in the session's workspace (or in `directories`, if it was started elsewhere) since the
    session began. Reading again without anything new records nothing.

    Returns the session's `usage` in all, what was `recorded` (a row for each transcript and model), and a `note`.

    Raises:
        LockstepError: a person's own price table is malformed.
    """
    table = _table(session)
    found = responses((session.workspace, *directories), session.events[0].time)
    known, by_report = _already(session.events), _reported(session.events)
    rows = []
    for key, shown in sorted(_books(found, table).items()):
        source, transcript, model = key
        fresh = shown.beyond(known.get(key, _Sum()))
        if not fresh:
            continue
        # A report of the same client, made before its transcripts were read, has reported some of this already.
        added = fresh.beyond(by_report.get(source, _Sum()))
        by_report[source] = by_report.get(source, _Sum()).beyond(fresh)
        named = {"source": source, "transcript": transcript, "model": model}
        rows.append({**named, "shown": fresh.to_json(), "added": added.to_json()})
    if not rows:
        nothing = (
            "nothing new was found" if found else "no transcript of this workspace was found since the session began"
        )
        return {"usage": summary(session)["session"], "recorded": [], "note": nothing}
    spent, unpriced = _Sum(), _Counts()
    for row in rows:
        added = _Sum.from_json(row["added"])
        spent += added
        if added.dollars is None and added.tokens.total:
            unpriced[row["model"]] += added.tokens.total
    detail = {"counted": rows} | ({"unpriced": dict(unpriced)} if unpriced else {})
    session.report_usage(
        arguments={"source": READ}, detail=detail, **spent.tokens.usage(), dollars=round(spent.known, 9)
    )
    names = ", ".join(sorted(unpriced))
    note = f"no price is known for {names}: {_UNSEEN}" if unpriced else ""
    return {"usage": summary(session)["session"], "recorded": rows, "note": note}


def summary(view: SessionView) -> dict[str, Any]:
    """What a session has cost: in all, and for each commit what was spent since the one before; JSON-ready.

    `dollars` is what is known, `dollars_reported` what of it is the word of agents alone; `unpriced_tokens` are those whose
    cost is not known.
    """
    state, by_report = view.state, by_commit(view.events)
    return by_report | {
        "session": {
            "id": view.id,
            **by_report["session"],
            "limit_dollars": state.plan.limits.dollars,
            "dollars_since_resumed": round(state.dollars, 6),
            "state": recipe.phase(state, view.budgets_used_up()),
        },
    }


def by_commit(events: Iterable[Event]) -> dict[str, Any]:
    """What the events of a log cost: `session` in all, a row for each of `commits`, and `since_last_commit`; JSON-ready."""
    rows = []
    whole, part = _Total(), _Total()
    for event in events:
        whole.add(event)
        part.add(event)
        if event.commit:
            step = {"level": event.arguments.get("level"), "module": event.arguments.get("module")}
            rows.append({"commit": event.commit, "event": event.seq, "time": event.time, **step, **part.to_json()})
            part = _Total()
    return {"session": whole.to_json(), "commits": rows, "since_last_commit": part.to_json()}


@dataclass
class _Total:
    """A running sum over events."""

    attempts: int = 0
    dollars: float = 0.0
    dollars_reported: float = 0.0
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    unpriced: dict[str, int] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Add what an event spent."""
        self.attempts += event.kind == recipe.ATTEMPT
        self.dollars += float(event.usage.get("dollars", 0.0))
        self.dollars_reported += recipe.reported_dollars(event.arguments, event.usage)
        for name in KINDS:
            self.tokens[name] += int(event.usage.get(name, 0))
        for model, tokens in event.detail.get("unpriced", {}).items():
            self.unpriced[model] = self.unpriced.get(model, 0) + tokens
        for row in event.detail.get("counted", ()):
            # A reading that knows a price for tokens that had none has brought their cost.
            if row["added"]["dollars"] is not None:
                self.unpriced.pop(row["model"], None)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "attempts": self.attempts,
            **self.tokens,
            "dollars": round(self.dollars, 6),
            "dollars_reported": round(self.dollars_reported, 6),
            "unpriced_tokens": sum(self.unpriced.values()),
            "unpriced_models": sorted(self.unpriced),
        }


@dataclass(frozen=True)
class _Sum:
    """Tokens and their cost; `dollars` None while some of them have no price, `known` is what is known of it."""

    tokens: Tokens = field(default_factory=Tokens)
    known: float = 0.0
    priced: bool = True

    @property
    def dollars(self) -> float | None:
        return self.known if self.priced else None

    def __bool__(self) -> bool:
        return bool(self.tokens.total or self.known)

    def __add__(self, other: _Sum) -> _Sum:
        return _Sum(self.tokens + other.tokens, self.known + other.known, self.priced and other.priced)

    def beyond(self, other: _Sum) -> _Sum:
        """What this has more than another, never less than nothing: a price that fell takes nothing back."""
        more = self.known - other.known
        return _Sum(self.tokens.beyond(other.tokens), more if more > 1e-9 else 0.0, self.priced)

    def to_json(self) -> dict[str, Any]:
        return {"tokens": self.tokens.to_json(), "dollars": self.dollars}

    @staticmethod
    def from_json(described: Mapping[str, Any]) -> _Sum:
        dollars = described["dollars"]
        return _Sum(Tokens.from_json(described["tokens"]), dollars or 0.0, dollars is not None)


_Counts = Counter[str]
_Key = tuple[str, str, str]
"""Source, transcript, model."""


def _books(found: Iterable[Response], table: PriceTable) -> dict[_Key, _Sum]:
    """What the transcripts show in all."""
    books: dict[_Key, _Sum] = {}
    for response in found:
        if response.tokens.total:
            cost = table.cost(response.model, response.tokens)
            key = (response.source, response.transcript, response.model)
            books[key] = books.get(key, _Sum()) + _Sum(response.tokens, cost or 0.0, cost is not None)
    return books


def _already(events: Iterable[Event]) -> dict[_Key, _Sum]:
    """What earlier readings have seen."""
    known: dict[_Key, _Sum] = {}
    for row in _rows(events):
        key = (row["source"], row["transcript"], row["model"])
        known[key] = known.get(key, _Sum()) + _Sum.from_json(row["shown"])
    return known


def _reported(events: Iterable[Event]) -> dict[str, _Sum]:
    """By source, what clients reported themselves and no reading has accounted for yet."""
    by_report: dict[str, _Sum] = {}
    for event in events:
        source = _source_of(str(event.arguments.get("client", "")))
        if event.kind == USAGE and event.arguments.get("source") == REPORTED and source:
            tokens = Tokens(*(count(int(event.usage.get(name, 0))) for name in KINDS))
            by_report[source] = by_report.get(source, _Sum()) + _Sum(tokens, float(event.usage.get("dollars", 0.0)))
        for row in _rows([event]):
            used = _Sum.from_json(row["shown"]).beyond(_Sum.from_json(row["added"]))
            by_report[row["source"]] = by_report.get(row["source"], _Sum()).beyond(used)
    return by_report


def _rows(events: Iterable[Event]) -> list[Mapping[str, Any]]:
    return [row for event in events if event.kind == USAGE for row in event.detail.get("counted", ())]


def _source_of(client: str) -> str | None:
    """Whose transcripts a client keeps, by the name that it gives itself."""
    name = client.lower()
    return next((source for source in (CLAUDE, CODEX) if name.startswith(source)), None)


def _table(session: SessionView) -> PriceTable:
    return price_table(session.directory.home)
