"""Streamable HTTP: who may come in, under which names, and how much they may send."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from harness.errors import SetupError
from mcp_server.events import OwnSession, RecentEvents
from mcp_server.limits import REQUEST_BYTES
from mcp_server.newcomers import make_room
from mcp_server.services import Services
from mcp_server.slow_connections import REQUEST_S, protocol

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
IDLE_SESSION_S = 30 * 60.0
SESSIONS_AT_MOST = 256
RETRY_MS = 1_000
"""After so long a client whose stream has dropped comes back for the rest."""
FAREWELL_S = 3
"""So long open streams are waited for when the server ends; their jobs go on without it."""


@dataclass(frozen=True)
class Doors:
    """Where the server listens, and the names that it answers to.

    Attributes:
        host, port: as in `bind`; port 0 takes a free one.
        allowed_hosts: names in the `Host` header besides those of the loopback interface.
        allowed_origins: origins of web pages that may call it; others are refused.
    """

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    def security(self) -> TransportSecuritySettings:
        """The guard against DNS rebinding, which is always on.

        Raises:
            SetupError: the server is to listen beyond this machine, and no name is stated.
        """
        own = is_loopback(self.host)
        if not own and not self.allowed_hosts:
            raise SetupError(
                f"to listen on {self.host} is to be reached from other machines",
                expected="--allowed-host NAME: the name (and port) by which clients call it",
                next_step="name it, or listen on 127.0.0.1 and reach it through a tunnel",
            )
        hosts = [*LOOPBACK, *self.allowed_hosts] if own else list(self.allowed_hosts)
        origins = [f"{scheme}://{name}" for name in LOOPBACK for scheme in ("http", "https")] if own else []
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=_with_any_port(hosts),
            allowed_origins=[*_with_any_port(origins), *self.allowed_origins],
        )

    def listen(self) -> socket.socket:
        """The socket that the server listens on.

        Raises:
            SetupError: the address cannot be taken.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # The protocol is stated because asyncio switches Nagle's delay off only where it is: 40 ms for each answer.
        made = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, socket.IPPROTO_TCP)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((self.host, self.port))
            made.listen()  # before anybody knows its address: who comes early waits instead of being refused
        except OSError as error:
            made.close()
            raise SetupError(
                f"cannot listen on {self.host}:{self.port} ({error.strerror})",
                next_step="choose another --port, or end what listens there",
            ) from error
        return made


def http_app(server: MCPServer[Services], doors: Doors, sessions: int = SESSIONS_AT_MOST) -> ASGIApp:
    """The ASGI application, with everything that guards it; so many sessions of the protocol are open at once."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        event_store=RecentEvents(),
        retry_interval=RETRY_MS,
        max_request_body_size=REQUEST_BYTES,
        session_idle_timeout=IDLE_SESSION_S,
        max_sessions=sessions,
        transport_security=doors.security(),
        host=doors.host,
    )
    make_room(server.session_manager)
    return OwnSession(app)


async def serve_http(app: ASGIApp, listener: socket.socket, request_s: float = REQUEST_S) -> None:
    """Serve until the process is asked to end. A request that takes longer to arrive loses its connection."""
    config = uvicorn.Config(
        app,
        http=protocol(request_s),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=FAREWELL_S,
        lifespan="on",
    )
    await uvicorn.Server(config).serve(sockets=[listener])


def url_of(listener: socket.socket) -> str:
    """Where clients of this machine reach a listening socket."""
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}{PATH}"


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _with_any_port(names: Sequence[str]) -> list[str]:
    """Each name as it is, and, where it states no port, with any."""
    return [each for name in names for each in ((name,) if _has_port(name) else (name, f"{name}:*"))]


def _has_port(name: str) -> bool:
    last = name.rpartition(":")[2]
    return ":" in name and (last.isdigit() or last == "*")
