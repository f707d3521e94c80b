"""Several members of one recipe that share out pieces of work."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from harness.errors import LockstepError
from harness.farm.engine import STRIKES, Engine, Lost, Member, Recipe


@dataclass(frozen=True)
class Piece:
    """One question.

    Attributes:
        key: its name, the same for no other piece.
        method, arguments: what a member is asked.
    """

    key: str
    method: str
    arguments: tuple[Any, ...] = ()


class DeadlyPiece(LockstepError):
    """A piece over which one member after another was lost."""


Done = Callable[[Piece, Any], Iterable[Piece]]
"""Called with each piece that is done, and its answer, one at a time; gives the pieces that follow from it."""


class Crew:
    """Works through pieces, as many at once as the engine has slots.

    A piece whose member is lost is done again by another. Where nothing is left to begin, and members are on several nodes,
    idle ones do the pieces of others once more, the oldest first, and the first answer counts: a slow node holds nobody up.

    Args:
        engine: makes the members, when they are first needed.
        recipe: what they are made from.
        size: how many members at most; 0 takes the engine's slots.
        began: called with a piece when a member begins it, under the same lock as `Done`.
    """

    def __init__(
        self, engine: Engine, recipe: Recipe, size: int = 0, began: Callable[[Piece], None] = lambda piece: None
    ) -> None:
        self._engine, self._recipe, self._began = engine, recipe, began
        self._size = size or engine.slots
        self.facts: dict[str, dict[str, Any]] = {}

    def work(self, pieces: Iterable[Piece], done: Done) -> None:
        """Do all pieces, and those that follow from them. Members live as long as this.

        Raises:
            DeadlyPiece: names the piece that killed its members.
            Refused: no node can do this work.
            Exception: what a piece raised, or `done` did; what others are at is dropped.
        """
        shift = _Shift(pieces, done, self._began, again=self._engine.apart)
        with ThreadPoolExecutor(self._size, thread_name_prefix="lockstep-farm") as threads:
            try:
                for _ in range(self._size):
                    threads.submit(self._serve, shift)
                shift.wait()
            finally:
                shift.stop()
        shift.demand_whole()

    def _serve(self, shift: _Shift) -> None:
        """One member after another works, until nothing is left."""
        member: Member | None = None
        try:
            while (piece := shift.take()) is not None:
                try:
                    if member is None:
                        member = self._engine.start(self._recipe, shift.goes_on)
                        self.facts[member.node] = dict(member.facts)
                    if not shift.holds(member):
                        return
                    answer = member.ask(piece.method, *piece.arguments)
                except Lost as lost:
                    if member is not None:
                        shift.forget(member)
                        member.kill()
                    member = None
                    shift.lost(piece, str(lost))
                except BaseException as error:
                    shift.fail(error)
                    return
                else:
                    shift.answer(piece, answer)
        finally:
            if member is not None:
                shift.forget(member)
                member.close()


class _Shift:
    """What the threads of a crew share while they work."""

    def __init__(self, pieces: Iterable[Piece], done: Done, began: Callable[[Piece], None], *, again: bool) -> None:
        self._waiting = deque(pieces)
        self._done, self._began, self._again = done, began, again
        self._turn = threading.Condition()
        self._at: dict[str, Piece] = {}  # what members are at, the oldest first
        self._hands: dict[str, int] = {}  # how many members are at it
        self._strikes: dict[str, int] = {}
        self._members: list[Member] = []
        self._error: BaseException | None = None
        self._stopped = False

    def goes_on(self) -> bool:
        """Whether anybody still waits for an answer."""
        return not self._stopped

    def take(self) -> Piece | None:
        """The next piece, one of another member where none waits, or None when there is nothing more to do."""
        with self._turn:
            while True:
                if self._stopped or not (self._waiting or self._at):
                    return None
                if self._waiting:
                    piece = self._waiting.popleft()
                    self._at[piece.key] = piece
                    self._began(piece)
                    break
                alone = [piece for key, piece in self._at.items() if self._hands[key] == 1]
                if alone and self._again:
                    piece = alone[0]
                    break
                self._turn.wait()
            self._hands[piece.key] = self._hands.get(piece.key, 0) + 1
            return piece

    def answer(self, piece: Piece, answer: Any) -> None:
        """A piece is done; a second answer to it is dropped."""
        with self._turn:
            self._hands[piece.key] -= 1
            if self._at.pop(piece.key, None) is not None and not self._stopped:
                try:
                    self._waiting.extendleft(reversed([*self._done(piece, answer)]))
                except BaseException as error:
                    self._error, self._stopped = error, True
            self._turn.notify_all()

    def lost(self, piece: Piece, why: str) -> None:
        """A member was lost over a piece: it waits again, unless it was the third."""
        with self._turn:
            self._hands[piece.key] -= 1
            if piece.key in self._at and not self._stopped:
                self._strikes[piece.key] = self._strikes.get(piece.key, 0) + 1
                if self._strikes[piece.key] >= STRIKES:
                    self._error = DeadlyPiece(
                        f"{STRIKES} workers were lost over it, the last one so: {why}",
                        where=piece.key,
                        expected="a piece of work that ends, or fails, in its process",
                        next_step="look for what kills it: most often memory",
                    )
                    self._stopped = True
                elif not self._hands[piece.key]:
                    self._waiting.appendleft(self._at.pop(piece.key))
            self._turn.notify_all()

    def fail(self, error: BaseException) -> None:
        """Something cannot be done at all."""
        with self._turn:
            if not self._stopped:
                self._error, self._stopped = error, True
            self._turn.notify_all()

    def holds(self, member: Member) -> bool:
        """Take note of a member, to be ended with the shift; False where that has ended."""
        with self._turn:
            if member not in self._members:
                self._members.append(member)
            return not self._stopped

    def forget(self, member: Member) -> None:
        """It is ended by its own thread."""
        with self._turn:
            if member in self._members:
                self._members.remove(member)

    def wait(self) -> None:
        """Until all is done, or something failed."""
        with self._turn:
            while not self._stopped and (self._waiting or self._at):
                self._turn.wait()

    def stop(self) -> None:
        """Nobody takes more, and whoever is still at a piece is ended: nobody waits for the answer."""
        with self._turn:
            self._stopped = True
            late = [member for member in self._members if any(self._hands.values())]
            self._turn.notify_all()
        for member in late:
            member.kill()

    def demand_whole(self) -> None:
        """Raise what went wrong."""
        if self._error is not None:
            raise self._error
