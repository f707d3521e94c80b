"""`lockstep usage`: tokens and cost, per commit and per session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_NEEDS_HUMAN, EXIT_OK, Output, command
from harness.support.text import one_line


@command(
    "usage",
    "what a session has cost, per commit",
    "lockstep usage",
    "lockstep usage --import",
    "lockstep usage --budgets",
)
@click.argument("session", required=False, shell_complete=completion.sessions)
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
@click.option("--budgets", is_flag=True, help="Show what every client and task has used of its budgets, and end.")
@click.option("--copy-prices", is_flag=True, help="Put the price table where you can edit it, and say where.")
def usage(
    output: Output,
    session: str | None,
    reading: bool,
    directories: tuple[Path, ...],
    budgets: bool,
    copy_prices: bool,
) -> int:
    """Show the tokens and the cost of a session, in all and for each commit.

    The cost of a commit is what was spent since the commit before. A model without a price is named, not guessed. Budgets
    of clients and tasks, over all sessions, stand in budgets.toml in LOCKSTEP_HOME.
    """
    from harness.cli.locate import opened, session_named
    from harness.policy.budgets import CLIENT, TASK, all_standing, standing
    from harness.session import usage as accounts
    from harness.session.spending import client_of
    from harness.session.view import SessionView
    from harness.support.home import lockstep_home

    if budgets:
        rows = all_standing(lockstep_home())
        output.emit({"budgets": rows}, *_budgets(rows) if rows else ["no budgets are set (docs/connecting.md)"])
        return EXIT_OK
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
        home, spender = found.home, client_of(found)
        document["budgets"] = [*standing(home, CLIENT, spender), *standing(home, TASK, found.task)]
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
    if whole["dollars_reported"]:
        output_lines.append(f"in all {show.cost(whole['dollars'], whole['dollars_reported'])}; nobody measured that")
    output_lines += _budgets(document["budgets"]) if document["budgets"] else []
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


def _budgets(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    from harness.cli import show
    from harness.policy.budgets import in_words

    table = show.grid("left", "right", "right", "left", header=("budget", "used", "of", ""))
    for row in rows:
        used = in_words(row["what"], row["used"])
        marked = f"{in_words(row['what'], row['reported'])} reported by agents" if row.get("reported") else ""
        over = "used up" if row["used"] >= row["limit"] else ""
        said = ", ".join(filter(None, (over, marked)))
        table.add_row(f"{row['kind']} {row['name']}", used, in_words(row["what"], row["limit"]), said)
    return ["", table]


def _cells(row: Mapping[str, Any]) -> list[str]:
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    cost = f"${row['dollars']:.2f}" + (" + ?" if row["unpriced_tokens"] else "")
    return [str(row["attempts"]), *(f"{row[name]:,}" for name in names), cost]
