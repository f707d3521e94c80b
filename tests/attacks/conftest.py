"""Attacks on records begin with a session on the stand-in task; attacks on a server with a place for one."""

from __future__ import annotations

from tests.mcp_server.conftest import anyio_backend, place
from tests.session.conftest import agent, home, task, workspace

__all__ = ["agent", "anyio_backend", "home", "place", "task", "workspace"]
