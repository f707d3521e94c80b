"""What happens in the demo of a specification, shown while it happens."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.calls import ShellCalls
from harness.cli import show
from harness.cli.frame import Output
from mcp_server.demo.specification import PlayedSpecification, Step


class SpecificationNarrator:
    """Shows each step on standard output; with --json it says nothing, the document holds it all."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def tell(self, step: Step) -> None:
        """Show one step."""
        self._output.show(*_step(step))

    def ending(self, played: PlayedSpecification) -> Iterator[RenderableType]:
        """The audit's table, and where everything is."""
        yield Text("\nWhat the commit proves, as `lockstep audit` reads it from the record alone\n", "bold")
        yield show.audit(played.audit)
        yield Text(
            f"\nFrom rules in words to a task, in {played.duration_s:.0f} s.", "green" if played.whole else "bold red"
        )
        yield f"\ntask       {played.directory}\nrecord     {played.record}\n"
        yield f"next       {ShellCalls(played.session).history()}"
        yield f"           {ShellCalls.start(played.directory)}        a session on the task that was made"


def _step(step: Step) -> Iterator[RenderableType]:
    line = Text.assemble(f"\n{step.who:<8}", (step.what, ""))
    if step.outcome:
        line.append("  ")
        line.append_text(show.outcome_text(step.outcome))
        line.append(f"  {step.duration_s:.1f} s", "dim")
    yield line
    table = show.grid("left", "left")
    found = step.found
    if "path" in found:
        table.add_row(Text("found by", "dim"), Text(f"level {found['level']}, {found['check']}"))
        table.add_row(Text("address", "dim"), Text(f"{found['address']} at step {found['step']}", "bold"))
        table.add_row(Text("first", "dim"), Text(found["expected"], "green"))
        table.add_row(Text("second", "dim"), Text(found["actual"], "red"))
    elif found.get("said"):
        table.add_row(Text("", "dim"), Text(found["said"]))
    if table.row_count:
        yield show.indented(show.indented(table))
