"""A fault in a text: what the operators of each language propose, and mutants are made of."""

from __future__ import annotations

from dataclasses import dataclass

Edit = tuple[int, int, bytes]
"""Byte offsets in a file, from and to, and the new bytes."""
MODULE = "<module>"


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        function: the dotted name of the function or class around it, or `<module>`.
        operator: the kind of fault.
        edits: in the order of the file.
        shown: byte offsets of the text that tells a reader what changed; it holds all edits.
    """

    function: str
    operator: str
    edits: tuple[Edit, ...]
    shown: tuple[int, int]


def applied(source: bytes, edits: tuple[Edit, ...]) -> bytes:
    """A text with the fault in it."""
    for start, end, text in reversed(edits):
        source = source[:start] + text + source[end:]
    return source
