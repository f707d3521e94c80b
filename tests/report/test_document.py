"""The report's data comes from the record alone, and from as much of it as can be read."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RecordError
from harness.record.event import EVENT_FILE, VERDICT_FILE
from harness.record.keys import PublicKey
from harness.record.log import EVENTS, event_commits, event_entry
from harness.record.received import opened
from harness.record.store import Store
from harness.report import plain
from harness.report.document import collect
from harness.report.page import render
from tests.assurance.audit.forger import Forger
from tests.report.conftest import collected
from tests.report.markup import INVISIBLE, faults
from tests.report.script import FEATURES, Finding, Play, figures


@pytest.fixture
def clone(record: Path, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    made = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--mirror", "--no-hardlinks", str(record), str(made)], check=True)
    return made


def spoil(clone: Path, seq: int, path: str) -> None:
    """Flip a byte of a file of an event."""
    with Store(clone) as store:
        blob = event_entry(store, event_commits(store, store.refs()[EVENTS])[seq], path).id
    stored = clone / "objects" / blob[:2] / blob[2:]
    if not stored.exists():
        packs = list((clone / "objects" / "pack").glob("*.pack"))
        moved = [pack.rename(clone / pack.name) for pack in packs]
        for pack in moved:
            command = ["git", "--git-dir", str(clone), "unpack-objects", "-q"]
            subprocess.run(command, check=True, stdin=pack.open("rb"))
    content = bytearray(stored.read_bytes())
    content[len(content) // 2] ^= 1
    stored.chmod(0o644)
    stored.write_bytes(bytes(content))


# What it says


def test_the_pages_list_of_the_data_is_whole(document: dict[str, Any]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    section = page.split("## The data", 1)[1].split("\n## ", 1)[0]
    of_attempts = {"levels", "checks", "outcomes_told", "floats", "divergences"}
    assert set(re.findall(r"`([a-z_0-9]+)`", section)) - of_attempts == set(document)


def test_the_verdict_and_the_figures_behind_it_come_first(document: dict[str, Any]) -> None:
    reported = document["summary"]
    assert (reported["state"], reported["highest_level"], reported["levels"]) == ("done", 4, [1, 2, 3, 4])
    assert reported["commit"] == document["commits"][-1]["commit"]
    assert (reported["bounded"]["episodes"], reported["bounded"]["steps"]) == (100, 5000)
    assert reported["bounded"]["bound"] == pytest.approx(1 - 0.05 ** (1 / 100))
    assert reported["outcomes"] == {"FAIL": 2, "INCONCLUSIVE": 1, "PASS": 6}
    assert (reported["divergences"], reported["open_divergences"]) == (3, 0)
    assert (reported["sandboxes"], reported["isolated"], reported["dollars"]) == (["bubblewrap"], True, 0.25)
    assert (document["audit"]["ok"], document["audit"]["problems"], document["damage"]) == (True, [], [])
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_attempts_stand_in_their_sub_envs_with_what_they_checked(document: dict[str, Any]) -> None:
    recipe_steps = [recipe_step["recipe_step"] for recipe_step in document["recipe_steps"]]
    assert recipe_steps == ["1/start", "1/moves", "1", "2", "3", "4"]
    assert [recipe_step["passed"] for recipe_step in document["recipe_steps"]] == [True, True, None, True, True, True]
    first, second = document["attempts"][:2]
    assert (first["number"], first["step"], first["outcome"], first["message"]) == (
        1, "level 1 of start", "FAIL", "A first try",
    )  # fmt: skip
    assert (first["commit"], second["commit"]) == (None, document["commits"][0]["commit"])
    assert first["levels"][0]["checks"][0] == {
        "name": "start", "module": "start", "outcome": "PASS", "examples": 40, "detail": "",
    }  # fmt: skip
    assert second["asked"] == first["event"] + 2  # between them stands what was spent


def test_each_level_tells_what_occurred_and_what_never_did(document: dict[str, Any]) -> None:
    first, rollout = next(row["levels"] for row in document["attempts"] if len(row["levels"]) > 2)[::2]
    assert (first["level"], first["outcomes_told"]) == (1, [])
    assert rollout["outcomes_told"] == [
        ["ends", "99 terminated, 1 both; the longest took 321 steps"],
        ["rewards", "0.0 (4,900 times), 1.0 (100 times)"],
        ["never", "the walker flew, end truncated, observation high"],
    ]


def test_a_divergence_has_its_values_case_pictures_and_repair(document: dict[str, Any]) -> None:
    first, second = document["attempts"][:2]
    (found,) = first["divergences"]
    assert (found["address"], found["step"], found["expected"], found["actual"]) == ("reward", "2", "1.0", "0.0")
    assert found["facts"] == [["starts from", "x = 0.5"], ["actions", "0 1 2"]]
    assert found["case"] in first["cases"]
    assert found["reproduce"] == f"lockstep compare --case {found['case']}"
    assert found["frames"].keys() == {"expected", "actual"}
    assert all(picture.startswith("data:image/png;base64,") for picture in found["frames"].values())
    assert {name: found["repaired"][name] for name in ("event", "commit")} == {
        "event": second["event"], "commit": second["commit"],
    }  # fmt: skip


def test_a_divergence_that_nothing_passed_after_is_not_repaired(play: Play) -> None:
    play.attempt(Finding(1, "start"))
    play.attempt(Finding(1, "moves"), level=1)
    document = collected(play.record)
    assert [d["repaired"] for row in document["attempts"] for d in row["divergences"]] == [None, None]
    assert document["summary"]["open_divergences"] == 2
    play.attempt(message="Start")  # level 1 of start says nothing of the moves
    repaired = [d["repaired"] is not None for row in collected(play.record)["attempts"] for d in row["divergences"]]
    assert repaired == [True, False]


def test_of_many_divergences_the_first_are_shown_and_all_counted(play: Play) -> None:
    play.attempt(Finding(1, "start", count=30))
    (row,) = collected(play.record)["attempts"]
    assert (len(row["divergences"]), row["divergences_found"]) == (12, 30)


def test_an_attempt_that_runs_has_no_outcome_yet(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    def look(*_: object, **__: object) -> None:
        seen.update(collected(play.record))
        raise KeyboardInterrupt

    monkeypatch.setattr("tests.report.script._report", look)
    with pytest.raises(KeyboardInterrupt):
        play.attempt(message="On the way")
    assert [row["outcome"] for row in seen["attempts"]] == ["running"]
    assert [row["outcome"] for row in collected(play.record)["attempts"]] == ["interrupted"]


def test_profiles_are_reported_newest_first_with_the_commit_they_measured(document: dict[str, Any]) -> None:
    last, before = document["profiles"]
    assert last["event"] > before["event"]
    assert (last["outcome"], last["best"], before["best"]) == ("PASS", 1e5 * 8192, 5e4 * 8192)
    assert last["commit"] == document["summary"]["commit"]
    assert {each["role"] for each in last["figures"]} == {"candidate", "peer", "reference"}


def test_suspicious_and_failed_profiles_are_marked(play: Play) -> None:
    play.profile(rows=[figures()[1] | {"suspicious": True}])
    play.profile("FAIL", finding="another answer when it is timed")
    failed, suspicious = collected(play.record)["profiles"]
    assert (failed["outcome"], failed["finding"]) == ("FAIL", "another answer when it is timed")
    assert (suspicious["suspicious"], failed["suspicious"]) == (True, False)


def test_transfer_coverage_and_cost_are_reported(document: dict[str, Any]) -> None:
    last, before = document["transfers"]
    assert (last["outcome"], before["outcome"], last["margin"]) == ("PASS", "INCONCLUSIVE", 1.0)
    assert [row["decision"] for row in last["comparisons"]] == ["equivalent", "undecided"]
    assert [row["trained_in"] for row in last["policies"]] == ["candidate", "reference"]
    assert [row["played_in"] for row in last["results"]] == ["candidate", "reference"]
    assert last["results"][1]["won"] == {"share": 0.75, "interval": [0.588, 0.873]}
    rollout = document["coverage"][2]
    assert (rollout["level"], rollout["features"], rollout["never"]) == (3, FEATURES, ["the walker flew"])
    assert document["strength"] == []
    cost = document["cost"]
    assert (cost["total"]["dollars"], cost["total"]["input_tokens"], cost["limit_dollars"]) == (0.25, 1200, 2.0)
    assert [row["dollars"] for row in cost["commits"]] == [0.25] + [0.0] * 5
    assert [level for level, _ in cost["seconds_by_level"]] == [1, 2, 3, 4]


def test_a_record_in_which_nothing_happened_has_a_report(play: Play) -> None:
    document = collected(play.record)
    assert document["summary"]["state"] == "working"
    assert document["summary"]["next"] == "level 1 of start"
    assert (document["attempts"], document["commits"], document["profiles"], document["coverage"]) == ([], [], [], [])


def test_a_session_at_its_limits_needs_a_person(play: Play) -> None:
    for _ in range(6):
        play.attempt(Finding(1, "start"))
    reported = collected(play.record)["summary"]
    assert (reported["state"], reported["because"]) == ("needs_human", ["6 iterations on level 1 of start (limit 6)"])


def test_refusals_and_decisions_of_a_person_are_shown_one_by_one(play: Play) -> None:
    from harness.errors import TrustedFileChanged

    (play.session.workspace / "task.toml").write_text("easier")
    with pytest.raises(TrustedFileChanged):
        play.session.verify()
    play.session.resume("it was the editor")
    play.session.record("compare")
    others = collected(play.record)["other_events"]
    assert [each["kind"] for each in others["shown"]] == ["refused", "resumed"]
    assert others["shown"][1]["what"] == "it was the editor"
    assert others["counts"] == {"compare": 1, "refused": 1, "resumed": 1}


def test_the_given_key_is_held_against_the_record(record: Path) -> None:
    key = PublicKey.read(record.parents[2] / "keys" / "ed25519.pub.pem")
    with Store(record) as store:
        assert collect(store, key)["audit"]["pinned"] is True


def test_a_bundle_tells_the_same(record: Path, document: dict[str, Any], tmp_path: Path) -> None:
    bundle = tmp_path / "all.bundle"
    with Store(record) as store:
        store.bundle(bundle)
    with opened(bundle) as store:
        assert collect(store) == document


# Damage and deceit


def test_what_is_damaged_is_named_and_the_rest_is_still_reported(clone: Path, document: dict[str, Any]) -> None:
    spoil(clone, document["attempts"][0]["event"], VERDICT_FILE)
    broken = collected(clone)
    assert broken["summary"]["state"] == "broken"
    assert any(VERDICT_FILE in each for each in broken["damage"])
    assert broken["attempts"][0]["levels"] == []
    assert broken["attempts"][1:] == document["attempts"][1:]


@pytest.fixture
def forger(clone: Path) -> Iterator[Forger]:
    made = Forger(clone)
    yield made
    made.store.close()


def test_garbage_in_place_of_events_is_named_and_numbers_stay_apart(forger: Forger) -> None:
    forger.pages += [forger.pages[1], forger.pages[2]]
    forger.put(3, EVENT_FILE, b'{"schema": 1')
    forger.publish()
    broken = collected(forger.path)
    assert any("event 3" in each and "malformed" in each for each in broken["damage"])
    anchors = [{row["asked"], row["event"]} for row in broken["attempts"]]
    assert sum(map(len, anchors)) == len(set().union(*anchors))
    assert broken["summary"]["state"] == "broken"


@pytest.mark.parametrize(
    "verdict", [b"[]", b"{", b'{"levels": 3}', b'{"levels": [{"checks": [{"divergences": [{}]}]}]}']
)
def test_a_verdict_of_another_form_is_no_crash(forger: Forger, document: dict[str, Any], verdict: bytes) -> None:
    forger.put(document["attempts"][0]["event"], VERDICT_FILE, verdict)
    forger.publish()
    broken = collected(forger.path)
    assert len(broken["attempts"]) == len(document["attempts"])
    assert broken["summary"]["state"] == "broken"
    assert faults(render(broken)) == []


def test_deviations_that_are_none_are_named_and_left_out(forger: Forger, document: dict[str, Any]) -> None:
    seq = document["attempts"][0]["event"]
    forged = b'{"levels": [{"deviations": {"<b>": {"timesteps": 1}}}, {"open_loop": 3}, {"deviations": {}}]}'
    forger.put(seq, VERDICT_FILE, forged)
    forger.publish()
    broken = collected(forger.path)
    nothing = {"told": [], "rows": [], "left_out": 0}
    assert [level["floats"] for level in broken["attempts"][0]["levels"]] == [nothing] * 3
    assert sum(f"event {seq}, how far floats were off" in each for each in broken["damage"]) == 2
    assert faults(render(broken)) == []


def test_a_table_of_outcomes_that_is_none_is_named_and_left_out(forger: Forger, document: dict[str, Any]) -> None:
    seq = document["attempts"][0]["event"]
    forged = b'{"levels": [{"occurred": {"trajectories": "<script>"}}, {"occurred": [3]}, {"occurred": null}]}'
    forger.put(seq, VERDICT_FILE, forged)
    forger.publish()
    broken = collected(forger.path)
    assert [level["outcomes_told"] for level in broken["attempts"][0]["levels"]] == [[], [], []]
    assert sum(f"event {seq}, what occurred" in each for each in broken["damage"]) == 2
    assert faults(render(broken)) == []


@pytest.mark.parametrize(
    "detail", [{}, {"levels": 3, "figures": [3], "plan": 7, "machine": [], "counted": {"a": 1}, "unpriced": 4}]
)
def test_events_of_another_form_are_no_crash(forger: Forger, detail: dict[str, Any]) -> None:
    for seq in range(len(forger.pages)):
        forger.edit(
            seq, detail=detail, seeds={"run": "x"}, usage={"dollars": "x"}, arguments={"level": "x", "module": 3}
        )
    forger.publish()
    broken = collected(forger.path)
    assert broken["summary"]["state"] == "broken"
    assert faults(render(broken)) == []


def test_a_log_that_cannot_be_followed_to_its_start_is_reported_as_far_as_it_goes(clone: Path) -> None:
    with Store(clone) as store:
        commits = event_commits(store, store.refs()[EVENTS])
    spoil(clone, 0, "event.json")  # unpacks everything
    (clone / "objects" / commits[4][:2] / commits[4][2:]).unlink()
    broken = collected(clone)
    assert broken["session"] == "unknown"
    assert broken["summary"]["state"] == "broken"
    assert broken["damage"]


def test_a_directory_without_a_log_is_an_error(tmp_path: Path) -> None:
    Store.create(tmp_path / "empty.git")
    with Store(tmp_path / "empty.git") as store, pytest.raises(RecordError, match="there is no refs/lockstep/events"):
        collect(store)


def test_text_that_hides_or_reorders_is_made_visible() -> None:
    assert plain.line(INVISIBLE) == "\\u202egnp.exe\\x00\\u200b\\x1b[2J"
    assert plain.line("a\nb\ud800") == "a b\\ud800"
    assert plain.block("a\n\tb\x07") == "a\n    b\\x07"
    assert plain.line("x" * 5000).endswith("(cut, 5,000 characters)")
    assert plain.line(None) == ""


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "3", None, 10**400])
def test_what_is_no_number_is_none(value: object) -> None:
    assert plain.number(value) == 0.0
    assert plain.optional(value) is None


@pytest.mark.parametrize("value", ["A" * 40, "javascript:x", 7, "a" * 39, "a" * 41, None])
def test_only_a_commits_id_becomes_part_of_a_link(value: object) -> None:
    assert plain.commit_id(value) is None
    assert plain.commit_id("a" * 40) == "a" * 40


def test_each_repair_has_the_diff_beside_the_divergence_that_it_mends(play: Play) -> None:
    play.attempt(Finding(1, "start", count=2), "A first try")
    play.attempt(message="Start at rest")
    rows = collected(play.record)["attempts"]
    first, second = (each["repaired"] for each in rows[0]["divergences"])
    assert (first["number"], first["diff_of"], second["diff"], second["diff_of"]) == (2, None, [], 0)
    [changed] = first["diff"]
    assert (changed["path"], changed["kind"]) == ("candidate/env.py", "changed")
    assert changed["diff"].splitlines()[1:] == ["-x = 1", "+x = 2"]
