"""`lockstep key`: the keys that sign every record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from harness.cli.frame import EXIT_OK, Output, command

if TYPE_CHECKING:
    from harness.record.keyring import Keyring

ISOLATED, UNISOLATED, BOTH = "isolated", "unisolated", "both"


@click.group("key", short_help="the keys that sign records: show or rotate them")
def key() -> None:
    """The keys with which this home signs every record: one for sessions whose sandboxes isolate, and one for those of the
    driver `process`. Whoever audits a record can pin the public half of its key (docs/audit.md)."""


@command("show", "which keys sign, and where their public halves are", "lockstep key show")
def show_key(output: Output) -> int:
    """Show the present keys; the first use makes the one for sessions that isolate."""
    from harness.policy.rings import exposed
    from harness.record.keyring import Keyring
    from harness.support.home import lockstep_home

    home = lockstep_home()
    ring, other = Keyring(home), Keyring(home, isolated=False)
    without = exposed(home)  # such a home makes no key for sessions that isolate
    document: dict[str, object] = {} if without else _described(ring)
    lines = [] if without else _lines(ring)
    if other.exists:
        lines += ["", "for sessions that do not isolate:", *_lines(other)] if lines else _lines(other)
    if without:
        lines += ["", "Candidates could read all of this home, so that it signs only sessions that do not isolate."]
    output.emit(document | {"exposed": without, UNISOLATED: _described(other) if other.exists else None}, *lines)
    return EXIT_OK


@command("rotate", "make a new key; the old one hands its sessions over", "lockstep key rotate")
@click.option(
    "--which",
    type=click.Choice((ISOLATED, UNISOLATED, BOTH)),
    default=ISOLATED,
    show_default=True,
    help="The key for sessions that isolate, the one for those that do not, or both.",
)
def rotate(output: Output, which: str) -> int:
    """Make a new key and put the old one aside.

    A session takes the new key when it is next opened to be written to: the old key signs that hand-over, and nothing else
    from then on. A process that works on a session meanwhile goes on with the old key until it ends.
    """
    from harness.record.keyring import Keyring
    from harness.support.home import lockstep_home

    home = lockstep_home()
    document: dict[str, object] = {}
    lines: list[str] = []
    for kind in (ISOLATED, UNISOLATED):
        if which in (kind, BOTH):
            ring = Keyring(home, isolated=kind == ISOLATED)
            old, _ = ring.rotate()
            described = _described(ring) | {"retired_now": old.id}
            document |= described if kind == ISOLATED else {UNISOLATED: described}
            lines += [
                *([] if kind == ISOLATED else ["for sessions that do not isolate:"]),
                f"new key      {described['id']}",
                f"public key   {described['public_key']}",
                f"fingerprint  SHA256:{described['fingerprint']}",
                f"retired      {old.id}",
                "",
            ]
    output.emit(
        document, *lines, "Sessions take the new key when they are next opened. Until then they need the retired one."
    )
    return EXIT_OK


def _lines(ring: Keyring) -> list[str]:
    described = _described(ring)
    retired = [f"retired      {', '.join(name[:16] for name in ring.retired)}"] if ring.retired else []
    return [
        f"id           {described['id']}",
        f"public key   {described['public_key']}",
        f"fingerprint  SHA256:{described['fingerprint']}",
        *retired,
    ]


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
