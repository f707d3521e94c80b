"""Two readings of one text: those that agree, and planted misreadings, each of which is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import TaskError
from harness.specification.place import Specification
from harness.specification.readings import EXCHANGED, Compared, compare_readings, in_words_of_readings
from harness.verdict import Outcome
from harness.verify.sighting import CUT_SHORT
from tests.specification.conftest import HERE, changed
from tests.specification.misreadings import MISREADINGS

pytestmark = pytest.mark.slow
SEED = 7


def compared(specification: Specification, *, stop_at_failure: bool = True) -> Compared:
    sheet, scenarios = specification.demanded()
    return compare_readings(
        specification.place, sheet, scenarios.scenarios, seed=SEED, environment=HERE, stop_at_failure=stop_at_failure
    )


def adapter(specification: Specification, which: str) -> Path:
    return specification.place.reading(which) / "adapter.py"


def test_two_readings_that_agree_pass_all_levels_and_scenarios(harbour: Specification) -> None:
    done = compared(harbour)
    assert done.outcome is Outcome.PASS, done.divergences
    assert [report.level for report in done.reports] == [1, 2, 3]
    assert not any(done.missed.values())
    assert done.digests["first"] != done.digests["second"]


@pytest.mark.parametrize("name", MISREADINGS)
def test_a_planted_misreading_is_told_apart(harbour: Specification, name: str) -> None:
    changed(adapter(harbour, "second"), *MISREADINGS[name])
    done = compared(harbour)
    assert done.outcome is Outcome.FAIL
    assert done.divergences, "no level tells the readings apart"


def test_a_divergence_is_shrunk_to_what_a_person_can_rule_on(harbour: Specification) -> None:
    changed(adapter(harbour, "second"), *MISREADINGS["storm 3 takes half, rounded down"])
    [found] = compared(harbour, stop_at_failure=False).divergences
    assert found.case is not None
    assert found.case.start is not None
    assert found.case.length == 1
    assert found.case.start["state/storm"] == 3
    assert found.case.start["state/hold"] % 2 == 1
    assert found.path == "state/score"


def test_a_reading_that_refuses_a_tape_says_why(harbour: Specification) -> None:
    changed(adapter(harbour, "second"), *MISREADINGS["an illegal action rolls no wind die"])
    assert compared(harbour).refusals == ("ValueError: rolls are left over",)


def test_what_the_first_reading_refuses_is_found_with_the_sides_exchanged(harbour: Specification) -> None:
    """As a reference its refusals are passed over: these steps would be compared with nothing."""
    first = "            self._pay(1)  # 27\n"
    changed(adapter(harbour, "first"), first, '            raise ValueError("illegal")\n')
    done = compared(harbour)
    [found] = done.divergences
    assert found.check.startswith(EXCHANGED)
    assert done.refusals == ("ValueError: illegal",)


@pytest.mark.parametrize("which", ["first", "second"])
def test_a_die_that_is_not_the_sheet_s_is_found(harbour: Specification, which: str) -> None:
    wrong = {
        "first": ('self._draw("crane", 1, 6)', 'self._draw("crane", 1, 5)'),
        "second": ('(1, 6) if name == "crane"', '(1, 5) if name == "crane"'),
    }
    changed(adapter(harbour, which), *wrong[which])
    [found] = compared(harbour).divergences
    assert found.rule == "law"
    assert found.path == "draw/crane"


def test_a_reading_that_goes_against_a_scenario_is_named_with_the_values(harbour: Specification) -> None:
    for which, before, after in (
        ("first", "self.score += 3  # 17", "self.score += 4"),
        ("second", "bonus = 3 if", "bonus = 4 if"),
    ):
        changed(adapter(harbour, which), before, after)
    done = compared(harbour)
    assert done.outcome is Outcome.FAIL
    assert not done.divergences, "they agree with each other, and not with the text"
    for missed in done.missed.values():
        [one] = missed
        assert one.scenario.name == "twelve crates earn fifteen"
        assert [str(miss) for miss in one.misses] == ["state/score at step 1: expected 25, got 26"]


def test_a_reading_sees_neither_the_other_nor_the_scenarios(harbour: Specification) -> None:
    spy = (
        "import pathlib\n"
        "SEEN = [str(p) for p in pathlib.Path(__file__).parents[1].rglob('*') if p.is_file()]\n"
        f"SEEN += [p for p in [{str(harbour.place.directory)!r}] if pathlib.Path(p).exists()]\n"
        "assert all(p.endswith('adapter.py') for p in SEEN) and len(SEEN) == 1, SEEN\n"
    )
    source = adapter(harbour, "second")
    source.write_text(spy + source.read_text())
    sheet, _ = harbour.demanded()
    done = compare_readings(harbour.place, sheet, (), seed=SEED, environment=HERE, stop_at_failure=True)
    assert done.outcome is Outcome.PASS


def test_a_reading_that_declares_something_else_is_refused(harbour: Specification) -> None:
    changed(adapter(harbour, "second"), '"turn"] = ("int16", 39)', '"turn"] = ("int32", 39)')
    with pytest.raises(TaskError) as caught:
        compared(harbour)
    assert caught.value.mistakes == ("leaf state/turn: the adapter says int32 [], sheet.toml says int16 []",)


def test_a_missing_reading_is_named(harbour: Specification) -> None:
    adapter(harbour, "second").unlink()
    with pytest.raises(TaskError, match="no second reading"):
        compared(harbour)


def test_a_link_in_a_reading_is_refused(harbour: Specification) -> None:
    (harbour.place.reading("second") / "rules.py").symlink_to(adapter(harbour, "first"))
    with pytest.raises(TaskError) as caught:
        compared(harbour)
    assert caught.value.mistakes == ("specification/readings/second/rules.py is a link",)


@pytest.mark.parametrize(("broken", "named"), [("second", "the second reading"), ("first", "the first reading")])
def test_a_reading_that_cannot_be_asked_is_named_as_a_reading(harbour: Specification, broken: str, named: str) -> None:
    """Neither is a candidate or a reference to its reader, wherever it stands."""
    ends = "import os\nclass Game(Game):\n    def step(self, action, draws=None):\n        os._exit(3)\n"
    source = adapter(harbour, broken)
    source.write_text(f"{source.read_text()}\n{ends}")
    sheet, _ = harbour.demanded()
    done = compare_readings(harbour.place, sheet, (), seed=SEED, environment=HERE)
    assert done.outcome is Outcome.ERROR
    [said] = [check.detail for report in done.reports for check in report.checks if check.outcome is Outcome.ERROR]
    assert named in said and "candidate" not in said and "the reference" not in said


def test_what_was_seen_of_a_reading_that_then_ends_is_a_divergence(harbour: Specification) -> None:
    """It ends when it is asked again for a turn that it takes otherwise than the text: one text is read in two ways."""
    changed(adapter(harbour, "second"), *MISREADINGS["storm 3 takes half, rounded down"])
    ends = (
        "ASKED = set()\n"
        "class Game(Game):\n"
        "    def step(self, action, draws=None):\n"
        "        asked = (*self.ship, int(action))\n"
        "        if self.ship.storm == 3 and self.ship.hold % 2 and action == 1 and asked in ASKED:\n"
        "            import os\n"
        "            os._exit(0)\n"
        "        ASKED.add(asked)\n"
        "        return super().step(action, draws)\n"
    )
    source = adapter(harbour, "second")
    source.write_text(f"{source.read_text()}\n{ends}")
    done = compared(harbour, stop_at_failure=False)
    assert done.outcome is Outcome.FAIL
    [found] = done.divergences
    assert (found.check, found.path) == (CUT_SHORT, "state/score")
    assert found.case is not None
    assert "the second reading" in found.cause


def test_a_reading_that_contradicts_itself_is_named_by_which_it_is() -> None:
    """With the sides exchanged the first reading stands where the candidate does."""
    said = "the candidate answered otherwise than the reference"
    assert (
        in_words_of_readings(said, ("first", "second"))
        == "the second reading answered otherwise than the first reading"
    )
    assert (
        in_words_of_readings(said, ("second", "first"))
        == "the first reading answered otherwise than the second reading"
    )


def test_no_path_tells_a_reading_which_of_the_two_it_is(harbour: Specification) -> None:
    """The attack: a reading that is right as the second one, and another rule once it is the reference."""
    side = adapter(harbour, "second")
    side.write_text(
        "if '/second/' in __file__ or '/first/' in __file__:\n    raise SystemExit(__file__)\n" + side.read_text()
    )
    assert compared(harbour).outcome is Outcome.PASS
    side.write_text("if '/reference/' not in __file__:\n    raise SystemExit(__file__)\n" + side.read_text())
    assert compared(harbour).outcome is Outcome.PASS
