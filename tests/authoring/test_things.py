"""`lockstep new` reads objects of a game that come and go, and makes them again: which of them are one, too."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.authoring import scaffold
from harness.authoring.conformance import check_reference
from harness.authoring.scaffold import new
from harness.errors import Raised
from harness.model import Case
from harness.reference.install import Installed
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome

HERE = Installed(Path(sys.prefix), Path(sys.executable))
GAME = """
    import gymnasium as gym
    import numpy as np
    from gymnasium import spaces

    class Tile:
        def __init__(self, kind):
            self.kind, self.worn, self.at, self.inside = kind, False, None, None

    class Spark:
        def __init__(self, left):
            self.left = left

    class Board:
        def __init__(self):
            self.tiles, self.sparks = [None] * 6, []

    class Walk(gym.Env):
        observation_space = spaces.Box(-100, 100, (6,), np.int64)
        action_space = spaces.Discrete(4)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.board, self.carried, self.at, self.gained = Board(), None, 0, 0
            for kind in ("rock", "gem"):
                place = int(self.np_random.integers(6))
                self.board.tiles[place] = Tile(kind)
                self.board.tiles[place].at = (place, 0)
            self.marked = next(tile for tile in self.board.tiles if tile)
            return self._get_obs(), {}
        def step(self, action):
            board, here = self.board, self.board.tiles[self.at]
            if action == 0:
                self.at = (self.at + 1) % 6
            elif action == 1 and (here is None) != (self.carried is None):
                self.carried, board.tiles[self.at] = here, self.carried
            elif action == 2 and here is not None:
                here.worn = not here.worn
                here.at = (self.at, self.gained)
                board.sparks.append(Spark(3))
            for spark in board.sparks:
                spark.left -= 1
            board.sparks = [spark for spark in board.sparks if spark.left]
            self.gained += len(board.sparks) + 2 * self.marked.worn + (self.carried is self.marked)
            return self._get_obs(), float(self.gained % 7), self.gained > 60, False, {}
        def _get_obs(self):
            here = self.board.tiles[self.at]
            worn = 0 if here is None else 1 + here.worn + 2 * (here.kind == "gem")
            place = -1 if here is None or here.at is None else sum(here.at)
            return np.array([self.at, worn, place, len(self.board.sparks), self.gained, {last}], np.int64)
"""


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the environment of these tests, which has Gymnasium, in place of one built from the index."""
    monkeypatch.setattr(scaffold, "setup", lambda task, progress: HERE)


def made(directory: Path, last: str = "self.carried is not None") -> Task:
    file = directory / "walk.py"
    file.write_text(textwrap.dedent(GAME).replace("{last}", last))
    return load_task(new("walk", directory / "walk", factory=f"{file}:Walk"))


@pytest.mark.slow
def test_objects_are_restored_wherever_they_are_and_stay_one(tmp_path: Path) -> None:
    task = made(tmp_path)
    assert {"state/things_at", "state/things_class", "state/things_of_worn", "state/things_of_at_present"} <= set(
        task.state
    )
    assert not any(path.startswith("state/tiles") for path in task.state), "an object is told once"
    results = check_reference(lambda: start_reference(task, HERE), task)
    assert not [(each.name, each.detail) for each in results if each.outcome is Outcome.FAIL]
    reference = start_reference(task, HERE)
    try:
        episodes = reference.drive("random", range(8), 60)
        held = np.concatenate([episode.leaves["state/things_at"] for episode in episodes])
        assert ((held >= 0) & (held != np.arange(held.shape[1]))).any(), "one object was in several places"
        for episode in episodes:
            for start in range(1, episode.steps, 7):
                actions = {"action": episode.case.actions["action"][start:]}
                [rest] = reference.rollout([Case(0, actions, start=episode.state(start))])
                assert rest.leaves["observation"].tolist() == episode.leaves["observation"][start:].tolist()
                assert rest.leaves["reward"][1:].tolist() == episode.leaves["reward"][start + 1 :].tolist()
    finally:
        reference.close()


def test_without_objects_no_state_can_be_restored(tmp_path: Path, change_template: Callable[[str, str], None]) -> None:
    """The fault that the test above would find."""
    change_template("without_things = False", "without_things = True")
    task = made(tmp_path)
    assert "some is hidden" in (task.directory / "QUIRKS.md").read_text()
    assert "state/things_at" not in task.state


def test_what_hides_in_an_object_of_another_kind_is_not_made_up(tmp_path: Path) -> None:
    """Objects that hold objects are not described; the task says that states cannot be restored."""
    file = tmp_path / "walk.py"
    code = textwrap.dedent(GAME).replace("{last}", "0")
    file.write_text(code.replace("here.worn = not here.worn", "here.worn, here.inside = not here.worn, [Spark(1)]"))
    task = load_task(new("walk", tmp_path / "walk", factory=f"{file}:Walk"))
    assert "state/things_at" not in task.state
    assert "cannot be restored" in (task.directory / "QUIRKS.md").read_text()


@pytest.mark.parametrize(
    ("leaf", "value", "said"),
    [
        ("state/things_at", 3, "which is empty"),
        ("state/things_class", 9, "expected 0 to 1"),
        ("state/things_of_kind", 7, "expected 0 to 1"),
    ],
)
def test_a_state_that_cannot_be_is_refused_with_its_place(leaf: str, value: int, said: str, tmp_path: Path) -> None:
    task = made(tmp_path)
    reference = start_reference(task, HERE)
    try:
        [episode] = reference.drive("random", [3], 5)
        state = {path: np.array(array) for path, array in episode.state(0).items()}
        number = int(np.flatnonzero(state["state/things_class"] >= 0)[-1])
        state["state/things_at"][3] = -1
        state[leaf][number] = value
        if leaf == "state/things_at":
            state["state/things_at"][number] = 3
        with pytest.raises(Raised, match=said):
            reference.rollout([Case(0, {"action": np.zeros(1, np.int64)}, start=state)])
    finally:
        reference.close()
