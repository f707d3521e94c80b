"""What a reference refuses: it may raise on a state that was made up, or on an action that its rules do not allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from harness.errors import Raised, Side

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def answered(play: Callable[[Sequence[Asked]], list[Answer]], asked: Sequence[Asked]) -> list[Answer | None]:
    """What is answered to each, all at once where that is possible; None for each that the reference refuses."""
    try:
        return list(play(asked))
    except Raised as refused:
        if refused.side is not Side.REFERENCE:
            raise
        if len(asked) == 1:
            return [None]
        middle = len(asked) // 2
        return answered(play, asked[:middle]) + answered(play, asked[middle:])
