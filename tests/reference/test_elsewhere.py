"""References that an engine placed: the same answers as here, whatever becomes of the processes on the way."""

from __future__ import annotations

import itertools
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, cast

import numpy as np
import pytest

import sandboxes
from harness.errors import Crashed, EnvironmentFailure, SetupError, Side
from harness.farm.engine import Holds, Lost, Member, Recipe, hold
from harness.farm.processes import Processes
from harness.model import Case
from harness.protocol.environment import Environment
from harness.protocol.vector import Stepped, VectorStep
from harness.reference.elsewhere import FarPool, nodes, reference_recipe
from harness.reference.install import setup
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.edits import edit
from tests.paths import WALK

CASES = [Case(seed, {"action": np.arange(seed % 9) % 3}) for seed in range(40)]
PAUSE = threading.Event()
NOBODY = cast(Member, None)
ADAPTER = Path("reference", "adapter.py")
ACTIONS = {"action": np.array([0, 1, 2, 1])}


class Recorded(Processes):
    """Keeps what it makes, so that a test can kill it."""

    def __init__(self) -> None:
        super().__init__(2)
        self.made: list[Member] = []

    def start(self, recipe: Recipe, holds: Holds = hold) -> Member:
        self.made.append(super().start(recipe, holds))
        return self.made[-1]


@pytest.fixture
def engine() -> Iterator[Recorded]:
    with Recorded() as made:
        yield made


@pytest.fixture
def far(engine: Recorded) -> Iterator[FarPool]:
    task = load_task(WALK)
    pool = FarPool(task, engine, reference_recipe(task), 1)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def near() -> Iterator[Environment]:
    task = load_task(WALK)
    made = start_reference(task, setup(task))
    yield made
    made.close()


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """A copy of the walk, to be changed."""
    return shutil.copytree(WALK, tmp_path / "walk", ignore=shutil.ignore_patterns("__pycache__"))


def ending(walk: Path) -> Task:
    """That task, whose reference ends its own process in the first step."""
    ends = "    def step(self, *_):\n        import os; os._exit(3)\n\n    def unused(self"
    edit(walk / ADAPTER, "    def step(self", ends)
    return load_task(walk)


def wait_unwanted(member: Member, holds: Holds) -> NoReturn:
    """What a start does that comes to no end, until it is not wanted any more."""
    while holds(member):
        PAUSE.wait(0.01)
    raise Lost("nobody waits for it any more")


def steps(vector: Stepped, count: int) -> list[VectorStep]:
    return [vector.advance(ACTIONS, [10 + n, 20 + n, 30 + n, 40 + n]) for n in range(count)]


def same(one: list[VectorStep], other: list[VectorStep]) -> bool:
    return all(
        np.array_equal(a.leaves[path], b.leaves[path]) for a, b in zip(one, other, strict=True) for path in a.leaves
    )


def test_it_answers_as_a_reference_here_does_and_names_its_node(far: FarPool, near: Environment) -> None:
    assert far.spec == near.spec
    assert [t.digest for t in far.rollout(CASES)] == [t.digest for t in near.rollout(CASES)]
    assert list(nodes(far)) == ["this machine"]


@pytest.mark.slow
def test_where_it_dies_between_two_calls_nobody_sees_it(far: FarPool, near: Environment, engine: Recorded) -> None:
    """Each of the calls that go on with what was begun before; the last process is killed before each of them."""
    seeds = [1, 2, 3, 4]
    expected, found = near.vector(seeds, state=True), far.first.vector(seeds, state=True)
    for _ in range(3):
        engine.made[-1].kill()
        assert same(steps(found, 2), steps(expected, 2))
    before = len(engine.made)
    one, other = near.timesteps(CASES[8]), far.first.timesteps(CASES[8])
    for here, there in zip(one, other, strict=True):
        assert all(np.array_equal(here["leaves"][path], there["leaves"][path]) for path in here["leaves"])
        engine.made[-1].kill()
    assert len(engine.made) > before + 5
    assert same(steps(found, 2), steps(expected, 2)), "the other conversation was forgotten"


def test_what_is_told_again_is_only_what_is_needed(far: FarPool, engine: Recorded) -> None:
    vector = far.first.vector([1, 2, 3, 4])
    steps(vector, 5)
    far.rollout(CASES)
    far.first.vector([5])
    told: list[str] = []
    made = engine.start

    def start(recipe: Recipe, holds: Holds = hold) -> Member:
        member = made(recipe, holds)
        ask = member.ask
        member.ask = lambda method, *given, within=None: told.append(given[1]) or ask(method, *given)  # type: ignore[method-assign]
        return member

    engine.start = start  # type: ignore[method-assign]
    engine.made[-1].kill()
    far.rollout(CASES[:1])
    assert told == ["open", "vector", "rollout"]


def test_one_that_rests_gives_its_slot_free_and_goes_on_where_it_was(
    far: FarPool, near: Environment, engine: Recorded
) -> None:
    expected, found = near.vector([1, 2, 3, 4]), far.vector([1, 2, 3, 4])
    steps(expected, 3), steps(found, 3)
    far.rest()
    assert same(steps(found, 2), steps(expected, 2)) and len(engine.made) == 2


def test_a_call_over_which_three_processes_die_is_the_references_failure(engine: Recorded, far: FarPool) -> None:
    made = engine.start

    def start(recipe: Recipe, holds: Holds = hold) -> Member:
        member = made(recipe, holds)
        member.kill()
        return member

    engine.start = start  # type: ignore[method-assign]
    engine.made[-1].kill()
    with pytest.raises(Crashed, match="lost 3 times over this call") as caught:
        far.rollout(CASES)
    assert caught.value.side is Side.REFERENCE and "`rollout`" in str(caught.value)


def test_a_reference_that_ends_by_itself_is_not_started_again(engine: Recorded, walk: Path) -> None:
    task = ending(walk)
    pool = FarPool(task, engine, reference_recipe(task), 1)
    with pytest.raises(Crashed, match="ended with exit status 3"):
        pool.rollout(CASES)
    assert len(engine.made) == 1
    pool.close()


def test_a_worker_that_has_no_room_is_left_out(engine: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.reference.elsewhere.ROOM_S", 0.2)
    made, number = engine.start, itertools.count()

    def start(recipe: Recipe, holds: Holds = hold) -> Member:
        return wait_unwanted(NOBODY, holds) if next(number) else made(recipe, holds)

    engine.start = start  # type: ignore[method-assign]
    task = load_task(WALK)
    pool = FarPool(task, engine, reference_recipe(task), 2)
    assert len(pool.environments) == 1 and pool.rollout(CASES[:2])[1].case is CASES[1]
    pool.close()


def test_a_worker_whose_node_hangs_while_it_is_made_is_left_out(
    engine: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a place there, so it does not wait for room."""
    monkeypatch.setattr("harness.reference.elsewhere.ROOM_S", 0.1)
    monkeypatch.setattr("harness.reference.elsewhere.GRACE_S", 0.2)
    made, number = engine.start, itertools.count()

    class Hanging:
        node, facts = "a node that hangs", {}

        def kill(self) -> None:
            pass

    def start(recipe: Recipe, holds: Holds = hold) -> Member:
        return wait_unwanted(cast(Member, Hanging()), holds) if next(number) else made(recipe, holds)

    engine.start = start  # type: ignore[method-assign]
    task = load_task(WALK)
    pool = FarPool(task, engine, reference_recipe(task), 2)
    assert len(pool.environments) == 1 and list(nodes(pool)) == ["this machine"]
    pool.close()


def test_one_that_takes_the_place_of_another_and_hangs_is_lost(
    engine: Recorded, far: FarPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.reference.elsewhere.BUILD_S", 0.05)
    engine.start = lambda recipe, holds=hold: wait_unwanted(NOBODY, holds)  # type: ignore[method-assign]
    engine.made[-1].kill()
    with pytest.raises(Crashed, match="lost 3 times over this call"):
        far.rollout(CASES)


def test_a_reference_that_does_not_open_on_a_node_cannot_be_made_there(engine: Recorded, walk: Path) -> None:
    """So a cluster refuses that node, and asks another; a library that is missing is found out only then."""
    (walk / ADAPTER).write_text("raise ImportError('libGL.so.1: cannot open shared object file')\n")
    with pytest.raises(EnvironmentFailure, match=r"libGL\.so\.1"):
        engine.start(reference_recipe(load_task(walk)))


def test_a_verdict_names_the_nodes_of_references_that_died(engine: Recorded, walk: Path) -> None:
    task = ending(walk)
    with Verifier(task, sandboxes.choose(None), engine=engine) as verifier:
        verdict = verifier.verify(task.directory, LevelsRequest((1,), 7))
    assert verdict.outcome is Outcome.ERROR and list(verdict.nodes) == ["this machine"]


def test_a_reference_that_cannot_begin_ends_those_that_wait_for_room(engine: Recorded) -> None:
    number = itertools.count()

    def start(recipe: Recipe, holds: Holds = hold) -> Member:
        if next(number):
            raise SetupError("there is no compiler")
        return wait_unwanted(NOBODY, holds)

    engine.start = start  # type: ignore[method-assign]
    task = load_task(WALK)
    with pytest.raises(SetupError, match="there is no compiler"):
        FarPool(task, engine, reference_recipe(task), 2)
