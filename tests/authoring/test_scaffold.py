"""`lockstep new`: what it finds out by running an environment, what it writes, and what it refuses."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.authoring import scaffold, scaffold_files
from harness.authoring.conformance import check_reference
from harness.authoring.scaffold import new
from harness.errors import SetupError
from harness.measure.coverage.sources import locations
from harness.model import Case
from harness.reference.install import Installed
from harness.reference.start import start_reference, start_references
from harness.task.contract import LAW_EPISODES, Law, Mode, Task
from harness.task.load import load_task
from harness.task.suite import load_suite
from harness.verdict import Outcome
from harness.verify.first_requirements import MOST_TIMES, write_first_requirements
from tests.paths import ROOT

HERE = Installed(Path(sys.prefix), Path(sys.executable))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the environment of these tests, which has Gymnasium, in place of one built from the index.

    `test_cartpole_from_the_index` builds the real one.
    """
    monkeypatch.setattr(scaffold, "setup", lambda task, progress: HERE)


def factory(tmp_path: Path, code: str) -> str:
    """A file with a Gymnasium environment, as `--factory` names it."""
    file = tmp_path / "walk.py"
    head = "import os\nimport random\nimport gymnasium as gym\nimport numpy as np\nfrom gymnasium import spaces\n"
    file.write_text(head + textwrap.dedent(code))
    return f"{file}:Walk"


def quirks(directory: Path) -> str:
    return (directory / "QUIRKS.md").read_text()


def played(task: Task, seeds: list[int], horizon: int = 30) -> list[Any]:
    reference = start_reference(task, HERE)
    try:
        return reference.drive("random", seeds, horizon)
    finally:
        reference.close()


WALK = """
    class Walk(gym.Env):
        observation_space = spaces.Box(-1, 1, (2,), np.float32)
        action_space = spaces.Discrete(3, start=-1)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = {start}
            self.count = 0
            return self._get_obs(), {{}}

        def _get_obs(self):
            return np.array([np.tanh(self.at), self.count / 10], np.float32)

        def step(self, action):
            self.at += {move}
            self.count += 1
            return self._get_obs(), float(self.at), self.count >= 9, False, {{}}
"""


def walk(tmp_path: Path, start: str = "self.np_random.uniform(-2, 2)", move: str = "int(action)") -> str:
    return factory(tmp_path, textwrap.dedent(WALK).format(start=start, move=move))


# --- what it finds out ------------------------------------------------------------------------------------------------


def test_cartpole_becomes_a_complete_task(installed: None, tmp_path: Path) -> None:
    directory = new("cart", tmp_path / "cart", gymnasium="CartPole-v1")
    assert {path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()} == {
        "task.toml",
        "README.md",
        "QUIRKS.md",
        "properties.py",
        "interactions.py",
        "candidate/env.py",
        "cases/.gitkeep",
        "reference/adapter.py",
        "reference/environment.json",
        "reference/gymnasium_chance.py",
        "reference/gymnasium_state.py",
        "reference/gymnasium_things.py",
    }
    task = load_task(directory)
    assert task.mode is Mode.TAPE
    assert task.draws["uniform_4"].law == Law("uniform", -0.05, 0.05)
    assert task.state.keys() == {"state/state", "state/elapsed_steps"}
    assert task.reference.requirements == ("gymnasium==1.4.0", "numpy==2.4.6")
    assert task.budgets.horizon == 510
    assert task.modules[0].source[0].startswith("gymnasium/envs/classic_control/cartpole.py:")
    assert task.transfer is not None
    assert task.transfer.margin > 0
    assert "standard deviation" in task.transfer.because
    suite = load_suite(task)
    assert suite.invariants
    for trajectory in played(task, [1, 2]):
        for invariant in suite.invariants:
            assert not len(invariant.violations(trajectory)), invariant.name


@pytest.mark.slow
def test_first_requirements_are_added_to_what_it_writes(installed: None, tmp_path: Path) -> None:
    task = load_task(new("cart", tmp_path / "cart", gymnasium="CartPole-v1"))
    with closing(start_references(task, HERE, 1)) as reference:
        found = write_first_requirements(task, reference)
    assert found == load_task(task.directory).required
    assert [(each.end, each.reward) for each in found] == [("terminated", None), (None, 1.0)]
    assert all(0 < each.times <= MOST_TIMES for each in found)
    assert "at least 10 times as often" in (task.directory / "task.toml").read_text()


@pytest.mark.parametrize("move", ["int(action)", "os.urandom(1)[0] / 256"], ids=["tape", "law"])
def test_what_asks_for_level_4_stands_in_the_task_file_and_has_only_to_be_said(
    installed: None, tmp_path: Path, move: str
) -> None:
    directory = new("walk", tmp_path / "walk", factory=walk(tmp_path, move=move))
    assert load_task(directory).levels == (1, 2, 3)
    path = directory / "task.toml"
    path.write_text(re.sub(r"^# (?=\w+ = |\[)", "", path.read_text(), flags=re.MULTILINE))
    task = load_task(directory)
    assert task.levels == (1, 2, 3, 4)
    assert task.transfer is not None and task.transfer.ppo.keys() == {"learning_rate"}
    earned = [float(episode.leaves["reward"].sum()) for episode in played(task, list(range(20)))]
    assert task.transfer.minimum_return > max(earned)


def test_a_slow_reference_gets_as_many_episodes_as_laws_need(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaffold_files, "LEVEL_3_SECONDS", 0.0)
    task = load_task(new("walk", tmp_path / "walk", factory=walk(tmp_path, move="os.urandom(1)[0] / 256")))
    assert (task.mode, task.budgets.episodes) == (Mode.LAW, LAW_EPISODES)


@pytest.mark.parametrize(
    ("move", "seconds", "stated"),
    [
        ("int(action)", 1e9, scaffold_files.MOST_EXPLORED),
        ("int(action)", 0.0, None),
        ("os.urandom(1)[0] / 256", 1e9, None),
    ],
    ids=["fast", "slow", "law"],
)
def test_of_a_fast_reference_more_is_explored(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, move: str, seconds: float, stated: int | None
) -> None:
    monkeypatch.setattr(scaffold_files, "EXPLORED_SECONDS", seconds)
    task = load_task(new("walk", tmp_path / "walk", factory=walk(tmp_path, move=move)))
    assert task.budgets.exploration == stated


def test_the_reference_that_it_writes_restores_and_takes_draws_through_the_protocol(
    installed: None, tmp_path: Path
) -> None:
    task = load_task(new("cart", tmp_path / "cart", gymnasium="CartPole-v1"))
    reference = start_reference(task, HERE)
    try:
        [episode] = reference.drive("random", [3], 50)
        [forced] = reference.rollout([Case(99, episode.case.actions, draws=episode.draws)])
        assert forced.digest == episode.digest
        actions = {"action": episode.case.actions["action"][4:]}
        [rest] = reference.rollout([Case(0, actions, start=episode.state(4))])
        assert np.array_equal(rest.leaves["observation"], episode.leaves["observation"][4:])
    finally:
        reference.close()


@pytest.mark.slow
def test_a_task_that_it_writes_keeps_the_protocol_in_every_point(installed: None, tmp_path: Path) -> None:
    task = load_task(
        new("walk", tmp_path / "walk", factory=walk(tmp_path, move="int(action) * self.np_random.random()"))
    )
    results = check_reference(lambda: start_reference(task, HERE), task)
    assert {result.name: result.outcome for result in results if result.outcome is not Outcome.PASS} == {
        "masks": Outcome.SKIPPED,
        "players": Outcome.SKIPPED,
        "state bounds": Outcome.SKIPPED,
        "probes": Outcome.SKIPPED,
        "pictures": Outcome.SKIPPED,
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["FrozenLake-v1", "Pendulum-v1", "Blackjack-v1"])
def test_other_environments_of_gymnasium_are_taped_too(installed: None, tmp_path: Path, name: str) -> None:
    task = load_task(new("other", tmp_path / "other", gymnasium=name))
    assert task.mode is Mode.TAPE
    assert load_suite(task).sequences
    [one, other] = played(task, [1, 1])
    assert one.digest == other.digest


def test_an_environment_of_ones_own_is_found_out_as_far_as_its_registry_ones(installed: None, tmp_path: Path) -> None:
    directory = new("walk", tmp_path / "walk", factory=walk(tmp_path))
    task = load_task(directory)
    assert task.mode is Mode.TAPE
    assert task.leaves["action"].low == -1
    assert task.state.keys() == {"state/at", "state/count"}
    assert "Nothing so far" in quirks(directory)
    found, unmeasured = locations(task, HERE)
    assert not unmeasured and {place.path for place in found} == {directory / "reference" / "walk.py"}
    lines = (directory / "reference" / "walk.py").read_text().splitlines()
    [place] = found
    assert lines[place.first - 1].strip().startswith("def reset") and "self.count >= 9" in lines[place.last - 1]


def test_an_environment_without_chance_is_distinguished(installed: None, tmp_path: Path) -> None:
    task = load_task(new("walk", tmp_path / "walk", factory=walk(tmp_path, start="0.0")))
    assert (task.mode, task.draws) == (Mode.NONE, {})


def test_chance_that_cannot_be_recorded_leaves_only_laws_and_says_so(installed: None, tmp_path: Path) -> None:
    directory = new("walk", tmp_path / "walk", factory=walk(tmp_path, move="int.from_bytes(os.urandom(1), 'big')"))
    assert load_task(directory).mode is Mode.LAW
    assert "he same seed does not give the same episode" in quirks(directory)
    assert "Single trajectories are not compared" in quirks(directory)


def test_state_that_is_no_number_makes_restoring_impossible_and_that_is_noticed(
    installed: None, tmp_path: Path
) -> None:
    code = """
        class Walk(gym.Env):
            observation_space = spaces.Discrete(100)
            action_space = spaces.Discrete(2)
            def reset(self, *, seed=None, options=None):
                super().reset(seed=seed)
                self.at, self.memory = int(self.np_random.integers(5)), iter([0])
                return self.at, {}
            def step(self, action):
                self.at += next(self.memory)
                self.memory = iter([int(action)])
                return self.at, 1.0, self.at > 9, False, {}
    """
    directory = new("walk", tmp_path / "walk", factory=factory(tmp_path, code))
    assert "an episode goes on differently from a restored state" in quirks(directory)
    task = load_task(directory)
    assert "state/at" in task.leaves
    reference = start_reference(task, HERE)
    try:
        assert "restore" not in reference.spec.capabilities
    finally:
        reference.close()


DRAWING = """
        metadata = {{"render_modes": ["rgb_array"]}}
        words, drawn = {{}}, 0

        def __init__(self, render_mode=None):
            self.render_mode = render_mode

        def render(self):
            {before}
            return np.full((4, 6, 3), {shade}, np.uint8)
"""


def drawing(tmp_path: Path, shade: str = "self.count", before: str = "pass", move: str = "int(action)") -> str:
    code = textwrap.dedent(WALK).format(start="self.np_random.uniform(-2, 2)", move=move)
    return factory(
        tmp_path, code + textwrap.indent(textwrap.dedent(DRAWING), "    ").format(shade=shade, before=before)
    )


@pytest.mark.slow
def test_pictures_are_drawn_of_restored_states_as_they_are_in_episodes(installed: None, tmp_path: Path) -> None:
    task = load_task(new("walk", tmp_path / "walk", factory=drawing(tmp_path)))
    reference = start_reference(task, HERE)
    try:
        [episode] = reference.drive("random", [3], 5)
        for timestep in (4, 1):
            reference.restore(episode.state(timestep))
            assert (reference.render() == timestep).all()
    finally:
        reference.close()
    results = {result.name: result.outcome for result in check_reference(lambda: start_reference(task, HERE), task)}
    assert results["pictures"] is Outcome.PASS


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (
            {"shade": "self.words.get('last', 0)", "move": "self.words.update(last=self.count + 1) or 1"},
            "looks otherwise",
        ),
        ({"before": "Walk.drawn += 1", "move": "int(action) + Walk.drawn"}, "goes on differently where it is drawn"),
        ({"before": "import absent_library"}, "No module named 'absent_library'; what it draws with can be added"),
        ({"shade": "[[0.5]]", "before": "return np.zeros((4, 6))"}, "its pictures are float64 [4, 6]"),
    ],
    ids=["of what is not a state", "drawing moves it", "no library", "no picture"],
)
def test_pictures_that_cannot_be_trusted_are_left_out_and_that_is_noted(
    installed: None, tmp_path: Path, planted: dict[str, str], said: str
) -> None:
    directory = new("walk", tmp_path / "walk", factory=drawing(tmp_path, **planted))
    assert said in quirks(directory)
    reference = start_reference(load_task(directory), HERE)
    try:
        assert "restore" in reference.spec.capabilities
        assert "render" not in reference.spec.capabilities
    finally:
        reference.close()


def test_spaces_within_spaces_become_leaves(installed: None, tmp_path: Path) -> None:
    code = """
        class Walk(gym.Env):
            observation_space = spaces.Dict({
                "map": spaces.Box(0, 255, (2, 2), np.uint8),
                "pair": spaces.Tuple([spaces.Discrete(3), spaces.MultiBinary(2)]),
            })
            action_space = spaces.Dict({
                "go": spaces.MultiDiscrete([2, 3]),
                "push": spaces.Box(-np.inf, 2, (1,), np.float32),
            })
            def reset(self, *, seed=None, options=None):
                super().reset(seed=seed)
                self.seen = 0
                return self.look(), {}
            def look(self):
                bits = np.array([self.seen % 2, 1], np.int8)
                return {"map": np.full((2, 2), self.seen, np.uint8), "pair": (self.seen % 3, bits)}
            def step(self, action):
                assert self.action_space.contains(action), action
                self.seen += int(action["go"].sum())
                return self.look(), np.float32(0.5), self.seen > 20, False, {}
    """
    directory = new("walk", tmp_path / "walk", factory=factory(tmp_path, code))
    task = load_task(directory)
    shapes = {path: (leaf.dtype, leaf.shape) for path, leaf in task.leaves.items() if not path.startswith("state/")}
    assert shapes == {
        "observation/map": ("uint8", (2, 2)),
        "observation/pair/0": ("int64", ()),
        "observation/pair/1": ("int8", (2,)),
        "reward": ("float32", ()),
        "terminated": ("bool", ()),
        "truncated": ("bool", ()),
        "action/go": ("int64", (2,)),
        "action/push": ("float32", (1,)),
    }
    assert (task.leaves["action/go"].low, task.leaves["action/go"].high) == ([0, 0], [1, 2])
    assert (task.leaves["action/push"].low, task.leaves["action/push"].high) == (-1.0, 2.0)
    assert "`action/push` is unbounded" in quirks(directory)
    assert played(task, [0])[0].steps > 1


def test_a_space_that_lies_about_its_dtype_is_corrected_and_noted(installed: None, tmp_path: Path) -> None:
    code = textwrap.dedent(WALK).format(start="0.0", move="int(action)").replace("10], np.float32", "10], np.float64")
    directory = new("walk", tmp_path / "walk", factory=factory(tmp_path, code))
    assert load_task(directory).leaves["observation"].dtype == "float64"
    assert "`observation` is float64, although its space says float32" in quirks(directory)


def test_a_program_that_speaks_the_protocol_is_asked_for_its_spec(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / "environments" / "cartpole" / "reference" / "adapter.py", tmp_path)
    serve = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from harness.protocol.worker import main
        main([sys.argv[1] + ":CartPole"])
    """
    (tmp_path / "serve.py").write_text(textwrap.dedent(serve))
    monkeypatch.chdir(tmp_path)
    directory = new("program", tmp_path / "program", command=[sys.executable, "serve.py", "adapter.py"])
    task = load_task(directory)
    assert task.reference.command == (sys.executable, "reference/serve.py", "reference/adapter.py")
    assert (directory / "reference" / "serve.py").is_file()
    assert task.mode is Mode.TAPE
    assert task.modules[0].probes == ("dynamics", "termination", "truncation")
    assert task.budgets.policies == ("random", "sticky", "balance", "drift")


def test_the_candidate_that_it_writes_says_what_is_still_to_do(installed: None, tmp_path: Path) -> None:
    directory = new("walk", tmp_path / "walk", factory=walk(tmp_path))
    spec = importlib.util.spec_from_file_location("candidate_of_walk", directory / "candidate" / "env.py")
    assert spec is not None
    assert spec.loader is not None
    candidate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(candidate)
    with pytest.raises(NotImplementedError, match="the candidate has no reset yet"):
        candidate.reset({})
    assert candidate.probes == {}
    assert "state/at" in str(candidate.__doc__)
    assert {"step", "encode", "decode", "observe", "sample_reset", "sample_step"} <= set(vars(candidate))


def test_a_candidate_in_rust_is_a_crate_with_the_leaves_and_draws_that_were_found(
    installed: None, tmp_path: Path
) -> None:
    directory = new("walk", tmp_path / "walk", factory=walk(tmp_path), candidate="rust")
    task = load_task(directory)
    assert (task.candidate.kind, task.candidate.entry) == ("rust", "candidate/rust/src/lib.rs")
    assert not (directory / "candidate" / "env.py").exists()
    assert (directory / "candidate" / "rust" / "Cargo.toml").is_file()
    source = (directory / task.candidate.entry).read_text()
    assert "pub at: f64," in source and 'Draw::new("uniform")' in source
    assert task.candidate.entry in (directory / "README.md").read_text()


# --- what it refuses --------------------------------------------------------------------------------------------------


def test_an_id_that_gymnasium_does_not_know_is_refused_in_its_words_and_nothing_is_left(
    installed: None, tmp_path: Path
) -> None:
    with pytest.raises(SetupError, match="CartPol"):
        new("cart", tmp_path / "new" / "cart", gymnasium="CartPol-v1")
    assert list((tmp_path / "new").iterdir()) == []


def test_a_space_without_fixed_leaves_is_refused(installed: None, tmp_path: Path) -> None:
    code = (
        textwrap.dedent(WALK)
        .format(start="0.0", move="0")
        .replace("spaces.Box(-1, 1, (2,), np.float32)", "spaces.Sequence(spaces.Discrete(2))")
    )
    with pytest.raises(SetupError, match="`observation` is a Sequence space"):
        new("walk", tmp_path / "walk", factory=factory(tmp_path, code))


def test_an_environment_that_ends_its_process_is_refused(installed: None, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="exit status 3"):
        new("walk", tmp_path / "walk", factory=factory(tmp_path, "def Walk():\n    import os\n    os._exit(3)\n"))


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SetupError, match="there is something already"):
        new("cart", tmp_path, gymnasium="CartPole-v1")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_empty_directory_is_filled(installed: None, tmp_path: Path) -> None:
    (tmp_path / "walk").mkdir()
    assert (new("walk", tmp_path / "walk", factory=walk(tmp_path)) / "task.toml").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "a task is made from one environment"),
        ({"gymnasium": "A-v0", "factory": "a:b"}, "a task is made from one environment"),
        ({"gymnasium": "A-v0", "requirements": ["numpy"]}, "'numpy' is not pinned"),
        ({"factory": "nothing"}, "`nothing` is not a factory"),
        ({"factory": "missing.py:make"}, "there is no file `missing.py`"),
    ],
)
def test_arguments_that_make_no_task_are_refused_before_anything_is_built(
    tmp_path: Path, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(SetupError, match=said):
        new("walk", tmp_path / "walk", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="'My Task' is not a name"):
        new("My Task", tmp_path / "walk", gymnasium="CartPole-v1")


# --- the real thing ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_cartpole_from_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    said: list[str] = []
    pygame = ("pygame-ce==2.5.8",)
    directory = new("cart", tmp_path / "cart", gymnasium="CartPole-v1", requirements=pygame, progress=said.append)
    assert load_task(directory).mode is Mode.TAPE
    found = json.loads((directory / "reference" / "environment.json").read_text())
    assert found["restore"] and found["render"]
    assert any("gymnasium==1.4.0" in line for line in said)
