"""`lockstep report` and `lockstep view`: a session's record as a page, in a file or live."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import completion
from harness.cli.frame import EXIT_OK, Output, command

if TYPE_CHECKING:
    from harness.record.keys import PublicKey

_KEY = click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The public key (PEM) that must have signed the record.",
)


@command(
    "report",
    "write a session's report, one page that needs no network",
    "lockstep report --out report.html",
    "lockstep report record.bundle",
)
@click.argument("record", metavar="[SESSION|RECORD]", required=False, shell_complete=completion.records)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Default: ./<session>-report.html; with --json nothing is written by default.",
)
@_KEY
def report(output: Output, record: str | None, out: Path | None, key: Path | None) -> int:
    """Write what a record tells as one HTML page: verdict, attempts, divergences, speed, transfer, coverage, cost.

    The record is that of a session (default: the one that works here), its git directory, a mirror clone or a bundle.
    With --json the data is printed as one document.
    """
    from harness.cli.locate import record_named
    from harness.errors import SessionError
    from harness.record.received import opened
    from harness.report.document import collect
    from harness.report.page import render

    with opened(record_named(record)) as store:
        document = collect(store, key, _unisolated())
    if output.json and out is None:
        output.emit(document)
        return EXIT_OK
    location = out or Path(f"{_file_name(document['session'])}-report.html")
    content = render(document)
    try:
        location.write_text(content, encoding="utf-8")
    except OSError as error:
        raise SessionError(
            f"the report cannot be written: {error.strerror or error}",
            where=str(location),
            expected="a file in a directory that exists",
            next_step="choose another place with --out",
        ) from error
    output.emit(document, f"the report is in {location} ({len(content.encode()) / 1024:.0f} kB): open it in a browser")
    return EXIT_OK


@command("view", "the same page live, in a browser of this machine", "lockstep view --open")
@click.argument("record", metavar="[SESSION|RECORD]", required=False, shell_complete=completion.records)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option("--open", "browse", is_flag=True, help="Open it in the browser.")
@_KEY
def view(output: Output, record: str | None, port: int, browse: bool, key: Path | None) -> int:
    """Serve a record's report on 127.0.0.1; the page follows the session while it runs. Ctrl-C ends it."""
    import webbrowser

    from harness.cli.locate import record_named
    from harness.errors import SessionError
    from harness.record.received import opened
    from harness.report.server import LOOPBACK, Page, Server

    with opened(record_named(record)) as store:
        page = Page(store, key, _unisolated())
        page.stamp()  # what is no record is said at once
        try:
            server = Server(page, port)
        except OSError as error:
            raise SessionError(
                f"the port {port} cannot be used: {error.strerror or error}",
                where=LOOPBACK,
                next_step="choose another with --port, or name none for a free one",
            ) from error
        with server:
            output.emit({"address": server.address}, f"the report is at {server.address}", "Ctrl-C ends it")
            if browse:
                webbrowser.open(server.address)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                output.note("ended")
    return EXIT_OK


def _unisolated() -> tuple[PublicKey, ...]:
    """The keys of this home that sign only what ran without isolation."""
    from harness.record.keyring import Keyring
    from harness.support.home import lockstep_home

    return tuple(Keyring(lockstep_home(), isolated=False).public)


def _file_name(session: str) -> str:
    """A session's name as part of a file's: a record that was made to deceive may hold any."""
    return session if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}", session) else "lockstep"
