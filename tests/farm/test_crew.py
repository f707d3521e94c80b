"""Pieces shared out among members: each is done once as far as anybody can tell, whatever dies on the way."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BrokenContract, SetupError
from harness.farm.crew import Crew, DeadlyPiece, Piece
from harness.farm.engine import Holds, Member, Recipe, Unreachable, hold
from harness.farm.processes import Processes

HAND = Recipe("tests.farm.hands:Hand")
Ask = Callable[..., Any]


class Apart(Processes):
    """Processes that count as being on several nodes."""

    apart, nodes = True, 3


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


class Uneven(Apart):
    """Each member is on a node of its own; what the first ones do is another matter."""

    def __init__(self, slots: int, *odd: Callable[[Ask], Ask]) -> None:
        super().__init__(slots)
        self._odd, self._number = list(odd), itertools.count()

    def start(self, recipe: Recipe, holds: Holds = hold) -> Member:
        member: Any = super().start(recipe, holds)
        member.node = f"node {next(self._number)}"
        if self._odd:
            member.ask = self._odd.pop(0)(member.ask)
        return member


def silent(place: Path) -> Callable[[Ask], Ask]:
    return lambda ask: lambda method, *given, within=None: ask("wait_for", str(place / "never"))


def full(ask: Ask) -> Ask:
    """Says at last that its disk is full."""

    def late(method: str, *given: Any, within: float | None = None) -> Any:
        ask("wait_for", given[1])
        raise OSError("no space left on device")

    return late


def test_a_node_that_is_slow_holds_nobody_up(tmp_path: Path) -> None:
    """The first member never answers to its piece: another one does it once more."""
    with Uneven(2, silent(tmp_path)) as engine:
        pieces = [Piece(f"piece {n}", "greet", (str(n),)) for n in range(3)]
        assert answers_of(engine, pieces) == {f"piece {n}": f"hello, {n}" for n in range(3)}


@pytest.mark.parametrize(("nodes", "begun"), [(1, 1), (3, 2)])
def test_on_one_node_nobody_begins_only_to_do_what_another_does(nodes: int, begun: int) -> None:
    with Apart(3) as engine:
        engine.nodes = nodes
        together, asked = threading.Barrier(begun, timeout=60.0), list[Recipe]()
        plain = engine.start

        def start(recipe: Recipe, holds: Holds = hold) -> Member:
            asked.append(recipe)
            together.wait()
            return plain(recipe, holds)

        engine.start = start
        assert answers_of(engine, [Piece("the only one", "greet", ("you",))]) == {"the only one": "hello, you"}
    assert len(asked) == begun


def test_two_nodes_that_hang_hold_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.farm.crew.AGAIN_S", 0.1)
    monkeypatch.setattr("harness.farm.crew.LOOK_S", 0.05)
    with Uneven(4, silent(tmp_path), silent(tmp_path)) as engine:
        pieces = [Piece(f"piece {n}", "greet", (str(n),)) for n in range(2)]
        assert answers_of(engine, pieces) == {f"piece {n}": f"hello, {n}" for n in range(2)}


def test_what_a_member_raises_over_a_piece_that_others_are_at_counts_for_nothing(tmp_path: Path) -> None:
    done = tmp_path / "done"
    with Uneven(2, full) as engine:
        found: dict[str, Any] = {}

        def noted(piece: Piece, answer: Any) -> list[Piece]:
            found[piece.key] = answer
            if len(found) == 2:
                done.touch()
            return []

        pieces = [Piece(f"piece {n}", "greet_at", (str(n), str(done))) for n in range(2)]
        Crew(engine, HAND).work(pieces, noted)
        assert found == {f"piece {n}": f"hello, {n}" for n in range(2)}


def test_a_piece_that_nobody_can_be_made_for_can_be_noted_and_the_others_done(engine: Processes) -> None:
    """Each has a member of its own."""
    found: dict[str, Any] = {}

    def done(piece: Piece, answer: Any) -> list[Piece]:
        found[piece.key] = answer
        return []

    polite = Recipe("tests.farm.hands:Hand", {"greeting": "good day"})
    pieces = [
        Piece("impossible", "greet", ("you",), Recipe("tests.farm.hands:Unwilling")),
        Piece("polite", "greet", ("you",), polite),
        Piece("plain", "greet", ("you",), HAND),
    ]
    Crew(engine, None, 1).work(pieces, done, lambda piece, why: done(piece, str(why).splitlines()[0]))
    assert found == {
        "impossible": "here: there is no compiler", "polite": "good day, you", "plain": "hello, you",
    }  # fmt: skip
    with pytest.raises(SetupError, match="there is no compiler"):
        Crew(engine, None).work(pieces, done)


def test_a_cluster_that_is_gone_ends_the_work_and_counts_against_no_piece(engine: Processes) -> None:
    class Gone(Apart):
        def start(self, recipe: Recipe, holds: Holds = hold) -> Member:
            raise Unreachable("the cluster cannot be reached any more")

    blamed: list[Piece] = []
    with Gone(2) as gone, pytest.raises(Unreachable):
        pieces = [Piece(f"piece {n}", "greet", ("you",)) for n in range(5)]
        Crew(gone, HAND).work(pieces, lambda piece, answer: [], lambda piece, why: blamed.append(piece) or [])
    assert blamed == []


def test_a_deadly_piece_can_be_noted_and_the_others_done(engine: Processes) -> None:
    found: dict[str, Any] = {}

    def done(piece: Piece, answer: Any) -> list[Piece]:
        found[piece.key] = answer
        return []

    def hopeless(piece: Piece, why: Exception) -> list[Piece]:
        assert isinstance(why, DeadlyPiece)
        return done(piece, "deadly")

    Crew(engine, HAND).work([Piece("heavy", "die"), Piece("light", "greet", ("you",))], done, hopeless)
    assert found == {"heavy": "deadly", "light": "hello, you"}


@pytest.mark.parametrize("what", ["began", "done"])
def test_what_is_told_of_a_piece_may_raise(engine: Processes, what: str) -> None:
    def raises(*told: Any) -> Any:
        raise SystemExit("the terminal is gone")

    crew = Crew(engine, HAND, 2, raises if what == "began" else lambda piece: None)
    with pytest.raises(SystemExit, match="the terminal is gone"):
        crew.work([Piece("one", "greet", ("you",))], raises if what == "done" else lambda piece, answer: [])


def test_a_member_that_is_being_made_is_ended_with_the_work(engine: Processes, tmp_path: Path) -> None:
    """The first member fails in its piece while the second is being made, which would take for ever."""
    recipe = Recipe("tests.farm.hands:OneMade", {"marker": str(tmp_path / "made"), "never": str(tmp_path / "never")})
    with pytest.raises(BrokenContract):
        Crew(engine, recipe, 2).work(
            [Piece(f"piece {n}", "break_contract") for n in range(2)], lambda piece, answer: []
        )


def test_a_deadly_piece_is_found_where_members_are_on_many_nodes() -> None:
    with Uneven(4) as engine, pytest.raises(DeadlyPiece, match=r"the heavy mutant: \d workers were lost over it"):
        answers_of(engine, [Piece("the heavy mutant", "die")])


def test_nodes_that_die_over_a_piece_that_another_answers_do_no_harm(tmp_path: Path) -> None:
    """The first member answers at last; those that do its piece once more die, until there are no more of them."""
    lost: list[None] = []

    def slow(ask: Ask) -> Ask:
        return lambda method, *given, within=None: ask("wait_for", str(tmp_path / "three are lost"))

    def dies(ask: Ask) -> Ask:
        def die(method: str, *given: Any, within: float | None = None) -> Any:
            lost.append(None)
            if len(lost) == 3:
                (tmp_path / "three are lost").touch()
            return ask("die")

        return die

    with Uneven(2, slow, dies, dies, dies) as engine:
        assert answers_of(engine, [Piece("one", "greet", ("you",))]) == {"one": "waited"}
    assert len(lost) == 3
