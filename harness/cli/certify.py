"""`lockstep certify`: one signed summary of a finished translation, and coming to it again from the commit alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_ERROR, EXIT_FAIL, EXIT_OK, Output, command
from harness.cli.trusted import trust_in, trust_option
from harness.cli.verify import device_option, on_option, sandbox_option

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from harness.assurance.certify.issue import Certificate
    from harness.assurance.certify.recheck import PartAgain
    from harness.policy.trust import Trust
    from harness.session.session import Session

EXITS = {"PASS": EXIT_OK, "FAIL": EXIT_FAIL}
DETECTION_FAULTS = 100
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
MATCH_COLOURS = {"exact": "green", "within tolerance": "yellow", "measured again": "green"}


@command(
    "certify",
    "certify a finished translation, or check a certificate",
    "lockstep certify",
    "lockstep certify --check record.bundle",
)
@click.argument("where", metavar="[SESSION|RECORD]", required=False, shell_complete=completion.records)
@click.option(
    "--check", is_flag=True, help="Come to the newest certificate of a record again, from its commit and its seed."
)
@click.option("--key", type=_FILE, help="With --check: a public key (PEM) that must vouch for the record.")
@click.option(
    "--level",
    type=click.IntRange(1, 4),
    shell_complete=completion.levels,
    help="Verify up to this level; default: all that the task has.",
)
@click.option(
    "--mutants",
    type=click.IntRange(0),
    help="Measure the strength on so many mutants, drawn at random; 0 leaves it out. Default: all.",
)
@click.option(
    "--detection",
    type=click.IntRange(0),
    help="Measure the detection curve on so many faults for each share; 0 leaves it out. Default: 100.",
)
@click.option("--batch", "batches", type=click.IntRange(1), multiple=True, help="Batch size; default: the task's.")
@sandbox_option
@device_option
@on_option
@trust_option
def certify(
    output: Output,
    where: str | None,
    check: bool,
    key: Path | None,
    level: int | None,
    mutants: int | None,
    detection: int | None,
    batches: tuple[int, ...],
    sandbox: str | None,
    on: str | None,
    trusted: tuple[str, ...],
) -> int:
    """Judge the newest verified commit of a session (default: the one here) once more, by everything there is.

    Seeds are drawn now, after the commit. All levels run, then cheat probes, coverage of the reference, strength of the
    tests, which faults in rare states are caught, and speed; the results are recorded as one signed summary. Interrupted,
    it goes on from the same seed.

    With --check a third party runs the same from a clone or a bundle of the record, and reports what is the same.
    """
    from harness.cli.locate import record_named

    if check:
        if level or mutants is not None or detection is not None or batches:
            raise click.UsageError(
                "--check repeats what the certificate says: it takes no --level, --mutants, --detection or --batch"
            )
        return _check(output, record_named(where), key, sandbox, trust_in(trusted))
    if key is not None:
        raise click.UsageError("--key belongs to --check")
    levels = tuple(range(1, level + 1)) if level else ()
    return _certify(output, where, levels, mutants, detection, tuple(dict.fromkeys(batches)), sandbox, on)


def _certify(
    output: Output,
    where: str | None,
    levels: tuple[int, ...],
    mutants: int | None,
    detection: int | None,
    batches: tuple[int, ...],
    sandbox: str | None,
    on: str | None,
) -> int:
    from harness.assurance.certify.examination import Settings
    from harness.cli.locate import opened, opened_when_free, session_named
    from harness.operations.certification import certify as issue
    from harness.operations.spreading import engine_on

    settings = Settings(levels, mutants, batches, DETECTION_FAULTS if detection is None else detection)
    which = session_named(where).id
    with engine_on(on) as engine, output.progress() as progress:
        output.kept = "its seed is kept: the same command goes on with it"

        def on_part(part: str, document: Mapping[str, Any], seconds: float) -> None:
            output.show(*_part(part, document, seconds))

        def opening(patient: bool) -> Session:
            return opened_when_free(which, progress) if patient else opened(which)

        certificate = issue(opening, settings, progress, on_part, sandbox=sandbox, engine=engine)
        output.kept = f"the certificate is recorded, event {certificate.event}"
    output.emit(certificate.to_json(), *_shown(certificate))
    return EXITS.get(certificate.examination.outcome, EXIT_ERROR)


def _check(output: Output, record: Path, key: Path | None, sandbox: str | None, trust: Trust) -> int:
    from rich.text import Text

    from harness.operations.certification import check

    with output.progress() as progress:
        again = check(record, trust, progress, lambda part: output.show(_again(part)), key=key, sandbox=sandbox)
    said = "the certificate is reproduced" if again.ok else "the certificate is NOT reproduced"
    vouched = f"signed by {again.key}{'' if again.pinned else ', as the record alone says'}"
    # What was certified: one of the lowest level alone, or without a measurement, is reproduced as well.
    lines = [
        Text(f"\n{said}: commit {again.commit}, {again.outcome}", _colour(again.ok)),
        *_lines(again.figures),
        vouched,
    ]
    output.emit(again.to_json(), *lines)
    return EXIT_OK if again.ok else EXIT_FAIL


def _part(part: str, document: Mapping[str, Any], seconds: float) -> Iterator[RenderableType]:
    from rich.text import Text

    from harness.cli.show import outcome_text

    line = Text(f"{part:<10}").append_text(outcome_text(document["outcome"])).append(f"  {seconds:.0f} s", "dim")
    yield line.append(f"  {document['because']}" if "because" in document else "", "dim")


def _again(part: PartAgain) -> Text:
    from rich.text import Text

    from harness.cli.show import outcome_text

    line = Text(f"{part.part:<10}").append_text(outcome_text(part.outcome)).append("  again ")
    line.append_text(outcome_text(part.outcome_again or "ERROR"))
    line.append(f"  {part.again}", MATCH_COLOURS.get(str(part.again), "bold red"))
    return line.append(f"  {part.because}" if part.because else "", "dim")


def _shown(certificate: Certificate) -> list[RenderableType | str]:
    from rich.text import Text

    certified = certificate.examination.outcome == "PASS"
    said = "certified" if certified else f"NOT certified: {certificate.finding}"
    lines: list[RenderableType | str] = ["", Text(f"{said}: commit {certificate.commit}", _colour(certified))]
    lines += [
        *_lines(certificate.figures),
        "",
        f"recorded as event {certificate.event}; others check it with: lockstep certify --check CLONE",
    ]
    return lines


def _lines(figures: Mapping[str, Any]) -> list[str]:
    from harness.measure.strength.rare.text import certified
    from harness.record.certificate import DETECTION

    told = {name: value for name, value in figures.items() if value is not None and name != DETECTION}
    lines = [f"  {name.replace('_', ' ')}: {_figure(value)}" for name, value in told.items()]
    return lines + [f"  {line}" for line in certified(figures.get(DETECTION))]


def _figure(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_figure(each)}" for name, each in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _colour(good: bool) -> str:
    return "green" if good else "bold red"
