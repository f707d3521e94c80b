"""Freezing: what keeps a specification from it, the task that comes of it, and what was signed."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import operations
from harness.assurance.audit import audit
from harness.errors import RecordError, SessionError, TaskError
from harness.operations import specification
from harness.record.keyring import Keyring
from harness.specification.begin import rule
from harness.specification.freeze import Frozen, changed_since, freeze
from harness.specification.place import find
from harness.specification.readings import compare_readings
from harness.specification.record import SpecificationRecord, located, record_of
from harness.task.contract import Mode
from harness.task.load import load_task
from tests.home import new_home
from tests.specification.conftest import HERE, changed
from tests.specification.misreadings import MISREADINGS

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return new_home(tmp_path, monkeypatch)


def frozen(task: Path, home: Path, which: str) -> Frozen:
    """Freeze it."""
    with SpecificationRecord(located(home, task)) as record:
        return freeze(record, which, seed=7, environment=HERE)


def refused(task: Path, home: Path) -> str:
    """Why it cannot be frozen."""
    before = sorted(path for path in task.rglob("*"))
    with pytest.raises(TaskError) as caught:
        frozen(task, home, "first")
    assert sorted(path for path in task.rglob("*")) == before, "something was written"
    return str(caught.value)


def test_a_frozen_specification_is_a_task_and_each_change_to_it_is_named(task: Path, home: Path) -> None:
    place = find(task)
    place.tables.mkdir()
    (place.tables / "prices.toml").write_text("crate = 1\n")
    assert changed_since(place, home) is None
    done = frozen(task, home, "second")
    found = record_of(home, place)
    assert found is not None
    repository = found.repository
    made = load_task(task)
    assert made.workflow == "create"
    assert made.mode is Mode.TAPE
    assert made.draws["crane"].law is not None
    assert made.leaves["state/hold"].high == 12
    assert (task / "reference/adapter.py").read_text() == (place.reading("second") / "adapter.py").read_text()
    assert (task / "reference/prices.toml").read_text() == "crate = 1\n"
    assert (task / made.candidate.entry).is_file()
    assert made.modules[0].source == ("reference/adapter.py",)
    assert "| `state/turn` | int16 | turns played (statements 6, 29) |\n" in (task / "README.md").read_text()
    log = subprocess.run(
        ["git", "-C", repository, "log", "--format=%H %s", "main"], check=True, capture_output=True, text=True
    ).stdout
    assert log == f"{done.commit} Freeze the specification of harbour\n"
    shown = subprocess.run(
        ["git", "-C", repository, "show", f"{done.commit}:specification/RULES.md"], check=True, capture_output=True
    ).stdout
    assert shown == place.rules.read_bytes()
    assert changed_since(place, home) == []
    assert specification.check(task)["next"].startswith("lockstep start")
    with pytest.raises(TaskError, match="frozen"):
        rule(place, "so", [1])
    (task / "reference/adapter.py").write_text("# another\n")
    changed(place.rules, "30 or more", "31 or more")
    assert changed_since(place, home) == ["reference", "specification/RULES.md"]


def test_what_is_no_part_of_a_specification_is_no_change_to_it(task: Path, home: Path) -> None:
    """Caches and guides for agents; a cache that code could import may hold anything, so it is a change."""
    place = find(task)
    frozen(task, home, "first")
    for cache in (place.reading("first") / ".pytest_cache", task / "reference" / ".ruff_cache"):
        cache.mkdir()
        (cache / "CACHEDIR.TAG").touch()
    (place.directory / "AGENTS.md").write_text("# A guide\n")
    assert changed_since(place, home) == []
    (task / "reference" / "numpy").mkdir()
    (task / "reference" / "numpy" / "CACHEDIR.TAG").touch()
    assert changed_since(place, home) == ["reference"]


def test_what_of_the_task_follows_from_the_specification_may_not_change_either(task: Path, home: Path) -> None:
    """The attack: a task whose tolerance or law was loosened after it was frozen. Its modules are its author's to divide."""
    place = find(task)
    frozen(task, home, "first")
    file = task / "task.toml"
    before = file.read_text()
    file.write_text(before + "\n[tolerance]\nobservation = { atol = 5 }\n")
    assert changed_since(place, home) == ["task.toml [tolerance]"]
    file.write_text(
        before.replace('"state/hold" = { dtype = "int8", low = 0, high = 12 }', '"state/hold" = { dtype = "int8" }')
    )
    assert changed_since(place, home) == ["task.toml [leaves]"]
    file.write_text(before.replace("adapter.py:Game", "adapter.py:Other"))
    assert changed_since(place, home) == ["task.toml [reference]"]
    file.write_text(before.replace('summary = "', 'summary = "all of it: ', 1))
    assert changed_since(place, home) == []
    file.unlink()
    assert "task.toml [leaves]" in (changed_since(place, home) or [])


def test_what_nobody_here_signed_is_no_proof(task: Path, home: Path, tmp_path: Path) -> None:
    place = find(task)
    frozen(task, home, "first")
    envelope = json.loads(place.frozen.read_text())
    said = base64.b64decode(envelope["payload"]).replace(b'"scenarios": 19', b'"scenarios": 91')
    forged = envelope | {"payload": base64.b64encode(said).decode()}
    assert forged != envelope
    place.frozen.write_text(json.dumps(forged))
    with pytest.raises(RecordError, match="was not signed"):
        changed_since(place, home)
    place.frozen.write_text(json.dumps(envelope))
    assert changed_since(place, home) == []
    stranger = tmp_path / "stranger"
    stranger.mkdir(mode=0o700)
    assert Keyring(stranger).present
    with pytest.raises(RecordError, match="was not signed"):
        changed_since(place, stranger)


def test_a_statement_without_a_scenario_keeps_it_from_being_frozen(task: Path, home: Path) -> None:
    rule(find(task), "a ship that is empty sells nothing", [16])
    assert "statement 31 has no scenario" in refused(task, home)


def test_a_ruling_that_was_reworded_by_hand_keeps_it_from_being_frozen(task: Path, home: Path) -> None:
    with SpecificationRecord(located(home, task)) as record:
        specification.rule(record, "half of five crates is thre", [15])
    rules = task / "specification/RULES.md"
    rules.write_text(rules.read_text().replace("is thre", "is three"))
    assert "ruling 31 was recorded as" in refused(task, home)


def test_what_cannot_be_recorded_is_not_ruled_on(task: Path, home: Path) -> None:
    rules = task / "specification/RULES.md"
    before = rules.read_bytes()
    with SpecificationRecord(located(home, task)) as record:
        (task / "specification/readings/second/Adapter.py").write_text("")
        with pytest.raises(SessionError, match="cannot be recorded"):
            specification.rule(record, "half of five crates is three", [15])
        assert rules.read_bytes() == before
        (task / "specification/readings/second/Adapter.py").unlink()
        specification.rule(record, "half of five crates is three", [15])
        assert audit(record.directory.repository).problems == ()


def test_scenarios_that_contradict_each_other_keep_it_from_being_frozen(task: Path, home: Path) -> None:
    scenarios = task / "specification/scenarios/harbour.toml"
    text = scenarios.read_text()
    first = text[text.index('[[scenario]]\nname = "a sale') : text.index('[[scenario]]\nname = "a storm of 2')]
    scenarios.write_text(
        text + first.replace("a sale in", "another sale in").replace('"state/score" = 15', '"state/score" = 16')
    )
    assert "contradiction: state/score" in refused(task, home)


@pytest.mark.parametrize(
    ("which", "before", "after", "said"),
    [
        (
            "second",
            "bonus = 3 if",
            "bonus = 4 if",
            "the second reading does not do as `twelve crates earn fifteen` says",
        ),
        ("second", "{0: -1, 5: 1}", "{0: -1, 4: 1, 5: 1}", "the readings differ: single steps: state/storm"),
        ("first", 'raise ValueError("the tape has draws', 'print("the tape has draws', "as a reference, wrong tapes"),
    ],
    ids=["a scenario", "a difference", "no reference"],
)
def test_a_reading_that_is_wrong_keeps_it_from_being_frozen(
    task: Path, home: Path, which: str, before: str, after: str, said: str
) -> None:
    changed(task / f"specification/readings/{which}/adapter.py", before, after)
    assert said in refused(task, home)


def test_what_is_changed_while_it_is_compared_keeps_it_from_being_frozen(
    task: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is judged is a copy, and that copy is signed: it must be what lies there."""
    rules = task / "specification/RULES.md"

    def compare(*given: Any, **named: Any) -> Any:
        rules.write_text(rules.read_text().replace("30 or more", "31 or more"))
        return compare_readings(*given, **named)

    monkeypatch.setattr("harness.specification.freeze.compare_readings", compare)
    assert "specification/RULES.md was changed while it was compared" in refused(task, home)


def test_files_beside_the_specification_are_not_written_over(task: Path, home: Path) -> None:
    (task / "README.md").write_text("mine\n")
    assert "there is README.md" in refused(task, home)


def test_what_can_be_read_in_two_ways_becomes_a_ruling_and_then_it_freezes(task: Path, home: Path) -> None:
    """The whole way: an open rule, two readings of it, a ruling, its scenario, a repaired reading."""
    place = find(task)
    adapter = place.reading("second") / "adapter.py"
    changed(place.rules, "loses half of its crates, rounded up.", "loses half of its crates.")
    changed(adapter, *MISREADINGS["storm 3 takes half, rounded down"])
    scenarios = place.scenarios / "harbour.toml"
    changed(
        scenarios, 'start = { "state/hold" = 5, "state/storm" = 3 }', 'start = { "state/hold" = 4, "state/storm" = 3 }'
    )
    with SpecificationRecord(located(home, task)) as record:
        document = specification.compare(record, seed=7, environment=HERE)
        assert document["outcome"] == "FAIL"
        assert document["missed"] == {"first": [], "second": []}, "the text decides nothing here, so no scenario can"
        assert document["divergences"][0]["case"]["start"]["state/storm"]["values"] == [3]
        said = "half of an odd number of crates is rounded up"
        ruling = specification.rule(record, said, [15])["statement"]["number"]
        assert specification.checked(record)["without_scenario"] == [ruling] == [31]
        (place.scenarios / "rulings.toml").write_text(
            f'[[scenario]]\nname = "three of five crates are lost"\ncites = [15, {ruling}]\n'
            'start = { "state/hold" = 5, "state/storm" = 3 }\ndraws = [[], [["wind", 3]]]\nactions = [1]\n'
            '[[scenario.expect]]\nstep = 1\nleaves = { "state/score" = 12 }\n'
        )
        [missed] = specification.play(record, "second", environment=HERE)["missed"]
        assert missed["cites"] == [15, ruling]
        before, after = MISREADINGS["storm 3 takes half, rounded down"]
        changed(adapter, after, before)
        done = freeze(record, "second", environment=HERE)
        assert (done.statement["statements"], done.statement["rulings"], done.statement["scenarios"]) == (31, 1, 20)
        steps = ("comparing", "compare", "rule", "check", "play", "freezing", "freeze")
        assert [event.kind for event in record.events] == ["start", *(f"spec_{step}" for step in steps)]
    report = audit(record_at(task, home))
    assert report.ok, report.problems
    rows = operations.history(report.session, home=home)["events"]
    assert (rows[3]["arguments"], rows[-1]["commit"]) == ({"ruling": said, "on": [15]}, done.commit)
    assert operations.status(report.session, home=home)["state"] == "done"
    [listed] = operations.sessions(home)
    assert (listed["state"], listed["commit"]) == ("done", done.commit)


def record_at(task: Path, home: Path) -> Path:
    """The git directory of the record of a specification."""
    found = record_of(home, find(task))
    assert found is not None
    return found.repository


class Killed(BaseException):
    """What no handler of a process catches that is killed."""


def test_a_process_that_is_killed_loses_nothing(task: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it judges, the seed stays; once it has recorded, the task is written by the next."""
    place = find(task)

    def killed(*given: Any, **named: Any) -> Any:
        raise Killed

    with SpecificationRecord(located(home, task)) as record, monkeypatch.context() as patch:
        patch.setattr("harness.specification.freeze.compare_readings", killed)
        with pytest.raises(Killed):
            freeze(record, "first", environment=HERE)
        [begun] = [event for event in record.events if event.kind == "spec_freezing"]
    assert sorted(path.name for path in task.iterdir()) == ["specification"]
    with SpecificationRecord(located(home, task)) as record, monkeypatch.context() as patch:
        patch.setattr("harness.specification.freeze._bring", killed)
        with pytest.raises(Killed):
            freeze(record, "first", environment=HERE)
        assert [event.kind for event in record.events][-1] == "spec_freeze"
        assert len([event for event in record.events if event.kind == "spec_freezing"]) == 1
        assert record.events[-1].seeds == begun.seeds
    assert not place.frozen.exists()
    for isolated in (True, False):  # what a key signed that was given up since stands
        Keyring(home, isolated=isolated).rotate()
    with SpecificationRecord(located(home, task)) as record:
        done = freeze(record, "first", environment=HERE)
        [froze] = [event for event in record.events if event.kind == "spec_freeze"]
        assert (done.event, done.commit) == (froze.seq, froze.commit)
    assert load_task(task).workflow == "create"
    assert changed_since(place, home) == []


def test_files_that_changed_get_another_seed(task: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: a freeze that goes badly is stopped, and its readings are written for the seed that is known now."""

    def killed(*given: Any, **named: Any) -> Any:
        raise Killed

    monkeypatch.setattr("harness.specification.freeze.compare_readings", killed)
    with SpecificationRecord(located(home, task)) as record:
        for _ in range(2):
            with pytest.raises(Killed):
                freeze(record, "first", environment=HERE)
            adapter = record.place.reading("first") / "adapter.py"
            adapter.write_text(adapter.read_text() + "\n")
        seeds = [event.seeds["run"] for event in record.events if event.kind == "spec_freezing"]
    assert len(set(seeds)) == 2
