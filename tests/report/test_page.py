"""The page: everything of the document is in it, and nothing of a record becomes more than text."""

from __future__ import annotations

import base64
import io
import re
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from harness.policy.floor import VARIABLE
from harness.report import page as pages
from harness.report.charts import course
from harness.report.page import SECTIONS, _coarse, _rates, headline, render
from tests.report.conftest import collected
from tests.report.markup import HOSTILE, INVISIBLE, PAYLOAD, Page, faults
from tests.report.script import FEATURES, Finding, Play

FIXED = ("state", "tone", "frames")
"""Fields that say which of a few things is the case, or hold a picture."""
NAMED_BY_THE_RECORD = ("features", "outcomes", "counts", "machine")
"""Objects whose keys too are somebody's choice."""


def poisoned(value: Any, name: str = "") -> Any:
    """The same document with every text in it made one that wants to be more than text."""
    if name in FIXED:
        return value
    if isinstance(value, dict):
        chosen = PAYLOAD if name in NAMED_BY_THE_RECORD else ""
        return {chosen + key: poisoned(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [poisoned(each, name) for each in value]
    return PAYLOAD + value if isinstance(value, str) else value


def test_every_section_is_there_with_its_content(document: dict[str, Any]) -> None:
    page = Page(render(document))
    assert {anchor for anchor, _ in SECTIONS} <= set(page.ids)
    for said in (
        "Verified", "up to level 4", "at most 3% of episodes diverge", "A first try", "repaired", "commit", "gymnax",
        "trained in either, played in the reference", "-0.75 to 1.25",
        "12, 2 the same bit by bit", "the walker fell", "Never reached: the walker flew",
        "the walker flew, end truncated, observation high",
        "819M", "no measurement", "$0.25", "1,200", "starts from", "lockstep compare --case", "the audit",
    ):  # fmt: skip
        assert said.lower() in page.text.lower(), said
    assert page.tags["img"] == 2


def test_the_value_that_differs_is_drawn_step_by_step_on_both_sides(document: dict[str, Any]) -> None:
    (row, found), *_ = ((row, each) for row in document["attempts"] for each in row["divergences"])
    drawn = str(course(found, row["event"]))
    assert drawn in render(document)
    assert f"Both sides from step 0 to step 2, in which they differ: the reference has {found['expected']}" in drawn
    lines = re.findall(r'<path class="series (s-\w+)" d="([^"]*)"', drawn)
    assert [name for name, way in lines if "L" in way] == [
        "s-candidate"
    ]  # the reference's value of step 1 is not finite
    assert [name for name, way in lines].count("s-reference") == 2
    assert drawn.count("<circle") == 2
    alike = found | {"course": {"first": 7, "expected": [None, None, None], "actual": [2.0, 2.0, 2.0]}}
    assert "s-candidate" in str(course(alike, 1))


def test_a_page_leads_nowhere_and_loads_nothing(document: dict[str, Any]) -> None:
    html = render(document)
    assert faults(html) == []
    anchors = set(Page(html).ids)
    assert len(Page(html).ids) == len(anchors)
    assert {link[1:] for link in Page(html).values("href") if link.startswith("#")} <= anchors
    assert set(Page(html).values("data-goto")) <= anchors


def test_every_commit_and_attempt_leads_to_the_other(document: dict[str, Any]) -> None:
    html = render(document)
    assert document["commits"]
    for row in document["commits"]:
        of_commit = re.search(rf'<tr id="commit-{row["commit"]}">.*?</tr>', html, re.DOTALL)
        of_attempt = re.search(rf'id="event-{row["event"]}".*?(?=<details id="event-|</section>)', html, re.DOTALL)
        assert of_commit is not None and of_attempt is not None
        assert f'href="#event-{row["event"]}"' in of_commit[0]
        assert f'href="#commit-{row["commit"]}"' in of_attempt[0]


def test_the_policy_names_the_very_script_and_style_of_the_page(document: dict[str, Any]) -> None:
    for live in (False, True):
        html = render(document, live=live)
        policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1))  # type: ignore[union-attr]
        parts = dict(part.split(" ", 1) for part in policy.split("; "))
        assert parts["default-src"] == "'none'"
        assert (parts.get("connect-src") == "'self'") == live
        for tag, rule in (("script", "script-src"), ("style", "style-src")):
            digests = [
                f"'sha256-{base64.b64encode(sha256(content.encode()).digest()).decode()}'"
                for content in re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
            ]
            assert parts[rule].split() == digests and digests


def test_the_same_document_is_the_same_page(document: dict[str, Any]) -> None:
    assert render(document) == render(document)


# Hostile text


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page of a session in which everything that somebody could choose is hostile."""
    monkeypatch.setenv(VARIABLE, "1")
    play = Play(tmp_path, trains=True, isolated=False)
    reported = {"features": {PAYLOAD: 3, HOSTILE[0]: 0}, "notes": (PAYLOAD,)}
    play.attempt(Finding(1, PAYLOAD, text=PAYLOAD, frames={}, **reported), PAYLOAD)
    play.attempt(Finding(error=PAYLOAD), INVISIBLE)
    for _ in range(3):
        play.attempt(Finding(**reported), PAYLOAD)
    play.attempt(Finding(3, "moves", text=PAYLOAD, **reported), PAYLOAD)
    rows = [
        {"contender": PAYLOAD, "role": PAYLOAD, "kind": PAYLOAD, "batch": 32, "steps_per_s": 1e6, "low": 1, "high": 2e6}
    ]
    play.profile(PAYLOAD, rows=rows, summary=PAYLOAD, finding=PAYLOAD)
    play.session.record(PAYLOAD, detail={"finding": PAYLOAD})
    play.session.resume(PAYLOAD)
    play.session.close()
    return render(collected(play.record))


def test_hostile_text_stays_text(hostile: str) -> None:
    assert faults(hostile) == []
    text = Page(hostile).text
    for each in HOSTILE:
        assert each in text, each
    assert "\u202e" not in hostile and "\x00" not in hostile and "\x1b" not in hostile


def test_every_text_of_a_document_may_be_hostile(document: dict[str, Any]) -> None:
    changed = poisoned(document)
    assert faults(_without_anchors(render(changed))) == []
    assert PAYLOAD in Page(render(changed)).text


def test_a_template_that_did_not_escape_would_be_noticed(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    document["attempts"][0]["message"] = HOSTILE[1]
    careless = pages._environment().overlay(autoescape=False)
    monkeypatch.setattr(pages, "_environment", lambda: careless)
    assert any("onerror" in fault for fault in faults(render(document)))


def _without_anchors(html: str) -> str:
    """Commits' ids are checked where the document is made; here they too were replaced."""
    return re.sub(r'href="#[^"]*"', 'href="#"', html)


# Missing and unusual things


def test_a_session_without_anything_says_what_is_missing(play: Play) -> None:
    page = Page(render(collected(play.record)))
    for said in (
        "In progress", "Next is level 1 of start", "Nothing was verified yet", "Nothing was committed yet", "None was found",
        "Nothing was profiled yet", "has no level 4", "Nothing was compared yet", "none yet", "not bounded yet",
    ):  # fmt: skip
        assert said in page.text, said


def test_a_sandbox_that_does_not_isolate_is_said_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    play = Play(tmp_path, isolated=False)
    play.attempt()
    page = Page(render(collected(play.record))).text
    assert "The candidate was not isolated" in page and "Key for unisolated sessions" in page
    play.session.close()


def test_figures_that_do_not_count_are_marked(play: Play) -> None:
    figure = {
        "contender": "candidate",
        "role": "candidate",
        "kind": "scan",
        "batch": 32,
        "steps_per_s": 1e9,
        "low": 9e8,
    }
    play.profile("FAIL", rows=[figure | {"high": 2e9, "suspicious": True}], finding="another answer")
    text = Page(render(collected(play.record))).text
    assert "These figures don't count. another answer" in text
    assert "suspicious: they lie beyond what was seen to be possible" in text


@pytest.mark.parametrize("rates", [(0, 0, 0), (5, 5, 5), (-1, 1e300, -5), (1e-9, 0, 1)])
def test_unusual_figures_can_be_drawn(play: Play, rates: tuple[float, float, float]) -> None:
    names = dict(zip(("steps_per_s", "low", "high"), rates, strict=True))
    play.profile(rows=[{"contender": "a", "role": "candidate", "kind": "scan", "batch": b, **names} for b in (0, 1, 1)])
    html = render(collected(play.record))
    assert "nan" not in Page(html).values("d") and faults(html) == []


def test_a_damaged_record_is_not_to_be_relied_on(document: dict[str, Any]) -> None:
    document["summary"]["state"] = "broken"
    document["audit"] |= {
        "ok": False, "count": 1, "first_bad": document["commits"][1]["commit"],
        "problems": [{"rule": "seed", "event": 3, "what": "the seed 3 had been drawn for another tree"}],
    }  # fmt: skip
    document["damage"] = [f"event {number}: gone" for number in range(25)]
    assert headline(document).label == "Not to be relied on"
    text = Page(render(document)).text
    assert "Verified" not in text.split("What the audit says")[0].replace("Newest verified", "")
    assert "the seed 3 had been drawn for another tree" in text
    assert "event 19: gone" in text and "event 20: gone" not in text and "and 5 more" in text


def test_every_state_has_its_words(document: dict[str, Any]) -> None:
    labels = {}
    for state in ("done", "working", "needs_human", "broken", "unknown"):
        document["summary"]["state"] = state
        labels[state] = headline(document).label
    assert len(set(labels.values())) == 5


# Scale


@pytest.mark.slow
def test_five_hundred_attempts_and_fifty_commits_fit_on_a_page(document: dict[str, Any]) -> None:
    rows = document["attempts"]
    many = []
    for number in range(500):
        row = rows[0] if number % 2 else rows[1]
        row = row | {"number": number + 1, "asked": 2 * number, "event": 2 * number + 1}
        levels = [{**row["levels"][0], "level": level, "checks": row["levels"][0]["checks"] * 8} for level in (1, 2, 3)]
        found = [
            {**each, "cause": "x" * 200, "frames": None, "facts": [["actions", "1 " * 40]] * 3}
            for each in row["divergences"]
        ]
        many.append(row | {"levels": levels, "divergences": found})
    document |= {"attempts": many, "commits": [document["commits"][0] | {"commit": f"{n:040x}"} for n in range(50)]}
    html = render(document)
    assert len(html.encode()) < 4 << 20
    assert faults(html) == []


def test_features_are_what_the_task_declares(document: dict[str, Any]) -> None:
    assert set(FEATURES) <= set(document["coverage"][2]["features"])


def test_only_what_no_level_reached_counts_as_never_reached(document: dict[str, Any]) -> None:
    rollout = document["coverage"][2]
    assert rollout["features"] == {"the walker fell": 12, "the walker flew": 0}
    document["coverage"][3]["features"] = {"the walker fell": 0, "the walker flew": 3}
    text = Page(render(document)).text
    assert "Never reached" not in text and text.count("never") >= 2, "each level's count is shown all the same"
    document["coverage"][3]["features"]["the walker flew"] = 0
    assert "Never reached: the walker flew." in Page(render(document)).text


def test_how_far_floats_were_off_is_shown_leaf_by_leaf(document: dict[str, Any]) -> None:
    floats = document["coverage"][2]["floats"]
    assert [row["leaf"] for row in floats["rows"]] == ["state/x", "reward"]
    text = re.sub(r"(<[^>]+>|\s)+", " ", render(document))
    assert "state/x 5,000 25.0% 1e-12 (4) 2e-11 (96) 5e-10 (2048) 62%" in text
    assert "reward 5,000 all 0 0 0" in text
    assert "open loop agreed for 48 steps in the median of 20 episodes" in text
    for each in document["coverage"]:
        each["floats"]["rows"] = []
    assert "No floats were compared" in Page(render(document)).text


def test_what_was_reached_of_a_crate_is_reported(document: dict[str, Any]) -> None:
    reported = "candidate reached: lines 7/9 (77%); never: lib.rs:4-5"
    nothing: dict[str, Any] = {
        "certified": None,
        "levels": [],
        "modules": [],
        "never": [],
        "never_count": 0,
        "not_measured": [],
        "error": "",
    }
    document["reached"] = {**nothing, "candidate": [reported]}
    assert reported in Page(render(document)).text


def test_how_episodes_of_several_players_ended_is_shown_for_the_reference(document: dict[str, Any]) -> None:
    page = render(document)
    assert page.count('<th scope="row">candidate</th><td>red</td><td>random</td>') == 1
    assert "75% (59% to 87%)" in page


def test_every_figure_of_a_profile_has_its_place_in_the_table(document: dict[str, Any]) -> None:
    twice = document["profiles"][0]["figures"]
    twice.append(twice[-1] | {"steps_per_s": 123.0})
    table = _rates(document["profiles"][0])
    shown = [each for _, _, cells in table["rows"] for cell in cells for each in cell] + table["reference"]
    assert len(shown) == len(twice) and all(each in shown for each in twice)
    for kind, contender, cells in table["rows"]:
        for batch, cell in zip(table["batches"], cells, strict=True):
            assert all((each["kind"], each["contender"], each["batch"]) == (kind, contender, batch) for each in cell)


@pytest.mark.parametrize(("width", "coarse"), [(84, True), (600, False)])
def test_a_large_picture_is_not_shrunk_by_leaving_lines_out(width: int, coarse: bool) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (width, 40)).save(picture, "PNG")
    assert _coarse("data:image/png;base64," + base64.b64encode(picture.getvalue()).decode()) is coarse
    assert _coarse("data:image/png;base64,iVBORw0KGgo="), "a picture without a header is none at all"


def test_every_check_has_a_row_and_what_did_not_pass_comes_first(document: dict[str, Any]) -> None:
    level = {"checks": [
        {"name": "laws", "module": None, "outcome": "PASS", "examples": 12345, "detail": "smallest p 0.3"},
        {"name": "steps", "module": "moves", "outcome": "FAIL", "examples": 7, "detail": ""},
    ]}  # fmt: skip
    document["attempts"][0]["levels"] = [document["attempts"][0]["levels"][0] | level]
    html = render(document)
    table = html[html.index('<table class="checks small">') :].split("</table>")[0]
    assert table.index("steps") < table.index("laws") and table.count("<tr>") == 3
    assert "12,345" in table and "smallest p 0.3" in table and "moves" in table


@pytest.mark.parametrize("outcome", ["FAIL", "ERROR", "INCONCLUSIVE", "interrupted"])
def test_an_attempt_that_did_not_pass_is_not_titled_with_what_it_was_meant_to_be(
    document: dict[str, Any], outcome: str
) -> None:
    document["attempts"] = [
        document["attempts"][0] | {"outcome": outcome, "message": "Pass level 3", "failed_level": 1}
    ]
    document["attempts"][0] |= {"level": 3, "step": "level 3"}
    html = render(document)
    title = html.split('<span class="what">')[1].split("<span")[0]
    assert "Pass" not in title and title.startswith("Level 3") and "at level 1" in title
    assert "meant as: Pass level 3" in html


def test_a_level_that_a_commit_proves_is_named_although_what_came_after_failed(document: dict[str, Any]) -> None:
    document["summary"] |= {"state": "working", "highest_level": 0, "next": "level 1"}
    text = Page(render(document)).text
    assert "Highest level passed" in text and "none yet" not in text.split("Newest verified commit")[0]
    assert "Level 4 passed in commit" in text and "since then none" in text


def test_a_diff_cannot_bring_markup_and_shows_what_was_added(document: dict[str, Any]) -> None:
    found = next(each for row in document["attempts"] for each in row["divergences"])
    diff = [{"path": PAYLOAD, "kind": "changed", "diff": f"@@ -1 +1 @@\n-{PAYLOAD}\n+y = 2{INVISIBLE}"}]
    found["repaired"] |= {"diff": diff, "diff_of": None}
    html = render(document)
    assert faults(html) == [] and "<ins>+y = 2" in html and INVISIBLE not in html
