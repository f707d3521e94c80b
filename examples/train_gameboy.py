"""Train on a Game Boy game with Stable-Baselines3: `python train_gameboy.py ROM [STEPS]`.

It needs `pip install "rust/gameboy[gymnasium]" stable-baselines3`. What is worth something is a table of addresses: these
are those of `bricks`, a game of the project's own (`environments/gameboy/roms`). Change them for another one.
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from lockstep_gameboy import make_vec
from lockstep_gameboy.stable_baselines import StableBaselinesVecEnv
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

NUM_ENVS, STEPS_AT_ONCE = 64, 64
STEPS = 250_000
BRICKS = {
    "values": {"score": (0xC006, 0xC007), "lives": 0xC008},
    "reward": {"score": 1.0},
    "terminated": {"lives": 0},
    "actions": [(), ("left",), ("right",), ("a",)],
}


def main(rom: str, steps: int = STEPS) -> int:
    """Train, and print the mean return of the episodes that ended in each tenth of it. Returns the exit code."""
    torch.set_num_threads(1)  # the network is small
    games = make_vec(
        rom, NUM_ENVS, frame_skip=8, max_steps=1000, random_frames=120, grayscale=True, downsample=8, stack=2,
        autoreset_mode="SameStep", **BRICKS,
    )  # fmt: skip
    envs = VecNormalize(StableBaselinesVecEnv(RecordEpisodeStatistics(games)), norm_reward=False, clip_obs=5.0)
    model = PPO(
        "MlpPolicy", envs, n_steps=STEPS_AT_ONCE, batch_size=1024, n_epochs=10, learning_rate=1e-3, gamma=0.98,
        ent_coef=0.01, seed=0, device="cpu",
    )  # fmt: skip
    returns: list[list[float]] = [[] for _ in range(10)]

    def look(seen: dict, _: dict) -> bool:
        tenth = min(10 * model.num_timesteps // steps, 9)
        returns[tenth] += [float(info["episode"]["r"]) for info in seen["infos"] if "episode" in info]
        return True

    model.learn(steps, callback=look)
    for tenth, earned in enumerate(returns):
        until = (tenth + 1) * steps // 10
        mean = f"{np.mean(earned):6.1f} points an episode" if earned else "no episode ended"
        print(f"up to step {until:8}: {mean}, {len(earned)} episodes")
    envs.close()
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
