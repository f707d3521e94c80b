"""The attack: a record names places of its reader's machine, and whoever reaches its verdicts again has files written there.

Its sender needs no key that anybody knows: the task in it is one that the reader's home knows, as every public one is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

import mcp_server.drive
from harness.assurance.audit import audit
from harness.assurance.replay.rerun import Rerun, chosen
from harness.errors import RecordError
from harness.policy.trust import Trust
from harness.record.event import START, VERDICT_FILE, Event
from harness.record.keyring import Keyring
from harness.record.log import EventLog, event_file, read_events
from harness.record.snapshot import Snapshot, snapshot
from harness.record.store import Store
from harness.session.recipe import VERDICT
from harness.session.session import Session
from harness.support.files import write_below
from tests.session.standin import Agent, factory

CONTENT = b"a stranger's"
UP = "/".join([".."] * 30)
"""From any directory to the root."""


class Reached(Exception):
    """The attack is over: what comes after would run the task."""


def no_further(*given: object, **named: object) -> NoReturn:
    raise Reached


@pytest.fixture
def record(task: Path, tmp_path: Path) -> Iterator[tuple[Store, Keyring, str]]:
    """The record of a stranger's session with one verdict, the keys of his home, and the digest of its task."""
    home = tmp_path / "stranger"
    with Session.start(task, tmp_path / "work", home, verifier=factory([])) as session:
        Agent(session, []).get_right("start")
        session.verify()
        repository, digest = session.directory.repository, session.events[0].detail["task_digest"]
    with Store(repository) as store:
        yield store, Keyring(home), digest


def again(store: Store, log: EventLog, verdict: Event) -> None:
    """Record the same verdict once more."""
    assert verdict.workspace is not None
    tree = verdict.workspace["gitTree"]
    log.append(
        VERDICT,
        arguments=verdict.arguments,
        outcome=verdict.outcome,
        detail=verdict.detail,
        workspace=Snapshot(tree, store.files(tree), verdict.workspace["dirHash"]),
        attached={VERDICT_FILE: event_file(store, verdict.id, VERDICT_FILE)},
    )


@pytest.mark.parametrize("path", ["cases/{up}{mark}", "cases/deep/{up}{mark}", "cases/.git/{mark}"])
def test_a_case_is_written_nowhere_but_below_the_task(
    path: str, record: tuple[Store, Keyring, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, keys, digest = record
    mark = tmp_path / "mark"
    log = EventLog(store, keys)
    verdict = next(event for event in log.events if event.kind == VERDICT)
    log.append("note", attached={path.format(up=UP, mark=mark): CONTENT})
    again(store, log, verdict)
    assert not audit(store).ok
    monkeypatch.setattr(Rerun, "_verifier", no_further)
    events = read_events(store)
    with (
        Rerun(store, events, Trust(tmp_path / "reader", {digest})) as rerun,
        pytest.raises(RecordError, match=r"a recorded file is (not a file name|named like a git directory)"),
    ):
        list(rerun.repeat(chosen(events, "all")[-1:]))
    assert not mark.exists()


def test_a_case_with_a_fine_name_is_written(
    record: tuple[Store, Keyring, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks above can fail: a recorded case that lies where cases do reaches the task."""
    store, keys, digest = record
    log = EventLog(store, keys)
    verdict = next(event for event in log.events if event.kind == VERDICT)
    log.append("note", attached={"cases/deep/one.json": CONTENT})
    again(store, log, verdict)
    monkeypatch.setattr(Rerun, "_verifier", no_further)
    events = read_events(store)
    with Rerun(store, events, Trust(tmp_path / "reader", {digest})) as rerun:
        with pytest.raises(Reached):
            list(rerun.repeat(chosen(events, "all")[-1:]))
        assert (rerun._task / "cases/deep/one.json").read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["../up", "a/../../up", "..", "a//b", "./a", ""])
def test_nothing_is_written_above_a_directory(name: str, tmp_path: Path) -> None:
    root = tmp_path / "below" / "root"
    root.mkdir(parents=True)
    with pytest.raises(RecordError, match="is no path below"):
        write_below(root, name, CONTENT)
    assert [path.name for path in tmp_path.rglob("*")] == ["below", "root"]


@pytest.mark.parametrize("how", ["absolute", "relative"])
def test_a_driven_session_replaces_no_directory_of_its_reader(
    how: str, task: Path, record: tuple[Store, Keyring, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of the task stands in the record, beside a digest that says nothing of it."""
    old, keys, digest = record
    mine = tmp_path / "mine"
    (mine / "work").mkdir(parents=True)
    (mine / "work" / "file").write_text("mine")
    named = str(mine) if how == "absolute" else f"{UP}{mine}"
    Store.create(tmp_path / "sent.git")
    with Store(tmp_path / "sent.git") as store:
        start = read_events(old)[0]
        log = EventLog(store, keys)
        arguments = {"task": named}
        log.append(START, arguments=arguments, detail=start.detail, workspace=snapshot(task, store))
        monkeypatch.setattr(mcp_server.drive, "connected", no_further)
        with pytest.raises(Reached):
            mcp_server.drive.drive(store, log.events, Trust(tmp_path / "reader", {digest}), no_further, no_further)
    assert (mine / "work" / "file").read_text() == "mine"
    assert sorted(os.listdir(mine)) == ["work"]
