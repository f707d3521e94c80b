"""Several members of one recipe that share out pieces of work."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from harness.errors import LockstepError
from harness.farm.engine import STRIKES, Engine, Lost, Member, Recipe, Unreachable

AGAIN_S = 60.0
"""A piece that several members are at is begun by one more after so long: all of them may be on a node that hangs."""
LOOK_S = 1.0


@dataclass(frozen=True)
class Piece:
    """One question.

    Attributes:
        key: its name, the same for no other piece.
        method, arguments: what a member is asked.
        recipe: what that member is made from; None takes the crew's.
    """

    key: str
    method: str
    arguments: tuple[Any, ...] = ()
    recipe: Recipe | None = None


class DeadlyPiece(LockstepError):
    """A piece over which one member after another was lost."""


Done = Callable[[Piece, Any], Iterable[Piece]]
"""Called with each piece that is done, and its answer, one at a time; gives the pieces that follow from it."""
Hopeless = Callable[[Piece, Exception], Iterable[Piece]]
"""The same for a piece that killed its members (`DeadlyPiece`), or that no node can make a member for: what it raised."""


def give_up(piece: Piece, why: Exception) -> Iterable[Piece]:
    """A `Hopeless` that ends all work."""
    raise why


class Crew:
    """Works through pieces, as many at once as the engine has slots.

    A piece whose member is lost is done again by another. Where nothing is left to begin, and members are on several nodes,
    idle ones do the pieces of other nodes once more, the oldest first, and the first answer counts: a slow node holds nobody
    up.

    Args:
        engine: makes the members, when they are first needed.
        recipe: what they are made from, where a piece does not say.
        size: how many members at most; 0 takes the engine's slots.
        began: called with a piece when a member begins it, under the same lock as `Done`.

    Attributes:
        facts: of the nodes that worked, by name.
    """

    def __init__(
        self,
        engine: Engine,
        recipe: Recipe | None,
        size: int = 0,
        began: Callable[[Piece], None] = lambda piece: None,
    ) -> None:
        self._engine, self._recipe, self._began = engine, recipe, began
        self._size = size or engine.slots
        self.facts: dict[str, dict[str, Any]] = {}

    def work(self, pieces: Iterable[Piece], done: Done, hopeless: Hopeless = give_up) -> None:
        """Do all pieces, and those that follow from them. Members live as long as this.

        Raises:
            DeadlyPiece: names the piece that killed its members, where `hopeless` does not say otherwise.
            Refused: no node can do this work, likewise.
            Unreachable: the cluster is gone.
            Exception: what a piece raised, or `done` did; what others are at is dropped.
        """
        engine = self._engine
        shift = _Shift(pieces, done, hopeless, self._began, again=engine.apart, elsewhere=engine.nodes > 1)
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
        made: Recipe | None = None
        try:
            while (piece := shift.take(None if member is None else member.node)) is not None:
                recipe = piece.recipe or self._recipe
                if recipe is None:
                    raise ValueError(f"nothing says how a member for {piece.key} is made")
                if member is not None and made is not recipe:
                    member.close()
                    member = None
                try:
                    if member is None:
                        member, made = self._engine.start(recipe, shift.holds), recipe
                        self.facts[member.node] = dict(member.facts)
                    if not shift.holds(member):
                        break
                    shift.goes_to(piece, member.node)
                    answer = member.ask(piece.method, *piece.arguments)
                except Lost as lost:
                    gone, member = member, None
                    if gone is not None:
                        gone.kill()
                    shift.lost(piece, gone, str(lost))
                except Unreachable:
                    raise
                except Exception as error:
                    if member is None:
                        shift.unmade(piece, error)
                    else:
                        shift.failed(piece, member, error)
                else:
                    shift.answered(piece, member, answer)
            if member is not None:
                member.close()
        except BaseException as error:
            shift.break_off(error)
            if member is not None:
                member.kill()


@dataclass
class _At:
    """A piece that members are at: on which nodes, and since when the last of them."""

    piece: Piece
    hands: int = 0
    nodes: list[str] = field(default_factory=list)
    since: float = 0.0


class _Shift:
    """What the threads of a crew share while they work."""

    def __init__(
        self,
        pieces: Iterable[Piece],
        done: Done,
        hopeless: Hopeless,
        began: Callable[[Piece], None],
        *,
        again: bool,
        elsewhere: bool,
    ) -> None:
        self._waiting = deque(pieces)
        self._done, self._hopeless, self._began, self._again, self._elsewhere = done, hopeless, began, again, elsewhere
        self._turn = threading.Condition()
        self._at: dict[str, _At] = {}  # the oldest first
        self._strikes: dict[str, int] = {}
        self._busy: list[Member] = []
        self._error: BaseException | None = None
        self._stopped = False

    def take(self, node: str | None) -> Piece | None:
        """The next piece for a member on a node, one of others where none waits; None when there is nothing more to do."""
        with self._turn:
            while not self._stopped and (self._waiting or self._at):
                if self._waiting:
                    at = _At(self._waiting.popleft())
                    self._at[at.piece.key] = at
                    self._tell(lambda piece=at.piece: self._began(piece))
                elif (found := self._of_others(node)) is not None:
                    at = found
                else:
                    self._turn.wait(LOOK_S if self._again else None)
                    continue
                at.hands, at.since = at.hands + 1, time.monotonic()
                return None if self._stopped else at.piece
            return None

    def holds(self, member: Member) -> bool:
        """Take note of a member that is about to work, to be ended with the shift; False where that has ended."""
        with self._turn:
            if member not in self._busy:
                self._busy.append(member)
            return not self._stopped

    def goes_to(self, piece: Piece, node: str) -> None:
        """A member on this node is asked a piece that it took."""
        with self._turn:
            if (at := self._at.get(piece.key)) is not None and node not in at.nodes:
                at.nodes.append(node)

    def answered(self, piece: Piece, member: Member, answer: Any) -> None:
        """A piece is done; a second answer to it is dropped."""
        with self._turn:
            if self._left(piece, member) is not None:
                del self._at[piece.key]
                self._follow(self._done, piece, answer)

    def failed(self, piece: Piece, member: Member, error: Exception) -> None:
        """A piece raised. Where others are at it too, theirs is the answer."""
        with self._turn:
            if (at := self._left(piece, member)) is not None and not at.hands:
                self._end(error)

    def unmade(self, piece: Piece, why: Exception) -> None:
        """No member can be made for a piece. Where others are at it, theirs is the answer."""
        with self._turn:
            if (at := self._left(piece, None)) is not None and not at.hands:
                del self._at[piece.key]
                self._follow(self._hopeless, piece, why)

    def lost(self, piece: Piece, member: Member | None, why: str) -> None:
        """A member was lost over a piece. Where nobody else is at it, it waits again, unless it was the third time."""
        with self._turn:
            if (at := self._left(piece, member)) is None:
                return
            strikes = self._strikes[piece.key] = self._strikes.get(piece.key, 0) + 1
            if at.hands:
                return
            del self._at[piece.key]
            if strikes < STRIKES:
                self._waiting.appendleft(piece)
                return
            deadly = DeadlyPiece(
                f"{strikes} workers were lost over it, the last one so: {why}",
                where=piece.key,
                expected="a piece of work that ends, or fails, in its process",
                next_step="look for what kills it: most often memory",
            )
            self._follow(self._hopeless, piece, deadly)

    def break_off(self, error: BaseException) -> None:
        """A thread cannot go on."""
        with self._turn:
            self._end(error)

    def wait(self) -> None:
        """Until all is done, or something failed."""
        with self._turn:
            while not self._stopped and (self._waiting or self._at):
                self._turn.wait()

    def stop(self) -> None:
        """Nobody takes more, and whoever is still at a piece, or being made for one, is ended: nobody waits for it."""
        with self._turn:
            self._stopped = True
            self._turn.notify_all()
            late = list(self._busy)
        for member in late:
            member.kill()

    def demand_whole(self) -> None:
        """Raise what went wrong."""
        if self._error is not None:
            raise self._error

    def _of_others(self, node: str | None) -> _At | None:
        """A piece of another node, to be done once more."""
        if not self._again or (
            node is None and not self._elsewhere
        ):  # a new member would be beside those that are at it
            return None
        now = time.monotonic()
        few = (at for at in self._at.values() if self._strikes.get(at.piece.key, 0) < STRIKES)
        ready = (at for at in few if at.hands == 1 or now - at.since > AGAIN_S)
        return next((at for at in ready if node is None or node not in at.nodes), None)

    def _left(self, piece: Piece, member: Member | None) -> _At | None:
        """A member leaves a piece; None where that is done already, or nobody waits for it."""
        if member in self._busy:
            self._busy.remove(member)
        self._turn.notify_all()
        at = self._at.get(piece.key)
        if at is None or self._stopped:
            return None
        at.hands -= 1
        return at

    def _follow(self, told: Callable[[Piece, Any], Iterable[Piece]], piece: Piece, what: Any) -> None:
        """Tell what came of a piece; the pieces that follow from it come next."""
        self._tell(lambda: self._waiting.extendleft(reversed([*told(piece, what)])))

    def _tell(self, call: Callable[[], None]) -> None:
        """Call what belongs to the caller of `Crew.work`: what it raises ends all."""
        try:
            call()
        except BaseException as error:
            self._end(error)

    def _end(self, error: BaseException) -> None:
        if not self._stopped:
            self._error, self._stopped = error, True
        self._turn.notify_all()
