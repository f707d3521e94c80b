"""`lockstep new --pettingzoo`: games in turns and at once, with masks, and with players that drop out."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.authoring import scaffold
from harness.authoring.conformance import check_reference
from harness.authoring.scaffold import new
from harness.errors import SetupError
from harness.model import Case
from harness.reference.install import Installed
from harness.reference.install import setup as install
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from tests.paths import ENVIRONMENTS

pytestmark = pytest.mark.slow
Change = Callable[[str, str], None]
FOUR = load_task(ENVIRONMENTS / "connect_four")
HEAD = """
    import numpy as np
    from gymnasium import spaces
    from gymnasium.utils import seeding
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils import wrappers

    NAMES = ["red", "green", "blue"]

    class InTurns(AECEnv):
        metadata = {"name": "in turns"}
        def __init__(self):
            self.possible_agents = list(NAMES)
        def begin(self):
            self.agents, self.agent_selection = list(NAMES), NAMES[0]
            self.rewards, self._cumulative_rewards = dict.fromkeys(NAMES, 0.0), dict.fromkeys(NAMES, 0.0)
            self.terminations, self.truncations = dict.fromkeys(NAMES, False), dict.fromkeys(NAMES, False)
            self.infos = {name: {} for name in NAMES}
        def close(self):
            pass
"""
TURNS = """
    class Countdown(InTurns):
        '''Each takes some of a heap; who finds it empty drops out. The last one wins. Players may take unlike amounts.'''
        def observation_space(self, agent):
            return spaces.Box(0, 100, (2,), np.int64)
        def action_space(self, agent):
            return spaces.Discrete(3 + NAMES.index(agent), start=1)
        def observe(self, agent):
            return np.array([self.heap, self.taken[agent]], np.int64)
        def reset(self, seed=None, options=None):
            self.dice, _ = seeding.np_random(seed)
            self.begin()
            self.heap = int(self.dice.integers(5, 9))
            self.taken = dict.fromkeys(NAMES, 0)
        def step(self, action):
            mover = self.agent_selection
            if self.terminations[mover] or self.truncations[mover]:
                self._was_dead_step(action)
                return
            self._clear_rewards()
            self._cumulative_rewards[mover] = 0.0
            taken = min(self.heap, int(action))
            self.heap -= taken
            self.taken[mover] += taken
            self.rewards[mover] = float(taken)
            if self.heap == 0:
                self.terminations[mover] = True
                self.heap = int(self.dice.integers(3, 6))
            left = [name for name in self.agents if not self.terminations[name]]
            if len(left) == 1:
                self.rewards[left[0]] += 10.0
                self.terminations[left[0]] = True
            after = NAMES.index(mover)
            order = [NAMES[(after + step) % 3] for step in (1, 2, 3)]
            self._accumulate_rewards()
            self.agent_selection = next((name for name in order if name in left), mover)
            if self.terminations[mover]:
                self._deads_step_first()

    def env():
        return wrappers.OrderEnforcingWrapper(Countdown())
"""
CIRCLE = """
    class Circle(InTurns):
        def observation_space(self, agent):
            return spaces.Box(0, 1000, (), np.int64)
        def action_space(self, agent):
            return spaces.Discrete(3)
        def observe(self, agent):
            return np.int64(self.sum)
        def reset(self, seed=None, options=None):
            self.begin()
            self.sum, self.left = 0, 35
        def step(self, action):
            self.sum, self.left = self.sum + int(action) * (1 + NAMES.index(self.agent_selection)), self.left - 1
            self.agent_selection = NAMES[(NAMES.index(self.agent_selection) + 1) % 3]
            self.truncations = dict.fromkeys(NAMES, self.left == 0)
"""
TOGETHER = """
    class Race(ParallelEnv):
        '''All move at once by as much as they may; who comes far enough is out.'''
        metadata = {"name": "race"}
        def __init__(self):
            self.possible_agents = list(NAMES)
        def observation_space(self, agent):
            seen = {"at": spaces.Box(0, 99, (), np.int64), "all": spaces.Box(0, 99, (3,), np.int64)}
            return spaces.Dict({**seen, "action_mask": spaces.MultiBinary(3)})
        def action_space(self, agent):
            return spaces.Discrete(3)
        def observe(self, agent):
            together = np.array([self.at[name] for name in NAMES], np.int64)
            return {"at": np.int64(self.at[agent]), "all": together, "action_mask": self.mask(agent)}
        def mask(self, agent):
            return np.array([1, 1, self.at[agent] % 2], np.int8)
        def reset(self, seed=None, options=None):
            self.dice, _ = seeding.np_random(seed)
            self.agents, self.steps = list(NAMES), 0
            self.at = {name: int(self.dice.integers(3)) for name in NAMES}
            return self.answers()
        def answers(self):
            return {name: self.observe(name) for name in self.agents}, {name: {} for name in self.agents}
        def step(self, actions):
            assert set(actions) == set(self.agents)
            self.steps += 1
            for name in self.agents:
                assert self.mask(name)[actions[name]]
                self.at[name] += int(actions[name]) + int(self.dice.integers(2))
            there = list(self.agents)
            over = {name: self.at[name] > 8 for name in there}
            cut = dict.fromkeys(there, self.steps >= 12)
            paid = {name: float(self.at[name]) if over[name] else 0.0 for name in there}
            self.agents = [name for name in there if not (over[name] or cut[name])]
            seen = {name: self.observe(name) for name in there}
            return seen, paid, over, cut, {name: {} for name in there}
        def close(self):
            pass
"""


@pytest.fixture(scope="module")
def installed() -> Installed:
    """The environment of Connect Four, which has PettingZoo."""
    return install(FOUR)


@pytest.fixture(autouse=True)
def given(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaffold, "setup", lambda task, progress: installed)


def made(directory: Path, code: str, function: str) -> Task:
    file = directory / "game.py"
    file.write_text(textwrap.dedent(HEAD) + textwrap.dedent(code))
    return load_task(new("game", directory / "game", pettingzoo=f"{file}:{function}"))


def quirks(task: Task) -> str:
    return (task.directory / "QUIRKS.md").read_text()


def not_passed(task: Task, installed: Installed) -> list[str]:
    results = check_reference(lambda: start_reference(task, installed), task)
    return [f"{each.name}: {each.detail}" for each in results if each.outcome not in (Outcome.PASS, Outcome.SKIPPED)]


def test_a_game_of_pettingzoo_plays_as_its_adapter_by_hand_does(tmp_path: Path, installed: Installed) -> None:
    task = load_task(new("four", tmp_path / "four", pettingzoo="pettingzoo.classic.connect_four_v3"))
    assert (task.players, task.leaves["to_move"].high) == (FOUR.players, 1)
    assert "restored" not in quirks(task)
    assert not_passed(task, installed) == []
    rng = np.random.default_rng(3)
    cases = [Case(0, {"action": rng.integers(0, 7, 42)}) for _ in range(20)]  # illegal moves are among them
    answers = []
    for each in (task, FOUR):
        reference = start_reference(each, installed)
        answers.append(reference.rollout(cases))
        reference.close()
    both = {"terminated", "truncated", "to_move", "legal_actions"} | {
        f"{tree}/{name}" for tree in ("observation", "reward") for name in ("player_0", "player_1")
    }
    assert both <= set(task.leaves)
    for one, other in zip(*answers, strict=True):
        assert one.steps == other.steps
        for path in both:
            assert one.leaves[path].tolist() == other.leaves[path].tolist(), path


def test_whose_turn_it_is_is_found_also_where_every_second_timestep_is_looked_at(
    tmp_path: Path, change_template: Change
) -> None:
    """As on a machine that is busy: there a look takes long."""
    change_template("return 1 + int(took / (SECONDS / 4))", "return 2")
    assert "restored" not in quirks(
        load_task(new("four", tmp_path / "four", pettingzoo="pettingzoo.classic.connect_four_v3"))
    )


def test_players_who_take_turns_may_drop_out(tmp_path: Path, installed: Installed) -> None:
    task = made(tmp_path, TURNS, "env")
    assert task.players is not None and task.players.order == "turns"
    assert {"alive/red", "action/red", "action/blue", "reward/green", "to_move"} <= set(task.leaves)
    assert task.leaves["action/blue"].high == 5
    assert "restored" not in quirks(task)
    assert not_passed(task, installed) == []
    reference = start_reference(task, installed)
    episodes = reference.drive("random", list(range(8)), 100)
    reference.close()
    assert any(len(set(e.leaves["alive/red"][:-1].tolist())) == 2 for e in episodes), "red drops out before the end"
    for episode in episodes:
        paid = [float(episode.leaves[f"reward/{name}"].sum()) for name in ("red", "green", "blue")]
        assert sum(each >= 10 for each in paid) == 1, "the last one is paid although it does not move"
        mover = episode.leaves["to_move"][:-1]
        alive = np.stack([episode.leaves[f"alive/{name}"] for name in ("red", "green", "blue")], axis=1)
        assert alive[np.arange(len(mover)), mover].all()


def test_players_who_act_at_once_are_masked_and_restored(tmp_path: Path, installed: Installed) -> None:
    task = made(tmp_path, TOGETHER, "Race")
    assert task.players is not None and task.players.order == "simultaneous"
    assert {"alive/red", "legal_actions/red", "observation/green/all", "state/agents"} <= set(task.leaves)
    assert "restored" not in quirks(task)
    assert not_passed(task, installed) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.env.step(None)", "break"),
        ("return {path: 0.0 for path in leaves if is_reward(path)}", "return {}"),
    ],
    ids=["who dropped out stays to move", "nothing is paid at first"],
)
def test_a_fault_is_found_by_the_check_or_refused(
    before: str, after: str, change_template: Change, tmp_path: Path, installed: Installed
) -> None:
    change_template(before, after)
    try:
        task = made(tmp_path, TURNS, "env")
    except Exception as refused:
        assert isinstance(refused, SetupError) or "reward" in str(refused)
    else:
        assert not_passed(task, installed) or "restored" in quirks(task)


def test_states_are_restored_out_of_step_with_the_turns(
    change_template: Change, tmp_path: Path, installed: Installed
) -> None:
    """Where it is always the first player's turn in those that are tried, whose turn it is seems to need no restoring."""
    for place, change in ((tmp_path / "kept", None), (tmp_path / "changed", "range(0, ")):
        place.mkdir()
        if change is not None:
            change_template("range(seed % stride, ", change)
        task = made(place, CIRCLE, "Circle")
        assert ("state/agent_selection" in task.leaves) == (change is None)
        assert bool(not_passed(task, installed)) == (change is not None)


def test_a_game_for_one_is_refused_with_what_to_do(tmp_path: Path, installed: Installed) -> None:
    head, turns = (
        HEAD.replace('["red", "green", "blue"]', '["red"]'),
        TURNS.replace("% 3] for step in (1, 2, 3)]", "% 1] for step in (1,)]"),
    )
    (tmp_path / "game.py").write_text(textwrap.dedent(head) + textwrap.dedent(turns))
    with pytest.raises(
        SetupError, match=r"only red plays: a game for one is an environment of Gymnasium's, .* `--factory`"
    ):
        new("game", tmp_path / "game", pettingzoo=f"{tmp_path / 'game.py'}:Countdown")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"factory": "pettingzoo.classic.tictactoe_v3:env"}, "`--pettingzoo` in place of `--factory`"),
        ({"pettingzoo": "gymnasium:make"}, "missing 1 required positional argument"),
        ({"pettingzoo": "collections:OrderedDict"}, "collections.OrderedDict is no environment of PettingZoo's"),
    ],
)
def test_what_is_none_is_refused(how: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot be a reference") as refused:
        new("game", tmp_path / "game", **how)  # type: ignore[arg-type]
    assert said in str(refused.value)
    assert not (tmp_path / "game").exists()
