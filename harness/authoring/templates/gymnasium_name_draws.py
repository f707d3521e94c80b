"""Names of draws: an environment may ask for one kind of number in several ways, each with a law of its own.

`integers(0, 4)` in one line and `integers(0, 10)` in another are two draws. A line that asks now so and now so makes one
draw, whose law depends on the state.
"""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import os
import sys
from typing import Any

from gymnasium_describe import law_of

ENDS = ("", "_b", "_c", "_d", "_e", "_f", "_g", "_h")
WATCHING = {"gymnasium_name_draws.py", "gymnasium_find_chance.py", "gymnasium_chance.py"}
"""Files that stand between a draw and who asks for it."""


class Ways:
    """In which ways each draw was asked for, and where.

    Args:
        asked: tells arguments and options of a call as a text, or None.
    """

    def __init__(self, asked: Any) -> None:
        self._asked = asked
        self._ways = {}  # type: dict[str, dict[str | None, Any]]
        self._places = {}  # type: dict[str, dict[Any, set[str | None]]]

    def note(self, label: str, call: Any) -> None:
        """A draw was asked for by this call, name, arguments and options, in the line that is being run."""
        name, arguments, options = call
        way = self._asked(arguments, options)
        ways = self._ways.setdefault(label, {})
        if way not in ways:
            law = None if way is None else law_of(label, [call])
            ways[way] = (name, way) if law is None else sorted(law.items())
        self._places.setdefault(label, {}).setdefault(_place(), set()).add(way)

    def names(self) -> dict[str, dict[str, str]]:
        """For each draw with several laws, how the name of each of its ways ends."""
        found = {}
        for label, ways in self._ways.items():
            laws = []  # type: list[Any]
            for law in ways.values():
                if law not in laws:
                    laws.append(law)
            told = all(len({str(ways[way]) for way in at}) == 1 for at in self._places[label].values())
            if told and None not in ways and 1 < len(laws) <= len(ENDS):
                found[label] = {str(way): ENDS[laws.index(law)] for way, law in ways.items()}
        return found


def _place() -> Any:
    """The line of the environment, or of a library, that asks for a draw."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.basename(frame.f_code.co_filename) in WATCHING:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
