"""What a level asked of the reference, so that it can be asked again of a worker that counts lines."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

MAX_BYTES = 64 << 20
"""Of questions beyond this nothing is kept but their number."""
BEGINNINGS = frozenset(("reset", "restore", "vector"))
GOES_ON = {"step": ("reset", "restore"), "render": ("reset", "restore"), "advance": ("vector",)}
"""Calls that only mean something after one of these, asked of the same worker."""
KINDS = ("policy", "name", "mode")
"""Arguments of which another value makes a question of another kind."""
SMALL = 64
"""Bytes that a question counts for beside its arrays."""

Call = tuple[str, Mapping[str, Any]]
Question = list[Call]
"""Calls that belong together, in order: mostly one, else a beginning and what goes on from there."""


class Questions:
    """The questions of one level. Threads may add to it at the same time.

    Attributes:
        asked: how many there were; `kept` of them can be asked again.
        features: in how many steps each feature was seen, as far as the level itself counted.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.asked = 0
        self.features: dict[str, int] = {}
        self._left = max_bytes
        self._kept: list[Question] = []
        self._open: dict[object, Question] = {}
        self._lock = threading.Lock()

    @property
    def kept(self) -> int:
        """How many questions can be asked again."""
        return len(self._kept)

    def add(self, source: object, call: str, arguments: Mapping[str, Any]) -> None:
        """Write down a call and its arguments, as it goes over the wire to the worker `source`."""
        with self._lock:
            size = SMALL + _bytes(arguments)
            if call in GOES_ON:
                begun = self._open.get(source)
                # What goes on from a question that was not kept means nothing either.
                if begun is None or begun[0][0] not in GOES_ON[call]:
                    return
                if size <= self._left:
                    begun.append((call, arguments))
                    self._left -= size
                else:  # the rest of it is a question that is not kept
                    self.asked += 1
                    del self._open[source]
                return
            self.asked += 1
            self._open.pop(source, None)
            if size > self._left:
                self._left = 0  # from here on nothing is kept: the first questions, not the smallest
                return
            self._left -= size
            question: Question = [(call, arguments)]
            self._kept.append(question)
            if call in BEGINNINGS:
                self._open[source] = question

    def mixed(self) -> Iterator[Question]:
        """What was kept, the kinds of questions in turns: whoever stops early has heard some of each."""
        kinds: dict[tuple[str, str], list[Question]] = {}
        for question in self._kept:
            call, arguments = question[0]
            about = str(next((arguments[name] for name in KINDS if name in arguments), ""))
            kinds.setdefault((call, about), []).append(question)
        waiting = [iter(each) for each in kinds.values()]
        while waiting:
            still = []
            for each in waiting:
                question = next(each, None)
                if question is not None:
                    yield question
                    still.append(each)
            waiting = still


def _bytes(value: Any) -> int:
    """About as many bytes as a value of the wire needs in memory."""
    if isinstance(value, np.ndarray | np.generic):
        return int(value.nbytes) + SMALL
    if isinstance(value, Mapping):
        return sum(_bytes(each) for each in value.values())
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], int | float):
            return 8 * len(value)
        return sum(_bytes(each) for each in value)
    return 8
