"""`lockstep demo`: what it looks like."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.frame import EXIT_NEEDS_HUMAN, EXIT_OK, Output, command


@command("demo", "watch a whole session", "lockstep demo --seed 3", "lockstep demo --spec")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="The agent's workspace, or with --spec where the task is made; default: a temporary one.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Which variants of the faults are put in."
)
@click.option("--sandbox", metavar="DRIVER", help="docker, bubblewrap or process; default: the best that works.")
@click.option("--spec", "specification", is_flag=True, help="From thirty rules in words to a task instead.")
def demo(output: Output, keep: Path | None, seed: int, sandbox: str | None, specification: bool) -> int:
    """Watch a whole session: faults put into a CartPole translation are found, repaired, committed and audited.

    The agent is a script, but the server, the session and the verifier are those of any other session: it is a client of
    `lockstep serve`. With --spec it is the workflow `create`: two readings of a small game are compared, a ruling decides
    what its text leaves open, and what agrees is frozen.
    """
    if specification:
        if seed or sandbox:
            raise click.UsageError("--spec plays one game, and takes neither --seed nor --sandbox")
        return _specification(output, keep)
    from mcp_server.demo.faults import chosen
    from mcp_server.demo.narrate import Narrator
    from mcp_server.demo.play import play

    narrator = Narrator(output)
    with output.progress() as progress:
        played = play(chosen(seed), workspace=keep, tell=narrator.tell, progress=progress, sandbox=sandbox)
    output.emit(played.to_json(), *narrator.ending(played))
    return EXIT_OK if played.state == "done" and played.audit.ok else EXIT_NEEDS_HUMAN


def _specification(output: Output, keep: Path | None) -> int:
    from mcp_server.demo.narrate_specification import SpecificationNarrator
    from mcp_server.demo.specification import play

    narrator = SpecificationNarrator(output)
    with output.progress() as progress:
        played = play(directory=keep, tell=narrator.tell, progress=progress)
    output.emit(played.to_json(), *narrator.ending(played))
    return EXIT_OK if played.whole else EXIT_NEEDS_HUMAN
