"""What all commands share: one JSON document or calm tables on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from harness.errors import LockstepError, TaskError
from harness.support.progress import Progress, bar, console_on, lines
from harness.support.text import visible, visible_document

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Bar

EXIT_OK = 0
EXIT_FAIL = 1
EXIT_USAGE = 2
EXIT_ERROR = 3
EXIT_NEEDS_HUMAN = 4
EXIT_INCONCLUSIVE = 5
EXIT_INTERRUPTED = 130


def exit_code(outcome: str) -> int:
    """What a command ends with that came to an outcome of `harness.verdict`."""
    codes = {"PASS": EXIT_OK, "FAIL": EXIT_FAIL, "INCONCLUSIVE": EXIT_INCONCLUSIVE}
    return codes.get(str(outcome), EXIT_ERROR)


class Output:
    """Where a command's results and its progress go.

    Attributes:
        json: whether standard output is to be one JSON document.
        kept: what an interruption at this moment leaves behind and how to go on; commands keep it true.
    """

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self.kept = "nothing was changed"
        self._stream = sys.stdout
        self._bar: Bar | None = None

    def emit(self, document: Mapping[str, Any], *shown: RenderableType) -> None:
        """The result of a command: the document with --json, else what is to be shown."""
        if self.json:
            shown_document = visible_document(document)
            self._stream.write(json.dumps(shown_document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        else:
            self.show(*shown)
        self._stream.flush()

    def show(self, *shown: RenderableType) -> None:
        """Parts of a result that come before it is complete; nothing with --json. A string keeps its lines."""
        if self.json:
            return
        with self._without_bar():
            self._show(*shown)

    def _show(self, *shown: RenderableType) -> None:
        from harness.support.console import hanging

        console = console_on(self._stream)
        for part in shown:
            if isinstance(part, str):
                self._stream.write(visible(part) + "\n")
                continue
            if self._stream.isatty():
                console.print(hanging(part))
                continue
            # A file or a pipe gets no padding at the ends of its lines.
            with console.capture() as captured:
                console.print(hanging(part))
            self._stream.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
        self._stream.flush()

    def note(self, text: str) -> None:
        """A line for a person, beside the result."""
        console_on(sys.stderr).print(text, style="dim", markup=False, highlight=False, soft_wrap=True)

    @contextlib.contextmanager
    def progress(self) -> Iterator[Progress]:
        """A callback that shows progress on standard error: a bar on a terminal, else a line now and then."""
        if not sys.stderr.isatty():
            yield lines(self.note)
            return
        with bar(console_on(sys.stderr)) as (shown, progress):
            self._bar = shown
            try:
                yield progress
            finally:
                self._bar = None

    @contextlib.contextmanager
    def _without_bar(self) -> Iterator[None]:
        """Takes the bar away while something else is written to what may be the same terminal."""
        bar = self._bar
        if bar is not None:
            bar.stop()
        yield
        if bar is not None:
            bar.start()


def command(name: str, summary: str, *examples: str) -> Callable[[Callable[..., int]], click.Command]:
    """A command that takes --json. Its function gets the `Output` first and returns the exit code.

    Args:
        examples: lines that its help ends with.
    """

    def declare(run: Callable[..., int]) -> click.Command:
        @functools.wraps(run)
        @click.pass_obj
        def wrapped(output: Output, /, json: bool, **options: Any) -> int:
            output.json = json
            # Whatever a task's own files print must not get between the reader and the document.
            with contextlib.redirect_stdout(sys.stderr) if json else contextlib.nullcontext():
                return run(output, **options)

        offered = click.option("--json", is_flag=True, help="Print one JSON document and nothing else.")
        epilog = "\n".join(("\b", "Examples:", *(f"    {example}" for example in examples))) if examples else None
        return click.command(name, short_help=summary, epilog=epilog)(offered(wrapped))

    return declare


def error_text(error: LockstepError) -> str:
    """An error for a person: further lines of a text that is quoted in it stand deeper than the error's own lines."""
    moved = copy.copy(error)
    for name in ("what", "where", "expected", "next_step"):
        setattr(moved, name, getattr(error, name).replace("\n", "\n    "))
    if isinstance(moved, TaskError):
        moved.mistakes = tuple(mistake.replace("\n", "\n    ") for mistake in moved.mistakes)
    return str(moved)


def report_error(output: Output, document: Mapping[str, Any], text: str = "") -> None:
    """How a command that cannot go on ends: its error as text on standard error, or as the JSON document."""
    if output.json:
        output.emit(document)
    elif text:
        sys.stderr.write(visible(f"lockstep: {text}\n"))
