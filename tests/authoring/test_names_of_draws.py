"""`lockstep new` gives draws that are asked for in several ways a name each, and states the law of each."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from harness.authoring import scaffold
from harness.authoring.conformance import check_reference
from harness.authoring.scaffold import new
from harness.reference.install import Installed
from harness.reference.start import start_reference
from harness.task.contract import Law, Task
from harness.task.load import load_task
from harness.verdict import Outcome
from tests.authoring.forced import assert_forced

HERE = Installed(Path(sys.prefix), Path(sys.executable))
WALK = """
    import gymnasium as gym
    import numpy as np
    from gymnasium import spaces

    class Walk(gym.Env):
        observation_space = spaces.Box(-10**6, 10**6, (3,), np.int64)
        action_space = spaces.Discrete(2)
        def __init__(self):
            self.at = self.left = self.storms = 0
        def seen(self):
            return np.array([self.at, self.left, self.storms], np.int64)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at, self.left, self.storms = int(self.np_random.integers(10)), 1, 0
            return self.seen(), {}
        def step(self, action):
            self.at += int(self.np_random.integers(low=0, high=3)) + int(action)
            self.storms += self.np_random.choice(["calm", "storm"], p=[0.75, 0.25]) == "storm"
            CHANCE
            return self.seen(), float(self.left), self.at > 40, False, {}
"""


def made(directory: Path, chance: str) -> Task:
    """A task of this walk, with one more line of chance in each step."""
    (directory / "walk.py").write_text(textwrap.dedent(WALK).replace("CHANCE", chance))
    return load_task(new("walk", directory / "walk", factory=f"{directory / 'walk.py'}:Walk"))


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the environment of these tests, which has Gymnasium, in place of one built from the index."""
    monkeypatch.setattr(scaffold, "setup", lambda task, progress: HERE)


@pytest.mark.slow
def test_each_way_to_ask_is_a_draw_of_its_own_law(tmp_path: Path) -> None:
    task = made(tmp_path, "self.left = int(self.np_random.integers(0, 10))")
    assert set(task.draws) == {"integers", "integers_b", "choice_index"}
    assert task.draws["integers"].at == "both" and task.draws["integers_b"].at == "step"
    laws = {name: draw.law for name, draw in task.draws.items()}
    assert (laws["integers"], laws["integers_b"]) == (Law("integers", 0, 9), Law("integers", 0, 2))
    assert "probabilities = [0.75, 0.25]" in (task.directory / "task.toml").read_text()
    results = check_reference(lambda: start_reference(task, HERE), task)
    assert {each.outcome for each in results} <= {Outcome.PASS, Outcome.SKIPPED}
    assert_forced(task, HERE)


@pytest.mark.slow
def test_a_line_that_asks_as_the_state_says_leaves_its_draws_one_name(tmp_path: Path) -> None:
    task = made(tmp_path, "self.left = int(self.np_random.integers(self.at % 4 + 1))")
    assert set(task.draws) == {"integers", "choice_index"}
    assert task.draws["integers"].law is None and task.draws["choice_index"].law is not None
