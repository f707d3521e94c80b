"""`lockstep usage`: tokens and cost, per commit and per session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from harness.cli.frame import EXIT_NEEDS_HUMAN, EXIT_OK, Output, command
from harness.support.text import one_line


@command("usage", "what a session has cost, per commit")
@click.argument("session", required=False)
@click.option(
    "--import", "reading", is_flag=True, help="First count what local transcripts show: Claude Code's and Codex's."
)
@click.option(
    "--from",
    "directories",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --import: where the agent was started, if not in the workspace; repeatable.",
)
@click.option("--copy-prices", is_flag=True, help="Put the price table where you can edit it, and say where.")
def usage(output: Output, session: str | None, reading: bool, directories: tuple[Path, ...], copy_prices: bool) -> int:
    """Show the tokens and the cost of a session, in all and for each commit.

    The cost of a commit is what was spent since the commit before. A model without a price is named, not guessed.
    """
    from harness.cli.locate import opened, session_named
    from harness.session import usage as accounts
    from harness.session.view import SessionView

    if directories and not reading:
        raise click.UsageError("--from goes with --import")
    if copy_prices:
        location, made = accounts.copy_prices()
        output.emit(
            {"prices": str(location), "made": made},
            f"{location} {'is there to be edited' if made else 'is there already'}",
        )
        return EXIT_OK
    found = session_named(session)
    imported: dict[str, Any] | None = None
    if reading:
        with opened(found.id) as working:
            imported = accounts.import_transcripts(working, directories=directories)
    with SessionView(found.id) as view:
        document = accounts.summary(view)
    if imported is not None:
        document["imported"] = {"recorded": imported["recorded"], "note": imported["note"]}
    output.emit(document, *_shown(document))
    return EXIT_NEEDS_HUMAN if document["session"]["state"] == "needs_human" else EXIT_OK


def _shown(document: Mapping[str, Any]) -> list[Any]:
    from harness.cli import show

    header = ("commit", "what", "attempts", "input", "output", "cache read", "cache write", "cost")
    table = show.grid("left", "left", *["right"] * 6, header=header)
    for row in document["commits"]:
        what = f"level {row['level']}" + (f" of {row['module']}" if row["module"] else "")
        table.add_row(row["commit"][:12], what, *_cells(row))
    table.add_row("", "since then" if document["commits"] else "no commit yet", *_cells(document["since_last_commit"]))
    whole = document["session"]
    table.add_row("", "in all", *_cells(whole))
    output_lines: list[Any] = [
        table,
        f"\n${whole['dollars_since_resumed']:.2f} of ${whole['limit_dollars']:.2f} are spent",
    ]
    if whole["unpriced_tokens"]:
        models = one_line(", ".join(whole["unpriced_models"]))
        output_lines.append(
            f"the cost of {whole['unpriced_tokens']:,} tokens is unknown: no price for {models} "
            "(`lockstep usage --copy-prices`, then add it)"
        )
    if document.get("imported", {}).get("note"):
        output_lines.append(one_line(document["imported"]["note"]))
    if whole["state"] == "needs_human":
        output_lines.append("this session needs a person: `lockstep status` says why, `lockstep resume` lets it go on")
    return output_lines


def _cells(row: Mapping[str, Any]) -> list[str]:
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    cost = f"${row['dollars']:.2f}" + (" + ?" if row["unpriced_tokens"] else "")
    return [str(row["attempts"]), *(f"{row[name]:,}" for name in names), cost]
