"""The candidate in Rust: PyBoy's equal frame by frame, from any row on, and as careful with states as the adapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import sandboxes
from harness.candidate.crates.build import build
from harness.candidate.crates.data import prepared
from harness.candidate.faces.rust_batch import SAME_STEP, RustBatch, load_module
from harness.model import Array, Case, Leaves, Trajectory
from harness.protocol.environment import Environment
from harness.task.contract import Task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.environments.gameboy.game import CARTRIDGES, NOTHING, i32, inserted, play, presses

pytestmark = [pytest.mark.slow, pytest.mark.rust]

FRAMES = 400
GREYS = np.array([255, 170, 85, 0], np.uint8)
BRICKS, METEORS = 0, 1


@pytest.fixture(scope="module")
def module(task: Task, cargo: None) -> ModuleType:
    """The extension module of the candidate. It is the project's own, so it may run in this process."""
    return load_module(build(task, sandboxes.choose(None), task.directory))


class Alone:
    """One instance, whose rows are held against those of the reference."""

    def __init__(self, module: ModuleType) -> None:
        self.instance = module.environment.instance({})
        self._paths = [f"state/{path}" for path, _, _ in module.SPEC["state"]]

    def restore(self, state: Leaves) -> dict[str, Any]:
        return self._row(self.instance.restore([np.asarray(state[path], order="C")[None] for path in self._paths]))

    def reset(self, cartridge: int, random: int) -> dict[str, Any]:
        return self._row(self.instance.reset(0, [("cartridge", i32(cartridge)), ("random", i32(random))]))

    def step(self, action: int) -> dict[str, Any]:
        return self._row(self.instance.step([np.array([action])]))

    def _row(self, report: Sequence[Any]) -> dict[str, Any]:
        seen, reward, terminated, truncated, state, _ = report
        row = {path: leaf[()] for path, leaf in zip(self._paths, state, strict=True)}
        return row | {"observation": seen[0], "reward": reward[0], "terminated": terminated, "truncated": truncated}


def difference(expected: Trajectory, row: int, report: dict[str, Any], *, basic: bool = True) -> str | None:
    """The first leaf of a row in which the candidate differs; None where it does not."""
    for path, values in expected.leaves.items():
        if not basic and path in ("reward", "terminated"):
            continue
        if np.asarray(report[path], values.dtype).tobytes() != values[row].tobytes():
            return f"row {row}, {path}: {report[path]} instead of {values[row]}"
    return None


def followed(alone: Alone, expected: Trajectory) -> str | None:
    """Where the candidate first goes another way than an episode from a reset."""
    first = expected.state(0)
    found = difference(expected, 0, alone.reset(int(first["state/cartridge/inserted"]), random_of(expected)))
    for row, action in enumerate(expected.case.actions["action"][: expected.steps], 1):
        found = found or difference(expected, row, alone.step(int(action)))
    return found


def random_of(episode: Trajectory) -> int:
    """What the reset drew for the game."""
    assert episode.draws
    return next(int(draw.value) for draw in episode.draws[0] if draw.name == "random")


@pytest.mark.nightly  # CI compares frames and games with the reference below, and plants faults in tests/mutants
def test_the_candidate_passes_level_1(task: Task, module: ModuleType) -> None:
    """`lockstep verify gameboy` does it with all examples, and levels 2 and 3."""
    short = replace(task, budgets=replace(task.budgets, examples=40))
    with Verifier(short, sandboxes.choose(None)) as verifier:
        verdict = verifier.verify(task.directory, LevelsRequest((1,), 7))
    assert verdict.outcome is Outcome.PASS, verdict.to_json()


@pytest.mark.parametrize("cartridge", CARTRIDGES)
def test_frames_are_those_of_pyboy_in_all_leaves(module: ModuleType, gameboy: Environment, cartridge: str) -> None:
    assert followed(Alone(module), play(gameboy, inserted(cartridge, presses(6, FRAMES)))) is None


def test_whole_games_are_those_of_pyboy_to_their_end(module: ModuleType, gameboy: Environment) -> None:
    """Score and end lie where the games keep them."""
    drawn = gameboy.rollout([Case(seed, {"action": np.zeros(0, np.int64)}) for seed in range(100)])
    games = np.array([int(episode.leaves["state/cartridge/inserted"][0]) for episode in drawn])
    seeds = [int(np.flatnonzero(games == game)[0]) for game in (BRICKS, METEORS)]
    episodes = [*gameboy.drive("play", seeds, 1000), *gameboy.drive("idle", seeds, 1500)]
    assert [episode for episode in episodes if followed(Alone(module), episode)] == []
    assert all(episode.leaves["terminated"][-1] for episode in episodes[2:])
    assert all(episode.leaves["reward"].any() for episode in episodes[:2])


def test_another_action_is_noticed(module: ModuleType, gameboy: Environment) -> None:
    episode = play(gameboy, inserted("bricks", [NOTHING] * 100))
    actions = episode.case.actions["action"].copy()
    actions[60] = 1
    found = followed(Alone(module), replace_actions(episode, actions))
    assert found is not None and found.startswith("row 61, state/")


def replace_actions(episode: Trajectory, actions: Array) -> Trajectory:
    return Trajectory(replace(episode.case, actions={"action": actions}), episode.leaves, episode.draws)


@pytest.mark.parametrize("cartridge", CARTRIDGES)
def test_a_restored_state_is_that_state_and_goes_on_as_the_episode_did(
    module: ModuleType, gameboy: Environment, cartridge: str
) -> None:
    """From frames at random, in an instance that held another cartridge before."""
    episode = play(gameboy, inserted(cartridge, presses(3, FRAMES)))
    alone = Alone(module)
    alone.reset((CARTRIDGES.index(cartridge) + 1) % len(CARTRIDGES), 1)
    for row in np.random.default_rng(5).integers(0, episode.steps - 1, 12).tolist():
        assert difference(episode, row, alone.restore(episode.state(row)), basic=False) is None
        for on in range(row, min(row + 20, episode.steps)):
            assert difference(episode, on + 1, alone.step(int(episode.case.actions["action"][on]))) is None


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("state/cartridge/inserted", 13, "state/cartridge/inserted is 13: expected 0 to 12"),
        ("state/cartridge/inserted", -1, "state/cartridge/inserted is -1: expected 0 to 12"),
        ("state/cartridge/rom_bank", 2, "state/cartridge/rom_bank is 2: expected 0 to 1"),
        ("state/cartridge/low_bank", 64, "state/cartridge/low_bank is 64: expected 0 to 1"),
        ("state/cartridge/ram_bank", 16, "state/cartridge/ram_bank is 16: expected 0 to 15"),
        ("state/cartridge/mode", 2, "state/cartridge/mode is 2: expected 0 to 1"),
        ("state/dma/done", 161, "state/dma/done is 161: expected 0 to 160"),
        ("state/lcd/window_line", -2, "state/lcd/window_line is -2: expected -1 to 32767"),
        ("state/timer/reload", 1, "state/timer/reload_left is not zero exactly where state/timer/reload is"),
        ("state/clock/seconds", 1, "state/clock/... has values, but the cartridge has no clock"),
        ("state/cpu/clock", -1, "state/cpu/clock is -1: expected 0 to 4611686018427387904"),
    ],
)
def test_a_state_that_no_console_can_be_in_is_refused_and_changes_nothing(
    module: ModuleType, gameboy: Environment, task: Task, path: str, value: int, said: str
) -> None:
    episode = play(gameboy, inserted("bricks", [NOTHING] * 60))
    alone = Alone(module)
    alone.restore(episode.state(40))
    with pytest.raises(ValueError, match=f"^{said.replace('...', '[.]{3}')}$"):
        alone.restore({**episode.state(2), path: np.array(value, task.leaves[path].dtype)})
    assert difference(episode, 41, alone.step(NOTHING)) is None


def test_ram_beyond_the_cartridge_shows_as_it_does_in_pyboy(module: ModuleType, gameboy: Environment) -> None:
    """PyBoy has sixteen banks behind every cartridge; a state from outside may fill those that a row shows."""
    state = play(gameboy, inserted("mbc2", [NOTHING] * 30)).state(30)
    ram = np.random.default_rng(1).integers(0, 256, 0x8000).astype(np.uint8)
    episode = play(gameboy, Case(1, {"action": presses(2, 20)}, start={**state, "state/cartridge/ram": ram}))
    alone = Alone(module)
    assert difference(episode, 0, alone.restore(episode.state(0)), basic=False) is None
    for row, action in enumerate(presses(2, 20).tolist(), 1):
        assert difference(episode, row, alone.step(action)) is None


def test_a_batch_begins_anew_where_a_game_is_over(module: ModuleType, gameboy: Environment) -> None:
    """Level 3's batch is too short for a lost game: here one ends, among others that go on."""
    [episode] = [play(gameboy, inserted("bricks", [NOTHING] * 1500))]
    before = episode.steps - 3
    batch = RustBatch(module, 3, SAME_STEP, 2)
    batch.reset([1, 2, 3])
    paths = [f"state/{path}" for path in batch.state_paths]
    given = [np.asarray(episode.state(before)[path], order="C")[None] for path in paths]
    batch.vector.restore_env(1, given, None, batch.seen_arrays)
    for row in range(before + 1, episode.steps + 1):
        batch.step({"action": np.zeros(3, np.int64)})
        assert batch.terminated.tolist() == [False, row == episode.steps, False]
    assert np.array_equal(batch.last["observation"][1], episode.leaves["observation"][-1])
    assert (batch.seen["observation"][1] == 3).all(), "a console that was just switched on is black"


def test_a_picture_is_the_screen_in_greys(module: ModuleType, gameboy: Environment) -> None:
    episode = play(gameboy, inserted("bricks", [NOTHING] * 40))
    alone = Alone(module)
    alone.restore(episode.state(40))
    assert np.array_equal(alone.instance.render()[..., 1], GREYS[episode.leaves["observation"][40]])


def test_the_crate_is_given_every_cartridge_and_the_boot_rom(task: Task) -> None:
    place = prepared(task)
    assert place is not None
    sizes = {file.name: file.stat().st_size for file in place.iterdir()}
    assert sizes.pop("boot.rom") == 0x100
    assert set(sizes) == {f"{cartridge}.gb" for cartridge in CARTRIDGES}
    assert (place / "default.gb").read_bytes()[0x134:0x13F] == b"DEFAULT-ROM"
