"""`lockstep doctor` and `lockstep demo`: does it work here, and what does it look like."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.frame import EXIT_ERROR, EXIT_NEEDS_HUMAN, EXIT_OK, Output, command


@command("doctor", "what this machine offers and lacks")
def doctor(output: Output) -> int:
    """Look at what this machine offers and lacks, and say what to do about it."""
    from harness.cli import show
    from harness.doctor import Health, examine

    items = []
    with output.progress() as progress:
        progress("looking around (the import of JAX takes longest)", 0, 1)
        items.extend(examine())
    table = show.grid("left", "left", "left")
    for item in items:
        table.add_row(*show.health(item))
    lacking = [item.name for item in items if item.health is Health.MISSING]
    limited = [item.name for item in items if item.health is Health.LIMITED]
    said = show.said("Lockstep can work here", "green", f"; limited: {', '.join(limited)}" if limited else "")
    if lacking:
        said = show.said("Lockstep cannot work here yet", "bold red", f": {', '.join(lacking)}")
    output.emit({"ready": not lacking, "items": [item.to_json() for item in items]}, table, "", said)
    return EXIT_ERROR if lacking else EXIT_OK


@command("demo", "watch a whole session")
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), help="The agent's workspace; default: a temporary one."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Which variants of the faults are put in."
)
def demo(output: Output, keep: Path | None, seed: int) -> int:
    """Watch a whole session: faults put into a CartPole translation are found, repaired, committed and audited."""
    from harness.cli.narrate import Narrator
    from harness.demo.faults import chosen
    from harness.demo.play import play

    narrator = Narrator(output)
    with output.progress() as progress:
        played = play(chosen(seed), workspace=keep, tell=narrator.tell, progress=progress)
    output.emit(played.to_json(), *narrator.ending(played))
    return EXIT_OK if played.state == "done" and played.audit.ok else EXIT_NEEDS_HUMAN
