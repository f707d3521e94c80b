"""`lockstep replay`: a record listed, walked through, its verdicts reached again, or a fresh server driven by it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_ERROR, EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.trusted import trust_in, trust_option
from harness.support.extensions import DRIVE, extensions

if TYPE_CHECKING:
    from pathlib import Path

    from harness.policy.trust import Trust
    from harness.record.event import Event
    from harness.record.store import Store

HIGHEST_LEVEL = 4


@command(
    "replay",
    "go through a recorded session again",
    "lockstep replay",
    "lockstep replay record.bundle --verify all --trust-task DIGEST",
    "lockstep replay --step",
)
@click.argument("record", required=False, shell_complete=completion.records)
@click.option(
    "--step", "stepping", is_flag=True, help="Walk through the events one by one, with what changed in the files."
)
@click.option(
    "--verify",
    "which",
    metavar="COMMIT|EVENT|all",
    help="Reach recorded verdicts again, from their trees and seeds, and compare digests.",
)
@click.option("--drive", is_flag=True, help="Feed the recorded trees and calls to a fresh server.")
@click.option("--from", "first", type=click.IntRange(0), default=0, help="Begin with this event.")
@click.option(
    "--levels",
    type=click.IntRange(1, HIGHEST_LEVEL),
    default=HIGHEST_LEVEL,
    show_default=True,
    help="The highest level to run again; level 4 trains for minutes.",
)
@click.option("--sandbox", metavar="DRIVER", help="Where candidates run; default: where they ran then.")
@trust_option
def replay(
    output: Output,
    record: str | None,
    stepping: bool,
    which: str | None,
    drive: bool,
    first: int,
    levels: int,
    sandbox: str | None,
    trusted: tuple[str, ...],
) -> int:
    """Go through a recorded session again: a session (default: the one here), a git directory, a clone or a bundle.

    Without an option it lists attempts, calls, divergences, repairs, verdicts and cost. --verify runs recorded verdicts
    again: under the conditions of that time they must be the same to the byte, and what other conditions (another processor,
    another version) change is reported. --drive plays the whole session on a fresh server, which must reach the same
    verdicts with seeds of its own.
    """
    from harness.cli.locate import record_named
    from harness.record.log import read_events
    from harness.record.received import opened

    if sum((stepping, which is not None, drive)) > 1:
        raise click.UsageError("--step, --verify and --drive are three things: give one of them")
    with opened(record_named(record)) as store:
        events = read_events(store)
        if which is not None:
            return _verify(output, store, events, which, first, levels, sandbox, trust_in(trusted))
        if drive:
            return _drive(output, store, events, levels, sandbox, trust_in(trusted))
        if stepping:
            return _walk(output, store, events, first)
        return _list(output, store, events, first)


def _list(output: Output, store: Store, events: list[Event], first: int) -> int:
    from harness.cli import show_replay
    from harness.operations.replaying import listing

    document = listing(store, events, first)
    output.emit(document, show_replay.listing(document))
    return EXIT_OK


def _walk(output: Output, store: Store, events: list[Event], first: int) -> int:
    from harness.cli import show_replay
    from harness.cli.walk import walk
    from harness.operations.replaying import step

    if not 0 <= first < len(events):
        raise click.UsageError(f"the record has the events 0 to {len(events) - 1}, and no event {first}")
    if output.json or not sys.stdout.isatty():
        steps = [step(store, events, event) for event in events[first:]]
        output.emit({"steps": steps}, *(show_replay.step(each, len(events)) for each in steps))
        return EXIT_OK
    walk(lambda location: show_replay.step(step(store, events, events[location]), len(events)), events, first)
    return EXIT_OK


def _verify(
    output: Output,
    store: Store,
    events: list[Event],
    which: str,
    first: int,
    levels: int,
    sandbox: str | None,
    trust: Trust,
) -> int:
    from harness.assurance.replay.rerun import chosen
    from harness.cli import show_replay

    verdicts = [event for event in chosen(events, which) if event.seq >= first]
    document = _repeat(output, store, events, verdicts, levels, sandbox, trust)
    output.emit(document, show_replay.repeated_summary(document))
    return exit_of(document)


def rerun_verdicts(output: Output, record: Path, count: int, trust: Trust) -> dict[str, Any]:
    """Reach some verdicts of a record again, drawn at random, telling each; gives the document of all."""
    from harness.assurance.replay.rerun import sample
    from harness.record.log import read_events
    from harness.record.received import opened

    with opened(record) as store:
        events = read_events(store)
        return _repeat(output, store, events, sample(events, count), HIGHEST_LEVEL, None, trust)


def exit_of(document: Mapping[str, Any]) -> int:
    """The exit code that repeated verdicts ask for: FAIL if one is different, ERROR if one could not be reached here."""
    if not document["ok"]:
        return EXIT_FAIL
    failed_here = any(each["outcome_again"] == "ERROR" != each["outcome"] for each in document["verdicts"])
    return EXIT_ERROR if failed_here else EXIT_OK


def _repeat(
    output: Output,
    store: Store,
    events: list[Event],
    verdicts: list[Event],
    levels: int,
    sandbox: str | None,
    trust: Trust,
) -> dict[str, Any]:
    from harness.assurance.replay.reproduction import Match
    from harness.assurance.replay.rerun import Rerun
    from harness.cli import show_replay

    done = []
    with output.progress() as progress, Rerun(store, events, trust, progress, levels=levels, sandbox=sandbox) as rerun:
        output.show(show_replay.repeated_header(len(verdicts)))
        for repeated in rerun.repeat(verdicts):
            done.append(repeated)
            output.show(*show_replay.repeated(repeated))
            output.kept = f"nothing was changed; go on with `--from {repeated.seq + 1}`"
    matches = [each.found.match for each in done]
    return {
        "ok": all(each.ok for each in done),
        "counts": {str(match): matches.count(match) for match in Match},
        "verdicts": [each.to_json() for each in done],
    }


def _drive(output: Output, store: Store, events: list[Event], levels: int, sandbox: str | None, trust: Trust) -> int:
    from harness.cli import show_replay

    # The server stands above the harness, which therefore can't import it.
    [offered] = extensions(DRIVE).values()
    play: Any = offered.load(object)
    with output.progress() as progress:
        output.show(show_replay.driven_header())
        driven = play(
            store,
            events,
            trust,
            lambda each: output.show(show_replay.driven(each)),
            progress,
            levels=levels,
            sandbox=sandbox,
        )
    output.emit(driven.to_json(), show_replay.driven_summary(driven))
    return EXIT_OK if driven.same else EXIT_FAIL
