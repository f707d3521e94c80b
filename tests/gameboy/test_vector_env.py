"""`make_vec`: any game as Gymnasium's vector environment, held against Gymnasium's own loop over single games."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import lockstep_gameboy_tools.build as crate
from environments.gameboy.assembler import assemble
from tests.paths import ENVIRONMENTS

pytestmark = [pytest.mark.slow, pytest.mark.rust]
ROM = assemble(ENVIRONMENTS / "gameboy" / "roms" / "bricks.asm").image
VALUES = {"score": (0xC006, 0xC007), "lives": 0xC008, "paddle": 0xC014}
TABLES: dict[str, Any] = {"values": VALUES, "reward": {"score": 1.0, "paddle": 0.25}, "terminated": {"lives": 0}}
ENVS, SKIP, MOST, STEPS = 5, 24, 60, 200
ACTIONS = ((), ("left",), ("right", "a"))


@pytest.fixture(scope="session")
def gameboy(cargo: None) -> ModuleType:
    return crate.gameboy()


class Single(gymnasium.Env[Any, Any]):
    """One console as a plain environment, whose episodes have the seeds that those of a vector environment have."""

    def __init__(self, gameboy: ModuleType) -> None:
        from lockstep_gameboy.vector_env import _next

        self._following = _next
        self._game = gameboy.VecGameBoy(ROM, 1, SKIP, ram=[0xC006, 0xC007, 0xC008, 0xC014], random_frames=30)
        self._held = [gameboy.buttons(*names) for names in ACTIONS]
        self.observation_space = gymnasium.spaces.Box(0, 3, (144, 160), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(3)
        self._seed = np.zeros(1, np.uint64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._seed[0] = seed
        self._game.reset(self._seed)
        self._seed, self._steps = self._following(self._seed), 0
        return self._game.observation[0].copy(), self._infos()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        before = self._infos()
        self._game.step([self._held[action]])
        self._steps += 1
        after = self._infos()
        reward = after["score"] - before["score"] + 0.25 * (after["paddle"] - before["paddle"])
        return self._game.observation[0].copy(), reward, after["lives"] == 0, self._steps >= MOST, after

    def _infos(self) -> dict[str, Any]:
        low, high, lives, paddle = self._game.ram[0].tolist()
        return {"score": low + 256 * high, "lives": lives, "paddle": paddle}


def made(gameboy: ModuleType, mode: AutoresetMode = AutoresetMode.NEXT_STEP, **how: Any) -> Any:
    asked = {**TABLES, "max_steps": MOST, "actions": ACTIONS, "random_frames": 30, **how}
    return gameboy.make_vec(ROM, ENVS, SKIP, autoreset_mode=mode, **asked)


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=str)
def test_it_plays_what_gymnasium_plays_with_single_games(gameboy: ModuleType, mode: AutoresetMode) -> None:
    envs, alone = made(gameboy, mode), SyncVectorEnv([lambda: Single(gameboy)] * ENVS, autoreset_mode=mode)
    chance, ends = np.random.default_rng(3), 0
    pairs = [(envs.reset(seed=11), alone.reset(seed=11))]
    for _ in range(STEPS):
        actions = chance.integers(0, 3, ENVS)
        pairs.append((envs.step(actions), alone.step(actions)))
        over = np.logical_or(pairs[-1][0][2], pairs[-1][0][3])
        ends += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            again = {"options": {"reset_mask": over}}
            pairs.append((envs.reset(**again), alone.reset(**again)))
    assert ends >= 2 * ENVS
    for ours, theirs in pairs:
        for one, other in zip(ours[:-1], theirs[:-1], strict=True):
            assert np.array_equal(one, other)
        told = theirs[-1]["_score"]  # Gymnasium leaves out those that a mask left alone
        assert np.array_equal(ours[-1]["score"][told], theirs[-1]["score"][told]) and ours[0] in envs.observation_space
        assert ("final_obs" in ours[-1]) == ("final_obs" in theirs[-1])
        for one, other in zip(ours[-1].get("final_obs", ()), theirs[-1].get("final_obs", ()), strict=True):
            assert (one is None) == (other is None) and (one is None or np.array_equal(one, other))
        if "final_info" in ours[-1]:
            over = ours[-1]["_final_info"]
            assert np.array_equal(ours[-1]["final_info"]["lives"][over], theirs[-1]["final_info"]["lives"][over])


def test_functions_say_what_tables_say(gameboy: ModuleType) -> None:
    def reward(before: dict[str, Any], after: dict[str, Any]) -> Any:
        return after["score"] - before["score"] + 0.25 * (after["paddle"] - before["paddle"])

    tables, functions = made(gameboy), made(gameboy, reward=reward, terminated=lambda after: after["lives"] == 0)
    for envs in (tables, functions):
        envs.reset(seed=2)
    for step in range(80):
        actions = (np.arange(ENVS) + step) % 3
        for one, other in zip(tables.step(actions)[:4], functions.step(actions)[:4], strict=True):
            assert np.array_equal(one, other)


def test_gymnasiums_wrapper_counts_episodes(gameboy: ModuleType) -> None:
    envs = RecordEpisodeStatistics(made(gameboy, max_steps=10))
    envs.reset(seed=1)
    told = [envs.step(np.zeros(ENVS, int))[4] for _ in range(10)][-1]
    assert told["episode"]["l"].tolist() == [10] * ENVS and told["_episode"].all()


def test_what_it_hands_out_is_not_written_to_again(gameboy: ModuleType) -> None:
    envs, same = made(gameboy), made(gameboy, copy=False)
    first, _ = envs.reset(seed=1)
    kept = first.copy()
    handed, _ = same.reset(seed=1)
    for _ in range(3):
        envs.step(np.full(ENVS, 1))
        same.step(np.full(ENVS, 1))
    assert np.array_equal(first, kept) and not np.array_equal(handed, kept)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"reward": {"points": 1.0}}, "reward: there is no value 'points'; expected one of score, lives, paddle"),
        ({"reward": {"score": "much"}}, "reward: score is 'much'; expected a number"),
        ({"reward": 1.0}, r"reward is 1\.0; expected a table"),
        ({"terminated": {"over": 1}}, "terminated: there is no value 'over'"),
        ({"values": {"score": 70000}}, r"values: score\[0\] is 70000; expected 0 to 65535"),
        ({"actions": (("jump",),)}, "there is no button 'jump'"),
        ({"actions": ()}, "actions: none was given"),
        ({"max_steps": -1}, "max_steps is -1; expected"),
        ({"max_steps": 0.5}, r"max_steps is 0\.5; expected"),
    ],
)
def test_what_is_wrong_is_told_when_it_is_made(gameboy: ModuleType, how: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        gameboy.make_vec(ROM, 2, 1, **{**TABLES, **how})


@pytest.mark.parametrize(
    "wrong", [[3] * ENVS, [-1] * ENVS, [0.5] * ENVS, [True] * ENVS, [0] * (ENVS - 1), None], ids=repr
)
def test_actions_are_never_wrapped_around(gameboy: ModuleType, wrong: Any) -> None:
    envs = made(gameboy)
    envs.reset(seed=1)
    before = envs.games.save(0)
    with pytest.raises((TypeError, ValueError), match=r"^actions(\[\d\])?( is|:) .*; expected"):
        envs.step(wrong)
    assert envs.games.save(0) == before


def test_what_a_users_function_answers_is_held_against_what_was_asked(gameboy: ModuleType) -> None:
    envs = made(gameboy, reward=lambda before, after: 1.0)
    envs.reset()
    with pytest.raises(
        TypeError, match=rf"reward answered float64 of shape \(\); expected numbers of shape \({ENVS},\)"
    ):
        envs.step(np.zeros(ENVS, int))
    envs = made(gameboy, terminated=lambda after: after["lives"])
    envs.reset()
    with pytest.raises(TypeError, match=r"terminated answered int64 of shape .*; expected bools"):
        envs.step(np.zeros(ENVS, int))


def test_a_snapshot_is_pickled_to_another_process(gameboy: ModuleType, tmp_path: Path) -> None:
    assert gameboy.__file__ is not None
    envs = gameboy.VecGameBoy(ROM, 2, 30)
    envs.reset()
    envs.step([1, 2])
    (tmp_path / "snapshot").write_bytes(pickle.dumps(envs.snapshot(1)))
    program = (
        "import pickle, sys; from lockstep_gameboy import VecGameBoy\n"
        "rom = bytes.fromhex(sys.stdin.read()); envs = VecGameBoy(rom, 1, 30)\n"
        "envs.restore(0, pickle.load(open(sys.argv[1], 'rb'))); print(envs.save(0).hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "snapshot")],
        cwd=Path(gameboy.__file__).parents[1], input=ROM.hex(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == envs.save(1).hex()
