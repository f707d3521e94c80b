"""Pieces shared out among members: each is done once as far as anybody can tell, whatever dies on the way."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BrokenContract
from harness.farm.crew import Crew, DeadlyPiece, Piece
from harness.farm.engine import Member, Recipe, always
from harness.farm.processes import Processes

HAND = Recipe("tests.farm.hands:Hand")


class Apart(Processes):
    """Processes that count as being on several nodes."""

    apart = True


@pytest.fixture
def engine() -> Iterator[Processes]:
    with Processes(3) as made:
        yield made


def answers_of(engine: Processes, pieces: list[Piece], size: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def done(piece: Piece, answer: Any) -> list[Piece]:
        assert piece.key not in found
        found[piece.key] = answer
        return []

    Crew(engine, HAND, size).work(pieces, done)
    return found


def test_every_piece_is_done_once_however_many_members_there_are(engine: Processes) -> None:
    pieces = [Piece(f"piece {n}", "greet", (str(n),)) for n in range(20)]
    expected = {f"piece {n}": f"hello, {n}" for n in range(20)}
    assert [answers_of(engine, pieces, size) for size in (1, 2, 5)] == [expected] * 3
    assert answers_of(engine, []) == {}


def test_pieces_that_follow_from_an_answer_are_done_too(engine: Processes) -> None:
    order: list[str] = []

    def done(piece: Piece, answer: Any) -> list[Piece]:
        order.append(piece.key)
        return [Piece(f"{piece.key}{n}", "greet", ("x",)) for n in range(2)] if len(piece.key) < 3 else []

    Crew(engine, HAND).work([Piece("a", "greet", ("x",))], done)
    assert sorted(order) == ["a", "a0", "a00", "a01", "a1", "a10", "a11"]


def test_a_piece_whose_member_died_is_done_again(engine: Processes, tmp_path: Path) -> None:
    pieces = [Piece(f"piece {n}", "die_once", (str(tmp_path / str(n)),)) for n in range(4)]
    assert answers_of(engine, pieces) == {f"piece {n}": "done" for n in range(4)}


def test_a_piece_over_which_three_died_is_an_error_that_names_it(engine: Processes) -> None:
    pieces = [Piece("a good one", "greet", ("you",)), Piece("the heavy mutant", "die")]
    with pytest.raises(DeadlyPiece, match="the heavy mutant: 3 workers were lost over it"):
        answers_of(engine, pieces)


def test_what_a_piece_raises_ends_the_work_and_whoever_is_at_another(engine: Processes, tmp_path: Path) -> None:
    pieces = [Piece("endless", "wait_for", (str(tmp_path / "never"),)), Piece("broken", "break_contract")]
    with pytest.raises(BrokenContract):
        answers_of(engine, pieces)


def test_an_interrupt_ends_all_members(engine: Processes, tmp_path: Path) -> None:
    pieces = [Piece(f"endless {n}", "wait_for", (str(tmp_path / "never"),)) for n in range(2)]
    begun = threading.Semaphore(0)

    def interrupt() -> None:
        for _ in pieces:
            begun.acquire()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        Crew(engine, HAND, 2, lambda piece: begun.release()).work(pieces, lambda piece, answer: [])
    thread.join()


def test_a_node_that_is_slow_holds_nobody_up(tmp_path: Path) -> None:
    """The first member of the two never answers to its piece: the other one does it once more."""
    stuck: list[Member] = []

    class OneIsStuck(Apart):
        def start(self, recipe: Recipe, wanted: Callable[[], bool] = always) -> Member:
            member = super().start(recipe, wanted)
            if not stuck:
                stuck.append(member)
                ask = member.ask
                member.ask = lambda method, *given, within=None: ask("wait_for", str(tmp_path / "never"))  # type: ignore[method-assign]
            return member

    with OneIsStuck(2) as engine:
        pieces = [Piece(f"piece {n}", "greet", (str(n),)) for n in range(3)]
        assert answers_of(engine, pieces) == {f"piece {n}": f"hello, {n}" for n in range(3)}
