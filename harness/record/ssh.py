"""SSH signatures of commits, as git makes and checks them: made by `ssh-keygen`, checked here.

The form is OpenSSH's PROTOCOL.sshsig: a public key, a namespace (git's is `git`) and a signature over the hash of what is
signed. Checking needs no OpenSSH, so an audit works where there is none.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from harness.errors import RecordError, SessionError
from harness.record.objects import Commit, encode_commit

NAMESPACE = "git"
PROBE_NAMESPACE = "lockstep-probe"
"""What is signed under it is not a commit and can never be taken for one."""
SIGNS_WITHIN_S = 60.0
_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_RSA = {b"rsa-sha2-256": hashes.SHA256(), b"rsa-sha2-512": hashes.SHA512()}
_CURVES = {"secp256r1": hashes.SHA256(), "secp384r1": hashes.SHA384(), "secp521r1": hashes.SHA512()}


@dataclass(frozen=True)
class _Signature:
    """The parts of an armoured signature."""

    public: bytes
    namespace: bytes
    reserved: bytes
    algorithm: bytes
    blob: bytes

    def covers(self, content: bytes) -> bytes:
        """The bytes that the key signed if it signed this content."""
        hashed = hashlib.new(self.algorithm.decode(), content).digest()
        return _MAGIC + b"".join(map(_packed, (self.namespace, self.reserved, self.algorithm, hashed)))


def public_half(key: Path) -> str:
    """The public half of a key file, as OpenSSH writes it (`ssh-ed25519 AAAA...`), found by signing something with it.

    Raises:
        SessionError: the key cannot sign now and unattended, or is of a kind that the audit cannot check.
    """
    probe = b"lockstep asks whether this key can sign\n"
    try:
        armoured = sign(key, probe, PROBE_NAMESPACE)
        public = _parsed(armoured).public
        kind = _strings(public, 1)[0].decode()
        line = f"{kind} {base64.b64encode(public).decode()}"
        check(armoured, probe, line, PROBE_NAMESPACE)
    except RecordError as error:
        raise SessionError(
            f"the SSH key cannot be used: {error.what}",
            where=str(key),
            expected="a private key (Ed25519, ECDSA or RSA) without a passphrase, or a public key whose private half an SSH "
            "agent holds",
            next_step=error.next_step or "name another key, or add this one with ssh-add and name its .pub file",
        ) from error
    return line


def fingerprint(public: str) -> str:
    """What `ssh-keygen -l` prints for a public key: `SHA256:` and the hash.

    Raises:
        RecordError: it is not a public key.
    """
    digest = hashlib.sha256(_key_blob(public)).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def sign(key: Path, content: bytes, namespace: str = NAMESPACE) -> str:
    """An armoured signature, without a newline at its end.

    Nobody is asked for anything: a key with a passphrase must be held by an agent.

    Raises:
        RecordError: there is no `ssh-keygen`, or it could not sign.
    """
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "SSH_ASKPASS")}
    try:
        done = subprocess.run(
            ["ssh-keygen", "-Y", "sign", "-n", namespace, "-f", str(key)],
            input=content,
            capture_output=True,
            env=environment | {"SSH_ASKPASS_REQUIRE": "never"},
            timeout=SIGNS_WITHIN_S,
            start_new_session=True,  # without a terminal it cannot ask for a passphrase either
            check=False,
        )
    except FileNotFoundError as error:
        raise RecordError(
            "ssh-keygen is not installed", next_step="install OpenSSH's client (Debian: apt-get install openssh-client)"
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RecordError(f"ssh-keygen did not sign: {error}") from error
    if done.returncode != 0:
        error_lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit status {done.returncode}"]
        raise RecordError(f"ssh-keygen did not sign: {error_lines[-1]}")
    return done.stdout.decode(errors="replace").strip()


def signed(commit: Commit, key: Path | None, public: str) -> Commit:
    """A commit with git's header for the signature that `key` made, which must be that of `public`.

    Raises:
        RecordError: there is no key, it cannot sign now, or it is another one.
    """
    if key is None:
        raise RecordError("session.json names no file of the SSH key")
    content = encode_commit(commit)
    armoured = sign(key, content)
    check(armoured, content, public)
    return replace(commit, signature=armoured)


def check_commit(commit: Commit, public: str) -> None:
    """Check that a commit carries a signature by this key. Raises RecordError as `check` does."""
    if not commit.signature:
        raise RecordError("it carries no SSH signature")
    check(commit.signature, encode_commit(replace(commit, signature="")), public)


def check(armoured: str, content: bytes, public: str, namespace: str = NAMESPACE) -> None:
    """Check that a signature is by this key (`ssh-ed25519 AAAA...`), over this content, in this namespace.

    Raises:
        RecordError: it is not; what is wrong is said.
    """
    signature = _parsed(armoured)
    if signature.public != _key_blob(public):
        raise RecordError("it is signed by another SSH key")
    if signature.namespace != namespace.encode() or signature.reserved:
        raise RecordError(
            f"its SSH signature is for {signature.namespace.decode(errors='replace')!r}, not {namespace!r}"
        )
    if signature.algorithm not in (b"sha256", b"sha512"):
        raise RecordError("its SSH signature uses a hash that OpenSSH does not allow")
    try:
        _check_raw(signature, content)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError) as error:
        raise RecordError("its SSH signature does not verify") from error


def _check_raw(signature: _Signature, content: bytes) -> None:
    kind, raw = _strings(signature.blob, 2)
    signed = signature.covers(content)
    key = serialization.load_ssh_public_key(
        _strings(signature.public, 1)[0] + b" " + base64.b64encode(signature.public)
    )
    if isinstance(key, Ed25519PublicKey) and kind == b"ssh-ed25519":
        key.verify(raw, signed)
    elif isinstance(key, rsa.RSAPublicKey) and kind in _RSA:
        key.verify(raw, signed, padding.PKCS1v15(), _RSA[kind])
    elif isinstance(key, ec.EllipticCurvePublicKey) and kind.startswith(b"ecdsa-sha2-") and key.curve.name in _CURVES:
        r, s = (int.from_bytes(number) for number in _strings(raw, 2))
        key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(_CURVES[key.curve.name]))
    else:
        raise RecordError(f"the audit cannot check SSH signatures of the kind {kind.decode(errors='replace')!r}")


def _parsed(armoured: str) -> _Signature:
    lines = armoured.strip().splitlines()
    try:
        if lines[0] != _BEGIN or lines[-1] != _END:
            raise ValueError("no armour")
        content = base64.b64decode("".join(lines[1:-1]), validate=True)
        if content[:6] != _MAGIC or content[6:10] != (1).to_bytes(4):
            raise ValueError("no signature of version 1")
        return _Signature(*_strings(content[10:], 5))
    except (ValueError, IndexError) as error:
        raise RecordError(f"it carries no SSH signature that can be read ({error})") from error


def _key_blob(public: str) -> bytes:
    try:
        return base64.b64decode(public.split()[1], validate=True)
    except (ValueError, IndexError) as error:
        raise RecordError(f"{public!r} is not a public SSH key") from error


def _strings(content: bytes, count: int) -> list[bytes]:
    """The first `count` of the strings, each after its length, that `content` begins with."""
    found = []
    for _ in range(count):
        length = int.from_bytes(content[:4])
        if len(content) < 4 + length:
            raise ValueError("it ends too early")
        found.append(content[4 : 4 + length])
        content = content[4 + length :]
    return found


def _packed(content: bytes) -> bytes:
    return len(content).to_bytes(4) + content
