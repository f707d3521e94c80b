"""What holds for every command: exit codes, one JSON document, errors without a traceback, a quick start."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import click
import pytest

from harness.cli.frame import Output, command
from harness.cli.main import COMMANDS, cli
from harness.errors import TaskError
from sandboxes import SandboxUnavailable
from tests.cli.conftest import Result
from tests.paths import ROOT

Run = Callable[..., Result]
HEAVY = {"jax", "hypothesis", "scipy", "numpy", "git", "securesystemslib", "rich"}


@pytest.fixture
def planted() -> Iterator[Callable[[Callable[[Output], int]], None]]:
    """Adds a command `planted` to the command line for one test."""

    def add(run: Callable[[Output], int]) -> None:
        cli.add_command(command("planted", "planted by a test")(run))

    yield add
    cli.commands.pop("planted", None)


def test_the_help_names_every_command_and_every_exit_code(lockstep: Run) -> None:
    result = lockstep("--help")
    assert result.code == 0
    for known in COMMANDS:
        assert f"  {known.name} " in result.out
    for code in ("0  ", "1  FAIL", "2  usage", "3  ERROR", "4  a person", "130  interrupted"):
        assert code in result.out


def runnable(known: click.Command, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """The command with the words that call it; of a group, its commands."""
    words = (*words, str(known.name))
    if isinstance(known, click.Group):
        for below in known.commands.values():
            yield from runnable(below, *words)
    else:
        yield words, known


@pytest.mark.parametrize("known", COMMANDS, ids=lambda known: str(known.name))
def test_every_command_takes_json_and_explains_itself(known: click.Command, lockstep: Run) -> None:
    assert known.help and known.short_help
    for words, each in runnable(known):
        result = lockstep(*words, "--help")
        assert result.code == 0
        assert "--json" in result.out
        assert each.help and each.short_help


def loaded_by(*arguments: str) -> set[str]:
    """The heavy packages that a command line imports, asked in a process of its own."""
    code = (
        "import sys; from harness.cli import main; main(sys.argv[1:]);"
        f"print(*sorted({sorted(HEAVY)!r} & sys.modules.keys()), file=sys.stderr)"
    ).replace(repr(sorted(HEAVY)), repr(HEAVY))
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split()) if done.stderr.strip() else set()


def test_the_help_imports_nothing_heavy() -> None:
    assert loaded_by("--help") == set()


def test_a_status_imports_no_jax_and_no_test_generator(home: object) -> None:
    assert not loaded_by("status", "--json") & {"jax", "hypothesis", "scipy"}


def test_an_unknown_option_is_a_matter_of_usage(lockstep: Run) -> None:
    result = lockstep("verify", "--bogus")
    assert result.code == 2
    assert result.out == ""
    assert "No such option" in result.err


def test_a_wrong_command_line_is_a_document_too(lockstep: Run) -> None:
    result = lockstep("verify", "--bogus", "--json")
    assert result.code == 2
    assert result.document["error"] == "UsageError"


def test_an_error_is_its_text_and_no_traceback(lockstep: Run) -> None:
    result = lockstep("setup", "cartpool")
    assert result.code == 2
    assert result.out == ""
    assert "did you mean 'cartpole'" in result.err
    assert "Traceback" not in result.err


def test_an_error_is_one_document_with_json(lockstep: Run) -> None:
    result = lockstep("setup", "cartpool", "--json")
    assert result.code == 2
    assert result.document["error"] == "NoSuchTask"
    assert "Traceback" not in result.err


def test_every_mistake_of_a_task_is_reported(planted: Callable[..., None], lockstep: Run) -> None:
    def run(output: Output) -> int:
        raise TaskError("the task file has 2 mistakes", mistakes=("task.toml:1: one", "task.toml:7: two"))

    planted(run)
    result = lockstep("planted")
    assert "task.toml:1: one" in result.err and "task.toml:7: two" in result.err


def test_a_sandbox_that_does_not_work_is_an_error(planted: Callable[..., None], lockstep: Run) -> None:
    def run(output: Output) -> int:
        raise SandboxUnavailable("bubblewrap: user namespaces are off")

    planted(run)
    result = lockstep("planted", "--json")
    assert result.code == 3
    assert result.document == {"error": "SandboxUnavailable", "what": "bubblewrap: user namespaces are off"}


def test_a_bug_never_looks_like_a_failed_candidate(planted: Callable[..., None], lockstep: Run) -> None:
    def run(output: Output) -> int:
        raise ZeroDivisionError("planted")

    planted(run)
    result = lockstep("planted", "--json")
    assert result.code == 3
    assert result.document["error"] == "ZeroDivisionError"
    assert "Traceback" in result.err


def test_an_interruption_says_what_was_kept(planted: Callable[..., None], lockstep: Run) -> None:
    def run(output: Output) -> int:
        output.kept = "the first half is kept; go on with `lockstep planted`"
        raise KeyboardInterrupt

    planted(run)
    result = lockstep("planted")
    assert result.code == 130
    assert "the first half is kept; go on with `lockstep planted`" in result.err
    assert lockstep("planted", "--json").document["error"] == "Interrupted"


def test_what_is_printed_on_the_way_does_not_spoil_the_document(planted: Callable[..., None], lockstep: Run) -> None:
    def run(output: Output) -> int:
        print("a task's own file prints this")
        output.show("a line for a person")
        output.emit({"value": [1, 2]}, "shown")
        return 0

    planted(run)
    result = lockstep("planted", "--json")
    assert json.loads(result.out) == {"value": [1, 2]}
    assert "a task's own file prints this" in result.err
    assert lockstep("planted").out == "a task's own file prints this\na line for a person\nshown\n"


def test_progress_without_a_terminal_is_a_line_now_and_then_on_standard_error(
    planted: Callable[..., None], lockstep: Run
) -> None:
    def run(output: Output) -> int:
        with output.progress() as progress:
            for done in range(1000):
                progress("working", done, 1000)
        output.emit({"done": True}, "done")
        return 0

    planted(run)
    result = lockstep("planted", "--json")
    assert result.document == {"done": True}
    assert result.err == "working (0/1000)\n"


def test_brackets_in_what_is_shown_are_no_markup(planted: Callable[..., None], lockstep: Run) -> None:
    def run(output: Output) -> int:
        output.emit({}, "[bold]board[/] [3,4] [/oops]")
        return 0

    planted(run)
    assert lockstep("planted").out == "[bold]board[/] [3,4] [/oops]\n"


def test_a_reader_that_leaves_is_no_error(in_process: Callable[..., subprocess.Popen[str]]) -> None:
    started = in_process("--help")
    assert started.stdout is not None and started.stderr is not None
    started.stdout.close()
    with started:
        said = started.stderr.read()
    assert "Traceback" not in said


def test_the_documentation_names_every_command_and_every_exit_code() -> None:
    text = (ROOT / "docs" / "commands.md").read_text()
    assert [str(known.name) for known in COMMANDS if f"lockstep {known.name}" not in text] == []
    for code in (0, 1, 2, 3, 4, 130):
        assert f"| {code} |" in text
