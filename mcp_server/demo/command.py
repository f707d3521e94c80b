"""`lockstep demo`: what it looks like."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.frame import EXIT_NEEDS_HUMAN, EXIT_OK, Output, command


@command("demo", "watch a whole session", "lockstep demo --seed 3")
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), help="The agent's workspace; default: a temporary one."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Which variants of the faults are put in."
)
@click.option("--sandbox", metavar="DRIVER", help="docker, bubblewrap or process; default: the best that works.")
def demo(output: Output, keep: Path | None, seed: int, sandbox: str | None) -> int:
    """Watch a whole session: faults put into a CartPole translation are found, repaired, committed and audited.

    The agent is a script, but the server, the session and the verifier are those of any other session: it is a client of
    `lockstep serve`.
    """
    from mcp_server.demo.faults import chosen
    from mcp_server.demo.narrate import Narrator
    from mcp_server.demo.play import play

    narrator = Narrator(output)
    with output.progress() as progress:
        played = play(chosen(seed), workspace=keep, tell=narrator.tell, progress=progress, sandbox=sandbox)
    output.emit(played.to_json(), *narrator.ending(played))
    return EXIT_OK if played.state == "done" and played.audit.ok else EXIT_NEEDS_HUMAN
