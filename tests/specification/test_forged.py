"""What the audit says of a frozen commit that does not follow from its steps, though the harness's own key signed it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.assurance.audit import audit
from harness.operations import specification
from harness.record.attest import SUMMARY_FILE, Subject, seal, unseal
from harness.record.event import WORKSPACE
from harness.record.export import check_out
from harness.record.keyring import Keyring
from harness.record.keys import SigningKey
from harness.record.objects import TREE, Entry
from harness.record.snapshot import directory_hash
from harness.record.specification import COMPARED, FREEZING, FROZEN, PREDICATE, RULED, document_of
from harness.specification.freeze import digests, freeze, message_of
from harness.specification.record import SpecificationRecord, located
from tests.assurance.audit.forger import Forger
from tests.specification.conftest import HARBOUR, HERE

pytestmark = pytest.mark.slow
COMPARISON = document_of("compare")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home", numbered=True)
    home.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCKSTEP_HOME", str(home))
        yield home


@pytest.fixture(scope="module")
def record(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of the small game: a comparison, a ruling, and a freeze."""
    task = tmp_path_factory.mktemp("task") / "harbour"
    shutil.copytree(HARBOUR, task / "specification", ignore=shutil.ignore_patterns("__pycache__"))
    with SpecificationRecord(located(home, task)) as opened:
        assert specification.compare(opened, environment=HERE)["outcome"] == "PASS"
        specification.rule(opened, "half of five crates is three", [15])
        scenarios = opened.place.scenarios / "harbour.toml"
        scenarios.write_text(scenarios.read_text().replace("cites = [4, 15]", "cites = [4, 15, 31]"))
        freeze(opened, "second", environment=HERE)
        repository = opened.directory.repository
    assert audit(repository).problems == ()
    return repository


class Forged(Forger):
    """A forger who has the key."""

    def __init__(self, path: Path, key: SigningKey, scratch: Path) -> None:
        super().__init__(path)
        self.key, self.scratch = key, scratch

    def seq(self, kind: str) -> int:
        return next(page.event.seq for page in reversed(self.pages) if page.event.kind == kind)

    def change(self, kind: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change what an event says."""
        said = self.pages[self.seq(kind)].event.to_json()
        change(said)
        self.edit(self.seq(kind), **{name: said[name] for name in ("arguments", "outcome", "detail", "seeds")})

    def compared(self, change: Callable[[dict[str, Any]], None], kind: str = FROZEN) -> None:
        """Change the document of a comparison."""
        document = json.loads(self.content(self.seq(kind), COMPARISON))
        change(document)
        self.put(self.seq(kind), COMPARISON, json.dumps(document).encode())

    def frozen(
        self, path: str = "", change: Callable[[str], str] = str, *, judged: bool = False, **stated: Any
    ) -> None:
        """Make the frozen commit anew, with its statement; with `judged` also what was judged is said to be that."""
        last, store = self.seq(FROZEN), self.store
        commit = store.commit(str(self.pages[last].event.commit))
        files = dict(store.files(commit.tree))
        if path:
            files[path] = self.file(change(store.blob(files[path].id).decode()).encode())
        shutil.rmtree(self.scratch / "harbour", ignore_errors=True)
        check_out(store, files, self.scratch / "harbour")
        said = unseal(self.content(last, SUMMARY_FILE), self.key.public)["predicate"]
        said |= {"digests": digests(self.scratch / "harbour"), **stated}
        tree = store.put_tree(files)
        made = store.put_commit(replace(commit, tree=tree, message=message_of(said)))
        about = Subject(made, tree, directory_hash(store, files))
        self.put(last, SUMMARY_FILE, seal(about, PREDICATE, said, self.key))
        self.edit(last, commit=made)
        if judged:
            part = {
                name.removeprefix("specification/"): each for name, each in files.items() if "specification/" in name
            }
            below = store.put_tree(part)
            for seq in (self.seq(FREEZING), last):
                self.pages[seq].files[WORKSPACE] = Entry(TREE, below)
                self.edit(seq, workspace={"gitTree": below, "dirHash": directory_hash(store, part)})


def another_ruling(forged: Forged) -> None:
    def change(said: dict[str, Any]) -> None:
        said["arguments"]["ruling"] = "half of five crates is two"

    forged.change(RULED, change)


def a_ruling_that_nobody_wrote(forged: Forged) -> None:
    def change(said: dict[str, Any]) -> None:
        said["detail"]["text"] = f"Ruling on 15: {said['arguments']['ruling']}".replace("three", "two")
        said["arguments"]["ruling"] = "half of five crates is two"

    forged.change(RULED, change)


def a_ruling_that_is_gone(forged: Forged) -> None:
    forged.frozen("specification/RULES.md", lambda text: text.replace("crates is three", "crates is two"), judged=True)


def a_statement_that_no_scenario_cites(forged: Forged) -> None:
    forged.frozen(
        "specification/scenarios/harbour.toml", lambda text: text.replace("cites = [17]", "cites = [16]"), judged=True
    )


def a_contradiction(forged: Forged) -> None:
    def change(text: str) -> str:
        first = text[text.index('[[scenario]]\nname = "a sale') : text.index('[[scenario]]\nname = "a storm of 2')]
        return text + first.replace("a sale in", "a sale at").replace('"state/score" = 15', '"state/score" = 16')

    forged.compared(lambda document: document.update(scenarios=dict.fromkeys(document["scenarios"], 20)))
    forged.frozen("specification/scenarios/harbour.toml", change, judged=True, scenarios=20)


def another_specification(forged: Forged) -> None:
    forged.frozen("specification/sheet.toml", lambda text: text.replace("high = 12", "high = 13"))


def another_reference(forged: Forged) -> None:
    forged.frozen("reference/adapter.py", lambda text: text.replace("bonus = 3", "bonus = 4"))


def a_looser_task(forged: Forged) -> None:
    forged.frozen("task.toml", lambda text: f"{text}\n[budgets]\nepisodes = 1\n" if "[budgets]" not in text else
                  text.replace("episodes = 32", "episodes = 1"))  # fmt: skip


def another_reading(forged: Forged) -> None:
    forged.frozen(
        "specification/readings/first/adapter.py", lambda text: text.replace("score += 3", "score += 4"), judged=True
    )


def digests_of_something_else(forged: Forged) -> None:
    forged.frozen(digests={"reference": "0" * 64})


def more_scenarios_than_there_are(forged: Forged) -> None:
    forged.frozen(scenarios=190)


def another_session(forged: Forged) -> None:
    forged.frozen(session="another")


def a_statement_of_another_commit(forged: Forged) -> None:
    before = forged.content(forged.seq(FROZEN), SUMMARY_FILE)
    forged.frozen("README.md", lambda text: f"{text}\n")
    forged.put(forged.seq(FROZEN), SUMMARY_FILE, before)


def a_chosen_seed(forged: Forged) -> None:
    for kind in (FREEZING, FROZEN):
        forged.change(kind, lambda said: said["detail"].update(drawn=False))


def a_seed_that_was_not_drawn_then(forged: Forged) -> None:
    forged.change(FREEZING, lambda said: said["seeds"].update(run=7))


def nothing_that_began(forged: Forged) -> None:
    del forged.pages[forged.seq(FREEZING)]


def files_taken_that_were_not_judged(forged: Forged) -> None:
    start = forged.pages[0]
    forged.pages[forged.seq(FREEZING)].files[WORKSPACE] = start.files[WORKSPACE]
    forged.edit(forged.seq(FREEZING), workspace=start.event.workspace)


def a_level_that_did_not_run(forged: Forged) -> None:
    forged.compared(lambda document: document["levels"].pop())


def a_level_that_did_not_pass(forged: Forged) -> None:
    def change(document: dict[str, Any]) -> None:
        document["levels"][1]["checks"][0]["outcome"] = "FAIL"

    forged.compared(change)


def a_level_from_another_seed(forged: Forged) -> None:
    forged.compared(lambda document: document["levels"][0].update(seed=1))


def a_scenario_that_was_missed(forged: Forged) -> None:
    missed = {"scenario": "a sale", "where": "harbour.toml:1", "cites": [13], "misses": ["state/score"]}
    forged.compared(lambda document: document["missed"]["second"].append(missed))


def scenarios_that_were_not_played(forged: Forged) -> None:
    forged.compared(lambda document: document["scenarios"].update(second=3))


def readings_that_were_not_compared(forged: Forged) -> None:
    forged.compared(lambda document: document["readings"].update(first="0" * 64))


def a_comparison_that_says_more_than_it_found(forged: Forged) -> None:
    def change(document: dict[str, Any]) -> None:
        document["outcome"] = "FAIL"
        document["levels"][2]["checks"][0]["outcome"] = document["levels"][2]["outcome"] = "FAIL"

    forged.compared(change, COMPARED)


def no_comparison(forged: Forged) -> None:
    del forged.pages[forged.seq(FROZEN)].files[COMPARISON]


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (another_ruling, "says something else than it"),
        (a_ruling_that_nobody_wrote, "its ruling does not stand in the rules"),
        (a_ruling_that_is_gone, "ruling 31 is not in the text"),
        (a_statement_that_no_scenario_cites, "it was frozen, and statement 17 has no scenario"),
        (a_contradiction, "it was frozen, and contradiction: state/score"),
        (another_specification, "holds another specification than was judged"),
        (another_reference, "the reference is not the reading that was chosen"),
        (a_looser_task, "the task's file has another budgets than the sheet"),
        (another_reading, "the first reading is not what was compared"),
        (digests_of_something_else, "its statement has other digests than its files"),
        (more_scenarios_than_there_are, "its statement has other scenarios than its files"),
        (another_session, "its statement is of another"),
        (a_statement_of_another_commit, "its statement is not about it"),
        (a_chosen_seed, "it was frozen from a chosen seed"),
        (a_seed_that_was_not_drawn_then, "its seed is not that of its begin"),
        (nothing_that_began, "nothing began that it could be the end of"),
        (files_taken_that_were_not_judged, "it judged other files than were taken"),
        (a_level_that_did_not_run, "its readings do not agree over levels 1 to 3"),
        (a_level_that_did_not_pass, "its checks say FAIL"),
        (a_level_from_another_seed, "level 1 is from another seed"),
        (a_scenario_that_was_missed, "its comparison came to FAIL"),
        (scenarios_that_were_not_played, "not every scenario was played against both readings"),
        (readings_that_were_not_compared, "the first reading is not what was compared"),
        (a_comparison_that_says_more_than_it_found, "it says PASS, its comparison FAIL"),
        (no_comparison, "it passed, and holds no comparison"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_a_forgery_is_named(
    record: Path, home: Path, tmp_path: Path, forge: Callable[[Forged], None], said: str
) -> None:
    copy = tmp_path / "forged.git"
    shutil.copytree(record, copy)
    key = Keyring(home).present
    forged = Forged(copy, key, tmp_path)
    forge(forged)
    forged.consistent(key)
    forged.publish()
    problems = audit(copy).problems
    assert any(said in problem.what for problem in problems), problems
    assert {problem.rule for problem in problems} <= {"specification", "malformed", "damaged"}, problems


def test_no_name_in_a_record_leads_an_audit_out_of_its_own_directory(record: Path, home: Path, tmp_path: Path) -> None:
    """The attack: a task that is called like a directory of whoever audits it."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "mine").write_text("mine")
    copy = tmp_path / "forged.git"
    shutil.copytree(record, copy)
    key = Keyring(home).present
    forged = Forged(copy, key, tmp_path)
    forged.edit(0, arguments={"task": str(victim)})
    forged.frozen(task=str(victim))
    forged.consistent(key)
    forged.publish()
    audit(copy)
    assert [path.name for path in victim.iterdir()] == ["mine"]


def test_without_the_key_no_step_can_be_changed(record: Path, home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "forged.git"
    shutil.copytree(record, copy)
    forged = Forged(copy, Keyring(home).present, tmp_path)
    another_ruling(forged)
    forged.consistent()
    forged.publish()
    assert "signature" in {problem.rule for problem in audit(copy).problems}
