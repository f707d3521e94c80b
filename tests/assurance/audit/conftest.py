"""Audits are of sessions on the stand-in task."""

from __future__ import annotations

from tests.session.conftest import agent, home, reopen, task, workspace

__all__ = ["agent", "home", "reopen", "task", "workspace"]
