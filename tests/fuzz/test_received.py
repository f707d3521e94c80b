"""What must be noticed when a record of somebody else is read: each is planted once."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from harness.assurance.audit import audit
from harness.record import log
from harness.record.keys import PublicKey
from tests.fuzz import guard, sent
from tests.fuzz.guard import Guard
from tests.fuzz.target import Wrong
from tests.fuzz.targets.received import Original

HELD: list[Callable[[], object]] = []
"""What lets go of what is left, when its test is over."""


@pytest.fixture
def watch(tmp_path: Path) -> Guard:
    return Guard(tmp_path)


def ran(watch: Guard) -> None:
    subprocess.run(["touch", watch.marker], check=True)


def wrote(watch: Guard) -> None:
    (watch.temporary.parent / "somewhere").write_text("x")


def left_a_file(watch: Guard) -> None:
    (watch.temporary / "unpacked").mkdir()


def left_a_process(watch: Guard) -> None:
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert process.stdin is not None
    HELD.extend((process.stdin.close, process.wait))


def left_a_descriptor(watch: Guard) -> None:
    HELD.append(partial(os.close, os.open(watch.temporary, os.O_RDONLY)))


def waited(watch: Guard) -> None:
    os.mkfifo(watch.marker.parent / "pipe")
    subprocess.run(["cat", watch.marker.parent / "pipe"], check=False)


def computed(watch: Guard) -> None:
    subprocess.run([sys.executable, "-c", "sum(range(10_000_000))"], check=True)


PLANTED: dict[str, tuple[Callable[[Guard], None], str]] = {
    "it ran what was sent": (ran, "something that was sent ran"),
    "it wrote beside its directory": (wrote, "files changed"),
    "it left what it unpacked": (left_a_file, "files changed"),
    "it left a process": (left_a_process, "processes are left"),
    "it left a descriptor": (left_a_descriptor, "descriptors are left"),
    "it waits for ever": (waited, "a program was waited for"),
    "it computes for long": (computed, "of a processor"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_reading_that_does_more_than_reading_is_found(
    fault: str, watch: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "CPU_S", 0.02 if fault == "it computes for long" else 10.0)
    monkeypatch.setattr(guard, "WAITS_S", 0.2 if fault == "it waits for ever" else 40.0)
    does, named = PLANTED[fault]
    try:
        with pytest.raises(Wrong, match=named), watch.reading():
            does(watch)
    finally:
        while HELD:
            HELD.pop(0)()


def test_a_program_that_takes_much_memory_is_found(watch: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MEMORY_BYTES", 1 << 20)
    so_far = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10  # of whatever ran before in this process
    with pytest.raises(Wrong, match="a program held"), watch.reading():
        subprocess.run([sys.executable, "-c", f"len(b'x' * {2 * so_far})"], check=True)


def forged(place: Path) -> Path:
    """A bundle whose newest event says something else, and holds together in all but its signature."""
    record = sent.beginning()
    newest = record.objects[dict(record.refs)[log.EVENTS]]
    [event] = (each for each in entries(record, newest) if each in record.named[log.EVENT_FILE])
    old = record.objects[event]
    new = sent.Object("blob", old.content.replace(b'"duration_s"', b'"usage":{"dollars":5},"duration_s"', 1))
    assert new != old
    record.objects[new.id] = new
    sent.follow(record, {event: new.id})
    place.write_bytes(sent.bundle(record, {}))
    return place


def entries(record: sent.Record, commit: sent.Object) -> list[str]:
    """The ids in the tree of a commit."""
    return [below for tree in commit.children if tree in record.objects for below in record.objects[tree].children]


def test_an_audit_that_holds_for_what_nobody_proved_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original, bundle = Original(), forged(tmp_path / "forged.bundle")
    report = audit(bundle)
    assert not report.ok
    original.demand(report)
    monkeypatch.setattr(PublicKey, "verifies", lambda *_: True)  # the planted fault: an audit that takes any signature
    with pytest.raises(Wrong):
        original.demand(audit(bundle))


@pytest.mark.parametrize(
    "form", [{}, {"deltas": 1 << 16, "seed": 1}, {"lines": ["# v3 git bundle", "@object-format=sha1"]}]
)
def test_a_bundle_without_changes_holds(form: dict[str, object], tmp_path: Path) -> None:
    """The control: what the fuzzer writes is a bundle, so that what is found lies in the changes."""
    bundle = tmp_path / "some.bundle"
    bundle.write_bytes(sent.bundle(sent.beginning(), form))
    report = audit(bundle)
    assert report.ok, report.problems
    assert (report.events, len(report.rows)) == (sent.EVENTS, 2)
    Original().demand(report)
