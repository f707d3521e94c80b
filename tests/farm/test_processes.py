"""Members that are processes of this machine: what goes there and back, and what becomes of one that dies."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import BrokenContract, SetupError
from harness.farm.engine import Alike, Lost, Recipe, Refused
from harness.farm.parcel import Parcel
from harness.farm.place import Place
from harness.farm.processes import Processes
from tests.paths import ROOT

HAND = "tests.farm.hands:Hand"
LEAVES_ONE = """
import sys
from harness.farm.engine import Recipe
from harness.farm.place import Place
from harness.farm.processes import Processes
from tests.paths import ROOT
member = Processes(1).start(Recipe("tests.farm.hands:Hand"))
print(member.ask("process"), flush=True)
member.ask("wait_for", sys.argv[1])
"""


def nothing(directory: str, names: list[str]) -> set[str]:
    return set()


@pytest.fixture
def engine() -> Iterator[Processes]:
    with Processes(2) as made:
        yield made


def test_a_member_is_made_of_arguments_and_parcels_and_answers(engine: Processes, tmp_path: Path) -> None:
    files = tmp_path / "task"
    (files / "below").mkdir(parents=True)
    (files / "a.txt").write_text("one")
    (files / "below" / "b.txt").write_text("two")
    member = engine.start(Recipe(HAND, {"greeting": "good day"}, {"files": Parcel.of(files, nothing)}))
    assert member.ask("greet", "you") == "good day, you"
    assert member.ask("files") == {"a.txt": "one", "below/b.txt": "two"}
    assert member.ask("process") != os.getpid()
    member.close()
    with pytest.raises(Lost):
        member.ask("greet", "you")


def test_a_parcel_is_the_same_bytes_for_the_same_files_and_leaves_out_what_it_should(tmp_path: Path) -> None:
    for name in ("one", "two"):
        for file in ("z.txt", "a.txt") if name == "one" else ("a.txt", "z.txt"):
            (tmp_path / name / "dir").mkdir(parents=True, exist_ok=True)
            (tmp_path / name / "dir" / file).write_text(file)
    first, second = (Parcel.of(tmp_path / name, lambda directory, names: {"z.txt"}) for name in ("one", "two"))
    assert first.data == second.data and first.digest != second.digest  # the name counts too
    place = first.unpack(tmp_path / "there")
    assert place.name == "one" and [path.name for path in place.rglob("*.txt")] == ["a.txt"]


def test_what_is_raised_there_is_raised_here(engine: Processes) -> None:
    member = engine.start(Recipe(HAND))
    with pytest.raises(BrokenContract, match="another form") as caught:
        member.ask("break_contract")
    assert caught.value.mistakes == ({"text": "reward"},) and caught.value.where == "there"
    with pytest.raises(RuntimeError, match="Local: cannot be sent"):
        member.ask("fail_strangely")
    assert member.ask("greet", "you") == "hello, you"


def test_what_cannot_be_made_says_why(engine: Processes) -> None:
    with pytest.raises(SetupError, match="there is no compiler"):
        engine.start(Recipe("tests.farm.hands:Unwilling"))


def test_a_node_that_is_not_as_demanded_is_refused_by_name() -> None:
    look = "tests.farm.hands:facts"
    assert Place("node 7", Alike(look, {"lockstep": "1"})).make(Recipe(HAND)) == (
        True,
        {"lockstep": "1", "cpu": "fast"},
    )
    answered, refused = Place("node 7", Alike(look, {"lockstep": "2"})).make(Recipe(HAND))
    assert not answered and isinstance(refused, Refused)
    assert re.search(r"node 7: it has lockstep 1\n.*lockstep 2, as the machine that asks", str(refused))


def test_one_that_dies_is_lost_with_its_last_words(engine: Processes) -> None:
    member = engine.start(Recipe(HAND))
    with pytest.raises(Lost, match="ended with -9"):
        member.ask("die")


def test_one_that_says_nothing_for_too_long_is_lost(engine: Processes, tmp_path: Path) -> None:
    member = engine.start(Recipe(HAND))
    with pytest.raises(Lost, match="said nothing"):
        member.ask("wait_for", str(tmp_path / "never"), within=0.2)


def test_one_is_killed_while_another_thread_waits_for_it(engine: Processes, tmp_path: Path) -> None:
    member = engine.start(Recipe(HAND))
    timer = threading.Timer(0.2, member.kill)
    timer.start()
    with pytest.raises(Lost):
        member.ask("wait_for", str(tmp_path / "never"))
    timer.join()


def test_members_end_with_the_process_that_asks_also_in_the_midst_of_work(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LEAVES_ONE, str(tmp_path / "never")]
    shown = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=shown) as process:
        assert process.stdout is not None
        member = int(process.stdout.readline())
        handle = os.pidfd_open(member)
        process.kill()
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    assert poller.poll(20_000), "the member lives on"
    os.close(handle)


def test_nothing_that_lies_where_it_is_started_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("queue", "pickle", "harness"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'hostile')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    with Processes(1) as engine:
        assert engine.start(Recipe(HAND)).ask("greet", "you") == "hello, you"
    assert not (tmp_path / "hostile").exists()


def test_an_answer_that_cannot_be_sent_is_an_error_and_no_death(engine: Processes) -> None:
    member = engine.start(Recipe(HAND))
    with pytest.raises(RuntimeError, match="its answer cannot be sent"):
        member.ask("strange")
    assert member.ask("greet", "you") == "hello, you"
