"""`lockstep new` finds what there is: nested state, every generator, seeds, masks, imports, and where the rules are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from harness.authoring import scaffold
from harness.authoring.conformance import check_reference
from harness.authoring.scaffold import new
from harness.errors import Raised, SetupError
from harness.model import Case
from harness.reference.install import Installed
from harness.reference.start import start_reference
from harness.task.contract import Mode, Task
from harness.task.load import load_task
from harness.verdict import Outcome
from tests.authoring.forced import assert_forced

HERE = Installed(Path(sys.prefix), Path(sys.executable))
HEAD = """import os, random
from collections import deque
import gymnasium as gym
import numpy as np
from gymnasium import spaces
"""
GAME = """
    class Inner:
        def __init__(self):
            self.me, self.at, self.word, self.carried = self, 0, "calm", None
            self.shots, self.slots, self.past = [], [None] * 3, deque([0, 0], maxlen=2)
            self.last = 0
        def reset(self, chance):
            self.at, self.shots, self.slots, self.carried = chance(), [], [None] * 3, None
            self.past = deque([0, 0], maxlen=2)
            self.word = "calm"
        def act(self, action, chance):
            self.at += chance() + (1 if self.word == "angry" else 0) + (self.carried or 0) + self.past[0] + self.last
            self.past.append(int(action))
            self.last = int(action)
            self.shots = [[x + 1, up] for x, up in self.shots if x < 3] + ([[0, bool(self.at % 2)]] if action else [])
            self.slots[self.at % 3] = None if action else [self.at, 1]
            self.carried = self.at % 4 or None
            self.word = "angry" if len(self.shots) > 1 else "calm"
        def state(self):
            slots = sum(1 for slot in self.slots if slot)
            return np.array([self.at, len(self.shots), sum(up for _, up in self.shots), slots], np.int64)

    class Game:
        def __init__(self):
            self.env, self.owner = Inner(), None

    class Walk(gym.Env):
        observation_space = spaces.Box(-10**9, 10**9, (4,), np.int64)
        action_space = spaces.Discrete(2)
        def __init__(self):
            self.game = Game()
            self.game.owner = self
            {make}
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            {reset}
            self.game.env.reset(lambda: {chance})
            return self.game.env.state(), {{}}
        def step(self, action):
            self.game.env.act(action, lambda: {chance})
            return self.game.env.state(), 1.0, self.game.env.at > 60, False, {{}}
"""


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the environment of these tests, which has Gymnasium, in place of one built from the index."""
    monkeypatch.setattr(scaffold, "setup", lambda task, progress: HERE)


def written(directory: Path, code: str, name: str = "walk.py") -> str:
    file = directory / name
    file.write_text(HEAD + textwrap.dedent(code))
    return f"{file}:Walk"


def game(
    directory: Path, chance: str = "int(self.np_random.integers(3))", make: str = "pass", reset: str = "pass"
) -> Path:
    code = textwrap.dedent(GAME).format(chance=chance, make=make, reset=reset)
    return new("walk", directory / "walk", factory=written(directory, code))


def quirks(directory: Path) -> str:
    return (directory / "QUIRKS.md").read_text()


def not_passed(task: Task) -> dict[str, Outcome]:
    results = check_reference(lambda: start_reference(task, HERE), task)
    return {each.name: each.outcome for each in results if each.outcome not in (Outcome.PASS, Outcome.SKIPPED)}


@pytest.mark.slow
def test_state_in_nested_objects_is_found_and_restored_whatever_holds_it(tmp_path: Path) -> None:
    task = load_task(game(tmp_path))
    assert task.mode is Mode.TAPE
    assert {"state/at", "state/shots", "state/shots_count", "state/slots_present", "state/word", "state/past"} <= set(
        task.state
    )
    assert {"state/carried", "state/carried_present"} <= set(task.state)
    assert "`last` outlives a reset" in quirks(task.directory)
    reference = start_reference(task, HERE)
    try:
        [episode] = reference.drive("random", [5], 30)
        for start in (1, 6, 9):
            actions = {"action": episode.case.actions["action"][start:]}
            draws = ((), *episode.draws[start + 1 :]) if episode.draws else None
            [rest] = reference.rollout([Case(0, actions, start=episode.state(start), draws=draws)])
            assert rest.leaves["observation"].tolist() == episode.leaves["observation"][start:].tolist()
    finally:
        reference.close()
    assert not not_passed(task)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chance", "made", "draw"),
    [
        ("int(self.dice.randint(3))", "np.random.RandomState(seed)", "randint"),
        ("self.dice.randrange(3)", "random.Random(seed)", "python_randrange"),
        ("int(self.dice.integers(3))", "np.random.default_rng(seed)", "integers"),
        ("int(self.dice.box.rng.integers(3))", "Box(seed)", "integers"),
        ("len(self.dice.choice([[], [1], [1, 2]]))", "random.Random(seed)", "python_choice_index"),
        ("random.randrange(3)", "random.seed(seed)", "python_randrange"),
        ("int(np.random.randint(3))", "np.random.seed(seed)", "randint"),
    ],
    ids=["RandomState", "Random", "default_rng", "nested", "a choice of objects", "random's own", "numpy's own"],
)
def test_each_generator_is_recorded_and_forced(tmp_path: Path, chance: str, made: str, draw: str) -> None:
    box = """
        class Box:
            def __init__(self, seed):
                self.box, self.rng = self, np.random.Generator(np.random.PCG64(seed))
    """
    code = textwrap.dedent(box) + textwrap.dedent(GAME).format(chance=chance, make="pass", reset=f"self.dice = {made}")
    directory = new("walk", tmp_path / "walk", factory=written(tmp_path, code))
    task = load_task(directory)
    assert (task.mode, set(task.draws)) == (Mode.TAPE, {draw})
    assert_forced(task, HERE)


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["random.Random()", "np.random.RandomState(7)", "np.random.default_rng()"])
def test_generators_that_no_reset_seeds_are_seeded_by_the_adapter(tmp_path: Path, generator: str) -> None:
    method = "integers" if "default_rng" in generator else "randint"
    chance = f"int(self.dice.{method}(0, 3))"
    directory = game(tmp_path, chance=chance, make=f"self.dice = {generator}")
    assert "does not seed every generator" in quirks(directory)
    task = load_task(directory)
    assert task.mode is Mode.TAPE
    assert not not_passed(task)


@pytest.mark.slow
def test_a_state_that_narrows_after_its_reset_goes_on_in_the_narrow_type(tmp_path: Path) -> None:
    task = load_task(new("car", tmp_path / "car", gymnasium="MountainCarContinuous-v0"))
    reference = start_reference(task, HERE)
    try:
        assert {"restore", "force_draws"} <= reference.spec.capabilities
        [episode] = reference.drive("random", [5], 6)
        assert episode.leaves["state/state_narrow"].tolist() == [False, *[True] * 6]
        narrow = dict(episode.state(3))
        [again] = reference.rollout(
            [Case(0, {path: array[3:] for path, array in episode.case.actions.items()}, narrow)]
        )
        assert again.leaves["state/state"].tobytes() == episode.leaves["state/state"][3:].tobytes()
        between = {**narrow, "state/state": narrow["state/state"] + 1e-12}
        with pytest.raises(Raised, match="`state/state` is kept in float32 here, which does not hold"):
            reference.restore(between)
        reference.restore({**between, "state/state_narrow": np.array(False)})
    finally:
        reference.close()


@pytest.mark.slow
def test_seeds_are_reduced_to_what_the_environment_takes(tmp_path: Path) -> None:
    directory = game(tmp_path, "int(self.dice.randint(3))", reset="self.dice = np.random.RandomState(seed)")
    assert "it takes no seeds beyond 4294967295" in quirks(directory).replace("It", "it")
    reference = start_reference(load_task(directory), HERE)
    try:
        one, other = (reference.reset((1 << 62) + low).leaves["observation"].tolist() for low in (3, 3))
        assert one == other
    finally:
        reference.close()


def test_sources_are_where_the_rules_are_and_not_in_what_wraps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = textwrap.dedent(GAME).format(chance="1", make="pass", reset="pass")
    inner, wrapper = code.split("class Game:")
    (tmp_path / "rules.py").write_text(HEAD + inner)
    (tmp_path / "walk.py").write_text(HEAD + "from rules import Inner\nclass Game:" + wrapper)
    monkeypatch.chdir(tmp_path)
    task = load_task(new("walk", tmp_path / "walk", factory="walk:Walk"))
    assert {source.partition(":")[0] for source in task.modules[0].source} == {"reference/rules.py"}
    assert (task.directory / "reference" / "walk.py").is_file()


MASKED = """
    class Walk(gym.Env):
        observation_space = {space}
        action_space = spaces.Discrete(4, start=1)
        def reset(self, *, seed=None, options=None):
            self.at = 0
            return self._get_obs(), {{{info}}}
        def _get_obs(self):
            return {observation}
        def {method}(self):
            return np.array([True, self.at % 2 == 0, False, self.at < 3], np.int8)
        def step(self, action):
            assert self.{method}()[action - 1], "an illegal action"
            self.at += int(action)
            return self._get_obs(), 1.0, self.at > 20, False, {{{info}}}
"""
PLAIN, BESIDE = "spaces.Discrete(99)", "spaces.Dict({'at': spaces.Discrete(99), 'action_mask': spaces.MultiBinary(4)})"


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        {"space": PLAIN, "observation": "self.at", "method": "action_masks", "info": ""},
        {
            "space": PLAIN,
            "observation": "self.at",
            "method": "action_mask",
            "info": "'action_mask': self.action_mask()",
        },
        {"space": BESIDE, "observation": "{'at': self.at, 'action_mask': self.legal()}", "method": "legal", "info": ""},
    ],
    ids=["a method", "the info", "beside the observation"],
)
def test_masks_become_legal_actions(tmp_path: Path, parts: dict[str, str]) -> None:
    task = load_task(new("walk", tmp_path / "walk", factory=written(tmp_path, textwrap.dedent(MASKED).format(**parts))))
    assert task.leaves["legal_actions"].shape == (4,)
    reference = start_reference(task, HERE)
    try:
        [episode] = reference.drive("random", [1], 20)
        assert episode.leaves["legal_actions"][0].tolist() == [True, True, False, True]
        assert not reference.spec.capabilities.isdisjoint({"restore"})
    finally:
        reference.close()


def test_a_wrapper_of_another_librarys_environment_is_the_innermost_that_there_is(tmp_path: Path) -> None:
    code = """
        class Walk(gym.Env):
            observation_space, action_space = spaces.Discrete(99), spaces.Discrete(2)
            unwrapped = property(lambda self: "the other library's")
            def reset(self, *, seed=None, options=None):
                self.at = 0
                return self._get_obs(), {}
            def _get_obs(self):
                return self.at
            def step(self, action):
                self.at += int(action)
                return self._get_obs(), 1.0, self.at > 9, False, {}
    """
    task = load_task(new("walk", tmp_path / "walk", factory=written(tmp_path, code)))
    assert task.state.keys() == {"state/at"}


def test_texts_are_numbers_of_their_characters(tmp_path: Path) -> None:
    code = """
        class Walk(gym.Env):
            observation_space = spaces.Dict({"said": spaces.Text(6, charset="abc"), "at": spaces.Discrete(9)})
            action_space = spaces.Text(3, min_length=1, charset="xy")
            def reset(self, *, seed=None, options=None):
                self.said = "a"
                return self._get_obs(), {}
            def _get_obs(self):
                return {"said": self.said, "at": len(self.said)}
            def step(self, action):
                assert isinstance(action, str) and set(action) <= {"x", "y"} and action
                self.said += "b" if action.startswith("x") else "c"
                return self._get_obs(), 1.0, len(self.said) > 5, False, {}
    """
    task = load_task(new("walk", tmp_path / "walk", factory=written(tmp_path, code)))
    assert task.leaves["observation/said"].shape == (6,)
    reference = start_reference(task, HERE)
    try:
        assert reference.drive("random", [1], 20)[0].leaves["observation/said"][-1].min() > 0
    finally:
        reference.close()


# --- what has to be imported, and what is written by hand -----------------------------------------------------------------


REGISTERS = """
    from gymnasium.envs.registration import register
    class Walk(gym.Env):
        observation_space = spaces.Discrete(9)
        action_space = spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            self.at = 0
            return self.at, {}
        def step(self, action):
            self.at += 1
            return self.at, 1.0, self.at > 6, False, {}
    def register_envs():
        register("Little/Walk-v0", entry_point=Walk)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A Python of its own, in which packages are installed that register environments."""
    made = tmp_path / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    packages = next((made / "lib").glob("python*/site-packages"))
    for name in (
        "gymnasium",
        "numpy",
        "numpy.libs",
        "msgpack",
        "cloudpickle",
        "farama_notifications",
        "typing_extensions.py",
    ):
        found = next(Path(place, name) for place in sys.path if Path(place, name).exists())
        if found.is_dir():
            shutil.copytree(found, packages / name)
        else:
            shutil.copy(found, packages / name)
    code = HEAD + textwrap.dedent(REGISTERS)
    (packages / "little_gym.py").write_text(code)
    (packages / "little.py").write_text(
        "from gymnasium import register\n"
    )  # which takes an id: it registers none itself
    (packages / "strange.py").write_text(code.replace("Little/", "") + "register_envs()\n")
    return made


def at(monkeypatch: pytest.MonkeyPatch, made: Path) -> None:
    monkeypatch.setattr(scaffold, "setup", lambda task, progress: Installed(made, made / "bin" / "python"))


def test_an_id_is_tried_with_modules_of_its_namespace(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, package)
    new("walk", tmp_path / "walk", gymnasium="Little/Walk-v0")
    assert '"little_gym:register_envs"' in (tmp_path / "walk" / "reference" / "environment.json").read_text()


def test_an_id_is_made_after_the_import_that_is_given_and_refused_with_the_option_without(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, package)
    with pytest.raises(SetupError, match="--import MODULE"):
        new("walk", tmp_path / "other", gymnasium="Walk-v0")
    assert load_task(new("walk", tmp_path / "walk", gymnasium="Walk-v0", imports=["strange"])).mode is Mode.NONE


@pytest.mark.slow
def test_a_factory_in_the_current_directory_comes_along_with_what_it_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    code = textwrap.dedent(GAME).format(chance="HALF", make="pass", reset="pass")
    (tmp_path / "mine" / "deep" / "envs.py").write_text("from numbers_of_mine import HALF\n" + HEAD + code)
    for inner in ("mine", "mine/deep"):
        (tmp_path / inner / "__init__.py").touch()
    (tmp_path / "numbers_of_mine.py").write_text("HALF = 2\n")
    monkeypatch.chdir(tmp_path)
    directory = new("walk", tmp_path / "walk", factory="mine.deep.envs:Walk")
    assert {"mine/deep/envs.py", "numbers_of_mine.py"} <= {
        file.relative_to(directory / "reference").as_posix() for file in (directory / "reference").rglob("*.py")
    }
    assert not not_passed(load_task(directory))


BY_HAND = """
    import numpy as np
    class {name}:
        def spec(self):
            leaves = {{"observation": {{"dtype": "int64", "shape": []}}, "reward": {{"dtype": "float64", "shape": []}},
                "terminated": {{"dtype": "bool", "shape": []}}, "truncated": {{"dtype": "bool", "shape": []}}, {state}
                "action": {{"dtype": "int64", "shape": [], "low": 0, "high": 1}}}}
            return {{"leaves": leaves, "capabilities": []}}
        def reset(self, seed):
            self.dice, self.at = np.random.RandomState(seed % 2**32), 0
            return self.told()
        def step(self, action):
            self.at += int(action) + int(self.dice.randint(2))
            return self.told()
        def told(self):
            told = {{"observation": self.at, "reward": 0.0, "terminated": self.at > 9, "truncated": False}}
            told["state/at"] = self.at
            return {{path: told[path] for path in self.spec()["leaves"] if path != "action"}}
        def close(self):
            pass
"""
STATE = '"state/at": {"dtype": "int64", "shape": []},'


@pytest.mark.parametrize(("name", "given"), [("Reference", "hand.py"), ("Mine", "hand.py:Mine")])
def test_an_adapter_written_by_hand_is_taken_as_it_is(tmp_path: Path, name: str, given: str) -> None:
    (tmp_path / "hand.py").write_text(textwrap.dedent(BY_HAND).format(name=name, state=STATE))
    task = load_task(new("walk", tmp_path / "walk", adapter=str(tmp_path / given)))
    assert task.reference.adapter == f"reference/hand.py:{name}"
    assert task.mode is Mode.LAW  # chance of steps counts, where resets are all alike


# --- what it does not make --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_task_is_made_that_nobody_can_solve_and_the_ways_on_are_named(tmp_path: Path) -> None:
    code = """
        class Walk(gym.Env):
            observation_space = spaces.Discrete(256)
            action_space = spaces.Discrete(2)
            def reset(self, *, seed=None, options=None):
                return 0, {}
            def step(self, action):
                return os.urandom(1)[0], 1.0, False, False, {}
    """
    with pytest.raises(SetupError) as refused:
        new("walk", tmp_path / "walk", factory=written(tmp_path, code))
    said = str(refused.value)
    assert "nobody could solve" in said
    assert all(f"({number})" in said for number in (1, 2, 3)) and "The best here is (" in said
    assert not (tmp_path / "walk").exists()


def test_an_adapter_that_shows_neither_state_nor_draws_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "hand.py").write_text(textwrap.dedent(BY_HAND).format(name="Reference", state=""))
    with pytest.raises(SetupError, match="the adapter or the program is there already"):
        new("walk", tmp_path / "walk", adapter=str(tmp_path / "hand.py"))


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (
            "type('Env', (type('AECEnv', (), {'__module__': 'pettingzoo.utils.env'}),), {})()",
            "a PettingZoo environment",
        ),
        ("gym.make_vec('CartPole-v1', num_envs=2)", "a Gymnasium vector environment"),
        ("gym.Env", "the class Env"),
        ("None", "nothing"),
        ("spaces.Discrete(3)", "a space"),
        ("type('Mine', (), {'reset': print, 'step': print})()", "an environment of its own kind"),
        ("os", "no `reset` and `step`"),
    ],
)
def test_what_is_no_gymnasium_environment_is_called_what_it_is(tmp_path: Path, returned: str, said: str) -> None:
    with pytest.raises(SetupError) as refused:
        new("walk", tmp_path / "walk", factory=written(tmp_path, f"def Walk():\n    return {returned}\n"))
    assert said in str(refused.value)
    assert "The way on:" in str(refused.value)


def test_an_environment_of_the_old_gym_is_told_by_its_answers(tmp_path: Path) -> None:
    code = """
        class Walk(gym.Env):
            observation_space = action_space = spaces.Discrete(2)
            def reset(self, seed=None):
                return 0
    """
    with pytest.raises(SetupError, match="an environment of the old Gym"):
        new("walk", tmp_path / "walk", factory=written(tmp_path, code))


def test_a_package_as_large_as_no_environment_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").touch()
    with open(tmp_path / "mine" / "weights", "wb") as file:
        os.truncate(file.fileno(), 65 << 20)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SetupError, match="has 65 MiB"):
        new("walk", tmp_path / "walk", factory="mine:Walk")
