"""The keys of a home: one is present, those before it are kept, and no crash loses any."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from harness.errors import RecordError, SessionLocked
from harness.record.keyring import Keyring
from harness.record.keys import PublicKey, SigningKey, load_or_create
from harness.record.lock import Lock
from tests.session.faults import Points, in_child, killed_at


def another(place: Path) -> SigningKey:
    return load_or_create(place / "another")


def test_a_rotation_makes_a_new_key_and_keeps_the_old_one_for_its_owner_alone(tmp_path: Path) -> None:
    ring = Keyring(tmp_path)
    before = ring.present.public
    old, new = ring.rotate()
    assert (old, new) == (before, ring.present.public)
    assert new != old
    kept = tmp_path / "keys" / "retired" / f"{old.id}.pem"
    assert ring.retired == (old.id,)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "keys" / "ed25519.pem").stat().st_mode) == 0o600
    assert PublicKey.read(ring.public_file) == new
    assert ring.holding(old).public == old
    assert ring.holding(new).public == new


def test_a_key_that_this_home_never_had_is_an_error_that_makes_none(tmp_path: Path) -> None:
    wanted = another(tmp_path).public
    ring = Keyring(tmp_path / "home")
    with pytest.raises(RecordError, match=f"signed with the key {wanted.id}, which this home does not have") as caught:
        ring.holding(wanted)
    assert f"retired/{wanted.id}.pem with mode 0600" in caught.value.next_step
    assert not (tmp_path / "home").exists()


def test_a_retired_key_that_others_could_read_is_refused(tmp_path: Path) -> None:
    ring = Keyring(tmp_path)
    old, _ = ring.rotate()
    (tmp_path / "keys" / "retired" / f"{old.id}.pem").chmod(0o644)
    with pytest.raises(RecordError, match="mode 0644"):
        ring.holding(old)


def test_a_file_that_holds_another_key_than_it_is_named_after_is_not_taken_for_it(tmp_path: Path) -> None:
    ring = Keyring(tmp_path)
    first, _ = ring.rotate()
    second, _ = ring.rotate()
    directory = tmp_path / "keys" / "retired"
    os.replace(directory / f"{second.id}.pem", directory / f"{first.id}.pem")
    with pytest.raises(RecordError, match="does not have"):
        ring.holding(first)


def test_two_cannot_rotate_at_once(tmp_path: Path) -> None:
    ring = Keyring(tmp_path)
    _ = ring.present
    lock = Lock(tmp_path / "keys" / "rotating", "the signing key")
    try:
        with pytest.raises(SessionLocked, match="the signing key is in use"):
            ring.rotate()
    finally:
        lock.release()


def test_a_kill_at_any_write_of_a_rotation_leaves_every_key_that_ever_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)

    def rotate(home: Path, chosen: int | None) -> int:
        def work() -> None:
            if chosen is not None:
                Points(killed_at(chosen)).install()
            Keyring(home).rotate()

        return in_child(work)

    number = 0
    while True:
        home = tmp_path / str(number)
        old = Keyring(home).present.public
        status = rotate(home, number)
        ring = Keyring(home)
        present = ring.present.public
        assert ring.holding(old).public == old
        assert PublicKey.read(ring.public_file) == present
        rotated, after = ring.rotate()
        assert rotated == present and after not in (old, present)
        assert {ring.holding(key).public for key in (old, present, after)} == {old, present, after}
        leftovers = [path.name for path in (home / "keys").iterdir() if path.name.startswith(".next")]
        assert leftovers == []
        if status == 0:
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        number += 1
    assert number > 5
