"""How each call is written, for a shell and for the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.calls import ShellCalls, ToolCalls


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (ShellCalls().verify(), "lockstep verify"),
        (ShellCalls("s-1").verify(), "lockstep verify --session s-1"),
        (ShellCalls().verify(1, "moves", seed=0), "lockstep verify --level 1 --module moves --seed 0"),
        (
            ShellCalls().verify(directory="my task", candidate="rust", sandbox="docker"),
            "lockstep verify 'my task' --candidate rust --sandbox docker",
        ),
        (ShellCalls().compare(Path("cases/a b.json")), "lockstep compare --case 'cases/a b.json'"),
        (ShellCalls(candidate="rust").compare(Path("a.json")), "lockstep compare --case a.json --candidate rust"),
        (ShellCalls("s-1").status(), "lockstep status s-1"),
        (ShellCalls("s-1").history(), "lockstep history s-1"),
        (ShellCalls("s-1").audit(), "lockstep audit s-1"),
        (ShellCalls("s-1").explain(4, 0), "lockstep explain s-1 --event 4 --index 0"),
        (ShellCalls("s-1").resume(), "lockstep resume s-1 --reason WHY"),
        (ShellCalls.replay("a record"), "lockstep replay 'a record'"),
        (ShellCalls.start(Path("my task")), "lockstep start 'my task'"),
        (ShellCalls.check_reference("walk"), "lockstep check-reference walk"),
        (ShellCalls.build_image("einops==0.8.1"), "lockstep images build --package einops==0.8.1"),
        (ToolCalls("s-1").verify(), 'run_level_tests(session="s-1")'),
        (ToolCalls("s-1").verify(1, "moves"), 'run_level_tests(session="s-1", level=1, module="moves")'),
        (ToolCalls(None).verify(2, ""), "run_level_tests(level=2)"),
        (ToolCalls("s-1").compare(Path('a "b".json')), 'compare_rollouts(session="s-1", case="a \\"b\\".json")'),
        (ToolCalls("s-1").status(), 'session_status(session="s-1")'),
        (ToolCalls("s-1").history(), 'history(session="s-1")'),
        (ToolCalls("s-1").history(0, 30), 'history(session="s-1", after=0, limit=30)'),
        (ToolCalls("s-1").audit(), 'audit(session="s-1")'),
        (
            ToolCalls("s-1").read_file("candidate/env.py", 1, 100),
            'read_file(session="s-1", path="candidate/env.py", offset_line=1, max_lines=100)',
        ),
        (ToolCalls.get_job("s-1.4", 40), 'get_job(job_id="s-1.4", wait_s=40)'),
    ],
)
def test_a_call_is_written_for_its_reader(written: str, expected: str) -> None:
    assert written == expected


def test_a_file_is_named_from_where_the_reader_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    case = workspace / "cases" / "a.json"
    monkeypatch.chdir(workspace)
    assert ShellCalls(workspace=workspace).compare(case) == "lockstep compare --case cases/a.json"
    monkeypatch.chdir(tmp_path)
    assert ShellCalls(workspace=workspace).compare(case) == f"lockstep compare {workspace} --case work/cases/a.json"
    monkeypatch.chdir("/")
    elsewhere = ShellCalls(workspace=Path("work")).compare(Path("cases/a.json"))
    assert elsewhere == "lockstep compare work --case cases/a.json"
    assert ToolCalls("s-1", workspace).compare(case) == 'compare_rollouts(session="s-1", case="cases/a.json")'
