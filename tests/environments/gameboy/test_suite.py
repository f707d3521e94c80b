"""The task's own properties and sequences: true of the reference, able to fail, and about what their names say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from harness.errors import Raised
from harness.model import Array, Case, Trajectory
from harness.protocol.environment import Environment
from harness.task.contract import Task
from harness.task.suite import Sequence, Suite
from harness.verify.strategies import stack_actions
from tests.environments.gameboy.game import CARTRIDGES, NOTHING, inserted, play, presses

pytestmark = pytest.mark.slow

EPISODES = 400


@pytest.fixture(scope="module")
def episodes(gameboy: Environment) -> list[Trajectory]:
    """Each cartridge once with buttons at random, and both games as the scripted players play them."""
    mashed = gameboy.rollout([inserted(cartridge, presses(4, EPISODES)) for cartridge in CARTRIDGES])
    return [*mashed, *gameboy.drive("play", [0, 1], EPISODES), *gameboy.drive("idle", [0, 1], EPISODES)]


def test_every_invariant_holds_on_the_reference(episodes: list[Trajectory], suite: Suite) -> None:
    broken = {
        (invariant.name, int(episode.leaves["state/cartridge/inserted"][0]), tuple(rows[:3].tolist()))
        for episode in episodes
        for invariant in suite.invariants
        if len(rows := invariant.violations(episode))
    }
    assert broken == set()


def last(change: Callable[[Array], Any]) -> Callable[[Array], Array]:
    """A fault in the last row alone."""

    def faulty(values: Array) -> Array:
        values = values.copy()
        values[-1] = change(values[-1])
        return values

    return faulty


def byte(place: int) -> Callable[[Array], Array]:
    """A fault in one byte of the last row's memory."""

    def faulty(values: Array) -> Array:
        values = values.copy()
        values[-1, place] ^= 1
        return values

    return faulty


FAULTS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "the selected banks are in the cartridge": ("state/cartridge/low_bank", last(lambda bank: bank + 2)),
    "ram beyond the cartridge stays empty": ("state/cartridge/ram", byte(0)),
    "only mbc3 has a clock": ("state/clock/seconds", last(lambda seconds: 1)),
    "a frame takes time and at most two frames of it": ("state/cpu/clock", last(lambda clock: clock + 100_000)),
    "the lower half of f is zero": ("state/cpu/f", last(lambda f: f | 1)),
    "a reload has clocks left exactly while it goes on": ("state/timer/reload_left", last(lambda left: left ^ 1)),
    "the actions buttons are held": ("state/joypad/held", last(lambda held: held ^ 1)),
    "p1 shows no select bits": ("state/joypad/p1", last(lambda p1: p1 | 0x10)),
    "a byte is sent only on the own clock": ("state/serial/sending", last(lambda sending: True)),
    "the observation is the screen": ("observation", last(lambda shades: shades ^ 1)),
    "a frame ends before the first line is drawn": ("state/lcd/stat", last(lambda stat: stat | 3)),
    "line 0 is compared while the screen is on": ("state/lcd/stat", last(lambda stat: stat ^ 4)),
    "a running copy has bytes to go": ("state/dma/active", last(lambda active: True)),
    "the cartridge stays in and the boot rom does not come back": ("state/booting", last(lambda booting: True)),
    "the reward is the score gained": ("reward", last(lambda reward: reward + 1)),
    "an episode ends exactly when a game is over and never by time": ("terminated", last(np.logical_not)),
    "no self check of a cartridge fails": ("state/memory/wram", byte(2)),
}


def test_every_invariant_is_broken_by_a_fault_of_its_kind(gameboy: Environment, suite: Suite) -> None:
    episode = play(gameboy, inserted("bricks", [NOTHING] * 60))
    assert {invariant.name for invariant in suite.invariants} == set(FAULTS)
    for invariant in suite.invariants:
        path, fault = FAULTS[invariant.name]
        faulty = Trajectory(episode.case, {**episode.leaves, path: fault(episode.leaves[path])}, episode.draws)
        assert not len(invariant.violations(episode)), invariant.name
        assert len(invariant.violations(faulty)), invariant.name


def test_an_episode_without_a_step_is_looked_at_like_any_other(gameboy: Environment, suite: Suite) -> None:
    begun = play(gameboy, inserted("bricks", presses(4, 0)))
    assert begun.rows == 1
    assert [invariant.name for invariant in suite.invariants if len(invariant.violations(begun))] == []
    assert [feature.name for feature in suite.features if len(feature.shown(begun)) > begun.rows] == []


def test_every_feature_is_shown_by_some_policy_or_cartridge(
    gameboy: Environment, episodes: list[Trajectory], suite: Suite
) -> None:
    """Games are lost and won levels of by the scripted players; the rest is up to the cartridges."""
    first_rows = gameboy.rollout([Case(seed, {"action": np.zeros(0, np.int64)}) for seed in range(100)])
    games = [int(episode.leaves["state/cartridge/inserted"][0]) for episode in first_rows]
    seeds = [seed for game in (0, 1) for seed in np.flatnonzero(np.array(games) == game)[:2].tolist()]
    played = [gameboy.drive(policy, seeds, 1500) for policy in ("play", "idle")]
    longer = gameboy.rollout([inserted(cartridge, [NOTHING] * 1200) for cartridge in ("interrupts", "mbc3")])
    seen = {
        feature.name: sum(len(feature.shown(episode)) for episode in [*episodes, *longer, *played[0], *played[1]])
        for feature in suite.features
    }
    assert {name for name, count in seen.items() if not count} == set()


def test_a_program_begins_where_a_reset_begins(gameboy: Environment, task: Task, suite: Suite) -> None:
    """`interactions.py` knows what is not zero at power-on."""
    reset = play(gameboy, inserted("window", [], random=0)).state(0)
    [sequence] = [sequence for sequence in suite.sequences if sequence.name == "a cartridge from power-on"]
    starts: list[dict[str, Any]] = []

    @settings(max_examples=300, database=None, deadline=None, derandomize=True)
    @given(sequence.make(task))
    def collect(made: dict[str, Any]) -> None:
        starts.append(made["start"])

    collect()
    [start, *_] = [start for start in starts if start["state/cartridge/inserted"] == CARTRIDGES.index("window")]
    assert {path for path in reset if not np.array_equal(reset[path], start[path])} == set()


SHOWN: dict[str, Callable[[list[Trajectory]], bool]] = {
    "timer, interrupts and HALT": lambda played: counted(played, 2) and any_of(played, "state/cpu/halted"),
    "a byte on the serial line, and its interrupt": lambda played: counted(played, 3),
    "DMA while the screen is drawn": lambda played: any_of(played, "state/dma/source") and pictures(played) > 5,
    "DMA that is about to end": lambda played: (
        any_of(played, "state/dma/source") and noted(played, 0xFF) and len(read_back(played)) > 5
    ),
    "window, scrolling and palettes in the middle of a frame": lambda played: (
        counted(played, 1) and pictures(played) > 10
    ),
    "memory that the screen keeps to itself": lambda played: noted(played, 0xFF) and pictures(played) > 5,
    "banks that are switched and read": lambda played: any_of(played, "state/cartridge/ram_enabled"),
    "every register, and memory that is none": lambda played: noted(played, 0xFF) and len(read_back(played)) > 40,
    "a register is read, and another written at once": lambda played: (
        counted(played, 2) and len({int(episode.leaves["state/timer/tima"][-1]) for episode in played}) > 5
    ),
    "an interrupt that takes itself back": lambda played: (
        not all(episode.leaves["state/booting"][-1] for episode in played)
    ),
    "loops that wait for the screen, a copy or a count, which come": lambda played: (
        len(read_back(played)) > 4 and turns_made(played) > 2
    ),
    "loops that wait for a unit": lambda played: len(read_back(played)) > 4 and pictures(played) > 5,
    "buttons and their interrupt": lambda played: counted(played, 4),
    "a cartridge from power-on": lambda played: pictures(played) > 3,
}
"""What must come about in some of the sequences of a name. The boot ROM counts interrupts in high memory."""


def counted(played: list[Trajectory], interrupt: int) -> bool:
    return any(episode.leaves["state/memory/hram"][-1, interrupt] for episode in played)


def noted(played: list[Trajectory], value: int) -> bool:
    """Programs write down what they read from 0xD000 on."""
    return any((episode.leaves["state/memory/wram"][-1, 0x1000:0x1100] == value).any() for episode in played)


def read_back(played: list[Trajectory]) -> set[int]:
    """The values that programs wrote down."""
    return {int(value) for episode in played for value in episode.leaves["state/memory/wram"][-1, 0x1000:0x1100]}


def turns_made(played: list[Trajectory]) -> int:
    """The most turns that a program counted of its loops, at 0xD100."""
    return max(int(episode.leaves["state/memory/wram"][-1, 0x1100]) for episode in played)


def any_of(played: list[Trajectory], path: str) -> bool:
    return any(episode.leaves[path].any() for episode in played)


def pictures(played: list[Trajectory]) -> int:
    return len({episode.leaves["observation"][-1].tobytes() for episode in played})


def test_sequences_are_played_and_meet_what_their_names_say(gameboy: Environment, task: Task, suite: Suite) -> None:
    """None is refused, none leads a program to an opcode that does not exist: PyBoy would never answer."""
    assert {sequence.name for sequence in suite.sequences} == set(SHOWN)
    for sequence in suite.sequences:
        played = gameboy.rollout(made_by(sequence, task))
        assert SHOWN[sequence.name](played), sequence.name


def made_by(sequence: Sequence, task: Task) -> list[Case]:
    cases: list[Case] = []

    @settings(
        max_examples=60, database=None, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
    )
    @given(sequence.make(task))
    def collect(made: dict[str, Any]) -> None:
        assert set(made["start"]) == set(task.state)
        assert 1 <= len(made["actions"]) <= task.budgets.sequence_length
        cases.append(Case(1, stack_actions(task, list(made["actions"])), made["start"]))

    collect()
    return cases


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_generated_inputs_lie_within_the_task(task: Task, suite: Suite, data: st.DataObject) -> None:
    for name, generator in suite.generators.items():
        made = data.draw(generator.make())
        assert set(made) == set(task.probes[name].inputs)
        for path, value in made.items():
            leaf = task.probes[name].inputs[path]
            assert np.shape(value) == leaf.shape, (name, path)
            if leaf.dtype != "bool":
                assert (np.asarray(leaf.low) <= value).all() and (np.asarray(value) <= leaf.high).all(), (name, path)


def test_a_state_moved_within_the_bounds_that_the_task_states_is_played(
    gameboy: Environment, task: Task, episodes: list[Trajectory]
) -> None:
    rng = np.random.default_rng(9)
    moved = [path for path, leaf in task.state.items() if leaf.low is not None]
    assert "state/cpu/pc" not in moved
    for episode in episodes:
        state = dict(episode.state(int(rng.integers(episode.rows - 1))))
        for path in moved:
            leaf = task.leaves[path]
            values = rng.integers(leaf.low, np.asarray(leaf.high) + 1, leaf.shape).astype(leaf.dtype)
            state[path] = np.asarray(values, leaf.dtype)
        try:
            part = play(gameboy, Case(1, {"action": presses(1, 30)}, start=state))
        except Raised as refused:
            raise AssertionError(f"{episode.leaves['state/cartridge/inserted'][0]}: {refused}") from refused
        assert part.rows > 1
