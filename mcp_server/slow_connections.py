"""Connections that send a request too slowly, or none at all, are closed: each of them holds a descriptor of the server."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 30.0
"""So long a whole request may take to arrive, body included, counted from the connection or from the last answer."""


def protocol(seconds: float = REQUEST_S) -> type[H11Protocol]:
    """The protocol of uvicorn, with a limit on how long a request may take to arrive. Answers have none."""

    class Impatient(H11Protocol):
        _limit: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            """Time what has yet to arrive; nothing while a whole request is there and being answered."""
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
                self._stop()
            elif self._limit is None and not self.transport.is_closing():
                self._limit = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._limit is not None:
                self._limit.cancel()
                self._limit = None

    return Impatient
