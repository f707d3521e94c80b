"""Telling subscribers that a session or a job has changed.

Sessions are changed by their own hosts, not by this server, so the server looks: at the newest commit of the event log and
at the files of jobs, once a second, and only at what somebody has subscribed to.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter, OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ListenHandler, ResourceUpdated, SubscriptionBus
from mcp.types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from harness.errors import LockstepError
from harness.host import jobs
from harness.record import directory as directories
from harness.record.log import EVENTS
from mcp_server.access import Access
from mcp_server.callers import connection_of

PERIOD_S = 1.0
SUBSCRIPTIONS = 1024
"""So many of the handshake era are kept; whoever subscribes to more loses its oldest."""
_WATCHED = re.compile(r"lockstep://sessions/([^/?]+)/(status|events|jobs/([0-9]{1,7}))(?:\?.*)?")
_log = logging.getLogger(__name__)


class Watch:
    """The subscriptions of one server, of both protocol eras."""

    def __init__(self, home: Path, access: Access, bus: SubscriptionBus) -> None:
        self._home = home
        self._access = access
        self._bus = bus
        self._listen = ListenHandler(bus)
        self._listened: Counter[str] = Counter()
        self._subscribed: OrderedDict[tuple[str, str], ServerSession] = OrderedDict()
        self._stamps: dict[str, object] = {}
        self._wanted = anyio.Event()

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """`resources/subscribe`: the era of the handshake."""
        if not self._may_watch(str(params.uri)):
            return EmptyResult()  # as for a session that does not exist
        key = (connection_of(ctx), str(params.uri))
        self._subscribed[key] = ctx.session
        self._subscribed.move_to_end(key)
        while len(self._subscribed) > SUBSCRIPTIONS:
            self._subscribed.popitem(last=False)
        self._look_at(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """`resources/unsubscribe`."""
        self._subscribed.pop((connection_of(ctx), str(params.uri)), None)
        return EmptyResult()

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """`subscriptions/listen`: the stateless era; its stream is the subscription."""
        asked = params.notifications.resource_subscriptions or ()
        wanted = [uri for uri in asked if self._may_watch(str(uri))]
        seen = params.notifications.model_copy(update={"resource_subscriptions": wanted})
        params = params.model_copy(update={"notifications": seen})
        uris = [str(uri) for uri in wanted]
        for uri in uris:
            self._listened[uri] += 1
            self._look_at(uri)
        try:
            return await self._listen(ctx, params)
        finally:
            self._listened.subtract(uris)
            self._listened += Counter()  # forgets those that nobody listens to any more

    async def run(self) -> None:
        """Look, and tell, until cancelled."""
        while True:
            if not self._uris():
                self._stamps.clear()
                self._wanted = anyio.Event()
                await self._wanted.wait()
            for uri in self._uris():
                stamp = self._stamp(uri)
                if stamp != self._stamps.setdefault(uri, stamp):
                    self._stamps[uri] = stamp
                    await self._tell(uri)
            await anyio.sleep(PERIOD_S)

    def _may_watch(self, uri: str) -> bool:
        """Whether whoever subscribes may know of the session: the only time at which it is known who that is."""
        matched = _WATCHED.fullmatch(uri)
        return matched is None or self._access.sees(matched[1])

    def _uris(self) -> set[str]:
        return set(self._listened) | {uri for _, uri in self._subscribed}

    def _look_at(self, uri: str) -> None:
        # As it is now: what changes from here on is reported, also when it does so before the first look.
        self._stamps.setdefault(uri, self._stamp(uri))
        self._wanted.set()

    async def _tell(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri))
        for key, session in list(self._subscribed.items()):
            if key[1] == uri:
                try:
                    await session.send_resource_updated(uri)
                except Exception:  # its connection has gone, and whatever that raises is no concern of the others
                    _log.debug("a subscriber has gone", exc_info=True)
                    self._subscribed.pop(key, None)

    def _stamp(self, uri: str) -> object:
        """Something that is another as soon as the resource is."""
        matched = _WATCHED.fullmatch(uri)
        if matched is None:
            return None
        session, _, number = matched.groups()
        with suppress(LockstepError, OSError):
            found = directories.find(self._home, session)
            if number is None:
                return _changed(found.repository / EVENTS), _changed(found.repository / "packed-refs")
            return jobs.read(f"{session}.{number}", self._home).state, _changed(
                found.path / jobs.JOBS / f"{number}.json"
            )
        return None


def _changed(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
