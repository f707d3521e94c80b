"""Figures of a measurement, its journal, and what is said of survivors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SessionLocked, TaskError
from harness.measure.strength import text
from harness.measure.strength.explanations import Explanation, explained, load_explanations
from harness.measure.strength.journal import FINISHED, Journal
from harness.measure.strength.judging import Finding
from harness.measure.strength.mutants import Mutant, enumerate_mutants
from harness.measure.strength.recorded import Recorded
from harness.measure.strength.result import Judged, KillRate, Strength, strength_digest
from harness.support.document import DocumentError

ENTRY = {
    "file": "env.py",
    "function": "<module>",
    "operator": "constant",
    "before": "3",
    "after": "4",
    "verdict": "equivalent",
    "because": "nobody reads it",
}


def mutant(name: str) -> Mutant:
    return Mutant(name, "env.py", 1, 0, "step", "constant", "3", "4", 1, ())


def judged(name: str, *outcomes: str, proof: str = "", said: str = "") -> Judged:
    findings = tuple(Finding(level, outcome, 2.0 * level) for level, outcome in enumerate(outcomes, 1))
    explanation = Explanation("env.py", said, "nobody reads it", "step", "constant", "3", "4") if said else None
    return Judged(mutant(name), findings, proof, explanation=explanation)


MUTANTS = (
    judged("a", "killed"),
    judged("b", "survived", "killed"),
    judged("c", "survived", "survived", "timeout"),
    judged("d", "stillborn"),
    judged("e", "survived", "survived", "survived"),
    judged("f", "survived", "survived", "survived", said="equivalent"),
    judged("g", "survived", "survived", "survived", proof="lowered"),
    judged("h", "survived", "error"),
)


def strength(*mutants: Judged, **changes: Any) -> Strength:
    given = {
        "task": "walk", "task_digest": "0", "candidate": "1", "seed": 7, "settings": {"every_level": False, "sample": None},
        "sandbox": "bubblewrap", "isolated": True, "baseline": {1: 1.0, 2: 1.0, 3: 1.0}, "judged": mutants,
        "enumerated": len(mutants),
    }  # fmt: skip
    return Strength(**(given | changes))


def test_the_three_rates_leave_out_what_they_say() -> None:
    rates = strength(*MUTANTS).to_json()["rates"]
    assert rates["all"] == {"killed": 3, "total": 7, "rate": 3 / 7}
    assert rates["non_equivalent"] == {"killed": 3, "total": 6, "rate": 0.5}
    assert rates["argued"] == {"killed": 3, "total": 5, "rate": 0.6}


def test_each_level_is_counted_for_what_those_below_it_missed() -> None:
    levels = strength(*MUTANTS).to_json()["levels"]
    assert [(each["judged"], each["killed"], each["cumulative"]) for each in levels] == [
        (7, 1, 1),
        (6, 1, 2),
        (4, 1, 3),
    ]
    assert [each["cumulative_rate"] for each in levels] == [1 / 6, 2 / 6, 3 / 6]
    assert [each["median_seconds"] for each in levels] == [2.0, 4.0, 6.0]


def test_with_every_level_it_is_reported_what_each_kills_alone_and_what_only_it_kills() -> None:
    both = judged("a", "killed", "killed", "survived")
    last = judged("b", "survived", "survived", "killed")
    settings = {"every_level": True, "sample": None}
    levels = strength(both, last, settings=settings).to_json()["levels"]
    assert [(each["killed_alone"], each["killed_only_here"]) for each in levels] == [(1, 0), (1, 0), (1, 1)]


def test_a_sample_has_an_exact_interval_and_all_mutants_have_none() -> None:
    # Clopper and Pearson for 8 of 10, from their table.
    assert KillRate.of(8, 10, sampled=True).interval == pytest.approx([0.4439, 0.9748], abs=1e-4)
    assert KillRate.of(8, 10, sampled=False).interval is None
    assert KillRate.of(0, 0, sampled=True).rate is None
    sampled = strength(*MUTANTS, enumerated=20, settings={"every_level": False, "sample": 8})
    assert "interval_95" in sampled.to_json()["rates"]["all"]
    assert "interval_95" not in strength(*MUTANTS, enumerated=20).to_json()["rates"]["all"], "they were not drawn"
    assert "drawn from 20" in text.summary(sampled)[0]


def test_what_survives_without_an_explanation_is_left_to_do() -> None:
    measured = strength(*MUTANTS)
    assert measured.to_json()["unexplained"] == ["e", "h"]
    assert text.verdict(measured) == ["2 survivors are not explained in survivors.toml"]
    assert len(text.verdict(measured, at_least=0.98)) == 2
    assert text.verdict(strength(MUTANTS[0], MUTANTS[5]), at_least=1.0) == []


def test_an_explanation_of_a_mutant_that_is_killed_is_to_be_removed() -> None:
    measured = strength(judged("a", "killed", said="equivalent"))
    assert measured.to_json()["contradicted"] == ["a"]
    assert "speaks of a mutant that is killed" in text.verdict(measured)[0]


def test_a_rate_is_never_rounded_up_to_all() -> None:
    assert text.share(0.99999) == "99.9%"
    assert text.share(1.0) == "100.0%"


def test_the_digest_is_that_of_outcomes_and_not_of_times() -> None:
    document = strength(*MUTANTS).to_json()
    later = strength(*MUTANTS, duration_s=9.0, resumed=3, machine={"cpu": "another"}, baseline={1: 4.0, 2: 4.0, 3: 4.0})
    assert strength_digest(document) == strength_digest(later.to_json())
    assert strength_digest(document) != strength_digest(strength(*MUTANTS[:-1], judged("h", "killed")).to_json())


def test_what_a_record_keeps_is_small_and_names_what_it_left_out() -> None:
    kept = text.compact(strength(*(judged(str(n), "survived") for n in range(300))))
    assert (len(kept["survivors"]), kept["survivors_left_out"]) == (200, 100)


@pytest.mark.parametrize(
    "report",
    [
        Recorded(measured=strength(*MUTANTS)),
        Recorded(measured=strength(*MUTANTS, enumerated=20, settings={"every_level": True, "sample": 8})),
        Recorded(measured=strength(), session="walk-1", commit="c0", event=7),
    ],
    ids=["all mutants", "a sample under every level", "of a session, nothing"],
)
def test_a_measurement_is_read_as_it_was_written(report: Recorded[Strength]) -> None:
    written = json.dumps(report.to_json(), allow_nan=False)
    again = Recorded.from_json(json.loads(written), Strength.from_json)
    assert json.dumps(again.to_json()) == written
    assert list(text.remaining(again.measured)) == list(text.remaining(report.measured))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (("enumerated",), None, r"strength\.enumerated is None; expected a whole number"),
        (("mutants", 1, "line"), "1", r"strength\.mutants\[1\]\.line is '1'; expected a whole number"),
        (("mutants", 1, "kills", "2", "outcome"), 3, r"mutants\[1\]\.kills\.2\.outcome is 3; expected a text"),
        (("mutants", 1, "kills", "two"), {"outcome": "killed"}, r"kills\.two\.level is 'two'; expected a whole number"),
        (("mutants", 5, "explanation"), "no", r"mutants\[5\]\.explanation is 'no'; expected an object"),
        (("levels", 0, "baseline"), 1.0, r"levels\[0\]\.baseline is 1\.0; expected an object"),
    ],
)
def test_a_malformed_measurement_names_the_field(field: tuple[Any, ...], value: Any, words: str) -> None:
    document = json.loads(json.dumps(strength(*MUTANTS).to_json()))
    inner = document
    for part in field[:-1]:
        inner = inner[part]
    inner[field[-1]] = value
    with pytest.raises(DocumentError, match=words):
        Strength.from_json(document)


# --- the journal ------------------------------------------------------------------------------------------------------


def test_a_journal_goes_on_after_a_line_that_was_torn(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    journal.write("found", [{"mutant": "a"}, {"mutant": "b"}])
    journal.close()
    path.write_text(path.read_text() + '{"kind": "found", "mut')
    again = Journal(path)
    assert [each["mutant"] for each in again.known] == ["a", "b"]
    again.write("found", [{"mutant": "c"}])
    again.close()
    third = Journal(path)
    assert [each["mutant"] for each in third.known] == ["a", "b", "c"]
    third.close()


def test_a_second_run_of_the_same_measurement_is_refused_and_takes_nothing_from_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = Journal(path)
    first.write("found", [{"mutant": "a"}])
    for fresh in (False, True):
        with pytest.raises(SessionLocked, match="this very measurement is in use by process"):
            Journal(path, fresh=fresh)
    first.write("found", [{"mutant": "b"}])
    first.close()
    again = Journal(path)
    assert [each["mutant"] for each in again.known] == ["a", "b"]
    again.close()


def test_a_measurement_that_was_finished_or_is_not_wanted_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for kind, fresh in (("found", True), (FINISHED, False)):
        journal = Journal(path)
        journal.write(kind, [{"mutant": "a"}])
        journal.close()
        again = Journal(path, fresh=fresh)
        assert again.known == []
        again.close()


# --- explanations -----------------------------------------------------------------------------------------------------


def survivors(directory: Path, *entries: dict[str, Any]) -> Path:
    lines = []
    for entry in entries:
        lines += ["[[survivor]]", *(f"{name} = {value!r}" for name, value in entry.items())]
    (directory / "survivors.toml").write_text("\n".join(lines))
    return directory


def test_an_explanation_is_found_by_the_change_and_not_by_the_line(tmp_path: Path) -> None:
    (tmp_path / "env.py").write_text("# moved\n\nA = 3\nB = 3\n")
    mutants = enumerate_mutants(tmp_path)
    both = explained(mutants, load_explanations(survivors(tmp_path, ENTRY)), where=tmp_path)
    assert len(both) == 2
    second = explained(mutants, load_explanations(survivors(tmp_path, ENTRY | {"occurrence": 2})), where=tmp_path)
    assert [each.line for each in mutants if each.id in second] == [4]


def test_an_explanation_may_speak_of_a_function_or_a_file_and_the_closest_counts(tmp_path: Path) -> None:
    (tmp_path / "env.py").write_text("A = 3\n\n\ndef step(b):\n    return b + 3\n")
    mutants = enumerate_mutants(tmp_path)
    of_file = {"file": "env.py", "verdict": "missed", "because": "the file"}
    of_step = of_file | {"function": "step", "because": "the function"}
    entries = load_explanations(survivors(tmp_path, ENTRY | {"occurrence": 1}, of_file, of_step))
    said = {each.id: entry.because for each, entry in zip(mutants, map(explained(mutants, entries, where=tmp_path).get, (
        each.id for each in mutants)), strict=True) if entry}  # fmt: skip
    assert {said[each.id] for each in mutants if each.function == "step"} == {"the function"}
    assert {said[each.id] for each in mutants if each.function != "step"} == {ENTRY["because"], "the file"}
    assert [entry.name for entry in entries[1:]] == ["env.py, all survivors", "env.py step, all survivors"]
    nobody = load_explanations(survivors(tmp_path, of_file | {"function": "reset"}))
    with pytest.raises(TaskError, match=r"env\.py reset, all survivors"):
        explained(mutants, nobody, where=tmp_path)
    with pytest.raises(TaskError, match="`operator` is missing"):
        load_explanations(survivors(tmp_path, of_step | {"before": "3", "after": "4"}))


def test_what_is_said_of_a_function_is_said_of_its_survivors_alone() -> None:
    of_one = Explanation("env.py", "equivalent", "nobody reads it", "step", "constant", "3", "4")
    of_step = Explanation("env.py", "equivalent", "nobody reads it", "step")
    statuses = {each.status: (each.explained_by(of_step), each.explained_by(of_one)) for each in MUTANTS}
    assert {status for status, (said, _) in statuses.items() if said.explanation is of_step} == {"survived"}
    assert statuses["survived"][0].status == "argued"
    assert all(said.explanation is of_one for _, said in statuses.values())


def test_an_explanation_of_no_mutant_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "env.py").write_text("A = 5\n")
    mutants, entries = enumerate_mutants(tmp_path), load_explanations(survivors(tmp_path, ENTRY))
    with pytest.raises(TaskError, match=r"env\.py <module>, constant: 3 -> 4"):
        explained(mutants, entries, where=tmp_path)
    assert explained(mutants, entries, where=None) == {}


def test_every_mistake_in_the_explanations_is_reported(tmp_path: Path) -> None:
    wrong = {name: value for name, value in ENTRY.items() if name != "because"} | {"verdict": "fine", "line": 3}
    with pytest.raises(TaskError) as refused:
        load_explanations(survivors(tmp_path, wrong, ENTRY | {"occurrence": 0}))
    reported = str(refused.value)
    for part in ("`because` is missing", "unknown key `line`", "'fine'", "number 2: `occurrence` is 0"):
        assert part in reported


def test_a_task_without_explanations_has_none(tmp_path: Path) -> None:
    assert load_explanations(tmp_path) == ()
