"""The conformance kit judges the adapters that the protocol's tests open."""

from __future__ import annotations

from tests.protocol.conftest import open_walker, opened_walker, run, sandbox, serve

__all__ = ["open_walker", "opened_walker", "run", "sandbox", "serve"]
