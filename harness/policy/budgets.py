"""What a client and a task may spend in all, over every session: the operator's, in `<home>/budgets.toml`.

::

    [clients]            # each client, unless a table of its own says otherwise
    attempts = 500

    [client.alice]       # the client with that token; `local` is whoever works on this machine without one
    dollars = 20.0

    [tasks]              # each task
    [task.pong]
    seconds = 86400

Without the file nothing is limited. A file with a mistake lets nobody spend anything until it is corrected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import LockstepError, SessionError
from harness.policy.spent import ATTEMPTS, DOLLARS, MEASURES, SECONDS, Spent, used
from harness.support.foreign import toml_of
from harness.support.home import locked
from harness.support.toml_lines import KeyPath, key_lines, line_of

FILE = "budgets.toml"
CLIENT, TASK = "client", "task"
_EACH = {CLIENT: "clients", TASK: "tasks"}
_FORM = {
    DOLLARS: "a number of dollars, 0 or more",
    ATTEMPTS: "a whole number, 0 or more",
    SECONDS: "a number of seconds, 0 or more",
}
_TABLES = "[clients], [client.NAME], [tasks] or [task.NAME]"


@dataclass(frozen=True)
class Limit:
    """One limit, and the table of the file in which it stands."""

    most: float
    table: str


@dataclass(frozen=True)
class Budgets:
    """What the file says. `each` holds, by kind, the limits of whoever has none of their own."""

    each: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    named: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)

    def of(self, kind: str, name: str) -> dict[str, Limit]:
        """The limits of a client or a task, by what they measure."""
        general = {what: Limit(most, f"[{_EACH[kind]}]") for what, most in self.each.get(kind, {}).items()}
        own = self.named.get(kind, {}).get(name, {})
        return general | {what: Limit(most, f"[{kind}.{name}]") for what, most in own.items()}

    def names(self, kind: str) -> list[str]:
        """Those that have a table of their own."""
        return list(self.named.get(kind, {}))


def read_budgets(home: Path) -> Budgets | None:
    """The budgets of a home; None where there is no file.

    Raises:
        LockstepError: the file is malformed; `what` names every mistake with its line.
    """
    path = home / FILE
    try:
        text = path.read_text(encoding="utf-8")
        document = toml_of(text)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _malformed(path, [str(error)]) from None
    mistakes, lines = [], key_lines(text)

    def wrong(place: KeyPath, what: str, expected: str) -> None:
        mistakes.append((line_of(lines, place), f"{what}; expected {expected}"))

    def limits(place: KeyPath, table: Any) -> dict[str, float]:
        if not isinstance(table, dict):
            wrong(place, f"{_shown(place)} is not a table", f"one with {', '.join(MEASURES)}")
            return {}
        for key in table:
            if key not in _FORM:
                wrong((*place, key), f"{_shown((*place, key))} is unknown", ", ".join(MEASURES))
            elif not _is_limit(key, table[key]):
                wrong((*place, key), f"{_shown((*place, key))} is {table[key]!r:.80}", _FORM[key])
        return {key: value for key, value in table.items() if key in _FORM}

    each: dict[str, dict[str, float]] = {}
    named: dict[str, dict[str, dict[str, float]]] = {}
    for key, table in document.items():
        kind = next((kind for kind in _EACH if key in (kind, _EACH[kind])), None)
        if kind is None:
            wrong((key,), f"{_shown((key,))} is unknown", _TABLES)
        elif key == _EACH[kind]:
            each[kind] = limits((key,), table)
        elif not isinstance(table, dict):
            wrong((key,), f"{_shown((key,))} is not a table", _TABLES)
        else:
            named[kind] = {name: limits((key, name), own) for name, own in table.items()}
    if mistakes:
        raise _malformed(path, [f"line {line}: {what}" for line, what in sorted(mistakes)])
    return Budgets(each, named)


def standing(home: Path, kind: str, name: str) -> list[dict[str, Any]]:
    """Every limit of a client or a task, with what is used of it; JSON-ready.

    Raises:
        LockstepError: the budgets or what was spent cannot be read.
    """
    budgets = read_budgets(home)
    return [] if budgets is None else _rows(budgets, used(home), kind, name)


def all_standing(home: Path) -> list[dict[str, Any]]:
    """`standing` of every client and task that has a limit and is named in the file or has spent anything.

    Raises:
        LockstepError: as `standing`.
    """
    budgets = read_budgets(home)
    if budgets is None:
        return []
    accounts = used(home)
    rows = []
    for kind, spenders in ((CLIENT, [a.client for a in accounts]), (TASK, [a.task for a in accounts])):
        for name in sorted({*budgets.names(kind), *spenders}):
            rows += _rows(budgets, accounts, kind, name)
    return rows


def used_up(home: Path, client: str, task: str | None = None) -> list[str]:
    """Which budgets of a client and of a task are used up, each in a few words; empty while both may go on.

    Raises:
        LockstepError: as `standing`.
    """
    budgets = read_budgets(home)
    if budgets is None:
        return []
    accounts = used(home)
    rows = _rows(budgets, accounts, CLIENT, client)
    rows += [] if task is None else _rows(budgets, accounts, TASK, task)
    return [_in_words(row) for row in rows if row["used"] >= row["limit"]]


def demand_budget(home: Path, client: str, task: str | None = None) -> None:
    """Refuse what costs something where a budget of the client or of the task is used up.

    Raises:
        SessionError: one is.
        LockstepError: as `standing`.
    """
    if reached := used_up(home, client, task):
        raise SessionError(
            f"the budget is used up: {'; '.join(reached)}",
            where=FILE,
            expected="something left of the budgets of this client and this task, over all of their sessions",
            next_step=f"stop; a person raises the budget in {FILE} of the home (`lockstep usage --budgets` shows all)",
        )


@contextmanager
def one_at_a_time(home: Path) -> Iterator[None]:
    """Hold off others that check a budget and then spend of it: together they would spend more than there is."""
    if not (home / FILE).exists():
        yield
        return
    with locked(home / "budgets", lambda _: None):
        yield


def in_words(what: str, amount: float) -> str:
    """An amount with its unit."""
    if what == DOLLARS:
        return f"${amount:,.2f}"
    return f"{amount:,.0f} s" if what == SECONDS else f"{amount:,.0f} attempts"


def _rows(budgets: Budgets, accounts: list[Spent], kind: str, name: str) -> list[dict[str, Any]]:
    mine = [each for each in accounts if (each.client if kind == CLIENT else each.task) == name]
    reported = math.fsum(each.reported_dollars for each in mine)
    rows = []
    for what, limit in budgets.of(kind, name).items():
        row = {"kind": kind, "name": name, "what": what, "limit": limit.most, "table": limit.table}
        row["used"] = round(math.fsum(getattr(each, what) for each in mine), 6)
        rows.append(row | ({"reported": round(reported, 6)} if what == DOLLARS else {}))
    return rows


def _in_words(row: Mapping[str, Any]) -> str:
    what = row["what"]
    said = f"{in_words(what, row['used'])} of {in_words(what, row['limit'])} for {row['kind']} {row['name']}"
    reported = row.get("reported")
    said += f", {in_words(what, reported)} of it reported by agents themselves" if reported else ""
    return f"{said} ({row['table']} in {FILE})"


def _is_limit(key: str, value: Any) -> bool:
    number = isinstance(value, int) or (isinstance(value, float) and key != ATTEMPTS)
    return number and not isinstance(value, bool) and 0 <= value < math.inf


def _shown(place: KeyPath) -> str:
    return f"`{'.'.join(map(str, place))[:80]}`"


def _malformed(path: Path, mistakes: list[str]) -> LockstepError:
    count = "a mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
    return LockstepError(
        f"the budgets have {count}: {'; '.join(mistakes)}",
        where=str(path),
        expected=f"tables {_TABLES} with {', '.join(MEASURES)}",
        next_step="a person corrects the file; until then nothing that costs is done in this home",
    )
