"""Verdicts of recorded sessions, reached again: the shipped environments' sessions are regression tests of the harness."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.assurance.replay.changes import changes, tree_before
from harness.assurance.replay.reproduction import Match
from harness.assurance.replay.rerun import Repeated, Rerun, chosen, sample
from harness.cli.main import main
from harness.errors import RecordError
from harness.policy.trust import Trust
from harness.record.event import VERDICT_FILE, Event
from harness.record.log import event_file, read_events
from harness.record.received import opened
from harness.record.store import Store
from harness.session.recipe import VERDICT
from harness.verdict import Outcome
from harness.verify.levels import property
from mcp_server.drive import Driven, drive

SESSIONS = Path(__file__).parent / "sessions"
BUNDLES = {path.stem: path for path in sorted(SESSIONS.glob("*.bundle"))}
with opened(BUNDLES["cartpole"]) as recorded:
    TRUSTED = ("--trust-task", read_events(recorded)[0].detail["task_digest"])
LEVELS = {"cartpole": 3, "pong": 2}
"""The levels above are left out here: they last. docs/replay.md says how to repeat all."""

REPRODUCED = (Match.EXACT, Match.WITHIN)


@pytest.fixture(scope="module")
def cartpole() -> Iterator[tuple[Store, list[Event]]]:
    with opened(BUNDLES["cartpole"]) as store:
        yield store, read_events(store)


def vouched(events: list[Event]) -> Trust:
    """A person compared the digest of the recorded task."""
    return Trust(Path("/nowhere"), (events[0].detail["task_digest"],))


def verdicts(events: list[Event], outcome: Outcome) -> list[Event]:
    return [event for event in events if event.kind == VERDICT and event.outcome == outcome]


@pytest.mark.slow
@pytest.mark.pong
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if name != "cartpole" else ()) for name in BUNDLES]
)
def test_recorded_verdicts_are_reached_again(name: str) -> None:
    """The first of each level and outcome: all of them would take minutes (docs/replay.md)."""
    with opened(BUNDLES[name]) as store:
        events = read_events(store)
        kinds = {
            (event.arguments["level"], event.outcome): event for event in reversed(events) if event.kind == VERDICT
        }
        with Rerun(store, events, vouched(events), levels=LEVELS[name]) as rerun:
            repeated = list(rerun.repeat(list(kinds.values())))
    reported = [(each.seq, each.found.match, each.found.because, each.found.differences) for each in repeated]
    assert all(each.ok for each in repeated), reported
    reached = {(each.level, each.outcome) for each in repeated if each.found.match in REPRODUCED}
    assert reached >= {(1, "FAIL")} | {(level, "PASS") for level in range(1, LEVELS[name] + 1)}, reported
    left_out = [each for each in repeated if each.found.match not in REPRODUCED]
    assert all("are not repeated here" in each.found.because for each in left_out), reported


@pytest.mark.slow
def test_a_harness_that_judges_otherwise_is_found(
    cartpole: tuple[Store, list[Event]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, events = cartpole
    event = next(e for e in verdicts(events, Outcome.PASS) if e.arguments["module"] == "dynamics")
    with Rerun(store, events, vouched(events)) as rerun:
        [honest] = rerun.repeat([event])
    assert honest.found.match in REPRODUCED, honest.found
    monkeypatch.setattr(property, "SWEEP", property.SWEEP + 1)
    with Rerun(store, events, vouched(events)) as rerun:
        [other] = rerun.repeat([event])
    # Where the recorded conditions are those of this machine it has to be the same to the byte.
    assert other.found.digest != other.found.again
    assert other.found.match is (Match.WITHIN if other.found.changed else Match.DIFFERENT)
    assert any("examples" in each for each in other.found.differences)


@pytest.mark.slow
def test_a_verdict_that_was_never_reached_is_found(cartpole: tuple[Store, list[Event]]) -> None:
    """A record in which the tree that failed stands beside the verdict of the one that passed."""
    store, events = cartpole
    failed = verdicts(events, Outcome.FAIL)[0]
    asked = ("level", "module")
    passed = next(
        event
        for event in verdicts(events, Outcome.PASS)
        if all(event.arguments[each] == failed.arguments[each] for each in asked)
    )
    forged = replace(passed, workspace=failed.workspace)
    events = [forged if event.seq == passed.seq else event for event in events]
    with Rerun(store, events, vouched(events)) as rerun:
        [repeated] = rerun.repeat([forged])
    assert repeated.found.match is Match.DIFFERENT
    assert not repeated.ok
    assert (repeated.outcome, repeated.outcome_again) == ("PASS", "FAIL")


def test_levels_that_were_not_asked_for_are_said_to_be_left_out(cartpole: tuple[Store, list[Event]]) -> None:
    store, events = cartpole
    highest = max(verdicts(events, Outcome.PASS), key=lambda event: event.arguments["level"])
    with Rerun(store, events, vouched(events), levels=1) as rerun:
        [left_out] = rerun.repeat([highest])
    assert left_out.found.match is Match.NOT_REPEATED
    assert left_out.outcome_again == ""
    assert "levels above 1 are not repeated" in left_out.found.because


def test_verdicts_are_named_by_event_or_commit(cartpole: tuple[Store, list[Event]]) -> None:
    _, events = cartpole
    passed = [event for event in events if event.commit][-1]
    assert chosen(events, str(passed.seq)) == [passed]
    assert chosen(events, str(passed.commit)[:8]) == [passed]
    assert chosen(events, "all") == [event for event in events if event.kind == VERDICT]
    for wrong in ("0", "999", "abcdef0123"):
        with pytest.raises(RecordError, match="no verdict") as refused:
            chosen(events, wrong)
        assert str(passed.commit)[:10] in str(refused.value)


def test_a_sample_holds_the_newest_commit_and_others_at_random(cartpole: tuple[Store, list[Event]]) -> None:
    _, events = cartpole
    verified = [event for event in events if event.commit]
    assert sample(events, 1) == verified[-1:]
    drawn = [tuple(event.seq for event in sample(events, 3)) for _ in range(20)]
    assert all(verified[-1].seq in seqs and len(set(seqs)) == 3 for seqs in drawn)
    assert len(set(drawn)) > 1
    assert len(sample(events, 1 << 30)) == sum(event.kind == VERDICT for event in events)


@pytest.mark.slow
def test_an_audit_may_reach_verdicts_again_and_fails_with_them(
    cartpole: tuple[Store, list[Event]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, events = cartpole
    first = verdicts(events, Outcome.PASS)[:1]
    # The newest commit passed level 4, which trains for minutes: another is drawn in its place.
    monkeypatch.setattr("harness.assurance.replay.rerun.sample", lambda events, count: first[:count])
    assert main(["audit", str(BUNDLES["cartpole"]), "--rerun", "1", *TRUSTED, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] and [each["seq"] for each in document["rerun"]["verdicts"]] == [first[0].seq]
    monkeypatch.setattr(Repeated, "ok", False)
    assert main(["audit", str(BUNDLES["cartpole"]), "--rerun", "1", *TRUSTED, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["ok"] is False


# Listing and walking


def replayed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main(["replay", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_record_is_listed_from_a_bundle_alone(
    cartpole: tuple[Store, list[Event]], capsys: pytest.CaptureFixture[str]
) -> None:
    _, events = cartpole
    document = replayed(capsys, str(BUNDLES["cartpole"]))
    attempts = [row for row in document["rows"] if row["kind"] == "attempt"]
    assert len(attempts) == sum(event.kind == VERDICT for event in events)
    failed = [row for row in attempts if row["outcome"] == "FAIL"]
    assert failed and all(row["repaired"]["event"] > row["event"] for row in failed)
    assert document["repairs"] == len(failed)
    assert document["commits"] == sum(event.commit is not None for event in events)
    assert document["audit"]["ok"]
    assert main(["replay", str(BUNDLES["cartpole"])]) == 0
    shown = capsys.readouterr().out
    assert "repaired by event" in shown and "the record holds together" in shown


def test_a_walk_shows_each_event_with_the_files_that_changed(
    cartpole: tuple[Store, list[Event]], capsys: pytest.CaptureFixture[str]
) -> None:
    store, events = cartpole
    failed = verdicts(events, Outcome.FAIL)[0]
    document = replayed(capsys, str(BUNDLES["cartpole"]), "--step", "--from", str(failed.seq))
    first, following = document["steps"][:2]
    assert dict(first["divergence"])["rule"] == "value"
    [repair] = [change for change in following["changes"] if change["path"] == "candidate/env.py"]
    removed = [line for line in repair["diff"] if line[:1] == "-" and line[:3] != "---"]
    verdict = json.loads(event_file(store, failed.id, VERDICT_FILE))
    assert removed and verdict["outcome"] == "FAIL"
    assert any(change["kind"] == "added" and change["path"].startswith("cases/") for change in following["changes"])
    assert main(["replay", str(BUNDLES["cartpole"]), "--step", "--from", str(failed.seq)]) == 0
    assert removed[0] in capsys.readouterr().out


def test_the_task_itself_is_no_change(cartpole: tuple[Store, list[Event]]) -> None:
    store, events = cartpole
    assert tree_before(events, events[0]) is None
    assert list(changes(store, None, str((events[0].workspace or {})["gitTree"]))) == []


def test_a_damaged_record_is_named_and_nothing_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.bundle"
    broken.write_bytes(BUNDLES["cartpole"].read_bytes()[:-4000])
    assert main(["replay", str(broken), "--verify", "all", "--json"]) == 3
    assert "git says" in json.loads(capsys.readouterr().out)["what"]


def test_only_one_kind_of_replay_is_asked_for_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(BUNDLES["cartpole"]), "--step", "--drive"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_a_record_names_no_path_of_the_machine_on_which_it_was_made() -> None:
    for bundle in BUNDLES.values():
        with opened(bundle) as store:
            found = [event.encode() for event in read_events(store)]
        assert not any(str(Path.home()).encode() in content or b"/tmp" in content for content in found)


@pytest.mark.slow
@pytest.mark.nightly  # by day a shorter session is driven: tests/cli/test_task_update.py
def test_a_fresh_server_that_is_driven_by_a_record_comes_to_the_same_verdicts(
    cartpole: tuple[Store, list[Event]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(BUNDLES["cartpole"]), "--drive", *TRUSTED, "--levels", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    reported = document["verdicts"]
    assert document["same"] and {each["outcome"] for each in reported} == {"PASS", "FAIL"}
    assert all(bool(each["commit"]) == bool(each["commit_again"]) for each in reported)
    status = main(["audit", document["session"], "--json"])
    assert status == 0, capsys.readouterr().out


@pytest.mark.slow
def test_a_drive_says_where_a_server_comes_to_another_verdict(cartpole: tuple[Store, list[Event]]) -> None:
    """A verdict failed; a record in which it passed is not what a fresh server says."""
    store, events = cartpole
    failed = verdicts(events, Outcome.FAIL)[0]
    forged = [replace(event, outcome="PASS", detail={}) if event is failed else event for event in events]
    reported: list[Driven] = []
    driven = drive(store, forged[: failed.seq + 1], vouched(events), reported.append, lambda what, done, total: None)
    assert not driven.same
    assert [(each.outcome, each.outcome_again) for each in reported if not each.same] == [("PASS", "FAIL")]
