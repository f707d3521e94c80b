"""How a replay looks to a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from harness.cli.show import cost as dollars
from harness.cli.show import event_name, grid, indented, outcome_text, step_name

if TYPE_CHECKING:
    from harness.assurance.replay.rerun import Repeated

MATCH_COLOURS = {"exact": "green", "within tolerance": "yellow", "different": "bold red", "not repeated": "dim"}
DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
SHOWN_DIFF_LINES = 60
MAX_ABOUT = 60


class Drivable(Protocol):
    """What is shown of one driven verdict."""

    @property
    def same(self) -> bool: ...
    def to_json(self) -> dict[str, Any]: ...


def listing(document: Mapping[str, Any]) -> RenderableType:
    """A session: a line for each attempt and call, and what all of it came to."""
    table = grid("right", "left", "left", "left", "left", header=("", "time (UTC)", "", "", ""))
    for row in document["rows"]:
        table.add_row(str(row["event"]), row["time"][11:19], _name(row), outcome_text(row["outcome"]), _about(row))
    cost, audit = document["cost"], document["audit"]
    spent = f", {dollars(cost['dollars'], cost['dollars_reported'])}" if cost["dollars"] else ""
    total = (
        f"\n{document['session']} ({document['task']}), {document['state'].replace('_', ' ')}: {document['events']} events, "
        f"{document['divergences']} divergences, {document['repairs']} repairs, {document['commits']} commits, "
        f"{cost['seconds_verifying']:.0f} s of verification{spent}"
    )
    holds = Text("the record holds together", "green")
    if not audit["ok"]:
        holds = Text(f"{audit['count']} problems in the record: run `lockstep audit`", "bold red")
    return Group(
        table, Text(total), holds, *(Text(f"cannot be read: {each}", "magenta") for each in document["damage"])
    )


def step(document: Mapping[str, Any], events: int) -> RenderableType:
    """One event: what was asked, how it ended, what it found, and what had changed in the files before."""
    title = Text.assemble(
        (f"{document['event']} of {events - 1}", "bold"), f"  {document['time'][:19]}  ", event_name(document)
    )
    title.append("  ").append_text(outcome_text(document["outcome"]))
    title.append(f"  {document['duration_s']:.1f} s" if document["duration_s"] else "", "dim")
    facts = grid("left", "left")
    for name, value in _facts(document):
        facts.add_row(Text(name, "dim"), Text(value))
    return Group(title, indented(facts), *_diffs(document["changes"]), "")


def repeated_header(count: int) -> RenderableType:
    """What goes before the verdicts that are reached again."""
    return Text(f"Reaching {count} verdict{'' if count == 1 else 's'} again, from recorded trees and seeds\n", "bold")


def repeated(one: Repeated) -> Iterator[RenderableType]:
    """One verdict that was reached again."""
    found = one.found
    line = Text.assemble(f"{one.seq:>4}  {step_name({'level': one.level, 'module': one.module}):<28}")
    line.append_text(outcome_text(one.outcome)).append(f"  {found.match}", MATCH_COLOURS[str(found.match)])
    line.append(f"  {found.digest[:12]}  {one.duration_s:.1f} s (then {one.recorded_s:.1f} s)", "dim")
    line.append(f"  commit {one.commit[:10]}" if one.commit else "", "cyan")
    yield line
    if found.because:
        yield indented(indented(Text(found.because, "dim")))
    for difference in found.differences:
        yield indented(indented(Text(difference, MATCH_COLOURS[str(found.match)])))
    for name, (then, now) in found.changed.items() if found.differences else ():
        yield indented(indented(Text(f"{name}: {then} -> {now}", "dim")))


def repeated_summary(document: Mapping[str, Any]) -> RenderableType:
    """What all repeated verdicts came to."""
    counts = ", ".join(f"{count} {match}" for match, count in document["counts"].items() if count)
    return Text(f"\n{counts or 'no verdicts'}", "green" if document["ok"] else "bold red")


def driven_header() -> RenderableType:
    """What goes before the verdicts of a fresh server."""
    return Text("Playing the recorded trees and calls on a fresh server, which draws seeds of its own\n", "bold")


def driven(one: Drivable) -> RenderableType:
    """One verdict of a fresh server beside the recorded one."""
    shown = one.to_json()
    line = Text.assemble(f"{shown['seq']:>4}  {shown['step']:<28}")
    line.append_text(outcome_text(shown["outcome"])).append("  again ").append_text(
        outcome_text(shown["outcome_again"])
    )
    line.append("  same" if one.same else "  NOT THE SAME", "green" if one.same else "bold red")
    if shown["found"] != shown["found_again"]:
        line.append(
            f"  found {shown['found_again'] or 'nothing'} first, then it was {shown['found'] or 'nothing'}", "dim"
        )
    return line


def driven_summary(drive: Any) -> RenderableType:
    """What a whole drive came to."""
    same = sum(each.same for each in drive.verdicts)
    text = f"\n{same} of {len(drive.verdicts)} verdicts are the same; the fresh session is {drive.session}"
    return Text(text, "green" if drive.same else "bold red")


def _name(row: Mapping[str, Any]) -> str:
    return str(row.get("step") or row["kind"])


def _about(row: Mapping[str, Any]) -> Text:
    text = Text(row["finding"] or row.get("message", "") or _asked(row.get("arguments", {})), "dim")
    if row.get("repaired"):
        text.append(f"  repaired by event {row['repaired']['event']}", "green")
    if row.get("commit"):
        text.append(f"  commit {row['commit'][:10]}", "cyan")
    return text


def _facts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    named = {
        "asked": _asked(document["arguments"]),
        "seeds": ", ".join(f"{name} {seed}" for name, seed in document["seeds"].items()),
        "usage": ", ".join(f"{name} {value:g}" for name, value in document["usage"].items()),
        "finding": "" if document["divergence"] else document["finding"],
        "commit": document["commit"] or "",
    }
    yield from ((name, value) for name, value in named.items() if value)
    yield from ((name, value) for name, value in document["divergence"] or () if value)


def _diffs(changes: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    for change in changes:
        lines = [Text(line, DIFF_COLOURS.get(line[:1], "")) for line in change["diff"][:SHOWN_DIFF_LINES]]
        hidden = len(change["diff"]) - SHOWN_DIFF_LINES
        lines += [Text(f"... {hidden} more lines", "dim")] if hidden > 0 else []
        yield indented(Group(Text(f"\n{change['kind']} {change['path']}", "bold"), *lines))


def _asked(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_cut(value)}" for name, value in arguments.items() if value not in (None, "", []))


def _cut(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= MAX_ABOUT else f"{text[:MAX_ABOUT]} ..."
