"""Whether there is a Ray cluster at an address: looked for where it can be given up, as Ray itself asks for minutes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

from harness.errors import SetupError
from harness.support.home import lockstep_home

LOCAL = "local"
"""What Ray calls a cluster that it starts."""
ADDRESS, AUTH_MODE = "RAY_ADDRESS", "RAY_AUTH_MODE"
TOKEN = "token"
CONNECT_S, JOIN_S = 10.0, 30.0
TRIES = 2
"""A head that is busy may begin the server for a client too late."""
CLIENT = "ray://"
JOINS = "import sys, ray; ray.init(sys.argv[1], log_to_driver=False); ray.nodes()"
"""What asks over the port for clients, which leads to no other part of a cluster."""


def demand_there(address: str) -> str:
    """The address that is to be joined, of a user or of `RAY_ADDRESS`; empty where neither names one. Sets `RAY_AUTH_MODE`
    for this process, where only one that sends its token is let in.

    Raises:
        SetupError: there is no cluster.
    """
    named = address or os.environ.get(ADDRESS, "")
    if not named or named in (LOCAL, "auto"):
        return named
    place = host_and_port(named)
    if place is None:
        raise unjoined(named, "it is no address")
    if (why := _silent(*place)) is not None:
        raise unjoined(named, why)
    mode = _mode_of(named, os.environ.get(AUTH_MODE))
    if mode is not None:
        os.environ[AUTH_MODE] = mode
    return named


def is_there(address: str) -> bool:
    """Whether somebody listens at an address; nobody does at an empty one."""
    place = host_and_port(address)
    return place is not None and _silent(*place) is None


def left_behind() -> str:
    """The address of the cluster that was last started on this machine; empty where there was none."""
    directory = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
    try:
        return Path(directory, "ray", "ray_current_cluster").read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def host_and_port(address: str) -> tuple[str, int] | None:
    """The two of `ray://host:port` or `host:port`; None of another text."""
    host, _, port = address.removeprefix(CLIENT).rpartition(":")
    return (host, int(port)) if port.isascii() and port.isdigit() else None


def unjoined(address: str, why: str) -> SetupError:
    """What tells that there is no cluster."""
    here = not address or address == LOCAL
    where = "--on ray" if here else f"{ADDRESS}={address}" if os.environ.get(ADDRESS) == address else f"--on {address}"
    return SetupError(
        f"no Ray cluster can be {'started' if here else 'joined'}: {why}",
        where=where,
        expected="the address of a running cluster, as `ray start --head` tells it",
        next_step="leave --on out" if here else f"start one, or give `--on ray` without {ADDRESS}: Ray then runs here",
    )


def _silent(host: str, port: int) -> str | None:
    """Why nobody answers there; None where somebody does."""
    try:
        socket.create_connection((host, port), CONNECT_S).close()
    except (OSError, ValueError, OverflowError) as error:
        return str(error)
    return None


@cache
def _mode_of(address: str, chosen: str | None) -> str | None:
    """The `RAY_AUTH_MODE` by which a cluster lets this user in; None where none has to be set.

    A head that was begun by a user who has a token demands it, and Ray sends it to an address only where it is told to. To a
    head that demands none it must not be sent: that would answer, and then take the sender for dead.
    """
    modes = [None] if chosen is not None or not _has_token() else [None, TOKEN]
    for mode in modes * (TRIES if address.startswith(CLIENT) else 1):
        if _is_let_in(address, mode):
            return mode
    raise unjoined(
        address,
        f"what listens there let nobody in within {JOIN_S:.0f} s; where the cluster demands a token, this user must have it,"
        f" and {AUTH_MODE}={TOKEN}",
    )


def _has_token() -> bool:
    named = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    return bool(named) or (Path.home() / ".ray" / "auth_token").is_file()


def _is_let_in(address: str, mode: str | None) -> bool:
    """Whether there is a cluster that answers, as a process of its own finds it: Ray cannot be told to give up, nor to
    change its mode.
    """
    status = ["-m", "ray.scripts.scripts", "status", "--address", address]
    try:
        done = subprocess.run(
            [sys.executable, "-P", *(["-c", JOINS, address] if address.startswith(CLIENT) else status)],
            env=os.environ | ({} if mode is None else {AUTH_MODE: mode}),
            cwd=lockstep_home(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=JOIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
