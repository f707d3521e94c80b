"""Handing a session over to a new key: the record stays one chain, and a stolen old key continues nothing unnoticed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.assurance.audit import audit
from harness.errors import RecordError
from harness.record.event import Event
from harness.record.keyring import Keyring
from harness.record.keys import PublicKey, SigningKey, load_or_create
from harness.record.rotation import ROTATED, handing_over
from tests.assurance.audit.forger import Forger, Page
from tests.assurance.audit.reports import said
from tests.session.conftest import Open
from tests.session.faults import Points, in_child, killed_at
from tests.session.standin import Agent


def first_half(agent: Agent) -> None:
    """A failure and a commit, with the first key."""
    agent.session.verify(message="A first try")
    agent.get_right()
    agent.session.verify(message="Start")
    agent.session.close()


@pytest.fixture
def handed_over(agent: Agent, reopen: Open, home: Path) -> tuple[Path, SigningKey, SigningKey]:
    """A finished record whose key was rotated in the middle; the old key and the new one."""
    first_half(agent)
    ring = Keyring(home)
    old, new = ring.rotate()
    agent = reopen()
    for _ in range(3):
        agent.session.verify()
    agent.session.close()
    return agent.session.directory.repository, ring.holding(old), ring.holding(new)


def test_the_old_key_hands_over_and_the_new_one_signs_from_then_on(
    handed_over: tuple[Path, SigningKey, SigningKey],
) -> None:
    path, old, new = handed_over
    report = audit(path)
    assert report.problems == ()
    assert report.keys == (
        {"id": old.public.id, "from": 0, "isolated": True},
        {"id": new.public.id, "from": 6, "isolated": True},
    )
    assert report.key == new.public.id
    assert len(report.rows) == 4


def test_either_key_can_be_pinned_and_no_other(
    handed_over: tuple[Path, SigningKey, SigningKey], tmp_path: Path
) -> None:
    path, old, new = handed_over
    assert audit(path, old.public).ok
    assert audit(path, new.public).ok
    report = audit(path, load_or_create(tmp_path / "another").public)
    assert [problem.rule for problem in report.problems] == ["key"]
    assert (report.last_good, report.first_bad) == (None, report.rows[0].commit)


def test_a_session_takes_only_the_newest_of_several_keys(agent: Agent, reopen: Open, home: Path) -> None:
    first_half(agent)
    ring = Keyring(home)
    for _ in range(3):
        ring.rotate()
    again = reopen()
    assert [event.kind for event in again.session.events].count(ROTATED) == 1
    again.session.close()
    assert [event.kind for event in reopen().session.events].count(ROTATED) == 1
    report = audit(again.session.directory.repository, ring.present.public)
    assert report.problems == ()


def test_a_session_without_its_key_is_refused_before_anything_is_written(
    agent: Agent, reopen: Open, home: Path
) -> None:
    first_half(agent)
    repository = agent.session.directory.repository
    aside = home.parent / "aside"
    (home / "keys").rename(aside)
    other = Keyring(home).present.public
    before = {(str(p), p.stat().st_mtime_ns) for p in repository.rglob("*") if p.is_file()}
    with pytest.raises(RecordError, match="which this home does not have") as caught:
        reopen()
    assert "nothing was changed" in caught.value.next_step
    assert {(str(p), p.stat().st_mtime_ns) for p in repository.rglob("*") if p.is_file()} == before
    assert audit(repository).ok

    # As the error says: the key is put back, and everything goes on, signed by the key that is now the present one.
    signed_with = audit(repository).key
    (home / "keys" / "retired").mkdir(mode=0o700)
    shutil.copy2(aside / "ed25519.pem", home / "keys" / "retired" / f"{signed_with}.pem")
    assert reopen().session.verify(message="Move").commit is not None
    report = audit(repository, other)
    assert report.problems == () and report.key == other.id


@pytest.mark.slow
def test_a_kill_at_any_write_of_the_hand_over_leaves_a_session_that_goes_on(
    agent: Agent, home: Path, workspace: Path, reopen: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    first_half(agent)
    repository = agent.session.directory.repository
    kept = repository.with_name("kept")
    shutil.copytree(repository, kept)
    Keyring(home).rotate()

    def open_at(chosen: int) -> int:
        def work() -> None:
            Points(killed_at(chosen)).install()
            reopen()

        return in_child(work)

    ended, number = False, 0
    while not ended:
        shutil.rmtree(repository)
        shutil.copytree(kept, repository)
        ended = open_at(number) == 0
        session = reopen().session
        assert [event.kind for event in session.events].count(ROTATED) == 1
        session.close()
        assert audit(repository, Keyring(home).present.public).problems == ()
        number += 3
    assert number > 15


# Somebody who has stolen the old key


@pytest.fixture
def forger(handed_over: tuple[Path, SigningKey, SigningKey], tmp_path: Path) -> Forger:
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--mirror", "--no-hardlinks", handed_over[0], clone], check=True)
    return Forger(clone)


def going_on_after_the_hand_over(forger: Forger, old: SigningKey, new: PublicKey) -> None:
    last = forger.events[-1]
    forger.pages.append(Page(Event(last.seq + 1, last.time, "usage", usage={"dollars": 0.0})))
    forger.consistent(old, signed_from=len(forger.pages) - 1)
    forger.publish()


def another_history_without_any_hand_over(forger: Forger, old: SigningKey, new: PublicKey) -> None:
    forger.pages = forger.pages[:6]
    forger.pages[3].event = replace(forger.pages[3].event, usage={"dollars": 0.0})
    forger.consistent(old)
    forger.publish()


def another_history_that_ends_with_the_hand_over(forger: Forger, old: SigningKey, new: PublicKey) -> None:
    """The new key's public half and its acceptance are known to everybody; they are put after another history."""
    forger.pages = forger.pages[:6]
    forger.pages[2].event = replace(forger.pages[2].event, duration_s=0.5)
    forger.consistent(old)
    forger.publish()


def test_the_pages_that_the_forgeries_speak_of_are_these(forger: Forger) -> None:
    assert [event.kind for event in forger.events[:7]] == [
        "start",
        "attempt",
        "verdict",
        "attempt",
        "verdict",
        ROTATED,
        "attempt",
    ]


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (going_on_after_the_hand_over, "which was rotated away by event 5"),
        (another_history_without_any_hand_over, "did not sign it"),
        (another_history_that_ends_with_the_hand_over, "never accepted the hand-over to it"),
    ],
)
def test_whoever_pins_the_new_key_sees_what_the_old_one_forged(
    forge: Callable[[Forger, SigningKey, PublicKey], None],
    words: str,
    forger: Forger,
    handed_over: tuple[Path, SigningKey, SigningKey],
) -> None:
    _, old, new = handed_over
    forge(forger, old, new.public)
    report = audit(forger.path, new.public)
    assert not report.ok
    assert words in said(report)


def test_a_hand_over_that_the_new_key_did_not_accept_is_named_even_without_a_pin(
    forger: Forger, handed_over: tuple[Path, SigningKey, SigningKey]
) -> None:
    _, old, new = handed_over
    page = forger.pages[5]
    detail = {**page.event.detail, "accepted": handing_over(old, 5, page.event.previous)["accepted"]}
    page.event = replace(page.event, detail=detail)
    forger.consistent(old)
    forger.publish()
    assert f"the key {new.public.id} never accepted the hand-over to it" in said(audit(forger.path))
