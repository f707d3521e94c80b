"""Stable-Baselines3 itself, in an environment of its own: it brings PyTorch, several gigabytes, so CI leaves it out."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.trainer_peers import peer
from lockstep_gameboy_tools import build as crate
from tests.paths import ROOT

from .console import rom

pytestmark = [pytest.mark.nightly, pytest.mark.rust]

GAMES = """
import json, sys
import numpy as np
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from lockstep_gameboy import make_vec
from lockstep_gameboy.stable_baselines import StableBaselinesVecEnv
def made(**how):
    return make_vec(
        sys.argv[1], 4, 24, values={"score": (0xC006, 0xC007), "lives": 0xC008}, reward={"score": 1.0},
        terminated={"lives": 0}, actions=[(), ("left",), ("right",), ("a",)], random_frames=30, grayscale=True,
        downsample=4, stack=2, **{"autoreset_mode": "SameStep", "max_steps": 20} | how,
    )
"""
BESIDE = """
ours, plain = StableBaselinesVecEnv(RecordEpisodeStatistics(made(copy=False))), RecordEpisodeStatistics(made())
ours.seed(5)
seen, (other, _) = ours.reset(), plain.reset(seed=5)
same, ends, cut = [np.array_equal(seen, other)], 0, 0
same.append(ours.has_attr("return_queue") and ours.get_attr("games", [1])[0] is ours.envs.env.games)
same.append(not ours.has_attr("no such thing") and ours.render_mode is None)
chance = np.random.default_rng(1)
for _ in range(300):
    actions = chance.integers(0, 4, 4)
    before, kept = seen, seen.copy()
    seen, reward, done, told = ours.step(actions)
    same.append(np.array_equal(before, kept))
    other, earned, terminated, truncated, infos = plain.step(actions)
    same += [np.array_equal(seen, other), np.array_equal(reward, earned.astype(np.float32)), reward.dtype == np.float32]
    same += [np.array_equal(done, terminated | truncated)]
    for number, info in enumerate(told):
        same.append(("terminal_observation" in info) == ("episode" in info) == bool(done[number]))
        if done[number]:
            ends, cut = ends + 1, cut + bool(truncated[number])
            same.append(np.array_equal(info["terminal_observation"], infos["final_obs"][number]))
            same.append(info["TimeLimit.truncated"] == bool(truncated[number] and not terminated[number]))
            same.append(info["episode"]["r"] == infos["episode"]["r"][number])
            same.append(info["score"] == infos["final_info"]["score"][number])
            same.append(ours.reset_infos[number]["score"] == infos["score"][number])
        else:
            same.append(info["score"] == infos["score"][number])
print(json.dumps({"same": all(same), "ends": ends, "cut": cut}))
"""
REFUSED = """
try:
    StableBaselinesVecEnv(made(autoreset_mode="NextStep"))
except ValueError as error:
    print(json.dumps(str(error)))
"""


@pytest.fixture(scope="module")
def gameboy(cargo: None) -> ModuleType:
    return crate.gameboy()


@pytest.fixture(scope="module")
def python() -> Path:
    """An interpreter that has it."""
    return peer("stable-baselines3")


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("rom") / "bricks.gb"
    place.write_bytes(rom("bricks").image)
    return str(place)


def run(python: Path, gameboy: ModuleType, *arguments: str) -> str:
    assert gameboy.__file__
    surroundings = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(gameboy.__file__).parents[1])}
    return subprocess.run(
        [str(python), *arguments], env=surroundings, capture_output=True, text=True, check=True, timeout=500
    ).stdout


def test_it_is_the_vector_environment_that_gymnasium_has(python: Path, gameboy: ModuleType, game: str) -> None:
    told = json.loads(run(python, gameboy, "-c", GAMES + BESIDE, game))
    assert told["same"] and told["ends"] > told["cut"] > 3, told


def test_another_mode_of_resets_is_refused(python: Path, gameboy: ModuleType, game: str) -> None:
    assert "expected AutoresetMode.SAME_STEP" in json.loads(run(python, gameboy, "-c", GAMES + REFUSED, game))


def test_the_example_trains(python: Path, gameboy: ModuleType, game: str) -> None:
    told = run(python, gameboy, str(ROOT / "examples" / "train_gameboy.py"), game, "20480")
    lines = [line for line in told.splitlines() if "points an episode" in line]
    assert len(lines) >= 8, told
