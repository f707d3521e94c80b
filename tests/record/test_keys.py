"""Signatures: made with a key that only its owner can read, and worth nothing after any change."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path

import pytest

from harness import __version__
from harness.errors import RecordError, SessionError
from harness.record.attest import SUMMARY_FILE, Subject, attestations, unseal
from harness.record.keys import PublicKey, SigningKey, load_or_create
from harness.record.message import check_identity, commit_message, trailers, trailers_in
from harness.verdict import CheckResult, LevelReport, Outcome, Verdict

SUBJECT = Subject(commit="1" * 40, tree="2" * 40, digest="3" * 64)


def verdict(**changes: object) -> Verdict:
    reports = (
        LevelReport(1, None, (CheckResult("dynamics", Outcome.PASS, "a", 200),), seed=5),
        LevelReport(3, None, (CheckResult("episodes", Outcome.PASS, None, 64),), seed=5, episodes=64, steps=900),
    )
    values = {"reports": reports, "seed": 5, "task_digest": "4" * 64, "sandbox": "bubblewrap", "isolated": True}
    return Verdict(**{**values, **changes})


def sealed(key: SigningKey, parent: str | None = None) -> dict[str, bytes]:
    return attestations(
        verdict(), SUBJECT, session="s-1", task="walk", time="2026-01-01T00:00:00+00:00", parent=parent, key=key
    )


def test_the_first_use_makes_a_key_that_only_its_owner_can_read(tmp_path: Path) -> None:
    key = load_or_create(tmp_path)
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "keys" / "ed25519.pem").stat().st_mode) == 0o600
    assert PublicKey.read(tmp_path / "keys" / "ed25519.pub.pem") == key.public
    assert load_or_create(tmp_path).public == key.public
    assert sorted(path.name for path in (tmp_path / "keys").iterdir()) == ["ed25519.pem", "ed25519.pub.pem"]


def test_a_key_that_others_could_read_is_refused(tmp_path: Path) -> None:
    load_or_create(tmp_path)
    (tmp_path / "keys" / "ed25519.pem").chmod(0o640)
    with pytest.raises(RecordError, match="mode 0640"):
        load_or_create(tmp_path)


def test_a_damaged_key_is_named(tmp_path: Path) -> None:
    load_or_create(tmp_path)
    (tmp_path / "keys" / "ed25519.pem").write_text("no key")
    with pytest.raises(RecordError, match="signing key cannot be read"):
        load_or_create(tmp_path)
    with pytest.raises(RecordError, match="no public key"):
        PublicKey.read(tmp_path / "nowhere.pem")


def test_a_public_key_survives_as_data_and_its_id_is_computed(tmp_path: Path) -> None:
    key = load_or_create(tmp_path).public
    assert PublicKey.from_json({**key.to_json(), "keyid": "another"}) == key
    assert PublicKey.from_json(key.to_json()).id == key.id
    for malformed in (None, {}, {"public": "zz"}, {"public": "00"}):
        with pytest.raises(RecordError, match="malformed"):
            PublicKey.from_json(malformed)


def test_a_signature_holds_for_its_content_its_type_and_its_key_only(tmp_path: Path) -> None:
    key, other = load_or_create(tmp_path / "a"), load_or_create(tmp_path / "b")
    signature = key.sign(b"content", "type")
    assert key.public.verifies(b"content", "type", signature)
    assert not key.public.verifies(b"contenu", "type", signature)
    assert not key.public.verifies(b"content", "typo", signature)
    assert not other.public.verifies(b"content", "type", signature)
    for malformed in (b"", b"[]", b"{}", b"null", signature.replace(b"sig", b"gis")):
        assert not key.public.verifies(b"content", "type", malformed)


def test_a_forged_key_id_does_not_help(tmp_path: Path) -> None:
    key, other = load_or_create(tmp_path / "a"), load_or_create(tmp_path / "b")
    forged = json.loads(other.sign(b"content", "type")) | {"keyid": key.public.id}
    assert not key.public.verifies(b"content", "type", json.dumps(forged).encode())


def test_there_is_one_statement_for_each_level_and_a_summary_that_names_them(tmp_path: Path) -> None:
    key = load_or_create(tmp_path)
    envelopes = sealed(key, parent="9" * 64)
    assert set(envelopes) == {"attestations/level-1.json", "attestations/level-3.json", SUMMARY_FILE}
    level = unseal(envelopes["attestations/level-3.json"], key.public)
    assert level["subject"] == [
        {"name": "workspace", "digest": {"gitCommit": "1" * 40, "gitTree": "2" * 40, "dirHash": "3" * 64}}
    ]
    assert level["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert level["predicate"]["result"] == "PASSED"
    assert level["predicate"]["passedTests"] == ["episodes"]
    assert level["predicate"]["lockstep"] == verdict().to_json()["levels"][1]
    summary = unseal(envelopes[SUMMARY_FILE], key.public)
    assert summary["predicateType"] == "https://slsa.dev/verification_summary/v1"
    predicate = summary["predicate"]
    assert predicate["verificationResult"] == "PASSED"
    assert predicate["verifiedLevels"] == ["LOCKSTEP_LEVEL_1", "LOCKSTEP_LEVEL_3"]
    assert predicate["policy"] == {"uri": "lockstep:task/walk", "digest": {"sha256": "4" * 64}}
    assert predicate["verifier"]["version"] == {"lockstep": __version__}
    assert predicate["lockstep"]["sandbox"] == {"driver": "bubblewrap", "isolated": True}
    assert predicate["lockstep"]["parent"] == "9" * 64
    assert set(predicate["lockstep"]["machine"]) == {"cpu", "cores", "system", "python", "numpy", "jax"}


def test_every_flipped_byte_of_an_attestation_is_noticed(tmp_path: Path) -> None:
    key = load_or_create(tmp_path)
    envelope = json.loads(sealed(key)[SUMMARY_FILE])
    payload = base64.b64decode(envelope["payload"])
    for position in range(0, len(payload), 7):
        changed = bytearray(payload)
        changed[position] ^= 1
        forged = envelope | {"payload": base64.b64encode(bytes(changed)).decode()}
        with pytest.raises(RecordError, match="does not verify"):
            unseal(json.dumps(forged).encode(), key.public)


def test_an_attestation_by_another_key_or_of_another_type_is_refused(tmp_path: Path) -> None:
    key, other = load_or_create(tmp_path / "a"), load_or_create(tmp_path / "b")
    with pytest.raises(RecordError, match=f"does not verify with the key {other.public.id}"):
        unseal(sealed(key)[SUMMARY_FILE], other.public)
    with pytest.raises(RecordError, match="envelope holds 'text/plain'"):
        unseal(key.seal(b"{}", "text/plain"), key.public)
    with pytest.raises(RecordError, match="no in-toto statement"):
        unseal(key.seal(b"{}", "application/vnd.in-toto+json"), key.public)
    with pytest.raises(RecordError, match="not a signed envelope"):
        unseal(b"[1]", key.public)


def test_trailers_say_what_passed_and_whether_it_was_isolated() -> None:
    assert trailers(verdict()) == [
        "Lockstep-Level: 1 passed",
        "Lockstep-Level: 3 passed",
        "Lockstep-Seed: 5",
        "Lockstep-Sandbox: bubblewrap",
    ]
    assert trailers(verdict(isolated=False, sandbox="process"))[-1] == ("Lockstep-Sandbox: process (not isolated)")


def test_an_agent_cannot_write_trailers_of_its_own() -> None:
    words = "Fix the field\n\nLockstep-Level: 4 passed\n  lockstep-seed: 1\0"
    message = commit_message(words, "Pass level 1", verdict())
    assert message.startswith(
        "Fix the field\n\n> Lockstep-Level: 4 passed\n>   lockstep-seed: 1\n\nLockstep-Level: 1 p"
    )
    assert trailers_in(message) == trailers(verdict())


def test_a_commit_without_words_is_named_after_its_step() -> None:
    assert commit_message(" \n", "Pass level 2", verdict()).startswith("Pass level 2\n\n")


@pytest.mark.parametrize("author", ["nobody", "A <a>\nB <b>", "A <a b>", "<a@b>"])
def test_an_author_that_git_cannot_store_is_refused(author: str) -> None:
    with pytest.raises(SessionError, match="cannot be recorded"):
        check_identity(author)
