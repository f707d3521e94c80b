"""The curve as a document: its figures, its text, its form, and its place in a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.assurance.audit import audit
from harness.measure.strength.rare import text
from harness.measure.strength.rare.curve import MOST_TRIALS, Curve, Planted
from harness.measure.strength.recorded import Recorded
from harness.measure.strength.result import strength_digest
from harness.record.certificate import DETECTION, figures
from harness.record.store import Store
from harness.report.detection import chart
from harness.report.document import collect
from harness.report.page import render
from harness.support.document import DocumentError
from tests.measure.strength.rare.synthetic import SWEPT, curve
from tests.report.script import Play


def test_caught_are_those_that_a_check_met_and_without_exploration_those_that_another_met() -> None:
    frequent, rare = curve().points()
    assert (frequent.share, rare.share) == (1e-2, 1e-3)
    assert {times: (each.killed, each.total) for times, each in rare.caught.items()} == {
        0: (6, 10),
        1: (8, 10),
        10: (10, 10),
    }
    assert set(rare.families) == {"tail"} and set(frequent.families) == {"value"}


def test_each_share_has_an_exact_interval() -> None:
    _, rare = curve().points()
    # Clopper and Pearson for 8 of 10 and for 10 of 10, from their table.
    assert rare.caught[1].interval == pytest.approx([0.4439, 0.9748], abs=1e-4)
    assert rare.caught[10].interval == pytest.approx([0.6915, 1.0], abs=1e-4)


def test_a_curve_is_read_as_it_was_written() -> None:
    for report in (
        Recorded(measured=curve()),
        Recorded(measured=curve(planted=()), session="walk-1", commit="c", event=3),
    ):
        written = json.dumps(report.to_json(), allow_nan=False)
        assert json.dumps(Recorded.from_json(json.loads(written), Curve.from_json).to_json()) == written


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (("played",), None, r"curve\.played is None; expected a whole number"),
        (("trials", 1, "met"), {}, r"trials\[1\]\.met names no exploration"),
        (("trials", 1, "met"), {"1": SWEPT}, "other explorations than its runs"),
        (("trials", 1, "met", "1"), "level", r"met\.1 is no check"),
        (("trials", 1, "met", "1"), "level 1, " + 300 * "x", r"met\.1 is no check"),
        (("trials",), [{}] * (MOST_TRIALS + 1), "expected at most"),
        (("planted", 0, "trial"), 500, "speaks of a trial that is not there"),
        (("runs", 0, "seed"), "1", r"runs\[0\]\.seed is '1'; expected a whole number"),
    ],
)
def test_a_malformed_curve_names_the_field(field: tuple[Any, ...], value: Any, words: str) -> None:
    document = json.loads(json.dumps(curve().to_json()))
    inner = document
    for part in field[:-1]:
        inner = inner[part]
    inner[field[-1]] = value
    with pytest.raises(DocumentError, match=words):
        Curve.from_json(document)


def test_the_digest_is_that_of_outcomes_and_not_of_times() -> None:
    later = curve(duration_s=9.0, resumed=True, machine={"cpu": "another"})
    assert strength_digest(curve().to_json()) == strength_digest(later.to_json())
    assert strength_digest(curve().to_json()) != strength_digest(curve(seed=8).to_json())


def test_a_mutant_that_passes_and_should_not_have_is_told() -> None:
    assert text.verdict(curve()) == []
    [said] = text.verdict(curve(planted=(Planted(0, SWEPT, ""), Planted(9, "", "level 1, invariant: x"))))
    assert said == f"a mutant passed that should be caught by {SWEPT}: place[0] >= 1.5"


def test_the_text_tells_shares_families_with_misses_and_what_was_missed() -> None:
    assert list(text.rows(curve()))[1] == (
        "1 in 1,000", "10", "60.0% (26.2% to 87.8%)", "80.0% (44.3% to 97.4%)", "100.0% (69.1% to 100.0%)",
    )  # fmt: skip
    assert list(text.family_rows(curve())) == [("1 in 1,000", "tail", "6 of 10", "8 of 10", "10 of 10")]
    assert list(text.missed(curve())) == [("1 in 1,000", "place[0] >= 1.5")] * 2


def recorded(directory: Path, detail: dict[str, Any]) -> Path:
    """The record of a session with one measurement in it that says this."""
    play = Play(directory)
    play.session.record(DETECTION, arguments={"commit": None}, outcome="PASS", detail=detail, seeds={"run": 7})
    play.session.close()
    return play.record


def test_a_report_draws_what_a_pass_means_and_has_the_numbers_in_a_table(tmp_path: Path) -> None:
    detail = {"figures": text.compact(curve()), "finding": text.summary(curve())[0]}
    with Store(recorded(tmp_path, detail)) as store:
        document = collect(store)
        assert audit(store).ok
    [shown] = document["detection"]
    assert [point["frequency"] for point in shown["points"]] == ["1 in 100", "1 in 1,000"]
    assert shown["names"] == ["no exploration", "explored", "explored x10"]
    page = render(document)
    drawn = str(chart(shown))
    for part in ("What a PASS means", "1 in 1,000", "44.3% to 97.4%", "1,000,000 steps", drawn):
        assert part in page
    assert "80.0% explored, 100.0% explored x10" in drawn, "who sees no picture is told"


LIE = "<lie>"
ENDLESS = {str(number): {"rate": 1e300, "interval_95": [1e300, -1]} for number in range(99)}


@pytest.mark.parametrize(
    "figures",
    [
        None,
        {"curve": LIE},
        {"curve": [{"share": LIE, "caught": {"1": {}}}]},
        {"curve": [{"share": 1e-2, "caught": {LIE: {}, "²": {}}}]},
        {"curve": [{"share": 1e-2, "caught": {"1": {"rate": LIE, "killed": [], "interval_95": LIE}}}], "played": LIE},
        {"curve": [{"share": 1e-300, "caught": ENDLESS}, {"share": 1e-3, "caught": ENDLESS}] * 100},
    ],
)
def test_a_record_that_lies_about_a_curve_puts_nothing_into_a_page(tmp_path: Path, figures: Any) -> None:
    with Store(recorded(tmp_path, {"figures": figures, "finding": "x"})) as store:
        page = render(collect(store))
    assert LIE not in page and len(page) < 300_000


def test_a_certificate_has_the_curve_when_it_was_measured_and_is_one_without() -> None:
    parts: dict[str, Any] = {"verdict": {"levels": [], "outcome": "PASS"}}
    assert DETECTION not in figures(parts)
    short = figures(parts | {DETECTION: {**curve().to_json(), "outcome": "PASS"}})[DETECTION]
    assert [point["share"] for point in short["curve"]] == [1e-2, 1e-3]
    assert list(text.certified(json.loads(json.dumps(short))))[1] == (
        "faults that show in 1 in 1,000 steps, caught: 60.0% no exploration, 80.0% explored, 100.0% explored x10"
    )
    assert list(text.certified(None)) == []
