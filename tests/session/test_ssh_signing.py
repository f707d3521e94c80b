"""Verified commits that are signed with an SSH key besides: git accepts them, the audit checks them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harness.assurance.audit import audit
from harness.errors import RecordError, SessionError
from harness.record import ssh
from harness.record.event import UNSIGNED
from harness.record.log import MAIN
from harness.record.objects import Commit, decode_commit, encode_commit
from harness.record.store import Store
from harness.session.session import Session
from tests.assurance.audit.forger import WHO
from tests.session.standin import Agent, FileComparison, factory, make_task
from tests.tools import needs

pytestmark = needs("ssh-keygen", package="openssh-client")


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    bits = {"rsa": ["-b", "2048"], "ecdsa": ["-b", "384"]}.get(kind, [])
    command = ["ssh-keygen", "-q", "-t", kind, *bits, "-N", passphrase, "-C", "a comment", "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def begin(root: Path, key: Path) -> Agent:
    made: list[FileComparison] = []
    task = make_task(root / "task")
    session = Session.start(task, root / "workspace", root / "home", verifier=factory(made), ssh_key=key)
    return Agent(session, made)


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_git_and_the_audit_accept_what_a_session_signed(kind: str, tmp_path: Path) -> None:
    key = make_key(tmp_path / "key", kind)
    public = key.with_suffix(".pub").read_text()
    agent = begin(tmp_path, key)
    with agent.session as session:
        agent.get_right()
        commit = session.verify(message="Start").commit
        session.verify(message="Move")
        assert session.events[0].detail["ssh_key"] == public.rsplit(" ", 2)[0]
        report = audit(session.store)
        repository = session.directory.repository
    assert report.problems == ()
    listed = subprocess.run(["ssh-keygen", "-l", "-f", key], check=True, capture_output=True, text=True).stdout
    assert {row.ssh for row in report.rows} == {listed.split()[1]}
    allowed = tmp_path / "allowed"
    allowed.write_text(f"agent@lockstep.invalid {public}")
    settings = ["-c", f"gpg.ssh.allowedSignersFile={allowed}"]
    git = ["git", "--git-dir", str(repository), *settings, "verify-commit", str(commit)]
    checked = subprocess.run(git, check=True, capture_output=True, text=True)
    assert 'Good "git" signature for agent@lockstep.invalid' in checked.stderr


def test_the_path_of_the_key_is_not_part_of_the_record(tmp_path: Path) -> None:
    key = make_key(tmp_path / "secretly-named")
    agent = begin(tmp_path, key)
    with agent.session as session:
        assert "secretly-named" not in session.events[0].encode().decode()
        assert session.directory.ssh_key == key


def test_a_session_goes_on_signing_when_it_is_opened_again(tmp_path: Path) -> None:
    agent = begin(tmp_path, make_key(tmp_path / "key"))
    agent.get_right()
    agent.session.close()
    made: list[FileComparison] = []
    with Session.open(agent.session.id, tmp_path / "home", verifier=factory(made)) as session:
        session.verify()
        assert audit(session.store).rows[0].ssh


def test_what_was_verified_is_not_lost_when_the_key_cannot_sign(tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    agent = begin(tmp_path, key)
    with agent.session as session:
        agent.get_right()
        key.unlink()
        key.with_suffix(".pub").unlink()
        assert session.verify(message="Start").commit is not None
        assert "ssh-keygen did not sign" in session.events[-1].detail[UNSIGNED]
        make_key(key)
        assert session.verify(message="Move").commit is not None
        assert "signed by another SSH key" in session.events[-1].detail[UNSIGNED]
        report = audit(session.store)
    assert report.problems == ()
    assert [row.ssh for row in report.rows] == ["", ""]
    assert all(row.unsigned for row in report.rows)


def test_a_machine_without_ssh_keygen_is_reported_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make_key(tmp_path / "key")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RecordError, match="ssh-keygen is not installed") as caught:
        ssh.sign(key, b"content")
    assert "openssh-client" in caught.value.next_step
    with pytest.raises(SessionError, match="ssh-keygen is not installed"):
        ssh.public_half(key)


def test_a_key_that_cannot_sign_unattended_is_refused_at_the_start(tmp_path: Path) -> None:
    for path in (make_key(tmp_path / "locked", passphrase="a secret"), tmp_path / "nowhere"):
        with pytest.raises(SessionError, match="the SSH key cannot be used") as caught:
            begin(tmp_path / f"of-{path.name}", path)
        assert "ssh-add" in caught.value.next_step
        assert not (tmp_path / f"of-{path.name}" / "home" / "sessions").exists()


@needs("ssh-agent", package="openssh-client")
def test_a_public_key_stands_for_a_private_one_in_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key(tmp_path / "key")
    socket = tmp_path / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.PIPE) as agent:
        try:
            assert agent.stdout is not None
            agent.stdout.readline()
            monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
            subprocess.run(["ssh-add", "-q", str(key)], check=True, capture_output=True)
            key.unlink()
            assert ssh.public_half(key.with_suffix(".pub")) == key.with_suffix(".pub").read_text().rsplit(" ", 2)[0]
        finally:
            agent.terminate()


# Signatures that do not hold


def signed(tmp_path: Path) -> tuple[Commit, str]:
    key = make_key(tmp_path / "key")
    commit = Commit("1" * 40, ("2" * 40,), WHO, WHO, "Words\n\nmore words\n")
    public = ssh.public_half(key)
    return ssh.signed(commit, key, public), public


def test_a_signed_commit_survives_decoding_byte_for_byte(tmp_path: Path) -> None:
    commit, public = signed(tmp_path)
    assert decode_commit(encode_commit(commit)) == commit
    ssh.check_commit(commit, public)


def test_every_change_of_a_signed_commit_is_noticed(tmp_path: Path) -> None:
    commit, public = signed(tmp_path)
    changes = ({"message": "Other words\n"}, {"tree": "3" * 40}, {"parents": ()}, {"author": WHO.replace("S", "T")})
    for changed in changes:
        with pytest.raises(RecordError, match="does not verify"):
            ssh.check_commit(replace(commit, **changed), public)
    with pytest.raises(RecordError, match="no SSH signature"):
        ssh.check_commit(replace(commit, signature=""), public)


def test_a_signature_by_another_key_of_another_purpose_or_none_at_all_is_named(tmp_path: Path) -> None:
    commit, public = signed(tmp_path)
    other = make_key(tmp_path / "other")
    bare = replace(commit, signature="")
    foreign = replace(bare, signature=ssh.sign(other, encode_commit(bare)))
    with pytest.raises(RecordError, match="another SSH key"):
        ssh.check_commit(foreign, public)
    file = replace(bare, signature=ssh.sign(tmp_path / "key", encode_commit(bare), "file"))
    with pytest.raises(RecordError, match="for 'file', not 'git'"):
        ssh.check_commit(file, public)
    for nonsense in ("nonsense", commit.signature.replace("BEGIN SSH", "BEGIN PGP"), commit.signature[:40]):
        with pytest.raises(RecordError, match="no SSH signature that can be read"):
            ssh.check_commit(replace(bare, signature=nonsense), public)


def test_every_flipped_byte_of_a_signature_is_noticed(tmp_path: Path) -> None:
    commit, public = signed(tmp_path)
    lines = commit.signature.splitlines()
    body = "".join(lines[1:-1])
    for position in range(0, len(body) - 4, 5):
        letter = "B" if body[position] == "A" else "A"
        flipped = "\n".join((lines[0], body[:position] + letter + body[position + 1 :], lines[-1]))
        with pytest.raises(RecordError):
            ssh.check_commit(replace(commit, signature=flipped), public)


def test_a_commit_without_the_signature_that_its_session_owes_is_named(tmp_path: Path) -> None:
    """Planted by a verifier that forgets to say so: the commit is not signed, and the event gives no reason."""
    key = make_key(tmp_path / "key")
    agent = begin(tmp_path, key)
    with agent.session as session:
        agent.get_right()
        keep = ssh.signed
        try:
            ssh.signed = lambda commit, *_: commit  # type: ignore[assignment]
            session.verify(message="Start")
        finally:
            ssh.signed = keep
        report = audit(session.store)
        assert [problem.rule for problem in report.problems] == ["ssh"]
        assert "it carries no SSH signature" in report.problems[0].what
        with Store(session.directory.repository) as store:
            assert report.first_bad == store.refs()[MAIN]


def test_nothing_asks_for_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    helper = tmp_path / "askpass"
    helper.write_text(f"#!/bin/sh\ntouch {asked}\necho a secret\n")
    helper.chmod(0o755)
    monkeypatch.setenv("SSH_ASKPASS", str(helper))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    monkeypatch.setenv("DISPLAY", os.environ.get("DISPLAY", ":0"))
    with pytest.raises(RecordError, match="ssh-keygen did not sign"):
        ssh.sign(make_key(tmp_path / "locked", passphrase="a secret"), b"content")
    assert not asked.exists()
