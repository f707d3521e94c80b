"""What `examples/showdown` rebuilds of Showdown's stream is what the environment shows, and a policy plays by it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.model import Array
from harness.reference import npm
from harness.reference.install import setup
from harness.task.training import PpoConfig
from harness.training.ppo import Ppo
from harness.training.trained import Trained
from harness.verify.opponents import policy_of
from tests.environments.pokemon.battles import TASK
from tests.paths import ROOT

pytestmark = pytest.mark.slow
EXAMPLES = ROOT / "examples"
BATTLES = 30
OTHER_TEAM = slice(120, 150)
Spoil = Callable[[str], str]


def module_of(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"pokemon_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


sys.path.insert(0, str(EXAMPLES))  # where a script that is run there finds its modules
Sight = importlib.import_module("showdown.sight").Sight
sys.path.remove(str(EXAMPLES))
seen_by = module_of(TASK.directory / "reference" / "view.py").seen_by


@pytest.fixture(scope="module")
def told() -> list[Any]:
    """What has numbers, then all timesteps of whole battles."""
    installed = setup(TASK)
    command = [str(npm.program(installed)), str(Path(__file__).with_name("told.mjs")), str(BATTLES)]
    done = subprocess.run(command, env=npm.variables(installed), check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def rebuilt(told: list[Any], spoil: Spoil = str) -> Iterator[tuple[Any, Array, Array, str]]:
    """For each player at each timestep but the last: what was rebuilt, the observation by it, that of the environment, and
    what was chosen then.

    Args:
        spoil: what becomes of a line of the log.
    """
    numbers, *timesteps = told
    sights: dict[tuple[int, int], Any] = {}
    for shown in timesteps:
        state = unpacked(shown["state"])
        for side, (request, word) in enumerate(zip(shown["requests"], shown["words"], strict=True)):
            if not request:
                continue
            key = shown["battle"], side
            seen = sights.get(key) or sights.setdefault(key, Sight(numbers, f"p{side + 1}", request))
            for line in shown["told"][side]:
                seen.tell(spoil(line))
            seen.ask(request)
            yield seen, in_any_order(seen.observation()), in_any_order(seen_by(side, state)), word
            if word.startswith("move"):
                assert seen.word(int(word.split()[1]) - 1) == word


def in_any_order(observation: Array) -> Array:
    """With the rows of the other team in order: which of them has which place is not told."""
    rows = observation[OTHER_TEAM].reshape(6, 5)
    observation[OTHER_TEAM] = rows[np.lexsort(rows.T)].reshape(-1)
    return observation


def unpacked(numbers: list[int]) -> dict[str, Any]:
    """The canonical state from its numbers end to end, as task.toml has its leaves."""
    state, start = {}, 0
    for path, leaf in TASK.leaves.items():
        if path.startswith("state/"):
            size = int(np.prod(leaf.shape, dtype=int))
            state[path.removeprefix("state/")] = np.array(numbers[start : start + size]).reshape(leaf.shape)
            start += size
    return state


def differing(told: list[Any], spoil: Spoil = str) -> tuple[int, int, int]:
    """How many observations there are, how many differ where nothing is guessed, and in how many a guess is wrong."""
    count = wrong = guesses = 0
    for seen, ours, real, _ in rebuilt(told, spoil):
        places = set(np.flatnonzero(ours != real).tolist())
        count, wrong, guesses = count + 1, wrong + bool(places - set(seen.guessed())), guesses + bool(places)
    return count, wrong, guesses


def test_the_observation_is_rebuilt_from_what_showdown_tells(told: list[Any]) -> None:
    """All of it at every timestep, but for what sight.py says that nobody is told."""
    count, wrong, guesses = differing(told)
    assert count > 1000 and not wrong and guesses < count / 30


@pytest.mark.parametrize(
    "kind", ["-boost", "-status", "-start", "-end", "-curestatus", "-mustrecharge", "cant", "move"]
)
def test_a_kind_of_line_that_is_passed_over_shows(told: list[Any], kind: str) -> None:
    """Planted: a reader of the log that does not know it."""
    assert differing(told, lambda line: re.sub(rf"^\|{kind}\|.*", "|", line))[1]


def test_what_may_be_chosen_is_what_the_request_offers(told: list[Any]) -> None:
    for seen, _, _, word in rebuilt(told):
        words = [seen.word(int(action)) for action in np.flatnonzero(seen.legal())]
        assert (word in words) if word else not words


def test_a_policy_plays_against_showdown_itself(tmp_path: Path) -> None:
    """One that learned nothing: what it wins is of no interest here."""
    config = PpoConfig(num_envs=16, rollout_steps=16, hidden=(8,))
    ppo = Ppo(policy_of(TASK, config))
    Trained(ppo.leaves(ppo.begin(1)), config, 1, 1, (), "candidate").save(tmp_path / "policy.npz")
    command = [sys.executable, EXAMPLES / "play_showdown.py", "--policy", tmp_path / "policy.npz", "--battles", "4"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"^(.*) won \d of 4 battles against RandomPlayerAI \(\d+%\), \d were tied$", done.stdout, re.M)
    assert shown == ["the policy", "random actions"]


def test_no_battles_are_refused() -> None:
    command = [sys.executable, str(EXAMPLES / "play_showdown.py"), "--battles", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "play_showdown.py: error: --battles 0: expected 1 or more",
    )
