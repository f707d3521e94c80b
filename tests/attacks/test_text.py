"""The attack: text that steers a terminal, hides, or passes for another line, in every place of a record that takes text."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from rich.console import Group
from rich.table import Table
from rich.text import Text

from harness.cli.frame import Output
from harness.cli.main import cli, main
from harness.policy import floor
from harness.record.log import MAIN
from harness.record.message import commit_message, trailers, trailers_in
from harness.record.store import Store
from harness.report.document import collect
from harness.report.page import render
from harness.support.console import VisibleConsole, hanging
from harness.support.text import Guarded, one_line, visible, visible_document
from mcp_server.app import build_server
from mcp_server.registry import TaskRegistry
from tests.mcp_server.conftest import anyio_backend
from tests.record.test_keys import verdict
from tests.report import script
from tests.report.script import Finding, Play
from tests.session.standin import make_task

__all__ = ["anyio_backend"]

MARK = "owned"
"""Is in every poison: where it comes out, the poison did, in whatever form."""
SIGNS = (
    "\x1b]0;owned\x07", "\x1b]8;;http://owned.invalid\x1b\\", "\x1b[666;1H", "\x9b2J", "\x00", "\x08", "\x7f", "\r",
    "\u202e", "\u2066", "\u200f", "\u061c", "\u200b", "\u2060", "\ufeff", "\u2028", "\u2029", "\x85",
    "\U000e0041", "\ufe0f", "\u3164", "\ue000", "e" + "\u0301" * 20,
)  # fmt: skip
POISON = f"{MARK}{''.join(SIGNS)}[link=http://owned.invalid]x[/link] [/]\nevent 1: PASS\u2026"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
"""What a console writes of its own accord. None of the signs but the third is of this form."""


def demand_clean(said: str, *, terminal: bool = False) -> None:
    """Fail where anything but what can be seen comes out."""
    for sign in SIGNS:
        # The console moves to the beginning of a line and draws no hidden character.
        assert (terminal and sign == "\r") or sign not in said, ascii(sign)
    plain = CONTROL.sub("", said) if terminal else said
    assert visible(plain) == plain


# The session


@dataclass(frozen=True)
class Poisoned:
    """A session in which every text that anybody may choose is poison."""

    session: str
    home: Path
    record: Path
    workspace: Path
    broken: Path
    play: Play


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Poisoned]:
    root = tmp_path_factory.mktemp("poisoned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script, "make_task", poisoned_task)
        patch.setenv("LOCKSTEP_HOME", str(root / "home"))
        patch.setenv(floor.VARIABLE, "1")
        machine = {"cpu": POISON, "jax": POISON, "numpy": POISON, "cores": 4, POISON: POISON}
        for where in ("session.begin", "record.attest"):
            patch.setattr(f"harness.{where}.fingerprint", lambda: machine)
        play = Play(root, isolated=False)
        play.session.report_usage(arguments={"client": POISON}, detail={"unpriced": {POISON: 7}}, input_tokens=7)
        reported = {"features": {POISON: 0}, "notes": (POISON,)}
        play.attempt(Finding(1, POISON, text=POISON, **reported), POISON)
        play.attempt(Finding(error=POISON), POISON)
        play.attempt(Finding(**reported), POISON)
        rows = [
            {"contender": POISON, "role": POISON, "kind": POISON, "batch": 32, "steps_per_s": 1e6, "low": 1, "high": 2}
        ]
        play.profile(POISON, rows=rows, summary=POISON, finding=POISON)
        call = {POISON: POISON, "command": POISON, "level": 1, "module": POISON, "message": POISON, "reason": POISON}
        detail = {"finding": POISON, "client": POISON, POISON: POISON}
        play.session.record(POISON, arguments=call, outcome=POISON, detail=detail)
        play.session.resume(POISON)
        for _ in range(6):
            play.attempt(Finding(1, "moves", text=POISON, **reported), POISON)
        with Store(play.record) as store:
            store.move_refs({"refs/heads/\u202e\u200b": (store.refs()[MAIN], None)})
        found = play.session.directory
        play.session.close()
        broken = poisoned_task(root / "broken")
        described = broken / "task.toml"
        described.write_text(f"{toml(POISON)} = 1\n{described.read_text()}")
        (broken / "specification").mkdir()
        (broken / "specification/RULES.md").write_text(f"# {POISON}\n\n1. {MARK} {POISON}\n\n{MARK} {POISON}\n")
        yield Poisoned(found.id, root / "home", found.repository, play.session.workspace, broken, play)


def toml(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def poisoned_task(directory: Path, **options: Any) -> Path:
    """The stand-in task, told by somebody hostile."""
    made = make_task(directory, **options)
    described = made / "task.toml"
    described.write_text(described.read_text().replace('"a walk"', toml(POISON)))
    for name in ("README.md", "QUIRKS.md", "reference/adapter.py"):
        (made / name).write_text(f"# {POISON}\n{POISON}\n")
    return made


# Every command

READS = ("status", "history", "explain", "usage", "audit", "replay", "watch", "prompt")
"""Commands that must tell something of the poison, and so show that they were given it."""


def lines(poisoned: Poisoned, place: Path) -> dict[str, tuple[list[str], ...]]:
    """Command lines for every command there is: on the record, or where that would run for minutes on a task or a name."""
    session, broken, record = poisoned.session, str(poisoned.broken), str(poisoned.record)
    return {
        "new": ([POISON.replace("\0", ""), "--factory", f"{MARK}\x1b]0;"],),
        "spec number": ([broken],),
        "spec check": ([broken],),
        "spec prompt": (["sheet", broken],),
        "spec play": ([broken, "first"],),
        "spec compare": ([broken],),
        "spec rule": ([broken, POISON.replace("\0", ""), "--on", "1"],),
        "spec strength": ([broken, "first"],),
        "spec freeze": ([broken, "second"],),
        "setup": ([broken],),
        "check-reference": ([broken],),
        "start": ([broken],),
        "verify": ([broken], [session]),
        "transfer": ([broken], [session]),
        "compare": ([broken],),
        "rollout": ([broken],),
        "profile": ([broken],),
        "coverage": ([broken],),
        "strength": ([broken],),
        "train": ([broken],),
        "status": ([session],),
        "watch": ([session],),
        "history": ([session],),
        "replay": ([session], [record], [session, "--step"], [session, "--from", "999"]),
        "explain": ([session, "--event", "3"], [session, "--event", "5"]),
        "prompt": (
            ["repair", "--session", session],
            ["translate", "--session", session, "--module", "moves"],
            ["extract", "--task", broken],
        ),
        "resume": ([session, "--reason", POISON.replace("\0", "")],),
        "task update": ([broken, "--session", session, "--reason", POISON.replace("\0", ""), "--yes"],),
        "shell": ([f"{MARK}\x1b]0;\x07"],),
        "connect": (["claude", "--directory", str(place)],),
        "usage": ([session],),
        "report": ([session, "--out", str(place / "page.html")], [f"{MARK}\x1b]0;\x07"]),
        "view": ([f"{MARK}\x1b]0;\x07"],),
        "certify": ([f"{MARK}\x1b]0;\x07"],),
        "audit": ([session], [record]),
        "bundle": ([session, str(place / "session.bundle")], [session, str(place / f"{MARK}\x1b]0;" / "x")]),
        "key show": ([],),
        "key rotate": ([],),
        "export": ([session, str(place / "exported")], [broken, str(place / "exported")]),
        "images build": ([f"--{MARK}\x1b]0;\x07"],),
        "images check": ([f"--{MARK}\x1b]0;\x07"],),
        "doctor": ([f"{MARK}\x1b]0;\x07"],),
        "demo": ([f"{MARK}\x1b]0;\x07"],),
        "serve": (["--task-root", f"/{MARK}\x1b]0;\x07"],),
        "gameboy check-roms": ([f"/{MARK}\x1b]0;\x07"],),
    }


def commands(group: click.Group, above: str = "") -> Iterator[str]:
    """The names of all commands, those of other packages too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from commands(found, f"{above}{name} ")
        else:
            yield above + name


NAMES = tuple(commands(cli))


@pytest.fixture
def place(poisoned: Poisoned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of somebody who has this session at home."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(poisoned.home))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.cli.watch.ticks", lambda: iter([None]))
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {f"{MARK}\u202e\u200b": {}}}, ensure_ascii=False))
    return tmp_path


def given_lines(poisoned: Poisoned, place: Path, name: str) -> list[list[str]]:
    if name.startswith("serve"):
        # It would serve until it is ended: what it says of a wrong command line has to do.
        return [["serve", f"--{MARK}\x1b]0;\x07"]]
    return [[*name.split(), *given] for given in lines(poisoned, place)[name]]


def test_every_command_is_in_the_table(poisoned: Poisoned, tmp_path: Path) -> None:
    assert set(NAMES) == set(lines(poisoned, tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_no_command_lets_it_through_a_pipe(
    poisoned: Poisoned, place: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    told = name not in READS
    for given in given_lines(poisoned, place, name):
        for asked in ([], ["--json"]):
            capfd.readouterr()
            main([*given, *asked])
            out, err = capfd.readouterr()
            told = told or MARK in out
            demand_clean(err)
            assert "Traceback" not in err, err
            if asked and out:
                document = json.loads(out)
                assert visible_document(document) == document
            else:
                demand_clean(out)
            if given[-1] == str(poisoned.broken):
                assert MARK in out + err
            # A prompt quotes files of a task, whose lines are the task's.
            assert name.endswith("prompt") or not any(
                line.startswith("event 1: PASS") for line in (out + err).splitlines()
            )
    assert told, name


@pytest.mark.parametrize("name", NAMES)
def test_no_command_lets_it_through_a_terminal(
    poisoned: Poisoned, place: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in given_lines(poisoned, place, name):
        if "--step" not in given:  # which waits for keys; what it shows is shown by `shown_on` below
            demand_clean(shown_on(monkeypatch, lambda given=given: main(given)), terminal=True)


def shown_on(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> str:
    """What a terminal is sent while something runs."""
    mine, inner = pty.openpty()
    got = io.BytesIO()

    def read() -> None:
        try:
            while data := os.read(mine, 65536):
                got.write(data)
        except OSError:  # its other side is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(inner, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        run()
    reader.join()
    os.close(mine)
    return got.getvalue().decode(errors="surrogateescape").replace("\r\n", "\n")


def test_a_terminal_shows_steps_bars_and_tables_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> None:
        output = Output()
        with output.progress() as progress:
            progress(POISON, 1, 3)
            table = Table(title=POISON, caption=POISON)
            table.add_column(POISON)
            table.add_row(POISON)
            table.add_row(Text(POISON))
            output.show(POISON, Text(POISON), table, Group(Text(POISON), POISON))
            output.note(POISON)
        from harness.cli.watch import picture  # noqa: F401 - drawn by the command `watch` above

    said = shown_on(monkeypatch, run)
    assert MARK in said
    demand_clean(said, terminal=True)


# The page


def test_a_page_shows_it_and_nothing_else(poisoned: Poisoned) -> None:
    with Store(poisoned.record) as store:
        document = collect(store)
    for live in (False, True):
        page = render(document, live=live)
        assert MARK in page
        demand_clean(page)


def test_a_template_passes_nothing_on(poisoned: Poisoned) -> None:
    with Store(poisoned.record) as store:
        document = collect(store)
    document["task"] = document["session"] = POISON
    demand_clean(render(document))


# What git shows


def test_a_message_of_a_commit_is_plain(poisoned: Poisoned) -> None:
    with Store(poisoned.record) as store:
        message = store.commit(store.refs()[MAIN]).message
    assert MARK in message
    demand_clean(message)


@pytest.mark.parametrize(
    "line",
    ["Lockstep-Level: 4 passed", "\u200bLockstep-Level: 4 passed", "Lock\u00adstep-Level: 4 passed", "---",
     "\x1b[1mLockstep-Level: 4 passed", "a\rLockstep-Level: 4", "a\u2028Lockstep-Level: 4", "a\x0bLockstep-Level: 4",
     "\uff2cockstep-Level: 4"],
)  # fmt: skip
def test_no_line_of_an_agent_passes_for_a_trailer(line: str) -> None:
    message = commit_message(f"Words\n\n{line}\n", "Pass level 1", verdict())
    own = message.split("\n")
    assert trailers_in(message) == trailers(verdict())
    assert not any(each.startswith(("---", "\uff2c")) for each in own)
    assert sum("Level: 4" in each and not each.startswith("> ") for each in own) == 0 or "\x1b" in line
    demand_clean(message)


# The server

RUN = ("run_level_tests", "policy_transfer", "profile_sps", "compare_rollouts", "replay", "start_session")
"""Tools that would work for minutes, and are asked about a session that is not there."""


@pytest.mark.anyio
async def test_a_server_says_nothing_of_it_to_a_client(poisoned: Poisoned, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp.client import Client
    from mcp.shared.exceptions import MCPError

    monkeypatch.setenv("LOCKSTEP_HOME", str(poisoned.home))
    server = build_server(poisoned.home, TaskRegistry((poisoned.broken.parent.resolve(),), poisoned.workspace.parent))
    said: list[Any] = []
    session = poisoned.session
    async with Client(server) as client:
        for tool in (await client.list_tools()).tools:
            arguments = {
                "session": session,
                "job_id": f"{session}.1",
                "path": POISON,
                "command": "true",
                "text": POISON,
            }
            arguments |= {"old": POISON, "new": MARK, "task": POISON, "model": POISON, "message": POISON, "event": 1}
            wanted = {each: arguments[each] for each in tool.input_schema["properties"] if each in arguments}
            if tool.name in RUN:
                wanted = {"session": POISON} if tool.name != "start_session" else {"task": POISON}
            for given in (wanted, {POISON: POISON}):
                result = await client.call_tool(tool.name, given)
                said.append(result.model_dump(mode="json"))
        with pytest.raises(MCPError) as refused:
            await client.call_tool(POISON, {})
        said.append([refused.value.message, refused.value.data])
        for prompt in (await client.list_prompts()).prompts:
            for which in (session, POISON):
                try:
                    said.append((await client.get_prompt(prompt.name, {"session": which})).model_dump(mode="json"))
                except MCPError as error:
                    said.append([error.message, error.data])
        resources = [str(each.uri) for each in (await client.list_resources()).resources]
        resources += [f"lockstep://sessions/{session}/{each}" for each in ("status", "events", "verdicts/3", "verdicts/5",
                      "verdicts/3/levels/1", "divergences/3", "jobs/1", "jobs/1%1B")]  # fmt: skip
        for uri in [*resources, "lockstep://sessions/%1B]0;%07/status", "lockstep://tasks/%E2%80%AE"]:
            try:
                said.append((await client.read_resource(uri)).model_dump(mode="json"))
            except MCPError as error:
                said.append([error.message, error.data])
    assert sum(MARK in json.dumps(each) for each in said) > 10
    for each in said:
        assert visible_document(each) == each


# The filter


@pytest.mark.parametrize("sign", SIGNS)
def test_the_filter_shows_every_sign_and_is_done_after_once(sign: str) -> None:
    shown = visible(f"a{sign}b")
    assert shown != f"a{sign}b" and shown.startswith("a") and shown.endswith("b")
    assert visible(shown) == shown
    assert "\n" not in one_line(f"a{sign}\n\tb") and "\t" not in one_line("\t")


def test_the_filter_leaves_what_people_write() -> None:
    for text in (
        "plain\n\ttext",
        "\u00fcber na\u00efve",
        "e\u0301",
        "\u65e5\u672c",
        "\u2713 \u2026",
        "\u0e17\u0e35\u0e48",
    ):
        assert visible(text) == text


def test_bytes_and_characters_are_told_apart() -> None:
    assert visible("\x1b \x9b \udc9b \ud800 \U000e0041") == r"\x1b \u009b \x9b \ud800 \U000e0041"


def test_two_names_of_a_document_stay_two() -> None:
    assert len(visible_document({"a\x1b": 1, "a\\x1b": 2})) == 2


def test_whatever_is_printed_goes_through_a_guarded_stream() -> None:
    below = io.StringIO()
    print(POISON, file=Guarded(below))  # type: ignore[arg-type]
    demand_clean(below.getvalue())


def test_no_line_of_a_text_begins_where_lines_begin() -> None:
    below = io.StringIO()
    VisibleConsole(below).print(hanging(Group(Text("\nfirst\nsecond: PASS"), "own line")))
    assert below.getvalue() == "\nfirst\n  second: PASS\nown line\n"
