"""`lockstep doctor`: does it work here."""

from __future__ import annotations

from harness.cli.frame import EXIT_ERROR, EXIT_OK, Output, command


@command("doctor", "what this machine offers and lacks", "lockstep doctor")
def doctor(output: Output) -> int:
    """Look at what this machine offers and lacks, and say what to do about it."""
    from harness.cli import show
    from harness.cli.doctor import Health, examine

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
