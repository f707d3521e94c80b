"""`lockstep new` restores state as people keep it: enumerations, sets, queues, and records that cannot change."""

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
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome

Change = Callable[[str, str], None]
HERE = Installed(Path(sys.prefix), Path(sys.executable))
WALK = """
    import collections
    import dataclasses
    import enum
    from typing import NamedTuple

    import gymnasium as gym
    import numpy as np
    from gymnasium import spaces

    class Weather(enum.Enum):
        CALM = "calm"
        STORM = "storm"

    class Pace(enum.IntEnum):
        SLOW = 1
        FAST = 2

    @dataclasses.dataclass(frozen=True)
    class Body:
        at: int
        last: tuple

    class Pack(NamedTuple):
        weight: int
        slots: np.ndarray

    START = Body(0, ())

    class Walk(gym.Env):
        observation_space = spaces.Box(-10**9, 10**9, (5,), np.int64)
        action_space = spaces.Discrete(3)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.weather, self.pace, self.wind = Weather.CALM, Pace.SLOW, None
            self.body, self.pack, self.pair = START, Pack(0, np.zeros(2, np.int64)), (np.zeros(3, np.int64), 0)
            self.seen, self.moves = {(0, 0)}, collections.deque(maxlen=3)
            return self.get_obs(), {}
        def get_obs(self):
            storm = 10 * (self.weather is Weather.STORM) + 100 * (self.wind is Weather.STORM)
            carried = self.pack.weight + 5 * int(self.pack.slots[1]) + 7 * int(self.pair[0][2]) + self.pair[1]
            return np.array([self.body.at + sum(self.body.last), storm, carried, len(self.seen), sum(self.moves)], np.int64)
        def step(self, action):
            drawn = int(self.np_random.integers(3))
            self.weather = list(Weather)[drawn % 2]
            self.wind = None if drawn == 0 else self.weather
            stride = 2 if self.pace is Pace.FAST else 1
            self.pace = list(Pace)[drawn // 2]
            last = (*self.body.last, int(action))
            self.body = dataclasses.replace(self.body, at=self.body.at + stride, last=last if len(last) < 5 else ())
            slots = self.pack.slots.copy()
            slots[drawn % 2] += int(action)
            self.pack = self.pack._replace(weight=self.pack.weight + 1, slots=slots)
            self.pair = (np.roll(self.pair[0], 1) + drawn, self.pair[1] + 1)
            self.seen.add((self.body.at % 7, drawn))
            self.moves.append(int(action))
            return self.get_obs(), float(stride), self.body.at > 40, False, {}
"""
STATE = {
    "weather", "pace", "wind", "at", "last", "last_count", "weight", "slots", "pair_0", "pair_1", "seen", "seen_count",
    "moves", "moves_count",
}  # fmt: skip


def made(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setattr(scaffold, "setup", lambda task, progress: HERE)
    file = directory / "walk.py"
    file.write_text(textwrap.dedent(WALK))
    return load_task(new("walk", directory / "walk", factory=f"{file}:Walk"))


def quirks(task: Task) -> str:
    return (task.directory / "QUIRKS.md").read_text()


def failed(task: Task) -> list[str]:
    results = check_reference(lambda: start_reference(task, HERE), task)
    return [each.name for each in results if each.outcome not in (Outcome.PASS, Outcome.SKIPPED)]


@pytest.mark.slow
def test_each_kind_is_found_and_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = made(tmp_path, monkeypatch)
    assert {f"state/{name}" for name in STATE} <= set(task.state)
    assert "restored" not in quirks(task)
    assert not failed(task)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('class_called(described["class"])[member])', 'class_called(described["class"])[member].value)'),
        ("SETS = (set, frozenset)", "SETS = ()"),
        ("put(env, before, changed)", "pass"),
        ("put(env, before, owner._replace(**{key: value}))", "pass"),
        ("put(env, before, (*owner[:key], value, *owner[key + 1 :]))", "pass"),
    ],
    ids=["members", "sets", "frozen", "named", "tuples"],
)
def test_what_is_written_otherwise_is_not_taken_for_restored(
    before: str, after: str, change_template: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_template(before, after)
    assert "States cannot be restored" in quirks(made(tmp_path, monkeypatch))


@pytest.mark.slow
def test_a_record_that_is_changed_in_place_is_found_by_the_check(
    change_template: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one from which each episode begins would change with it."""
    change_template("changed = copy.copy(owner)", "changed = owner")
    assert "leaks" in failed(made(tmp_path, monkeypatch))
