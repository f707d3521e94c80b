"""What happens in the demo, shown while it happens."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.calls import ShellCalls
from harness.cli import show
from harness.cli.frame import Output
from mcp_server.demo.play import Attempt, Played, Repair, Started

SHOWN_DIFF_LINES = 10
WIDTH = 100


class Narrator:
    """Shows each event of a demo on standard output; with --json it says nothing, the document holds it all."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def tell(self, event: Started | Attempt | Repair) -> None:
        """Show one event."""
        if isinstance(event, Started):
            self._output.kept = (
                f"the session {event.session} and its commits are kept; see `{ShellCalls(event.session).status()}`"
            )
            self._output.show(*_started(event))
        elif isinstance(event, Attempt):
            self._output.show(*_attempt(event))
        else:
            self._output.show(*_repair(event))

    def ending(self, played: Played) -> Iterator[RenderableType]:
        """The audit's table, and where everything is."""
        yield Text("\nWhat each commit proved, as `lockstep audit` reads it from the record alone\n", "bold")
        yield show.audit(played.audit)
        made = len(played.repairs)
        if played.state == "done":
            found = {event.found.level for event in played.events if isinstance(event, Attempt) and event.found}
            levels = ", ".join(map(str, sorted(found)))
            said = f"{made} faults met at levels {levels}, each localised, repaired and committed"
            yield Text(f"\n{said}, in {played.duration_s:.0f} s.", "green")
        else:
            yield Text("\nThe last report led the agent to no repair: a person is needed.", "bold yellow")
        yield f"\nworkspace  {played.workspace}\nrecord     {played.record}\n"
        yield f"next       {ShellCalls(played.session).history()}"
        yield f"           git -C {played.record} log --notes=lockstep main"
        yield "           lockstep start cartpole        the same, with an agent of your own"


def _started(event: Started) -> Iterator[RenderableType]:
    yield Text(f"Session {event.session}", "bold")
    yield f"A translation of CartPole has {len(event.faults)} faults in it. The verifier does not know of them:"
    for fault in event.faults:
        yield show.indented(Text(f"- {fault.title}", "dim"))
    if event.budgets:
        smaller = ", ".join(f"{name} {now} instead of {usual}" for name, (usual, now) in event.budgets.items())
        yield Text(f"Budgets are smaller than the task's own, to be quick: {smaller}.", "dim")


def _attempt(event: Attempt) -> Iterator[RenderableType]:
    line = Text.assemble(f"\n{event.number:>2}  {event.step:<24}", show.outcome_text(str(event.outcome)))
    line.append(f"  {event.duration_s:.1f} s", "dim")
    if event.commit:
        line.append(f"  commit {event.commit[:10]}", "cyan")
    yield line
    if event.error:
        yield show.indented(Text(event.error, "magenta"))
    if event.found is not None:
        found = event.found
        where = f"level {found.level}, {found.check}" + (f", traced to {found.module}" if found.module else "")
        at = f" at step {found.step}" if found.probe is None and found.rule != "law" else ""
        table = show.grid("left", "left")
        table.add_row(Text("found by", "dim"), Text(where))
        table.add_row(Text("address", "dim"), Text(f"{found.address}{at}", "bold"))
        table.add_row(Text("expected", "dim"), Text(found.expected, "green"))
        table.add_row(Text("actual", "dim"), Text(found.actual, "red"))
        yield show.indented(show.indented(table))


def _repair(event: Repair) -> Iterator[RenderableType]:
    table = show.grid("left", "left")
    table.add_row(Text("agent", "dim"), Text(f"{event.diagnosis.because}."))
    table.add_row(Text("repair", "dim"), Text(event.fault.repair))
    yield show.indented(show.indented(table))
    for line in event.diff[:SHOWN_DIFF_LINES]:
        cut = line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."
        yield show.indented(show.indented(show.indented(Text(cut, "green" if line.startswith("+") else "red"))))
    if len(event.diff) > SHOWN_DIFF_LINES:
        yield show.indented(show.indented(show.indented(Text(f"... {len(event.diff)} lines in all", "dim"))))
