"""Every kind of tampering with a record is named by the audit, with the first commit that cannot be relied on.

The forger has a clone and no key. Where it helps, everything that needs no key is made to fit again: the chain, the
numbers, the digests, the refs, the notes.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness.assurance.audit import audit
from harness.record.attest import SUMMARY_FILE
from harness.record.event import EVENT_FILE, PAYLOAD_TYPE, SIGNATURE_FILE, VERDICT_FILE, Event
from harness.record.keys import PublicKey, SigningKey, load_or_create
from harness.record.log import ATTESTATIONS, EVENTS, MAIN, NOTES
from harness.record.objects import Commit
from harness.record.rotation import ROTATED, handing_over
from harness.record.snapshot import task_digest, trusted_part
from tests.assurance.audit.forger import WHO, Forger, Page
from tests.assurance.audit.reports import said
from tests.session.standin import finished_session, make_task

LAST = 3
"""The index of the newest of the four verified commits."""


@dataclass(frozen=True)
class Honest:
    """Two sessions of one home: the one that is tampered with, and another on the same task."""

    path: Path
    other: Path
    session: str
    key: PublicKey


@dataclass(frozen=True)
class Tampering:
    """One way to tamper, and what the audit must say of it.

    `rules` must be among the rules that are broken, `words` in what is said. `first_bad` is the index of the first verified
    commit of the forged log that cannot be relied on, or "made" for the commit that the forger put on main.
    """

    name: str
    tamper: Callable[[Forger, Honest, SigningKey], None]
    rules: set[str]
    words: str
    first_bad: int | str | None
    last_good: int | None


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Honest:
    """A finished session: a failure, a report of usage, then a commit for each of four steps; and another like it."""
    root = tmp_path_factory.mktemp("honest")
    task = make_task(root / "task")
    found = [finished_session(task, root / name, root / "home") for name in ("one", "two")]
    key = PublicKey.read(root / "home" / "keys" / "ed25519.pub.pem")
    return Honest(found[0].directory.repository, found[1].directory.repository, found[0].id, key)


@pytest.fixture
def forger(honest: Honest, tmp_path: Path) -> Iterator[Forger]:
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--mirror", "--no-hardlinks", str(honest.path), str(clone)], check=True)
    forger = Forger(clone)
    yield forger
    forger.store.close()


# The ways

TAMPERINGS: list[Tampering] = []
Tamper = Callable[[Forger, Honest, SigningKey], None]


def tampering(
    name: str, *, rules: set[str], words: str, first_bad: int | str | None, last_good: int | None
) -> Callable[[Tamper], Tamper]:
    """Put a way to tamper into the table."""

    def put(tamper: Tamper) -> Tamper:
        TAMPERINGS.append(Tampering(name, tamper, rules, words, first_bad, last_good))
        return tamper

    return put


@tampering(
    "a flipped byte in an attestation",
    rules={"attestation", "contents"},
    words=f"{SUMMARY_FILE} is not what it states",
    first_bad=1,
    last_good=0,
)
def flip_a_byte_of_an_attestation(forger: Forger, honest: Honest, key: SigningKey) -> None:
    seq = forger.verified[1].seq
    sealed = bytearray(forger.content(seq, SUMMARY_FILE))
    sealed[sealed.index(b'"payload": "') + 40] ^= 1
    forger.put(seq, SUMMARY_FILE, bytes(sealed))
    forger.publish()


@tampering(
    "a flipped byte in a stored object",
    rules={"damaged"},
    words="the blob ",
    first_bad=2,
    last_good=1,
)
def flip_a_byte_of_a_stored_object(forger: Forger, honest: Honest, key: SigningKey) -> None:
    blob = forger.pages[forger.verified[2].seq].files["attestations/level-2.json"].id
    path = forger.path / "objects" / blob[:2] / blob[2:]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(bytes(content))


@tampering(
    "reordered attempts",
    rules={"order", "chain"},
    words="the log was rearranged",
    first_bad=1,
    last_good=0,
)
def reorder_two_attempts(forger: Forger, honest: Honest, key: SigningKey) -> None:
    pages = forger.pages
    pages[6:8], pages[8:10] = pages[8:10], pages[6:8]
    forger.publish()


@tampering(
    "a dropped event",
    rules={"order", "chain"},
    words="event 4 stands at place 3: the log was rearranged",
    first_bad=0,
    last_good=None,
)
def drop_an_event(forger: Forger, honest: Honest, key: SigningKey) -> None:
    del forger.pages[3]
    forger.publish()


@tampering(
    "a dropped failed attempt, chained again",
    rules={"signature"},
    words="event 1 (usage): its signature does not verify",
    first_bad=0,
    last_good=None,
)
def drop_the_failed_attempt_and_relink(forger: Forger, honest: Honest, key: SigningKey) -> None:
    del forger.pages[1:3]
    forger.consistent()
    forger.publish()


@tampering(
    "an event twice",
    rules={"order", "chain"},
    words="event 3 stands at place 8",
    first_bad=2,
    last_good=1,
)
def repeat_an_event(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.pages.insert(8, forger.pages[3])
    forger.publish()


@tampering(
    "a failure that became a pass",
    rules={"signature", "chain", "contents"},
    words="its outcome is not its verdict's",
    first_bad=0,
    last_good=None,
)
def turn_a_failure_into_a_pass(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.edit(2, outcome="PASS")
    forger.publish()


@tampering(
    "garbage in place of an event",
    rules={"damaged"},
    words="event 6: an event is malformed",
    first_bad=1,
    last_good=0,
)
def replace_an_event_by_garbage(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.put(6, EVENT_FILE, b'{"schema": 1')
    forger.publish()


@tampering(
    "a loosened tolerance, with everything that states it",
    rules={"signature", "attestation"},
    words="event 0 (start): its signature does not verify",
    first_bad=0,
    last_good=None,
)
def loosen_a_tolerance_everywhere(forger: Forger, honest: Honest, key: SigningKey) -> None:
    """In the task and in everything that states it: digests, verdicts, commits, notes. Only signatures stay."""
    exact, loose = b'reward = { dtype = "float64" }', b'reward = { dtype = "float64", atol = 9.0 }'
    forger.edit_workspaces("task.toml", lambda content: content.replace(exact, loose), forger.pages)
    first = forger.events[0]
    assert first.workspace is not None
    files = forger.store.files(first.workspace["gitTree"])
    digest = task_digest(forger.store, trusted_part(files))
    assert digest != first.detail["task_digest"]
    forger.edit(0, detail={**first.detail, "task_digest": digest})
    for event in forger.events:
        if event.kind == "verdict":
            forger.edit_verdict(event.seq, lambda verdict: verdict.update(task_digest=digest))
    forger.consistent()
    forger.publish()


@tampering(
    "a changed test file",
    rules={"trusted", "signature"},
    words="task or tests are not the session's: changed properties.py",
    first_bad=2,
    last_good=1,
)
def change_a_test_from_one_attempt_on(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.edit_workspaces("properties.py", lambda content: b"# nothing to see here\n", forger.pages[8:])
    forger.consistent()
    forger.publish()


@tampering(
    "an amended commit",
    rules={"ref"},
    words="which the log never verified",
    first_bad="made",
    last_good=2,
)
def amend_the_newest_commit(forger: Forger, honest: Honest, key: SigningKey) -> None:
    head = forger.store.commit(forger.refs[MAIN])
    forger.made = forger.store.put_commit(replace(head, message="A better title\n"))
    forger.git("update-ref", MAIN, forger.made)


@tampering(
    "an older commit amended, the rest rebased",
    rules={"ref"},
    words="which the log never verified",
    first_bad="made",
    last_good=0,
)
def amend_an_older_commit_and_rebase(forger: Forger, honest: Honest, key: SigningKey) -> None:
    parent = str(forger.verified[0].commit)
    for event in forger.verified[1:]:
        found = forger.store.commit(str(event.commit))
        parent = forger.store.put_commit(replace(found, message=f"Better: {found.message}", parents=(parent,)))
        forger.made = forger.made or parent
    forger.git("update-ref", MAIN, parent)


@tampering(
    "a second root",
    rules={"ref"},
    words="which the log never verified",
    first_bad="made",
    last_good=None,
)
def begin_main_anew(forger: Forger, honest: Honest, key: SigningKey) -> None:
    head = forger.store.commit(forger.refs[MAIN])
    forger.made = forger.store.put_commit(replace(head, parents=()))
    forger.git("update-ref", MAIN, forger.made)


@tampering(
    "main moved back",
    rules={"ref"},
    words="it lacks",
    first_bad=2,
    last_good=1,
)
def move_main_back(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.git("update-ref", MAIN, str(forger.verified[1].commit))


@tampering(
    "the log moved back",
    rules={"ref"},
    words="which the log never verified",
    first_bad="made",
    last_good=1,
)
def move_the_log_back(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.made = str(forger.verified[2].commit)
    forger.git("update-ref", EVENTS, forger.verified[1].id)
    forger.read()


@tampering(
    "a forged key",
    rules={"key", "attestation"},
    words="did not sign it",
    first_bad=0,
    last_good=None,
)
def sign_everything_with_another_key(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.edit(0, detail={**forger.events[0].detail, "key": key.public.to_json()})
    forger.consistent(key)
    forger.publish()


@tampering(
    "one event signed by another key",
    rules={"signature"},
    words="event 8 (attempt): its signature does not verify with the session's key",
    first_bad=2,
    last_good=1,
)
def sign_one_event_with_another_key(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.put(8, SIGNATURE_FILE, key.sign(forger.content(8, EVENT_FILE), PAYLOAD_TYPE))
    forger.publish()


@tampering(
    "the signature of another event",
    rules={"signature"},
    words="event 8 (attempt): its signature does not verify",
    first_bad=2,
    last_good=1,
)
def take_the_signature_of_another_event(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.pages[8].files[SIGNATURE_FILE] = forger.pages[6].files[SIGNATURE_FILE]
    forger.publish()


@tampering(
    "a replaced seed",
    rules={"signature", "attestation", "message"},
    words=f"{SUMMARY_FILE} names another seed",
    first_bad=2,
    last_good=1,
)
def replace_a_seed(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.edit(8, seeds={"run": 7})
    forger.edit_verdict(9, lambda verdict: verdict.update(seed=7))
    forger.consistent()
    forger.publish()


@tampering(
    "the attestation of another commit",
    rules={"attestation", "signature"},
    words=f"{SUMMARY_FILE} is not about commit",
    first_bad=2,
    last_good=1,
)
def take_the_attestation_of_another_commit(forger: Forger, honest: Honest, key: SigningKey) -> None:
    one, two = (forger.pages[event.seq].files for event in forger.verified[1:3])
    two[SUMMARY_FILE] = one[SUMMARY_FILE]
    forger.consistent()
    forger.publish()


@tampering(
    "an event of another session",
    rules={"chain", "seed"},
    words="event 8 (attempt): it does not follow the event that stands before it",
    first_bad=2,
    last_good=1,
)
def take_an_event_of_another_session(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.pages[8] = borrowed(forger, honest, 8)
    forger.publish()


@tampering(
    "an attestation of another session",
    rules={"attestation", "signature"},
    words=f"{SUMMARY_FILE} is of another session",
    first_bad=2,
    last_good=1,
)
def take_an_attestation_of_another_session(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.pages[9].files[SUMMARY_FILE] = borrowed(forger, honest, 9).files[SUMMARY_FILE]
    forger.consistent()
    forger.publish()


@tampering(
    "the record of another session",
    rules={"session"},
    words="it is the record of the session",
    first_bad=0,
    last_good=None,
)
def become_another_session(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.git("fetch", "-q", "--prune", str(honest.other), "+refs/*:refs/*")
    forger.read()


@tampering(
    "a lower cost",
    rules={"signature"},
    words="event 3 (usage): its signature does not verify",
    first_bad=0,
    last_good=None,
)
def lower_the_cost(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.edit(3, usage={"dollars": 0.01})
    forger.consistent()
    forger.publish()


@tampering(
    "a sandbox that became isolated",
    rules={"signature", "attestation"},
    words=f"{SUMMARY_FILE} names another sandbox",
    first_bad=LAST,
    last_good=2,
)
def claim_an_isolated_sandbox(forger: Forger, honest: Honest, key: SigningKey) -> None:
    better = {"driver": "bubblewrap", "isolated": True}
    seq = forger.verified[LAST].seq
    forger.edit_verdict(seq, lambda verdict: verdict.update(sandbox=better))
    found = forger.store.commit(str(forger.verified[LAST].commit))
    message = found.message.replace("Lockstep-Sandbox: standin", "Lockstep-Sandbox: bubblewrap")
    commit = forger.store.put_commit(replace(found, message=message))
    forger.edit(seq, commit=commit, detail={**forger.events[seq].detail, "sandbox": better})
    forger.consistent()
    forger.publish()


@tampering(
    "a dropped case",
    rules={"signature"},
    words="event 2 (verdict): its signature does not verify",
    first_bad=0,
    last_good=None,
)
def drop_a_case(forger: Forger, honest: Honest, key: SigningKey) -> None:
    files = forger.pages[2].files
    del files[next(path for path in files if path.startswith("cases/"))]
    forger.consistent()
    forger.publish()


@tampering(
    "a changed case",
    rules={"contents"},
    words="is not what it states",
    first_bad=0,
    last_good=None,
)
def change_a_case(forger: Forger, honest: Honest, key: SigningKey) -> None:
    path = next(path for path in forger.pages[2].files if path.startswith("cases/"))
    forger.put(2, path, b'{"seed": 1}')
    forger.publish()


@tampering(
    "trailers that claim more",
    rules={"message", "signature", "attestation"},
    words="claims what was not verified",
    first_bad=LAST,
    last_good=2,
)
def claim_a_level_in_the_message(forger: Forger, honest: Honest, key: SigningKey) -> None:
    event = forger.verified[LAST]
    found = forger.store.commit(str(event.commit))
    commit = forger.store.put_commit(replace(found, message=found.message + "Lockstep-Level: 4 passed\n"))
    forger.edit(event.seq, commit=commit)
    forger.consistent()
    forger.publish()


@tampering(
    "a commit that is not the verified tree",
    rules={"tree", "signature", "attestation"},
    words="is not the tree that was verified",
    first_bad=LAST,
    last_good=2,
)
def commit_another_tree(forger: Forger, honest: Honest, key: SigningKey) -> None:
    event = forger.verified[LAST]
    found = forger.store.commit(str(event.commit))
    files = forger.store.files(found.tree) | {"candidate/env.py": forger.file(b"another = True\n")}
    commit = forger.store.put_commit(replace(found, tree=forger.store.put_tree(files)))
    forger.edit(event.seq, commit=commit)
    forger.consistent()
    forger.publish()


@tampering(
    "an attestation without signatures",
    rules={"signature", "attestation"},
    words="attestations/level-3.json of commit",
    first_bad=LAST,
    last_good=2,
)
def lengthen_a_level_in_its_attestation(forger: Forger, honest: Honest, key: SigningKey) -> None:
    """The verdict says more episodes; the forger signs his own attestation of it."""
    seq = forger.verified[LAST].seq
    forger.edit_verdict(seq, lambda verdict: verdict["levels"][-1].update(episodes=20_000))
    envelope = json.loads(forger.content(seq, "attestations/level-3.json"))
    forger.put(seq, "attestations/level-3.json", json.dumps(envelope | {"signatures": []}).encode())
    forger.consistent()
    forger.publish()


@tampering(
    "a replaced object",
    rules={"ref"},
    words="would show another object",
    first_bad=1,
    last_good=0,
)
def replace_an_object(forger: Forger, honest: Honest, key: SigningKey) -> None:
    one, two = (str(event.commit) for event in forger.verified[1:3])
    forger.git("update-ref", f"refs/replace/{one}", two)


@tampering(
    "exchanged notes",
    rules={"ref"},
    words=f"{NOTES} does not hold what the log says of commit",
    first_bad=2,
    last_good=1,
)
def exchange_two_notes(forger: Forger, honest: Honest, key: SigningKey) -> None:
    notes = forger.store.tree(forger.store.commit(forger.refs[NOTES]).tree)
    one, two = (str(event.commit) for event in forger.verified[2:4])
    notes |= {one: notes[two], two: notes[one]}
    forger.git("update-ref", NOTES, forger.store.put_commit(Commit(forger.store.put_tree(notes), (), WHO, WHO, "n\n")))


@tampering(
    "a missing attestation ref",
    rules={"ref"},
    words="is missing",
    first_bad=1,
    last_good=0,
)
def remove_an_attestation_ref(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.git("update-ref", "-d", f"{ATTESTATIONS}{forger.verified[1].commit}")


@tampering(
    "an attestation ref that points elsewhere",
    rules={"ref"},
    words="which is not what the log says",
    first_bad=2,
    last_good=1,
)
def point_an_attestation_elsewhere(forger: Forger, honest: Honest, key: SigningKey) -> None:
    one, two = forger.verified[1:3]
    forger.git("update-ref", f"{ATTESTATIONS}{two.commit}", one.id)


@tampering(
    "an attestation ref for a commit that nobody verified",
    rules={"ref"},
    words="which is not what the log says",
    first_bad=None,
    last_good=LAST,
)
def invent_an_attestation_ref(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.git("update-ref", f"{ATTESTATIONS}{'1' * 40}", forger.verified[0].id)


@tampering(
    "a ref that no record has",
    rules={"ref"},
    words="refs/lockstep/verified is not a ref of a record",
    first_bad=None,
    last_good=LAST,
)
def invent_a_ref_of_the_record(forger: Forger, honest: Honest, key: SigningKey) -> None:
    forger.git("update-ref", "refs/lockstep/verified", forger.verified[0].id)


@tampering(
    "titles that tell something else",
    rules={"contents"},
    words="event 2 (verdict): its commit says something else",
    first_bad=0,
    last_good=None,
)
def change_the_titles(forger: Forger, honest: Honest, key: SigningKey) -> None:
    """Events are signed, the commits that hold them are not: what `git log` shows of them must follow from the event."""
    forger.publish(titles={2: "2 verdict: PASS\n"})


@tampering(
    "a hand-over by the wrong key",
    rules={"signature"},
    words="event 8 (rotated): its signature does not verify",
    first_bad=2,
    last_good=1,
)
def hand_over_to_another_key(forger: Forger, honest: Honest, key: SigningKey) -> None:
    before = forger.events[7]
    forged = Event(8, before.time, ROTATED, detail=handing_over(key, 8, before.digest))
    forger.pages.insert(8, Page(forged))
    forger.consistent(key, signed_from=8)
    forger.publish()


@tampering(
    "a missing verdict",
    rules={"damaged", "contents"},
    words=f"{VERDICT_FILE} is missing",
    first_bad=1,
    last_good=0,
)
def remove_the_verdict_of_a_commit(forger: Forger, honest: Honest, key: SigningKey) -> None:
    del forger.pages[7].files[VERDICT_FILE]
    forger.publish()


@tampering(
    "a tool that verifies a commit",
    rules={"ancestry", "signature"},
    words="only a verdict can verify a commit",
    first_bad=4,
    last_good=LAST,
)
def let_a_tool_verify_a_commit(forger: Forger, honest: Honest, key: SigningKey) -> None:
    """An event of a tool, which an agent can cause, that claims a commit of its own."""
    head = forger.store.commit(forger.refs[MAIN])
    forger.made = forger.store.put_commit(replace(head, parents=(forger.refs[MAIN],), message="Mine\n"))
    last = forger.events[-1]
    event = Event(last.seq + 1, last.time, "run_command", commit=forger.made, previous=last.digest)
    forger.pages.append(Page(event))
    forger.consistent(key, signed_from=len(forger.pages) - 1)
    forger.publish()


def borrowed(forger: Forger, honest: Honest, seq: int) -> Page:
    """A page of the other session, its objects brought along."""
    forger.git("fetch", "-q", str(honest.other), "+refs/lockstep/events:refs/borrowed")
    other = Forger(honest.other)
    page = other.pages[seq]
    other.store.close()
    forger.git("update-ref", "-d", "refs/borrowed")
    return page


def test_the_record_holds_before_anybody_touches_it(honest: Honest) -> None:
    report = audit(honest.path, honest.key, session=honest.session)
    assert report.problems == ()
    assert (report.last_good, report.first_bad) == (report.rows[-1].commit, None)


def test_publishing_a_record_unchanged_changes_nothing(forger: Forger, honest: Honest) -> None:
    """What the table shows is due to the tampering alone."""
    forger.publish()
    assert audit(forger.path, honest.key, session=honest.session).problems == ()


@pytest.mark.parametrize("kind", TAMPERINGS, ids=lambda kind: kind.name)
def test_tampering_is_named_with_the_first_bad_commit(
    kind: Tampering, forger: Forger, honest: Honest, tmp_path: Path
) -> None:
    kind.tamper(forger, honest, load_or_create(tmp_path / "forger"))
    report = audit(forger.path, honest.key, session=honest.session)
    assert not report.ok
    assert kind.rules <= {problem.rule for problem in report.problems}, said(report)
    assert kind.words in said(report)
    commits = [event.commit for event in forger.verified]
    expected: dict[Any, str | None] = {None: None, "made": forger.made, **dict(enumerate(commits))}
    assert report.first_bad == expected[kind.first_bad], said(report)
    assert report.last_good == expected[kind.last_good], said(report)


def test_a_forged_key_shows_without_the_right_one_only_where_the_forger_could_not_sign(
    forger: Forger, honest: Honest, tmp_path: Path
) -> None:
    sign_everything_with_another_key(forger, honest, load_or_create(tmp_path / "forger"))
    assert {problem.rule for problem in audit(forger.path).problems} == {"attestation"}


def test_a_record_that_was_moved_back_as_a_whole_is_named_by_who_knows_a_later_event(
    forger: Forger, honest: Honest
) -> None:
    known, first = forger.events[-1].digest, forger.events[0].digest
    forger.pages = forger.pages[: forger.verified[1].seq + 1]
    forger.publish()
    assert audit(forger.path, honest.key).ok
    report = audit(forger.path, honest.key, known_event=known)
    assert f"the event {known}, known from before, is not in it" in said(report)
    assert audit(forger.path, honest.key, known_event=first).ok
