"""`lockstep key`: the key that signs every record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from harness.cli.frame import EXIT_OK, Output, command

if TYPE_CHECKING:
    from harness.record.keyring import Keyring


@click.group("key", short_help="the key that signs records: show or rotate it")
def key() -> None:
    """The key with which this home signs every record. Whoever audits one can pin its public half (docs/audit.md)."""


@command("show", "which key signs, and where its public half is")
def show_key(output: Output) -> int:
    """Show the present key; the first use makes it."""
    from harness.record.keyring import Keyring
    from harness.support.home import lockstep_home

    ring = Keyring(lockstep_home())
    document = _described(ring)
    lines = [
        f"id           {document['id']}",
        f"public key   {document['public_key']}",
        f"fingerprint  SHA256:{document['fingerprint']}",
    ]
    if ring.retired:
        lines.append(f"retired      {', '.join(name[:16] for name in ring.retired)}")
    output.emit(document, *lines)
    return EXIT_OK


@command("rotate", "make a new key; the old one hands its sessions over")
def rotate(output: Output) -> int:
    """Make a new key and put the old one aside.

    A session takes the new key when it is next opened to be written to: the old key signs that hand-over, and nothing else
    from then on. A process that works on a session meanwhile goes on with the old key until it ends.
    """
    from harness.record.keyring import Keyring
    from harness.support.home import lockstep_home

    ring = Keyring(lockstep_home())
    old, _ = ring.rotate()
    document = _described(ring) | {"retired_now": old.id}
    output.emit(
        document,
        f"new key      {document['id']}",
        f"public key   {document['public_key']}",
        f"fingerprint  SHA256:{document['fingerprint']}",
        f"retired      {old.id}",
        "",
        "Sessions take the new key when they are next opened. Until then they need the retired one.",
    )
    return EXIT_OK


def _described(ring: Keyring) -> dict[str, object]:
    present = ring.present.public
    return {
        "id": present.id,
        "public_key": str(ring.public_file),
        "fingerprint": present.fingerprint,
        "retired": list(ring.retired),
    }


key.add_command(show_key)
key.add_command(rotate)
