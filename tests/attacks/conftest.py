"""Attacks on records begin with a session on the stand-in task."""

from __future__ import annotations

from tests.session.conftest import agent, home, task, workspace

__all__ = ["agent", "home", "task", "workspace"]
