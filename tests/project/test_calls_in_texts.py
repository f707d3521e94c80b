"""Every call that a text tells its reader to make can be made, and only one module writes calls with arguments."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from pathlib import Path

import click
import pytest

from harness.calls import ShellCalls, ToolCalls
from mcp_server.catalog import OPERATIONS
from tests.paths import ROOT
from tests.project.calls_in_texts import TOOLS, mistakes, offered, wrong_command, wrong_tool
from tests.project.texts import files

COMMANDS = [each.command for each in OPERATIONS if each.command is not None]
SAMPLES = {
    "level": 1, "module": "moves", "directory": "my task", "candidate": "rust", "sandbox": "docker", "seed": 7,
    "case": Path("cases/a b.json"), "event": 3, "index": 2, "record": "a.bundle", "task": "walk", "package": "einops==0.8.1",
    "which": "first", "step": "play",
    "after": 3, "limit": 30, "path": "candidate/env.py", "first_line": 1, "most_lines": 100, "job": "s-1.4", "wait_s": 40,
}  # fmt: skip


def test_no_text_names_a_call_that_cannot_be_made_and_none_is_written_by_hand() -> None:
    read = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files()}
    assert len(read) > 300
    assert [mistake for path, content in read.items() for mistake in mistakes(path, content)] == []


@pytest.mark.parametrize("method", [name for name, _ in inspect.getmembers(ShellCalls, callable) if name[0] != "_"])
@pytest.mark.parametrize("session", ["s-1", None])
def test_each_command_is_one(method: str, session: str | None) -> None:
    write = getattr(ShellCalls(session, Path("/where ever")), method)
    names = inspect.signature(write).parameters
    for given in ({name: SAMPLES[name] for name in names}, {name: SAMPLES[name] for name in _required(names)}):
        line = write(**given)
        assert list(wrong_command(line, offered().commands, whole=True)) == [], line


@pytest.mark.parametrize("method", [name for name, _ in inspect.getmembers(ToolCalls, callable) if name[0] != "_"])
def test_each_tool_call_is_one(method: str) -> None:
    write = getattr(ToolCalls("s-1"), method)
    names = inspect.signature(write).parameters
    for given in ({name: SAMPLES[name] for name in names}, {name: SAMPLES[name] for name in _required(names)}):
        line = re.fullmatch(r"(\w+)\((.*)\)", write(**given))
        assert line is not None and line[1] in offered().tools
        assert list(wrong_tool(line[1], line[2], offered().tools)) == []


def _required(parameters) -> list[str]:
    return [name for name, each in parameters.items() if each.default is each.empty]


def test_the_page_about_the_server_has_every_tool_and_texts_know_them_all() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ", (ROOT / "docs/mcp.md").read_text(), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == offered().tools.keys()
    assert offered().tools.keys() == TOOLS


@pytest.mark.parametrize(
    ("path", "right", "wrong", "named"),
    [
        # Commands
        ("README.md", "`lockstep verify --json`", "`lockstep prove --json`", "there is no command `lockstep prove`"),
        ("docs/audit.md", "lockstep key rotate", "lockstep key turn", "there is no command `lockstep key turn`"),
        ("harness/cli/show_replay.py", "run `lockstep audit`", "run `lockstep check`", "no command `lockstep check`"),
        ("prompts/optimise_jax.md", "lockstep profile", "lockstep measure", "no command `lockstep measure`"),
        ("harness/report/templates/page.html.j2", "lockstep audit", "lockstep proof", "no command `lockstep proof`"),
        # Options
        ("docs/strength.md", " --every-level", " --each-level", "`lockstep strength` has no option `--each-level`"),
        ("examples/README.md", "", "`lockstep audit --all`", "`lockstep audit` has no option `--all`"),
        ("docs/commands.md", "`--index`", "`--case`", "`lockstep explain [SESSION]` has no option `--case`"),
        ("docs/task.md", "", "`--mutant`", "no command has an option `--mutant`"),
        ("harness/operations/film.py", "leave out --video", "leave out --film", "no command has an option `--film`"),
        ("docs/training.md", "--in reference", "--in references", "has no `--in references`, only candidate, reference"),
        # Numbers of arguments
        ("docs/training.md", "train cartpole --in", "train cartpole pong --in", "1 arguments at most, not 2"),
        ("docs/tutorial-rust.md", "start frog --workspace", "start --workspace", "1 arguments at least, not 0"),
        ("README.md", "lockstep watch ", "lockstep resume ", "`lockstep resume` needs --reason"),
        # Tools
        ("mcp_server/app.py", "run_level_tests(session", "run_all_tests(session", "there is no tool `run_all_tests`"),
        ("docs/mcp.md", "`explain_divergence`", "`explain_failure`", "no tool, argument or field `explain_failure`"),
        ("harness/connect/AGENTS.md", "", "`verify_level`", "there is no tool, argument or field `verify_level`"),
        ("mcp_server/toolbox.py", '"get_job"', '"ask_job"', "there is no tool `ask_job`"),
        ("mcp_server/app.py", "audit(session=", "audit(record=", "the tool `audit` has no argument `record`"),
        ("docs/mcp.md", "get_job(job_id, wait_s)", "get_job(job, wait_s)", "the tool `get_job` has no argument `job`"),
        ("mcp_server/workspace_tools.py", "as expected_sha256", "as expected_digest", "or field `expected_digest`"),
        ("mcp_server/demo/play.py", "path=self._entry, text", "file=self._entry, text", "has no argument `file`"),
        # Calls that a text writes by hand
        (
            "harness/host/watching.py", "{ShellCalls.replay(which)}", "lockstep replay {which}",
            "`lockstep replay {}` is written by hand",
        ),
        (
            "harness/report/templates/attempts.html.j2", "{{ calls.explain(row", "lockstep explain {{ (row",
            "`lockstep explain {}` is written by hand",
        ),
        ("harness/new.py", "", 'f"`lockstep verify --level {level}`"', "`lockstep verify --level {}` is written by hand"),
        ("harness/new.py", "", '"lockstep status " + session', "`lockstep status {}` is written by hand"),
        ("harness/new.py", "", '"run `lockstep audit %s`" % session', "`lockstep audit {}` is written by hand"),
        ("harness/new.py", "", '"run `lockstep audit {}`".format(a)', "`lockstep audit {}` is written by hand"),
        ("harness/new.py", "",  '''f"{a} {f'lockstep audit {b}'}"''', "`lockstep audit {}` is written by hand"),
        ("harness/new.py", "", 'join(["lockstep", "audit", a])', "a command line is put together by hand"),
        ("mcp_server/new.py", "", "f'call audit(session=\"{a}\")'", '`audit(session="{}")` is written by hand'),
    ],
)  # fmt: skip
def test_a_planted_fault_is_named(path: str, right: str, wrong: str, named: str) -> None:
    content = (ROOT / path).read_text() if (ROOT / path).exists() else ""
    assert right in content and mistakes(path, content) == []
    found = mistakes(path, content.replace(right, wrong) if right else f"{content}\n{wrong}\n")
    assert any(named in each for each in found), found


class _Without(click.Group):
    """The commands of another group but one, which has a new name."""

    def __init__(self, name: str, group: click.Group, renamed: str) -> None:
        super().__init__(name)
        self._group, self._renamed = group, renamed

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self._group.list_commands(ctx) if name != self._renamed]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return None if cmd_name == self._renamed else self._group.get_command(ctx, cmd_name)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_planted_fault_the_old_name_of_a_command_is_found(name: str) -> None:
    renamed = replace(offered(), commands=_Without("lockstep", offered().commands, name))
    found = mistakes("docs/commands.md", (ROOT / "docs/commands.md").read_text(), renamed)
    assert any(f"there is no command `lockstep {name}`" in each for each in found)


@pytest.mark.parametrize("name", sorted(name for name in TOOLS if "_" in name))
def test_a_planted_fault_the_old_name_of_a_tool_is_found(name: str) -> None:
    tools = {f"{each}_now" if each == name else each: arguments for each, arguments in offered().tools.items()}
    found = mistakes("docs/mcp.md", (ROOT / "docs/mcp.md").read_text(), replace(offered(), tools=tools))
    assert any(f"there is no tool `{name}`" in each for each in found)


def commands(group: click.Group) -> dict[str, click.Command]:
    """Every command, by its name."""
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    groups = {name: commands(each) for name, each in found.items() if isinstance(each, click.Group)}
    inner = {f"{name} {below}": each for name, some in groups.items() for below, each in some.items()}
    return inner | {name: each for name, each in found.items() if each is not None and name not in groups}


def test_the_help_of_each_command_ends_with_examples_of_it() -> None:
    every = commands(offered().commands)
    assert len(every) > 30
    for name, each in every.items():
        lines = [line.strip() for line in (each.epilog or "").splitlines()[2:]]
        assert lines and "Examples:" in (each.epilog or ""), f"{name} has no examples"
        for line in lines:
            assert line.startswith(f"lockstep {name}"), line
            assert list(wrong_command(line.partition("  #")[0], offered().commands, whole=True)) == [], line
