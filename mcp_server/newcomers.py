"""Room for newcomers over HTTP: which session of the protocol is put out when as many are open as may be.

Most clients never say goodbye, so that sessions nobody will use again are open until they expire. Putting one out costs its
client a handshake and nothing else: sessions of Lockstep and their jobs do not hang on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Transports = Mapping[str, StreamableHTTPServerTransport]


def make_room(manager: StreamableHTTPSessionManager) -> None:
    """Have a manager of sessions put one out where it would turn away a newcomer that has a claim to room."""
    # The SDK has no public way to this (2.3.0): it turns away whoever comes when all room is taken.
    admit, open_ones = manager._admit_session, manager._server_instances  # pyright: ignore[reportPrivateUsage]
    owners = manager._session_owners  # pyright: ignore[reportPrivateUsage]

    def admitted(requestor: Any) -> StreamableHTTPServerTransport | None:
        if manager.max_sessions is not None and len(open_ones) >= manager.max_sessions:
            holders = {session: _token(owners.get(session)) for session in open_ones}
            chosen = put_out(open_ones, holders, _token(requestor), manager.max_sessions)
            if chosen is None:
                return None
            transport = open_ones.pop(chosen)
            owners.pop(chosen, None)
            group = manager._task_group  # pyright: ignore[reportPrivateUsage]
            assert group is not None  # requests are answered while the manager runs
            group.start_soon(transport.terminate)
        return admit(requestor)

    manager._admit_session = admitted  # pyright: ignore[reportPrivateUsage]


def put_out(open_ones: Transports, holders: Mapping[str, str], newcomer: str, room: int) -> str | None:
    """The session that gives way to a newcomer; None where it is the newcomer that has to wait.

    Whoever holds most gives first, the newcomer itself included, of what it has not used for longest. A token that holds
    less than its share of the room then takes what anybody has not used for longest, and at last the oldest session of
    whoever holds most, though it is in use: a stream held open is one request that never ends.

    Args:
        open_ones: the open sessions, the oldest first.
        holders: the name of the token of each.
        newcomer: the name of the token that wants one more.
        room: so many sessions may be open.
    """
    held = Counter(holders.values())
    held[newcomer] += 1
    most, share = max(held.values()), room // len(held)
    largest = {token for token, count in held.items() if count == most}
    unused = sorted(
        (since, session) for session, transport in open_ones.items() if (since := _unused(transport)) < math.inf
    )
    from_largest = [session for _, session in unused if holders[session] in largest]
    if from_largest or held[newcomer] > max(share, 1):
        return from_largest[0] if from_largest else None
    if unused:
        return unused[0][1]
    return next((session for session, token in holders.items() if token in largest and token != newcomer), None)


def _token(owner: Any) -> str:
    return "" if owner is None else str(owner["client_id"])


def _unused(transport: StreamableHTTPServerTransport) -> float:
    """When a session will expire, which is the earlier the longer it was not used; infinity while it is in use."""
    return math.inf if transport.idle_scope is None else transport.idle_scope.deadline
