"""How a client reaches the server: a command that it starts, or the address of one that runs."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from harness.errors import LockstepError, SetupError

NAME = "lockstep"
"""Under which name clients know the server."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Server:
    """Either `command`, `arguments` and `environment` to start it with, or the `url` where it listens.

    `token_env` names the variable that holds its bearer token; the token itself is never written anywhere.
    """

    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    token_env: str = ""


def local_server(home: Path | None = None) -> Server:
    """`lockstep serve` of this very installation, by its absolute path, because clients have a PATH of their own.

    Args:
        home: where sessions are kept, where that is not what the server would find by itself.

    Raises:
        SetupError: the console script is not there.
    """
    stated = os.environ.get("LOCKSTEP_HOME") if home is None else str(home)
    environment = {"LOCKSTEP_HOME": str(Path(stated).expanduser())} if stated else {}
    return Server(str(console_script()), ("serve",), environment)


def http_server(url: str, token_env: str) -> Server:
    """A server that runs already.

    Raises:
        LockstepError: the address or the name of the variable is not valid.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise LockstepError(
            f"{url!r} is not an address of a server",
            expected="http://HOST:PORT/mcp or https://..., without a name or password in it",
            next_step="take the address that `lockstep serve --http` prints",
        )
    if not _VARIABLE.fullmatch(token_env):
        raise LockstepError(
            f"{token_env!r} is not a name of an environment variable",
            expected="the name of the variable that holds the token, not the token itself",
        )
    return Server(url=url, token_env=token_env)


def console_script() -> Path:
    """The `lockstep` of the installation that runs this.

    Raises:
        SetupError: it is not there.
    """
    folders = (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent)
    found = next((folder / NAME for folder in folders if (folder / NAME).is_file()), None)
    elsewhere = shutil.which(NAME) if found is None else None
    if found is None and elsewhere is None:
        raise SetupError(
            f"there is no program `{NAME}` in this installation",
            where=str(folders[0]),
            expected="the console script that pip makes",
            next_step="install Lockstep with pip, or connect to a running server with --http",
        )
    return Path(found or elsewhere or "").absolute()
