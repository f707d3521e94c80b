"""A profile as a document: what is written is read back, and a document of another form is refused by name."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from rich.console import Console

from harness.cli.profile import table_of
from harness.measure.profile import text
from harness.measure.profile.advice import Advice
from harness.measure.profile.hot import HotStep, Operation
from harness.measure.profile.result import Bound, Measurement, Profile, ProfileReport, Skipped, Speed, SpotCheck
from harness.support.document import DocumentError
from harness.verdict import Divergence, Outcome

FOUND = Divergence(None, 0, "outputs", "1", "2", "profiled", 3, "step", cause="it is lazy")
GATHER = Operation("fusion.1", "gather", 0.12345, "env.py:3", "candidate")
MEASURED = Profile(
    task="walk",
    task_digest="d0",
    outcome=Outcome.FAIL,
    seed=5,
    machine={"cores": 2, "cpu": "some", "jax": "0.0", "device": {"platform": "cpu", "device": "cpu"}},
    method={"batch_sizes": [16], "kinds": ["step"]},
    sandbox={"driver": "process", "isolated": False},
    measurements=(
        Measurement("reference", "reference", "episodes", 2, Speed.of([1000.4, 900.2, 1100.9], 2)),
        Measurement(
            "candidate", "candidate", "step", 16, Speed.of([2e6, 1.5e6], 2), 64, 1.23456, 0.5, 300 << 20, 12345678,
            Bound(3e9, "bytes", 12.0, 4.25), suspicious=True, share=0.123456,
        ),
    ),
    checks=(SpotCheck("step", 16, Outcome.FAIL, 3, 40, "it is lazy", FOUND),),
    skipped=(Skipped("quick", "it has no room"),),
    state_bytes=12,
    hot=HotStep((GATHER,), {"candidate": 0.6}, {"gather": 0.6}, 8),
    advice=Advice(7, "Memory", "60% is moving data"),
    notes=("no figure of the candidate counts",),
    duration_s=1.26,
    divergence=FOUND,
)  # fmt: skip


@pytest.mark.parametrize(
    "report",
    [
        ProfileReport(profile=MEASURED),
        ProfileReport(profile=MEASURED, session="walk-1", event=7, verified="c0"),
        ProfileReport(profile=replace(MEASURED, hot=None, advice=None, divergence=None, measurements=(), error="dead")),
    ],
    ids=["of a directory", "of a session", "an error"],
)
def test_a_profile_is_read_as_it_was_written(report: ProfileReport) -> None:
    written = json.dumps(report.to_json(), allow_nan=False)
    again = ProfileReport.from_json(json.loads(written))
    assert json.dumps(again.to_json()) == written
    assert text.summary(again.profile) == text.summary(report.profile)
    assert text.compact(again.profile) == text.compact(report.profile)


def test_figures_are_in_whole_steps_and_those_of_a_core_in_its_share() -> None:
    reference, candidate = (each.to_json() for each in MEASURED.measurements)
    assert reference["steps_per_s"] == {"median": 1000, "low": 900, "high": 1101, "readings": 3}
    assert reference["per_core"] == 500 and "suspicious" not in reference and "length" not in reference
    assert candidate["compile_added_mb"] == 11.8 and candidate["environment_share"] == 0.1235
    assert candidate["suspicious"] is True and candidate["bound"]["by"] == "bytes"


@pytest.mark.parametrize("width", [80, 110])
def test_no_digit_of_a_figure_is_cut_in_a_terminal(width: int) -> None:
    reference, candidate = MEASURED.measurements
    measured = replace(MEASURED, measurements=(replace(reference, contender="a peer of a very long name"), candidate))
    console = Console(width=width, file=io.StringIO())
    console.print(table_of(measured))
    assert isinstance(console.file, io.StringIO)
    shown = sorted(re.sub(r"\s", "", console.file.getvalue()))
    assert shown == sorted(re.sub(r"\s", "", "".join(chain(text.header(measured), *text.rows(measured)))))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (("measurements", 0, "batch"), "2", r"profile\.measurements\[0\]\.batch is '2'; expected a whole number"),
        (("measurements", 1, "steps_per_s"), 7, r"profile\.measurements\[1\]\.steps_per_s is 7; expected an object"),
        (("measurements", 1, "bound", "by"), 3, r"measurements\[1\]\.bound\.by is 3; expected a text"),
        (("checks", 0, "outcome"), "FINE", r"profile\.checks\[0\]\.outcome: 'FINE' is not a valid Outcome"),
        (("hot", "operations", 0, "share"), "most", r"hot\.operations\[0\]\.share is 'most'; expected a number"),
        (("hot", "kinds", "gather"), None, r"profile\.hot\.kinds\.gather is None; expected a number"),
        (("advice",), "faster", r"profile\.advice is 'faster'; expected an object"),
        (("divergence", "step"), 0.5, r"profile\.divergence\.step is 0\.5; expected a whole number"),
        (("event",), "7", r"profile\.event is '7'; expected a whole number"),
    ],
)
def test_a_malformed_profile_names_the_field_and_what_belongs_there(
    field: tuple[Any, ...], value: Any, words: str
) -> None:
    document = json.loads(json.dumps(ProfileReport(profile=MEASURED, session="walk-1", event=7).to_json()))
    inner = document
    for part in field[:-1]:
        inner = inner[part]
    inner[field[-1]] = value
    with pytest.raises(DocumentError, match=words):
        ProfileReport.from_json(document)


def test_a_device_is_named_where_one_is_known() -> None:
    unknown = replace(MEASURED, machine={"cores": 2, "cpu": "some", "jax": "0.0"})
    assert "2 of 2 cores, some; cpu device cpu, jax 0.0;" in text.summary(MEASURED)
    assert "2 of 2 cores, some; jax 0.0;" in text.summary(unknown)
