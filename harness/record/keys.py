"""The harness's Ed25519 keys, and what is signed with them: DSSE envelopes, and detached signatures over the same encoding.

The private key is made on first use and kept in the home directory, readable by its owner alone. `keyring` holds those
that were in use before it.
"""

from __future__ import annotations

import json
import os
import secrets
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError

# Documented names of the package, which only does not mark them as exported.
from securesystemslib.signer import CryptoSigner, SSlibKey  # pyright: ignore[reportPrivateImportUsage]

from harness.errors import RecordError
from harness.policy.rings import KEYS, PRESENT, UNISOLATED_KEYS, demand_unexposed
from harness.support.files import storing, sync_directory, write_durably, write_new
from harness.support.foreign import json_of

PRIVATE = PRESENT
PUBLIC = "ed25519.pub.pem"
_FOR_UNISOLATED = b"Lockstep signs with this key what ran without isolation, and nothing else.\n"
"""What the public file of such a key says above the key; programs that read PEM pass over it."""


class PublicKey:
    """The public half: checks signatures. Two are equal when they verify the same ones."""

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._raw = key.public_bytes_raw()
        self._key = SSlibKey.from_crypto(key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and self._raw == other._raw

    def __hash__(self) -> int:
        return hash(self._raw)

    @property
    def id(self) -> str:
        """The id that signatures name: a SHA-256 computed from the key."""
        return self._key.keyid

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the key's DER form, as `openssl pkey -pubin -in FILE -outform DER | sha256sum` prints it."""
        key = Ed25519PublicKey.from_public_bytes(self._raw)
        der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        return sha256(der).hexdigest()

    @classmethod
    def read(cls, path: Path) -> PublicKey:
        """The key in a PEM file.

        Raises:
            RecordError: there is none.
        """
        try:
            key = serialization.load_pem_public_key(path.read_bytes())
        except (OSError, ValueError, UnsupportedAlgorithm) as error:
            raise RecordError(f"no public key can be read: {error}", where=str(path)) from error
        if not isinstance(key, Ed25519PublicKey):
            raise RecordError("the public key is of another kind", where=str(path), expected="an Ed25519 key in PEM")
        return cls(key)

    @classmethod
    def from_json(cls, described: object) -> PublicKey:
        """The inverse of `to_json`; the id is computed from the key, never believed.

        Raises:
            RecordError: this is not the description of an Ed25519 key.
        """
        try:
            if not isinstance(described, dict):
                raise TypeError("no object")
            return cls(Ed25519PublicKey.from_public_bytes(bytes.fromhex(described["public"])))
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"a recorded public key is malformed: {error}") from error

    def to_json(self) -> dict[str, str]:
        """The key as data."""
        return {"keyid": self.id, "scheme": "ed25519", "public": self._raw.hex()}

    def to_pem(self) -> bytes:
        """The key as other programs read it."""
        key = Ed25519PublicKey.from_public_bytes(self._raw)
        return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def unseal(self, sealed: bytes, payload_type: str) -> bytes:
        """The payload of a DSSE envelope that this key signed.

        Raises:
            RecordError: it is not an envelope of this type, another key signed it, or it was changed afterwards.
        """
        try:
            envelope = Envelope.from_dict(json_of(sealed))
            envelope.verify([self._key], 1)
        except VerificationError as error:
            raise RecordError(f"the signature does not verify with the key {self.id}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"it is not a signed envelope: {error}") from error
        if envelope.payload_type != payload_type:
            raise RecordError(f"the envelope holds {envelope.payload_type!r}", expected=payload_type)
        return envelope.payload

    def verifies(self, content: bytes, payload_type: str, signature: bytes) -> bool:
        """Whether `signature` is what `SigningKey.sign` gives for this content with this key."""
        try:
            detached = {"payload": "", "payloadType": payload_type, "signatures": [json_of(signature)]}
            envelope = Envelope.from_dict(detached)
            envelope.payload = content
            envelope.verify([self._key], 1)
        except (VerificationError, ValueError, KeyError, TypeError, AttributeError):
            return False
        return True


class SigningKey:
    """The private half."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._signer = CryptoSigner(key)
        self.public = PublicKey(key.public_key())

    def seal(self, payload: bytes, payload_type: str) -> bytes:
        """A DSSE envelope, as JSON, around this payload."""
        return _as_json(self._envelope(payload, payload_type).to_dict())

    def sign(self, content: bytes, payload_type: str) -> bytes:
        """The signature alone, as JSON, that a DSSE envelope around this content would hold."""
        return _as_json(self._envelope(content, payload_type).to_dict()["signatures"][0])

    def _envelope(self, payload: bytes, payload_type: str) -> Envelope:
        envelope = Envelope(payload, payload_type, {})
        envelope.sign(self._signer)
        return envelope


def load_or_create(home: Path, *, isolated: bool = True) -> SigningKey:
    """The present signing key of this home directory; the first call makes it (`keys/ed25519.pem`, mode 0600).

    The public half beside it is written again where a process was killed between the two.

    Args:
        isolated: whether it is the key for sessions that isolate, or else the one for those that do not.

    Raises:
        RecordError: the key cannot be made or read, others may read it, or candidates could have (`policy.rings`).
    """
    directory = home / (KEYS if isolated else UNISOLATED_KEYS)
    path = directory / PRIVATE
    if isolated:
        demand_unexposed(home)
    with storing(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _create(path)
    if isolated:
        demand_unexposed(home)
    key = read_private(path)
    public, shown = directory / PUBLIC, (b"" if isolated else _FOR_UNISOLATED) + key.public.to_pem()
    if not public.exists() or public.read_bytes() != shown:
        write_durably(public, shown)
    return key


def is_for_unisolated(path: Path) -> bool:
    """Whether the file of a public key says that the key signs only what ran without isolation.

    Raises:
        RecordError: it cannot be read.
    """
    with storing(path):
        return path.read_bytes().startswith(_FOR_UNISOLATED)


def read_private(path: Path) -> SigningKey:
    """The private key in a PEM file.

    Raises:
        RecordError: it cannot be read, is of another kind, or others may read it.
    """
    with storing(path):
        mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise RecordError(
            f"the signing key has mode {mode:04o}, so that others may have read it",
            where=str(path),
            expected="mode 0600",
            next_step="give it mode 0600; if somebody may have read it, run `lockstep key rotate` then",
        )
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise RecordError(f"the signing key cannot be read: {error}", where=str(path)) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise RecordError("the signing key is of another kind", where=str(path), expected="an Ed25519 key in PEM")
    return SigningKey(key)


def new_private() -> bytes:
    """A new private key, as the content of a PEM file."""
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _create(path: Path) -> None:
    temporary = path.parent / f".{PRIVATE}.{secrets.token_hex(6)}.tmp"
    write_new(temporary, new_private(), 0o600)
    try:
        os.link(temporary, path)  # fails where another process was faster: its key is then the one
    except FileExistsError:
        return
    finally:
        temporary.unlink()
    sync_directory(path.parent)


def _as_json(described: dict[str, Any]) -> bytes:
    return json.dumps(described, sort_keys=True).encode() + b"\n"
