"""Where things lie that tests of several rooms use."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
"""The repository."""
ENVIRONMENTS = ROOT / "environments"
WALK = TESTS / "verify" / "levels" / "walk"
"""The smallest task that all levels judge."""
FOUR = TESTS / "mutants" / "four"
"""Four in a row: the smallest task with a board, and with a mask of legal actions."""
RECORDED_SESSIONS = TESTS / "assurance" / "replay" / "sessions"
NIM = TESTS / "players" / "nim"
"""Two players in turns, with a mask and without chance."""
STANDING = TESTS / "players" / "standing"
"""Three players at once, who drop out, with chance."""
RELAY = TESTS / "players" / "relay"
"""Two players of whom chance says who may act: one, both or neither."""
