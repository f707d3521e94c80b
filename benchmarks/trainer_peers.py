"""PPO on CartPole: our trainer beside rejax and Stable-Baselines3, same network and hyper-parameters, in one run on CPU.

Each contender is a process of its own, peers in virtual environments that are built when they are first needed. Compilation
is over, and timed apart, before the rounds begin; in each round every contender trains once, so that a noisy machine hits
all alike. Training is from scratch each time and holds no evaluation.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.common import ENVIRONMENTS, report, spread
from harness.reference.install import setup
from harness.task.contract import Reference
from harness.task.load import load_task

ROUNDS = 7
PPO: dict[str, Any] = {
    "num_envs": 64,
    "rollout_steps": 64,
    "epochs": 8,
    "minibatches": 4,
    "learning_rate": 1e-3,
    "discount": 0.99,
    "gae_lambda": 0.95,
    "clip": 0.2,
    "value_coefficient": 0.5,
    "entropy_coefficient": 0.01,
    "max_gradient_norm": 0.5,
    "hidden": [64, 64],
}
UPDATES, SLOW_UPDATES = 48, 12
"""Updates in a round; the slow peer trains for fewer, and the rate is what counts."""

SERVE = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
ppo, updates = json.loads(sys.argv[1]), int(sys.argv[2])
began = time.perf_counter()
train = prepare(ppo, updates)
train(0)
print(json.dumps(time.perf_counter() - began), flush=True)
for line in sys.stdin:
    began = time.perf_counter()
    train(int(line))
    print(json.dumps(time.perf_counter() - began), flush=True)
"""

OURS = """
def prepare(ppo, updates):
    from harness.candidate.adapters.jax.flags import prepare_process
    prepare_process()
    import jax
    jax.config.update("jax_enable_x64", EXACT)
    from harness.candidate.faces.jax_env import JaxEnv
    from harness.candidate.start import candidate_options
    from harness.task.load import load_task
    from harness.task.training import PpoConfig
    from harness.training.fused import FusedTrainer
    from pathlib import Path
    task = load_task(Path(TASK))
    entry = Path(TASK) / task.candidate.entry
    config = PpoConfig.from_json(ppo | {"segment_updates": updates, "anneal": False, "normalise_observations": False})
    trainer = FusedTrainer(JaxEnv(entry, candidate_options(task, str(entry)) | {"x64": EXACT}), config)
    def train(seed):
        seeds = [SEEDS * seed + number for number in range(SEEDS)]
        jax.block_until_ready(trainer.segment(trainer.begin(seeds), seeds, 0, updates, updates))
    return train
"""

REJAX = """
def prepare(ppo, updates):
    import jax
    from rejax import PPO
    algo = PPO.create(
        env="CartPole-v1", num_envs=ppo["num_envs"], num_steps=ppo["rollout_steps"], num_epochs=ppo["epochs"],
        num_minibatches=ppo["minibatches"], learning_rate=ppo["learning_rate"], gamma=ppo["discount"],
        gae_lambda=ppo["gae_lambda"], clip_eps=ppo["clip"], vf_coef=ppo["value_coefficient"],
        ent_coef=ppo["entropy_coefficient"], max_grad_norm=ppo["max_gradient_norm"],
        agent_kwargs={"activation": "tanh", "hidden_layer_sizes": ppo["hidden"]}, normalize_observations=False,
    )
    def one(key):
        return jax.lax.scan(lambda ts, _: (algo.train_iteration(ts), None), algo.init_state(key), None, updates)[0]
    run = jax.jit(jax.vmap(one))
    def train(seed):
        jax.block_until_ready(run(jax.random.split(jax.random.key(seed), SEEDS)))
    return train
"""

SB3 = """
def prepare(ppo, updates):
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    size = ppo["num_envs"] * ppo["rollout_steps"]
    def train(seed):
        model = PPO(
            "MlpPolicy", make_vec_env("CartPole-v1", n_envs=ppo["num_envs"], seed=seed), seed=seed, device="cpu",
            n_steps=ppo["rollout_steps"], batch_size=size // ppo["minibatches"], n_epochs=ppo["epochs"],
            learning_rate=ppo["learning_rate"], gamma=ppo["discount"], gae_lambda=ppo["gae_lambda"],
            clip_range=ppo["clip"], vf_coef=ppo["value_coefficient"], ent_coef=ppo["entropy_coefficient"],
            max_grad_norm=ppo["max_gradient_norm"], policy_kwargs={"net_arch": ppo["hidden"]},
        )
        model.learn(updates * size)
    return train
"""

REQUIREMENTS = {
    "rejax": ("rejax==0.1.3", "gymnax==0.0.9", "jax==0.10.2", "jaxlib==0.10.2"),
    "stable-baselines3": ("stable-baselines3==2.9.2", "gymnasium==1.4.0"),
}


class _Contender:
    """One process that trains each time that it is given a seed."""

    def __init__(self, name: str, python: Path, program: str, updates: int, seeds: int) -> None:
        self.name, self.seeds, self.seconds = name, seeds, []
        self.steps = seeds * updates * PPO["num_envs"] * PPO["rollout_steps"]
        source = program.replace("SEEDS", str(seeds)) + SERVE
        self._process = subprocess.Popen(
            [str(python), "-c", source, json.dumps(PPO), str(updates)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={"PATH": os.environ.get("PATH", os.defpath), "JAX_PLATFORMS": "cpu", "HOME": os.environ.get("HOME", "/")},
        )  # fmt: skip
        self.first = self._answer()

    def train(self, seed: int) -> None:
        """One round."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seed}\n")
        self._process.stdin.flush()
        self.seconds.append(self._answer())

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def _answer(self) -> float:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended; run its program by hand to see why")
        return float(json.loads(line))


def main() -> None:
    """Measure and report."""
    here = Path(sys.executable)
    ours = OURS.replace("TASK", repr(str(ENVIRONMENTS / "cartpole")))
    contenders = []
    for seeds in (1, 8):
        contenders += [
            _Contender("ours, CartPole in float32", here, ours.replace("EXACT", "False"), UPDATES, seeds),
            _Contender("ours, CartPole in float64", here, ours.replace("EXACT", "True"), UPDATES, seeds),
            _Contender("rejax 0.1.3, gymnax's CartPole", peer("rejax"), REJAX, UPDATES, seeds),
        ]
    contenders.append(
        _Contender("Stable-Baselines3, Gymnasium's CartPole", peer("stable-baselines3"), SB3, SLOW_UPDATES, 1)
    )
    for round_ in range(1, ROUNDS + 1):
        for contender in contenders:
            contender.train(round_)
    rates = {(c.name, c.seeds): [c.steps / seconds for seconds in c.seconds] for c in contenders}
    rows = []
    for contender in contenders:
        own = statistics.median(rates[(contender.name, contender.seeds)])
        # Stable-Baselines3 trains one seed at a time: its rate is the same however many there are.
        base = rates[("ours, CartPole in float32", contender.seeds)]
        rows.append(
            {
                "trainer": contender.name,
                "seeds": contender.seeds,
                "steps/s": spread([rate / 1000 for rate in rates[(contender.name, contender.seeds)]]) + " k",
                "ours is": f"{statistics.median(base) / own:.2f} x",
                "first run, s": contender.first,
            }
        )
        contender.close()
    report("trainer_peers", f"PPO on CartPole on CPU, {ROUNDS} interleaved rounds, {json.dumps(PPO)}", rows)


def peer(name: str) -> Path:
    """The interpreter of a peer's own environment."""
    task = load_task(ENVIRONMENTS / "cartpole")
    reference = Reference(adapter=task.reference.adapter, python=">=3.11", requirements=REQUIREMENTS[name])
    return setup(replace(task, name=f"peer-{name}", reference=reference)).python
