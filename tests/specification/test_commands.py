"""The commands, the prompts, and the strength of scenarios."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.errors import LockstepError, TaskError
from harness.measure.strength.mutants import enumerate_mutants
from harness.specification import freeze, readings, strength
from harness.specification.place import READINGS, Specification, demand_plain, find
from harness.specification.prompts import NAMES, render
from harness.specification.readings import lay
from harness.specification.record import record_of
from harness.support.home import lockstep_home
from tests.home import new_home
from tests.specification.conftest import HERE, changed
from tests.specification.misreadings import MISREADINGS


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs a command with --json: its exit code and its document."""
    new_home(tmp_path, monkeypatch)
    for module in (readings, strength, freeze):
        monkeypatch.setattr(module, "setup", lambda *arguments: HERE)

    def call(*words: str | Path) -> tuple[int, dict]:
        capsys.readouterr()
        code = main([*map(str, words), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def test_a_task_begins_with_rules_in_words_and_says_what_is_next(tmp_path: Path, run) -> None:
    rules = tmp_path / "RULES.md"
    rules.write_text("# Game\n\nOne stone.\n\n- It moves.\n")
    task = tmp_path / "stone"
    code, document = run("new", "stone", "--spec", rules, "--directory", task)
    assert code == 0
    assert [one["text"] for one in document["statements"]] == ["One stone.", "It moves."]
    assert (task / "specification/RULES.md").read_text() == "# Game\n\n1. One stone.\n\n2. It moves.\n"
    code, document = run("spec", "check", task)
    assert (code, document["without_scenario"], document["sheet"]) == (1, [1, 2], False)
    assert "sheet.toml" in document["next"]
    assert run("new", "stone", "--spec", rules, "--directory", task)[0] == 3
    assert run("spec", "prompt", "scenarios", task)[0] == 3
    (task / "specification/RULES.md").write_text("# Game\n\n1. One stone.\n\nTwo stones.\n\n2. It moves.\n")
    assert run("spec", "number", task)[1]["added"] == 1


def test_a_ruling_from_the_command_line_needs_a_scenario(task: Path, run) -> None:
    code, document = run("spec", "check", task)
    assert (code, document["next"]) == (0, "lockstep spec compare")
    assert record_of(lockstep_home(), find(task)) is None
    code, document = run("spec", "rule", task, "half of one crate is one crate", "--on", "15")
    assert (code, document["statement"]["number"], document["rules_on"]) == (0, 31, [15])
    assert run("spec", "check", task)[1]["without_scenario"] == [31]
    assert run("spec", "rule", task, "so", "--on", "77")[0] == 3
    found = record_of(lockstep_home(), find(task))
    assert found is not None
    events = run("history", found.id)[1]["events"]
    assert [event["kind"] for event in events] == ["start", "spec_rule", "spec_check"]
    assert run("audit", found.id)[1]["ok"]
    status = run("status", found.id)[1]
    assert (status["state"], status["due"]) == ("working", "write scenarios for these statements: the prompt is "
                                                "`lockstep spec prompt scenarios`")  # fmt: skip
    code, refused = run("verify", "--session", found.id)
    assert (code, "has no candidate" in refused["what"]) == (3, True)


def test_a_directory_without_rules_is_named(tmp_path: Path, run) -> None:
    code, document = run("spec", "check", tmp_path)
    assert code == 2
    assert document["what"] == "there is no specification/RULES.md"


@pytest.mark.slow
def test_readings_are_compared_from_the_command_line(task: Path, run) -> None:
    assert run("spec", "play", task, "first")[0] == 0
    changed(find(task).reading("second") / "adapter.py", *MISREADINGS["storm 3 takes half, rounded down"])
    code, document = run("spec", "play", task, "second")
    assert (code, [one["scenario"] for one in document["missed"]]) == (1, ["storm 3 takes half, rounded up"])
    code, document = run("spec", "compare", task, "--seed", "7")
    assert (code, document["outcome"]) == (1, "FAIL")
    assert document["divergences"][0]["path"] == "state/score"
    assert main(["spec", "compare", str(task), "--seed", "7"]) == 1


@pytest.mark.slow
def test_faults_that_no_scenario_notices_are_listed_by_statement(task: Path, run) -> None:
    """Only the first expectation of the spoiling crate is left, so that nobody looks at what statement 23 takes."""
    scenarios = task / "specification/scenarios/harbour.toml"
    changed(
        scenarios, 'step = 3\nleaves = { "state/hold" = 3, "state/waits" = 0 }', "step = 3\nleaves = { reward = 0 }"
    )
    changed(
        scenarios, 'step = 4\nleaves = { "state/hold" = 3, "state/waits" = 1 }', "step = 4\nleaves = { reward = 0 }"
    )
    adapter = find(task).reading("first") / "adapter.py"
    text = adapter.read_text()
    # Faults are planted in one method alone: the others are in a module of their own kind that has no faults to plant.
    begin, end = text.index("    def _wait(self):"), text.index("    def _weather(self):")
    method = text[begin:end]
    rest = text[:begin] + text[end:]
    packed = f"exec({rest!r})\n\nclass Game(Game):\n{method}"
    adapter.write_text(packed)
    code, document = run("spec", "strength", task, "first")
    assert code == 0
    by_statement = {one["statement"]: one["survived"] for one in document["by_statement"]}
    assert 23 in by_statement
    assert 0 < document["survived"] < document["planted"]
    assert any("self.hold - 1" in name for name in by_statement[23])


@pytest.mark.slow
def test_a_fault_that_never_ends_is_noticed_and_given_up(task: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault loops for ever where a count is taken the wrong way; a right reading is never given up for that."""
    assert strength.patience_of(0.5, 120) == 10 and strength.patience_of(60, 120) == 120
    assert strength.patience_of(0.01, 120) == strength.LEAST_S
    monkeypatch.setattr(strength, "LEAST_S", 0.1)
    monkeypatch.setattr(strength, "GENEROUS", 2)
    adapter = find(task).reading("first") / "adapter.py"
    counted = "        self.turn += 1  # 8\n"
    changed(
        adapter,
        counted,
        "        left = 1\n        while left:\n            left -= 1\n            self.turn += 1  # 8\n",
    )
    text = adapter.read_text()
    endless = [
        mutant for mutant in enumerate_mutants(adapter.parent)
        if "left" in text.splitlines()[mutant.line - 1] and mutant.line == 1 + text[: text.index("left -= 1")].count("\n")
    ]  # fmt: skip
    assert endless
    monkeypatch.setattr(strength, "enumerate_mutants", lambda directory: endless)
    code, document = run("spec", "strength", task, "first")
    assert (code, document["planted"], document["survived"]) == (0, len(endless), 0)


def test_the_statement_of_a_line_is_that_of_its_comment_or_of_the_one_above() -> None:
    source = "def f():  # 3\n    a = 1\n    b = 2  # 4, 5\n    c = 3\n\ndef g():\n    d = 4\n"
    assert [strength.cited_at(source, line) for line in (1, 2, 3, 4, 7)] == [(3,), (3,), (4, 5), (4, 5), ()]


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_shows_what_its_reader_may_see_and_nothing_else(harbour: Specification, name: str) -> None:
    text = render(name, harbour, "second")
    assert "A ship that sails in storm 3 first loses half" in text
    assert "{{" not in text
    assert ("state/waits" in text) == (name != "sheet")
    assert ("storm 3 takes half, rounded up" in text) == (name == "scenarios")
    code = (harbour.place.reading("first") / "adapter.py").read_text()
    assert not any(line in text for line in code.splitlines() if len(line) > 30)
    assert ("readings/second/adapter.py" in text) == (name == "reading")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_names_the_tables_of_the_rules(harbour: Specification, name: str) -> None:
    assert "prices.toml" not in render(name, harbour)
    harbour.place.tables.mkdir()
    (harbour.place.tables / "prices.toml").write_text("crate = 1\n")
    assert "lie in `specification/data/`, and a copy of them beside each program: `prices.toml`." in render(
        name, harbour
    )


def test_tables_of_the_rules_lie_beside_each_reading(harbour: Specification, tmp_path: Path) -> None:
    harbour.place.tables.mkdir()
    (harbour.place.tables / "prices.toml").write_text("crate = 1\n")
    for which in READINGS:
        lay(harbour.place, which, tmp_path / which)
        assert sorted(path.name for path in (tmp_path / which).iterdir()) == ["adapter.py", "prices.toml"]


def test_a_reading_that_brings_a_table_of_its_own_is_refused(harbour: Specification, tmp_path: Path) -> None:
    """The attack: a reading that plays by other numbers than the rules'."""
    harbour.place.tables.mkdir()
    for directory in (harbour.place.tables, harbour.place.reading("second")):
        (directory / "prices.toml").write_text("crate = 1\n")
    with pytest.raises(TaskError, match=r"the names of tables: prices\.toml"):
        lay(harbour.place, "second", tmp_path / "laid")


def test_a_link_among_the_tables_is_refused(harbour: Specification) -> None:
    harbour.place.tables.mkdir()
    (harbour.place.tables / "prices.toml").symlink_to(harbour.place.rules)
    with pytest.raises(TaskError, match=r"prices\.toml is a link"):
        demand_plain(harbour.place)


def test_an_unknown_prompt_is_refused(harbour: Specification) -> None:
    with pytest.raises(LockstepError, match="no prompt"):
        render("extract", harbour)
