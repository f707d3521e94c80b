"""The keys of a home directory: the present one, and those that were in use before it.

::

    <home>/keys/ed25519.pem, ed25519.pub.pem    the present key
                retired/<id>.pem                private keys that were rotated away
                rotating                        held while a key is being rotated
    <home>/keys-unisolated/                     the same, of keys for sessions that do not isolate

A retired key signs one thing more in each session that knows no newer one: the event that hands over to the present key
(`rotation`). It may be deleted once every session has taken that step.
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import RecordError
from harness.policy.rings import KEYS, RETIRED, UNISOLATED_KEYS
from harness.record.keys import PRIVATE, PUBLIC, PublicKey, SigningKey, load_or_create, new_private, read_private
from harness.record.lock import Lock
from harness.support.files import storing, sync_directory, write_new

_NEXT = ".next.pem"


class Keyring:
    """The keys of one home directory for one kind of session; nothing is read before it is asked for.

    Attributes:
        isolated: whether they are for sessions that isolate, or else for those that do not.
    """

    def __init__(self, home: Path, *, isolated: bool = True) -> None:
        self.isolated = isolated
        self._home = home
        self._directory = home / (KEYS if isolated else UNISOLATED_KEYS)

    def of(self, isolated: bool) -> Keyring:
        """The keys of the same home for sessions that isolate, or for those that do not."""
        return Keyring(self._home, isolated=isolated)

    @property
    def present(self) -> SigningKey:
        """The key that signs from now on; the first use of a home makes it.

        Raises:
            RecordError: it cannot be made or read, or others may read it.
        """
        return load_or_create(self._home, isolated=self.isolated)

    @property
    def exists(self) -> bool:
        """Whether there is a present key already."""
        return (self._directory / PRIVATE).exists()

    @property
    def public(self) -> tuple[PublicKey, ...]:
        """The public halves of all keys that are there, the present one first; no key is made.

        Raises:
            RecordError: a key cannot be read.
        """
        private = (self._directory / PRIVATE, *sorted((self._directory / RETIRED).glob("*.pem")))
        return tuple(read_private(path).public for path in private if path.exists())

    @property
    def public_file(self) -> Path:
        """Where the public half of the present key lies."""
        return self._directory / PUBLIC

    @property
    def retired(self) -> tuple[str, ...]:
        """The ids of the keys that were rotated away, as their files are named."""
        return tuple(sorted(path.stem for path in (self._directory / RETIRED).glob("*.pem")))

    def holding(self, public: PublicKey) -> SigningKey:
        """The private half of a key that a session stands with, present or retired; no key is made.

        Those for the other kind of session are looked through as well: before records stated their kind, one key signed
        both.

        Raises:
            RecordError: this home has none that fits, or it cannot be read.
        """
        for ring in (self, self.of(not self.isolated)):
            for path in (ring._directory / PRIVATE, ring._retired_file(public)):
                if path.exists():
                    key = read_private(path)
                    if key.public == public:
                        return key
        raise RecordError(
            f"the session is signed with the key {public.id}, which this home does not have, neither as its present key "
            "nor as a retired one",
            where=str(self._directory),
            expected="the private key that signed the newest event",
            next_step=f"put it back as {self._retired_file(public)} with mode 0600; nothing was changed, and the record can "
            "still be read and audited",
        )

    def rotate(self) -> tuple[PublicKey, PublicKey]:
        """Make a new present key and put the old one aside; returns the old one and the new one.

        A process killed on the way leaves the old key or the new one as the present key, and the old one kept in both cases.

        Raises:
            RecordError: a key cannot be read or written. SessionLocked: another process is rotating.
        """
        _ = self.present  # the first use makes the directory
        lock = Lock(self._directory / "rotating", "the signing key")
        try:
            old = self.present
            private, kept, following = (
                self._directory / PRIVATE,
                self._retired_file(old.public),
                self._directory / _NEXT,
            )
            with storing(self._directory):
                kept.parent.mkdir(mode=0o700, exist_ok=True)
                following.unlink(missing_ok=True)  # of a process that was killed before it became the present key
                if not kept.exists():
                    os.link(private, kept)
                sync_directory(kept.parent)
                write_new(following, new_private(), 0o600)
                os.replace(following, private)
                sync_directory(self._directory)
            return old.public, self.present.public
        finally:
            lock.release()

    def _retired_file(self, public: PublicKey) -> Path:
        return self._directory / RETIRED / f"{public.id}.pem"
