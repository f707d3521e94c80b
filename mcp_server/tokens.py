"""Bearer tokens of the HTTP transport: one for each client, in a file that only its owner can read."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server.auth.provider import AccessToken

from harness.errors import SetupError
from harness.policy.owners import CLIENT
from harness.policy.spent import LOCAL
from harness.support.foreign import json_of
from mcp_server.access import OPERATOR

TOKEN_BYTES = 32
FIRST_CLIENT = "default"
_TOKEN, _OPERATOR = "token", "operator"


class TokenFile:
    """The tokens that are good now; the file is read again whenever it has changed, so that one can be taken away.

    It holds a JSON object from client names to tokens. The token of an operator, who sees every session, is written as
    `{"token": TOKEN, "operator": true}`.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or make it with one token.

        Raises:
            SetupError: others can read it, it is malformed, or it cannot be read or made.
        """
        self.path = path
        self.made = not path.exists()
        if self.made:
            self._write({FIRST_CLIENT: secrets.token_urlsafe(TOKEN_BYTES)})
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, _Known] = {}
        self._load()

    async def verify_token(self, token: str) -> AccessToken | None:
        """The client that a token belongs to. Every token is compared, in a time that tells nothing of them."""
        try:
            self._load()
        except SetupError:
            return None  # a file that is being edited, or that others can read now, lets nobody in
        given, found = _digest(token), None
        for client, known in self._known.items():
            if hmac.compare_digest(known.digest, given):
                found = client
        if found is None:
            return None
        return AccessToken(token=token, client_id=found, scopes=[OPERATOR] if self._known[found].is_operator else [])

    def add(self, client: str, *, is_operator: bool = False) -> str:
        """A token for one more client, or for one more operator.

        Raises:
            SetupError: there is one of that name already, the name is not valid, or the file cannot be written.
        """
        tokens = self._read()
        if not CLIENT.fullmatch(client) or client in (*tokens, LOCAL):
            raise SetupError(
                f"{client!r} cannot be the name of a new client",
                where=str(self.path),
                expected=f"letters, digits and ._- which are not {', '.join((*tokens, LOCAL))}",
            )
        token = secrets.token_urlsafe(TOKEN_BYTES)
        tokens[client] = {_TOKEN: token, _OPERATOR: True} if is_operator else token
        self._write(tokens)
        self._load()
        return token

    def _load(self) -> None:
        try:
            found = self.path.stat()
        except OSError as error:
            raise self._broken(f"cannot be read: {error.strerror}") from error
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise self._broken("can be read by others", f"make it yours alone: chmod 600 {self.path}")
        stamp = (found.st_mtime_ns, found.st_ino)
        if stamp != self._stamp:
            self._known = {client: _known(entry) for client, entry in self._read().items()}
            self._stamp = stamp

    def _read(self) -> dict[str, Any]:
        try:
            tokens = json_of(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise self._broken(f"cannot be read: {error}") from error
        right = isinstance(tokens, dict) and all(
            CLIENT.fullmatch(client) and _is_entry(entry) for client, entry in tokens.items()
        )
        if not right or not tokens:
            raise self._broken("is malformed", "remove it: a new one is made")
        return tokens

    def _write(self, tokens: Mapping[str, Any]) -> None:
        beside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(tokens, file, indent=1)
                file.write("\n")
            beside.replace(self.path)
        except OSError as error:
            raise self._broken(f"cannot be written: {error.strerror}") from error

    def _broken(self, what: str, next_step: str = "give another file with --token-file") -> SetupError:
        return SetupError(
            f"the token file {what}",
            where=str(self.path),
            expected="a JSON object from client names to tokens of 32 characters and more, or to an object with `token` and "
            "`operator`, with mode 0600",
            next_step=next_step,
        )


@dataclass(frozen=True)
class _Known:
    digest: bytes
    is_operator: bool


def _is_entry(entry: Any) -> bool:
    if isinstance(entry, dict):
        return set(entry) == {_TOKEN, _OPERATOR} and isinstance(entry[_OPERATOR], bool) and _is_token(entry[_TOKEN])
    return _is_token(entry)


def _is_token(token: Any) -> bool:
    return isinstance(token, str) and len(token) >= TOKEN_BYTES


def _known(entry: Any) -> _Known:
    if isinstance(entry, dict):
        return _Known(_digest(entry[_TOKEN]), entry[_OPERATOR])
    return _Known(_digest(entry), False)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
