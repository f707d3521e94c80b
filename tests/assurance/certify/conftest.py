"""The walk, a task small enough to be certified in a test."""

from __future__ import annotations

from tests.verify.levels.conftest import make_walk, walk

__all__ = ["make_walk", "walk"]
