"""Frames of divergences, as the record holds them: two small pictures, put into the page as data."""

from __future__ import annotations

import base64
from typing import Any

from harness.record.event import Event
from harness.report.reading import Reading

DIRECTORY = "frames"
SIDES = ("expected", "actual")
MAX_FRAME = 256 << 10
MAX_FRAMES = 2 << 20
"""Bytes: of one frame, and of all together, so that a page stays below 5 MB."""
PNG = b"\x89PNG\r\n\x1a\n"


class Frames:
    """Hands out the frames of one record until the page is full. `left_out` counts those that found no place."""

    def __init__(self) -> None:
        self.left_out = 0
        self._room = MAX_FRAMES

    def of(self, reading: Reading, event: Event, index: int) -> dict[str, Any] | None:
        """The frames of a divergence as `data:` addresses by side, None where it has none."""
        found = {side: self._frame(reading, event, f"{DIRECTORY}/{index}-{side}.png") for side in SIDES}
        return found if any(found.values()) else None

    def _frame(self, reading: Reading, event: Event, path: str) -> str | None:
        if path not in event.attached:
            return None
        content = reading.attached(event, path) or b""
        if not content.startswith(PNG) or len(content) > min(MAX_FRAME, self._room):
            self.left_out += 1
            return None
        self._room -= len(content)
        return "data:image/png;base64," + base64.b64encode(content).decode()
