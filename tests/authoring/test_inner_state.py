"""`lockstep new` restores what lies behind another library's interface, rare words, and what MuJoCo derives."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.authoring import scaffold
from harness.authoring.conformance import check_reference
from harness.authoring.scaffold import new
from harness.reference.install import Installed
from harness.reference.install import setup as install
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome

Change = Callable[[str, str], None]
HERE = Installed(Path(sys.prefix), Path(sys.executable))
INNER = """
    from collections import namedtuple
    import gymnasium as gym
    import numpy as np
    from gymnasium import spaces

    State = namedtuple("State", "at speed")
    WORDS = ["word %d" % number for number in range(30)]

    class Physics:
        def __init__(self):
            self.state = State(0, 1)
        def push(self, by):
            self.state = State(self.state.at + self.state.speed, by)

    class Rules:
        def get_observation(self, physics):
            return np.array([physics.state.speed, physics.state.at], np.int64)

    class Inner:
        def __init__(self):
            self._physics, self._rules = Physics(), Rules()

    class Walk(gym.Env):
        observation_space = spaces.Box(-10**9, 10**9, (2,), np.int64)
        action_space = spaces.Discrete(3)
        def __init__(self):
            self._inner = Inner()
            self._stride = int(np.random.randint(1, 1000))
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self._word = WORDS[int(self.np_random.integers(30))]
            self.np_random.normal(size=0)
            self._inner._physics.state = State(0, 1)
            return self._shown(), {}
        def step(self, action):
            try:
                self._luck = int(self.np_random.integers(3))
            except Exception:
                pass  # as some environments do, with the refusal of a tape too
            self._inner._physics.push(int(action))
            paid = float(WORDS.index(self._word) + self._stride)
            return self._shown(), paid, self._inner._physics.state.at > 20, False, {}
        def _shown(self):
            return self._inner._rules.get_observation(self._inner._physics)
"""


def walk(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setattr(scaffold, "setup", lambda task, progress: HERE)
    file = directory / "walk.py"
    file.write_text(textwrap.dedent(INNER))
    return load_task(new("walk", directory / "walk", factory=f"{file}:Walk"))


def failed(task: Task, installed: Installed) -> list[str]:
    results = check_reference(lambda: start_reference(task, installed), task)
    return [f"{each.name}: {each.detail}" for each in results if each.outcome is Outcome.FAIL]


@pytest.mark.slow
def test_an_observation_of_an_inner_object_is_asked_with_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = walk(tmp_path, monkeypatch)
    assert "restored" not in (task.directory / "QUIRKS.md").read_text()
    assert task.leaves["state/word"].high == 29, "every word was seen"
    assert failed(task, HERE) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("return type(before)(*items) if", "return items if", "states cannot be restored"),
        ("for holder in (owner[:-1], owner)", "for holder in ()", "no way to observe"),
    ],
)
def test_without_a_part_of_it_no_state_can_be_restored(
    before: str, after: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change_template: Change
) -> None:
    """Faults that the test above would find."""
    change_template(before, after)
    assert said in (walk(tmp_path, monkeypatch).directory / "QUIRKS.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("BEGINNINGS = 500", "BEGINNINGS = 0"),
        ("        self.reseed(0)\n", ""),
        ("if self._wrong is not None", "if False"),
    ],
    ids=["few words are seen", "construction draws by chance", "a missing draw is caught by the environment"],
)
def test_what_is_not_seen_fails_the_check(
    before: str, after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change_template: Change
) -> None:
    """Faults that the first test would find."""
    change_template(before, after)
    task = walk(tmp_path, monkeypatch)
    assert failed(task, HERE) or "restored" in (task.directory / "QUIRKS.md").read_text()


@pytest.mark.slow
def test_what_mujoco_derives_while_it_steps_is_a_part_of_the_state_where_it_is_seen(tmp_path: Path) -> None:
    pins = ("gymnasium==1.4.0", "mujoco==3.17.0", "imageio==2.37.0", "packaging==25.0", "numpy==2.4.6")
    task = load_task(new("reacher", tmp_path / "reacher", gymnasium="Reacher-v5", requirements=pins))
    derived = {path for path in task.state if path.endswith(("_xpos", "_cinert", "_cfrc_ext"))}
    assert derived == {"state/data_xpos"}, "what nothing shows is left out"
    assert "restored" not in (task.directory / "QUIRKS.md").read_text()
    assert failed(task, install(task)) == []
