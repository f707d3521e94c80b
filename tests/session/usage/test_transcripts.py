"""Reading transcripts: each response once, running totals as differences, and nothing that is not this session's."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.session.usage.tokens import Tokens
from harness.session.usage.transcripts import responses
from tests.session.usage.conftest import Transcripts, add, at, meta, said, totals, turn


@pytest.fixture
def work(tmp_path: Path) -> Path:
    place = tmp_path / "a_dir" / "my.work"
    place.mkdir(parents=True)
    return place


def began() -> str:
    """Half a minute ago."""
    return at(-30)


def spent(work: Path, *more: Path) -> Tokens:
    return sum((response.tokens for response in responses((work, *more), began())), Tokens())


# --- Claude Code ------------------------------------------------------------------------------------------------------


def test_a_response_on_several_lines_is_counted_once_with_its_final_counts(machine: Transcripts, work: Path) -> None:
    file = machine.claude_file(work)
    usage = {"input_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 30}
    for output in (1, 1, 50):
        add(file, said(work, "msg_1", output_tokens=output, **usage))
    add(file, said(work, "msg_2", seconds=2, input_tokens=1, output_tokens=2))
    assert spent(work) == Tokens(input=8, output=52, cache_read=100, cache_write=30)


def test_what_goes_into_the_cache_for_an_hour_is_distinguished(machine: Transcripts, work: Path) -> None:
    created = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}
    add(machine.claude_file(work), said(work, "m", cache_creation_input_tokens=30, cache_creation=created))
    assert spent(work) == Tokens(cache_write=10, cache_write_long=20)


def test_a_response_that_stands_in_two_files_is_counted_once(machine: Transcripts, work: Path) -> None:
    folder = machine.claude_file(work).parent / "11111111-aaaa" / "subagents"
    folder.mkdir(parents=True)
    for file in (machine.claude_file(work), machine.claude_file(work, "22222222-bbbb"), folder / "agent-1.jsonl"):
        add(file, said(work, "msg_1", output_tokens=5))
    add(folder / "agent-1.jsonl", said(work, "msg_of_the_subagent", output_tokens=3))
    assert spent(work) == Tokens(output=8)
    assert {r.transcript for r in responses((work,), began())} == {"11111111-aaaa", "agent-1"}


def test_a_record_of_another_directory_or_of_an_earlier_time_is_not_this_sessions(
    machine: Transcripts, work: Path
) -> None:
    twin = work.with_name("my-work")  # its folder has the same name: only the records tell them apart
    beside = Path(f"{work}2")
    add(machine.claude_file(work), said(twin, "1", output_tokens=1), said(work, "2", seconds=-60, output_tokens=2))
    add(machine.claude_file(beside), said(beside, "3", output_tokens=4))
    add(machine.claude_file(work.parent), said(work.parent, "4", output_tokens=8))
    assert spent(work) == Tokens()
    add(machine.claude_file(work / "candidate"), said(work / "candidate", "5", output_tokens=16))
    assert spent(work) == Tokens(output=16)
    assert spent(work, work.parent) == Tokens(output=1 + 4 + 8 + 16)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"assistant","message":{"id":"x","usage":{"output_tokens":9',
        b"\xff\xfe usage \n",
        b'["usage"]\n',
        b'{"message":"usage"}\n',
        b'{"message":{"usage":[1],"id":"x","model":"m"}}\n',
        b'{"message":{"usage":{"output_tokens":9},"id":"x","model":"m"},"timestamp":"yesterday"}\n',
        b'{"message":{"usage":{"output_tokens":9},"id":7,"model":"m"},"timestamp":"2099-01-01T00:00:00Z"}\n',
        b'{"usage":' + b"[" * 100_000 + b"\n",
        b"\n",
    ],
)
def test_a_line_that_is_cut_or_strange_costs_only_itself(line: bytes, machine: Transcripts, work: Path) -> None:
    file = machine.claude_file(work)
    add(file, said(work, "msg_1", output_tokens=5))
    with file.open("ab") as raw:
        raw.write(line)
    assert spent(work) == Tokens(output=5)
    with file.open("ab") as raw:
        raw.write(b"\n")
    add(file, said(work, "msg_2", output_tokens=6))
    assert spent(work) == Tokens(output=11)


@pytest.mark.parametrize("wrong", [-1, 1.5, "9", True, None, 1 << 60])
def test_a_count_that_is_no_count_is_nothing(wrong: object, machine: Transcripts, work: Path) -> None:
    add(machine.claude_file(work), said(work, "msg_1", input_tokens=wrong, output_tokens=5))
    assert spent(work) == Tokens(output=5)


def test_a_name_cannot_reach_a_terminal_with_anything_but_itself(machine: Transcripts, work: Path) -> None:
    add(machine.claude_file(work), said(work, "1", "thinker\x1b[2J\n" + "x" * 1000, output_tokens=5))
    [response] = responses((work,), began())
    assert response.model.startswith("thinker\\x1b[2J\\nx") and len(response.model) == 100


def test_a_machine_without_transcripts_has_none(machine: Transcripts, work: Path) -> None:
    assert spent(work) == Tokens()


# --- Codex ------------------------------------------------------------------------------------------------------------


def test_running_totals_are_counted_as_their_differences(machine: Transcripts, work: Path) -> None:
    file = machine.codex_file()
    add(file, meta(work), turn(work), totals(100, 40, 10), totals(100, 40, 10, 2), totals(300, 140, 30, 3))
    found = responses((work,), began())
    assert [response.tokens for response in found] == [
        Tokens(input=60, output=10, cache_read=40),
        Tokens(input=100, output=20, cache_read=100),
    ]
    assert {response.model for response in found} == {"thinker-5"}


def test_only_what_came_after_the_session_began_is_counted(machine: Transcripts, work: Path) -> None:
    add(machine.codex_file(), meta(work), turn(work), totals(100, 0, 10, -60), totals(150, 0, 15, 2))
    assert spent(work) == Tokens(input=50, output=5)


def test_totals_that_begin_anew_are_counted_from_nothing(machine: Transcripts, work: Path) -> None:
    add(machine.codex_file(), meta(work), turn(work), totals(100, 0, 10), totals(20, 0, 5, 2), totals(30, 0, 6, 3))
    assert spent(work) == Tokens(input=130, output=16)


def test_a_session_that_was_forked_is_not_counted_twice(machine: Transcripts, work: Path) -> None:
    common = [meta(work), turn(work), totals(100, 0, 10), totals(200, 0, 20, 2)]
    add(machine.codex_file("rollout-1"), *common)
    add(machine.codex_file("rollout-2"), *common, totals(250, 0, 21, 3))
    assert spent(work) == Tokens(input=250, output=21)


def test_turns_elsewhere_are_not_counted(machine: Transcripts, work: Path) -> None:
    add(machine.codex_file(), meta(work), turn(work.parent), totals(100, 0, 10), turn(work), totals(150, 0, 12, 2))
    assert spent(work) == Tokens(input=50, output=2)


@pytest.mark.parametrize(
    "info", [None, {}, {"total_token_usage": None}, {"total_token_usage": {"input_tokens": "many"}}, 3]
)
def test_a_total_that_says_nothing_changes_nothing(info: object, machine: Transcripts, work: Path) -> None:
    strange = {"timestamp": at(1), "type": "event_msg", "payload": {"type": "token_count", "info": info}}
    other = [
        {"type": "event_msg"},
        {"type": "turn_context", "payload": {"model": 3}},
        {"timestamp": 7, "type": "unknown"},
    ]
    add(machine.codex_file(), meta(work), turn(work), totals(100, 0, 10), *other, strange)
    add(machine.codex_file(), totals(110, 0, 10, 3))
    first, *_ = responses((work,), began())
    assert first.tokens == Tokens(input=100, output=10) and first.model == "thinker-5"
    assert spent(work).output == 10
