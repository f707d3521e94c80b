"""`lockstep audit`, `bundle` and `export`: what a record proves, and taking it or a verified candidate away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.replay import exit_of, rerun_verdicts
from harness.cli.trusted import trust_in, trust_option
from harness.cli.verify import candidate_option, chosen_candidate, demand_no_choice

ALL_VERDICTS = 1 << 30


class _Rerun(click.ParamType):
    """How many verdicts to reach again."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """A positive number, or `all`."""
        if value == "all":
            return ALL_VERDICTS
        return click.IntRange(1).convert(value, param, ctx)


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command(
    "audit",
    "check a record: signatures, chain, ancestry",
    "lockstep audit",
    "lockstep audit record.bundle --key lockstep.pem --level 3",
    "lockstep audit --rerun    # reaches its verdicts again",
)
@click.argument("record", required=False, shell_complete=completion.records)
@click.option("--key", type=_FILE, help="A public key (PEM) that must vouch for it.")
@click.option(
    "--known-event", metavar="DIGEST", help="The last event that an earlier audit saw; it must still be there."
)
@click.option(
    "--level",
    type=click.IntRange(1, 4),
    shell_complete=completion.levels,
    help="The newest commit must have passed so far, for all modules.",
)
@click.option(
    "--matches",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A checkout whose candidate/ must be the newest commit's, byte for byte.",
)
@click.option(
    "--rerun",
    type=_Rerun(),
    metavar="N|all",
    help="Also reach verdicts again, the newest commit's and others drawn at random, or all (`lockstep replay --verify`).",
)
@trust_option
def audit(
    output: Output,
    record: str | None,
    key: Path | None,
    known_event: str | None,
    level: int | None,
    matches: Path | None,
    rerun: int | None,
    trusted: tuple[str, ...],
) -> int:
    """Check a record: a session (default: the one that works here), its git directory, a mirror clone or a bundle.

    With --level and --matches it is a gate for merging (docs/audit.md).
    """
    from harness import operations
    from harness.assurance.audit import Gate
    from harness.cli import show, show_replay
    from harness.cli.locate import record_named

    gate = Gate(level, matches) if level is not None or matches is not None else None
    location = record_named(record)
    report = operations.audit(location, key=key, known_event=known_event, gate=gate)
    if rerun is None or not report.ok:  # a record that does not hold together has nothing that would be worth a rerun
        output.emit(report.to_json(), show.audit(report))
        return EXIT_OK if report.ok else EXIT_FAIL
    output.show(show.audit(report), "")
    repeated = rerun_verdicts(output, location, rerun, trust_in(trusted))
    output.emit(report.to_json() | {"ok": repeated["ok"], "rerun": repeated}, show_replay.repeated_summary(repeated))
    return exit_of(repeated)


@command("bundle", "write a session's whole record into one file", "lockstep bundle record.bundle")
@click.argument("names", metavar="[SESSION] FILE", nargs=-1, required=True, shell_complete=completion.records)
def bundle(output: Output, names: tuple[str, ...]) -> int:
    """Write the record of a session (default: the one that works here) into one file.

    The file is a git bundle: `lockstep audit FILE` checks it, `git clone --mirror FILE` unpacks it.
    """
    from harness import operations
    from harness.cli.locate import record_named

    if not 1 <= len(names) <= 2:
        raise click.UsageError("name a file, and before it, if need be, a session")
    file = names[-1]
    document = operations.bundle(record_named(names[0] if len(names) == 2 else None), Path(file))
    said = f"{file}: {document['events']} events, {document['bytes'] / 1e6:.2f} MB"
    output.emit(document, f"{said}\nits last event is {document['last_event']}")
    return EXIT_OK


@command(
    "export",
    "make an installable package of a candidate",
    "lockstep export SESSION package/",
    "lockstep export --check package/ --key lockstep.pem",
)
@click.argument("source", metavar="TASK|SESSION|PACKAGE", shell_complete=completion.tasks_and_sessions)
@click.argument("destination", type=click.Path(path_type=Path), required=False)
@candidate_option
@click.option("--check", "checking", is_flag=True, help="Hold a package against the attestation that it carries.")
@click.option("--key", type=_FILE, help="With --check: the public key (PEM) that must have signed the attestation.")
def export(
    output: Output, source: str, destination: Path | None, candidate: str | None, checking: bool, key: Path | None
) -> int:
    """Turn a verified candidate into an installable package that needs no Lockstep to run.

    From a session the newest verified commit is taken and its attestation carried along. From a task directory the
    candidate is taken as it lies there, which nothing vouches for. With --check a package is checked instead: whether the
    candidate's files in it are those that were verified.
    """
    if checking:
        if key is None or destination is not None or candidate is not None:
            raise click.UsageError("--check takes one package and --key FILE, the public key of whoever verified it")
        return _check_package(output, Path(source), key)
    if destination is None or key is not None:
        raise click.UsageError("name the directory to write; --key goes with --check")
    from harness.candidate.export import export as write
    from harness.cli.locate import session_named
    from harness.errors import SessionError, TaskError
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    try:
        session = session_named(source)
    except SessionError as no_session:
        try:
            task = load_task(find_task(source))
        except TaskError as no_task:
            if Path(source).exists() or no_task.mistakes:
                raise
            raise no_session from no_task
        made, vouched = write(chosen_candidate(task, candidate), destination, None), None
    else:
        demand_no_choice(candidate)
        made, vouched = _export_verified(session.id, destination)
    said = "nothing vouches for it: it was not taken from a session"
    if vouched is not None:
        said = f"from commit {vouched['commit'][:12]}, which passed level {vouched['level']}; its attestation is inside"
    document: dict[str, Any] = {"directory": str(made), "verified": vouched}
    output.emit(document, f"the package is in {made}\n{said}\n\nInstall it with: pip install {made.absolute()}")
    return EXIT_OK


def _check_package(output: Output, package: Path, key: Path) -> int:
    from harness.assurance.audit import check_package
    from harness.record.keys import PublicKey

    report = check_package(package, PublicKey.read(key))
    passed = f"{', '.join(report.levels)}{f' of module {report.module}' if report.module else ''}"
    lines = [
        *report.differences,
        f"commit {report.commit[:12]} passed {passed}, signed by {report.key[:16]}",
        f"the candidate's {report.files} files are what was verified; what was written around them is not attested"
        if report.ok
        else "the candidate in the package is NOT what was verified",
    ]
    output.emit(report.to_json(), "\n".join(lines))
    return EXIT_OK if report.ok else EXIT_FAIL


def _export_verified(session: str, destination: Path) -> tuple[Path, dict[str, Any]]:
    from harness.candidate.export import export as write
    from harness.record.attest import SUMMARY_FILE
    from harness.record.log import event_file, snapshot_of
    from harness.record.snapshot import listing
    from harness.session.view import SessionView
    from harness.task.load import load_task

    with SessionView(session) as view, view.exported_head() as (head, tree):
        attested = listing(view.store, view.store.files(snapshot_of([head])))
        made = write(load_task(tree), destination, event_file(view.store, head.id, SUMMARY_FILE), attested)
        return made, {"session": session, "commit": head.commit, "level": head.arguments["level"]}
