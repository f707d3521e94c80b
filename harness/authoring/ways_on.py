"""What to do about an environment of which no solvable task can be made: three ways, and which is the best here."""

from __future__ import annotations

from collections.abc import Sequence

_FACTORY = (
    "`--factory FILE.py:FUNCTION` with a subclass that draws from `self.np_random` and keeps its state in attributes"
)
_ADAPTER = (
    "`--adapter FILE.py` with an adapter written by hand, whose `state/` leaves and draws you name (docs/protocol.md)"
)
_PROGRAM = "`--command` with a program in the environment's own language that speaks the protocol"
_OUTSIDE = "its chance comes from no generator"
"""What `gymnasium_discover.py` says where nothing in Python decides."""


def ways_on(notes: Sequence[str], general: bool) -> str:
    """The three ways, and the best of them, as one text.

    Args:
        notes: what was found out about the environment.
        general: whether it was looked at through the general adapter, and not through one that its author wrote.
    """
    outside = any(_OUTSIDE in note for note in notes)
    best, why = 2, "its author knows what the general adapter cannot see"
    if not general:
        best, why = (
            2,
            "the adapter or the program is there already: let it declare `state/` leaves, `draws` and `force_draws`",
        )
    elif not outside:
        best, why = 1, "its chance is decided in Python, where a few lines can bring it to `self.np_random`"
    ways = f"three ways go on: (1) {_FACTORY}; (2) {_ADAPTER}; (3) {_PROGRAM}. The best here is ({best}): {why}"
    found = "; ".join(notes)
    return f"{ways}. What was found: {found}" if found else ways
