"""What can be done with a session, each as one call that gives one JSON-ready document: the command line, the host and
the server of the tools all say the same because they all say this.

The calls here only read, or begin a session: they need no lock and no host, and answer at once. `verification` and
`comparison`, which judge, take a session or a task that the caller has opened, and load much more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.operations.explanation import explain
from harness.operations.records import audit, bundle, history, sessions, start, status

__all__ = ["READING", "audit", "bundle", "explain", "history", "sessions", "start", "status"]

READING: Mapping[str, Callable[..., dict[str, Any]]] = {"status": status, "history": history, "explain": explain}
"""Calls of a host that are answered from the record alone where none runs."""
