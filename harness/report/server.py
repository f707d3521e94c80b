"""The report served live on loopback: the page, and the id of the newest event by which the page sees that it is old.

Only this machine can reach it, and only under its own name: a page of another site that made its name point here (DNS
rebinding) is refused by the `Host` header. Other users of the machine can reach the port as well, so the path is drawn by
chance, and only who knows the address reads the page. Nothing can be changed through it.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harness.errors import LockstepError, RecordError
from harness.record.keys import PublicKey
from harness.record.log import EVENTS
from harness.record.store import Store
from harness.report.document import collect
from harness.report.page import policy, render

LOOPBACK = "127.0.0.1"
NAMES = (LOOPBACK, "localhost")
IDLE_SECONDS = 30
SECRET_BYTES = 16


class Page:
    """The page of a record as it is now; made again only when an event came in.

    Args:
        store: the record.
        public_key, unisolated: as for `collect`.
    """

    def __init__(
        self, store: Store, public_key: PublicKey | Path | None = None, unisolated: Sequence[PublicKey] = ()
    ) -> None:
        self._store = store
        self._key = public_key
        self._unisolated = unisolated
        self._making = threading.Lock()
        self._made = ("", "")

    def stamp(self) -> str:
        """The id of the newest event.

        Raises:
            RecordError: there is no log, or no record any more.
        """
        if not self._store.path.is_dir():
            raise RecordError("the record is gone", where=str(self._store.path), next_step="name another record")
        found = self._store.refs().get(EVENTS)
        if found is None:
            raise RecordError(f"there is no {EVENTS}", where=str(self._store.path), next_step="name another record")
        return found

    def html(self) -> str:
        """The page. Raises RecordError as `stamp` does."""
        with self._making:  # of several readers who ask at once, the first one's page serves all
            if self._made[0] != self.stamp():
                document = collect(self._store, self._key, self._unisolated)
                self._made = document["stamp"], render(document, live=True)
            return self._made[1]


class Server(ThreadingHTTPServer):
    """Serves a page on loopback, below a path that nobody can guess, until `shutdown`.

    Args:
        page: what to serve.
        port: 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """

    daemon_threads = True

    def __init__(self, page: Page, port: int = 0) -> None:
        self.page = page
        self.root = f"/{secrets.token_urlsafe(SECRET_BYTES)}/"
        super().__init__((LOOPBACK, port), _Handler)

    @property
    def address(self) -> str:
        """Where a browser on this machine finds the page. Whoever knows it can read the page."""
        return f"http://{LOOPBACK}:{self.server_port}{self.root}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that left in the middle of an answer."""


class _Handler(BaseHTTPRequestHandler):
    server_version = "Lockstep"
    sys_version = ""
    timeout = IDLE_SECONDS
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        """Answer with the page or the stamp."""
        if self.headers.get("Host") not in {f"{name}:{self.server.server_port}" for name in NAMES}:
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, "this is served to this machine, under its own name only\n")
            return
        root = self.server.root
        # In constant time, so that the time of an answer does not tell how much of a guess was right.
        known = hmac.compare_digest(self.path[: len(root)].encode(), root.encode())
        asked = self.path[len(root) :] if known else None
        try:
            if asked == "":
                self._answer(HTTPStatus.OK, self.server.page.html(), "text/html")
            elif asked == "stamp":
                self._answer(HTTPStatus.OK, self.server.page.stamp())
            else:
                self._answer(HTTPStatus.NOT_FOUND, "the page has the address that `lockstep view` said, and no other\n")
        except LockstepError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n")

    do_HEAD = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what the standard library refuses (another method, a malformed request) in plain text."""
        self.close_connection = True
        code = HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else code
        self._answer(HTTPStatus(code), f"{message or HTTPStatus(code).phrase}: only GET and HEAD are answered\n")

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet: a page asks every two seconds."""

    def _answer(self, status: HTTPStatus, text: str, kind: str = "text/plain") -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", f"{policy(live=True)}; frame-ancestors 'none'")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
