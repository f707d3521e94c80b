"""Who owns which session: the client that began it. An operator, who has no name here, owns the others and sees all.

::

    <home>/owners/<session>     the name of the client, which is that of its token

It lies in the home, outside of every workspace and outside of the record, so that neither an agent nor a record that
somebody sends can say whose a session is.
"""

from __future__ import annotations

import re
from pathlib import Path

from harness.support.files import private_directory, write_durably

DIRECTORY = "owners"
CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""The name of a client."""
NOBODY = ""
"""Owns what an unreadable file speaks of: no client has this name, and the operator still sees it."""
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def note_owner(home: Path, session: str, client: str) -> None:
    """Write down that a client owns a session; durable when this returns, so that it is called before the session exists.

    Raises:
        RecordError: the home cannot be written.
    """
    directory = private_directory(home, DIRECTORY)
    write_durably(directory / session, f"{client}\n".encode(), 0o600)


def owner_of(home: Path, session: str) -> str | None:
    """The client that owns a session; None where it is the operator's own, as all are that no client began."""
    if not _SESSION.fullmatch(session):
        return NOBODY
    try:
        stated = (home / DIRECTORY / session).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return NOBODY
    return stated if CLIENT.fullmatch(stated) else NOBODY
