"""Play a trained policy against Pokémon Showdown itself: `python play_showdown.py [--policy FILE.npz] [--battles N]`.

The policy was trained in the candidate. Here it plays in Showdown's own simulator, by its own text protocol (`|request|`,
`|move|`, `move 1`), against Showdown's RandomPlayerAI, with teams of Showdown's generator. What it sees is rebuilt from the
stream that any player gets (`showdown/sight.py`).

`lockstep train pokemon --candidate rust` writes policies. Without one, this trains one for `--steps` steps first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from showdown.sight import ACTIONS, Sight

import lockstep
from harness.reference import npm
from harness.reference.install import setup
from harness.training.opponents import Checkpoint
from harness.verify.opponents import policy_of

ME, OTHER = "p1", "p2"
ENDS = {f"|win|{ME}": 1, f"|win|{OTHER}": -1, "|tie": 0}
STREAM = Path(__file__).with_name("showdown") / "stream.mjs"
Chooses = Callable[[np.ndarray[Any, Any], np.ndarray[Any, Any], int], int]
"""From an observation, the mask of legal actions and the number of the choice to an action."""


class Showdown:
    """Showdown's simulator in a process of Node.js, with the packages of the task's reference."""

    def __init__(self, task: lockstep.Task) -> None:
        installed = setup(task)
        command = [str(npm.program(installed)), str(STREAM)]
        self._process = subprocess.Popen(
            command, env=npm.variables(installed), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.numbers: Mapping[str, Any] = self._hear()

    def play(self, seed: int, chooses: Chooses) -> int:
        """One battle: 1 if it was won, -1 if it was lost, 0 for a tie."""
        self._say(f"start {seed}")
        sight: Sight | None = None
        lines: list[str] = []
        choices = 0
        while True:
            message = self._hear()
            _, kind, rest = message.split("|", 2)
            if kind == "error" and not rest.startswith("[Unavailable choice]"):  # then it asks again
                raise RuntimeError(f"Showdown refuses a choice: {rest}")
            if kind != "request":
                lines += message.split("\n")
                end = next((line for line in lines if line in ENDS), None)
                if end is not None:
                    return ENDS[end]
                continue
            request = json.loads(rest)
            sight = sight or Sight(self.numbers, ME, request)
            for line in lines:
                sight.tell(line)
            sight.ask(request)
            lines, legal = [], sight.legal()
            if legal.any():
                self._say(sight.word(chooses(sight.observation(), legal, choices)))
                choices += 1

    def close(self) -> None:
        """End the process: its input ends."""
        self._process.communicate()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"Showdown's process has ended with status {self._process.wait()}")
        return json.loads(line)


def as_trained(task: lockstep.Task, trained: lockstep.Trained, seed: int) -> Chooses:
    """How a policy chooses in one battle: at random by its probabilities, as it did in training."""
    player = Checkpoint("policy", policy_of(task, trained.config), trained.learner).play([seed])
    idle = {path: leaf.zeros(1) for path, leaf in task.leaves.items()}

    def chooses(observation: np.ndarray[Any, Any], legal: np.ndarray[Any, Any], number: int) -> int:
        seen = {f"observation/{ME}": observation[None], f"legal_actions/{ME}": legal[None]}
        seen[f"to_move/{ME}"] = np.ones(1, bool)
        return int(player({**idle, **seen}, number, np.ones(1, bool))[f"action/{ME}"][0])

    return chooses


def at_random(seed: int) -> Chooses:
    """Legal actions, each as probable as the others: what a policy that learned nothing does."""
    rng = np.random.default_rng(seed)
    return lambda _, legal, __: int(rng.choice(np.arange(ACTIONS)[legal]))


def main(given: Sequence[str]) -> int:
    """Play, and print how many battles were won. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Play a trained policy against Pokémon Showdown itself.")
    parser.add_argument("--policy", type=Path, help="a file of `lockstep train pokemon`")
    parser.add_argument("--steps", type=int, default=150_000, help="of the training, where there is no policy")
    parser.add_argument("--battles", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first battle; the others follow")
    asked = parser.parse_args(given)
    if asked.battles < 1:
        parser.error(f"--battles {asked.battles}: expected 1 or more")
    task = lockstep.load_task("pokemon", candidate="rust")
    if asked.policy is not None:
        trained = lockstep.Trained.load(asked.policy)
    else:
        [trained] = lockstep.train(task, steps=asked.steps)
    players: dict[str, Callable[[int], Chooses]] = {
        "the policy": lambda seed: as_trained(task, trained, seed),
        "random actions": at_random,
    }
    showdown = Showdown(task)
    try:
        for name, player in players.items():
            results = [showdown.play(seed, player(seed)) for seed in range(asked.seed, asked.seed + asked.battles)]
            won, tied = (sum(result == each for result in results) for each in (1, 0))
            share = f"{won / len(results):.0%}"
            print(f"{name} won {won} of {len(results)} battles against RandomPlayerAI ({share}), {tied} were tied")
    finally:
        showdown.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
