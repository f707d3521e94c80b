"""A client's own time limit is no wish that the work should end."""

from __future__ import annotations

import pytest

from mcp_server.callers import gave_up


@pytest.mark.parametrize(
    "reason", ["timed out after 60.0s", "McpError: MCP error -32001: Request timed out", "TIMEOUT"]
)
def test_a_time_limit_is_distinguished_from_a_wish(reason: str) -> None:
    assert gave_up(reason)


@pytest.mark.parametrize("reason", [None, "", "caller cancelled", "AbortError: This operation was aborted", 3])
def test_everything_else_is_a_wish(reason: object) -> None:
    assert not gave_up(reason)
