"""A task's own code is asked through its worker: what it says, in what it may be wrong, and what it cannot answer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from harness.errors import BadAnswer, Crashed, Raised, TaskError
from harness.model import Array, Case, Draw, Trajectory
from harness.protocol.channel import Channel
from harness.protocol.link import Pipes
from harness.task.contract import Task
from harness.task.load import load_task
from harness.task.suite import load_suite
from harness.verify.strategies import simplest_failure, stacked_inputs
from harness.verify.suite import client
from harness.verify.suite.client import Judged, Suite, start_suite
from harness.verify.suite.features import FeatureCount
from harness.verify.suite.server import SuiteServer
from harness.verify.suite.wire import Unsent, trajectory_from_wire, trajectory_to_wire
from tests.fuzz.wire import TIMEOUT_S, Played, real
from tests.paths import ENVIRONMENTS, WALK

SEED = 5


@pytest.fixture
def serve() -> Iterator[Callable[..., Suite]]:
    """A suite whose worker is a thread of this process, so that it can be any."""
    running: list[Played] = []

    def made(task: Task, handler: Callable[[], Any] = SuiteServer) -> Suite:
        running.append(Played(real(handler)))
        return Suite(task, Channel(Pipes(running[-1]), client.NAME, TIMEOUT_S))

    yield made
    for each in running:
        each.kill()


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    return shutil.copytree(WALK, tmp_path / "walk", ignore=shutil.ignore_patterns("__pycache__"))


def episode(steps: int = 3, ended: bool = False) -> Trajectory:
    """Of the walk: the state counts its steps, as its invariant demands."""
    case = Case(1, {"action": np.zeros(steps, np.int32)}, name="one", origin="here")
    terminated = np.zeros(steps + 1, bool)
    terminated[-1] = ended
    leaves = {"state/steps": np.arange(steps + 1, dtype=np.int32), "terminated": terminated}
    return Trajectory(case, leaves, tuple((Draw("gust", np.asarray(0.5 * n)),) for n in range(steps + 1)))


def skipping() -> Trajectory:
    made = episode()
    return Trajectory(made.case, {**made.leaves, "state/steps": np.array([0, 1, 3, 4], np.int32)}, made.draws)


def test_a_trajectory_arrives_as_it_was_sent() -> None:
    restored = Case(2, {"action": np.ones(1)}, {"state/x": np.float64(1)}, (), "a", "b")
    for sent in (episode(), Trajectory(restored, {"reward": np.zeros(2)})):
        arrived = trajectory_from_wire(trajectory_to_wire(sent, sent.leaves.keys()))
        assert repr(replace(sent, leaves=dict(arrived.leaves))) == repr(sent)
        assert (repr(arrived.case), arrived.draws) == (repr(sent.case), sent.draws)


def test_a_leaf_that_was_not_sent_is_known_by_its_name_alone() -> None:
    arrived = trajectory_from_wire(trajectory_to_wire(episode(), {"terminated"}))
    assert list(arrived.leaves) == ["state/steps", "terminated"] and "state/steps" in arrived.leaves
    assert (arrived.timesteps, arrived.rows, arrived.steps) == (4, 4, 3)
    assert arrived.leaves["terminated"].shape == (4,) and arrived.leaves.get("other") is None
    with pytest.raises(Unsent, match="state/steps"):
        arrived.state(0)


READING = """

@feature
def reads_by_and_by(trajectory):
    try:
        if trajectory.leaves["state/steps"][-1] > 3:
            return trajectory.leaves["reward"] == 0
    except Exception:
        return True
    return False
"""


def test_only_what_features_read_is_sent_to_them(
    serve: Callable[..., Suite], walk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (walk / "properties.py").open("a") as file:
        file.write(READING)
    suite = serve(load_task(walk)).open()
    sent: list[set[str]] = []

    def noted(trajectory: Trajectory, paths: Collection[str]) -> dict[str, Any]:
        sent.append(set(paths))
        return trajectory_to_wire(trajectory, paths)

    monkeypatch.setattr(client, "trajectory_to_wire", noted)
    played = [
        Trajectory(
            made.case, {**made.leaves, "reward": np.ones(made.timesteps), "picture": np.zeros((made.timesteps, 9))}
        )
        for made in (episode(), episode(steps=5))
    ]
    assert suite.show(played[:1]).counts == {"walked off": 0, "reads by and by": 0}
    assert sent.pop() == {"terminated", "state/steps"}
    assert suite.show(played).counts == {"walked off": 0, "reads by and by": 0}
    assert sent.pop() == {"terminated", "state/steps", "reward"}


def test_invariants_and_features_answer_for_each_trajectory(
    serve: Callable[..., Suite], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PART_BYTES", 1)  # a message for each trajectory
    suite = serve(load_task(WALK)).open()
    assert suite.invariants == (("a step is counted", "moving"),)
    assert suite.features == ("walked off",) and suite.sequences == ("at the edge",)
    assert suite.judge([episode(), skipping(), episode()]) == [Judged((-1, 2, -1), "")]
    shown = suite.show([episode(ended=True), episode(), episode(ended=True)])
    assert shown.counts == {"walked off": 2} and shown.first.tolist() == [[episode().steps, -1, episode().steps]]
    assert suite.show([]).first.shape == (1, 0)
    assert suite.judge([]) == [Judged((), "")]


def test_features_are_counted_beside_the_caller_and_in_parts(
    serve: Callable[..., Suite], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.verify.suite.features.SEND_BYTES", 60)
    monkeypatch.setattr("harness.verify.suite.features.BEHIND_BYTES", 100)
    with closing(FeatureCount(serve(load_task(WALK)).open())) as counting:
        for _ in range(10):
            counting.add([episode(ended=True), episode()])
        assert counting.total() == {"walked off": 10}
        looked = counting.look([episode(ended=True)])
        assert looked.result().counts == {"walked off": 1} and counting.total() == {"walked off": 10}
        counting.add([episode(ended=True)], looked)
        assert counting.total() == {"walked off": 11}


def test_without_files_there_is_no_worker_and_nothing_to_say(walk: Path) -> None:
    for file in ("properties.py", "interactions.py"):
        (walk / file).unlink()
    with closing(start_suite(load_task(walk))) as suite, closing(FeatureCount(suite.open())) as counting:
        counting.add([episode()])
        assert suite.alive and suite.judge([episode()]) == [] and counting.total() == {}
        assert (suite.invariants, suite.features, suite.generators, suite.sequences) == ((), (), frozenset(), ())


@pytest.mark.parametrize("shrink", [True, False])
def test_a_search_makes_the_examples_that_its_seed_says(serve: Callable[..., Suite], shrink: bool) -> None:
    """The same as where Hypothesis asks the judgement itself: recorded verdicts are reached again."""
    task = load_task(ENVIRONMENTS / "cartpole")
    probe = task.probes["dynamics"]
    seen: dict[str, list[str]] = {"here": [], "there": []}

    def fails(where: str, inputs: dict[str, Array]) -> bool:
        seen[where].append(repr(inputs))
        return bool(0.01 < inputs["theta"][0] < 0.2 and inputs["action"][0] == 1)

    here, count = simplest_failure(
        load_suite(task).generators["dynamics"].make(),
        lambda made: fails("here", stacked_inputs(probe, made)),
        seed=SEED, examples=40, shrink=shrink,
    )  # fmt: skip
    suite = serve(task).open()
    there, judged = suite.search_inputs(
        probe, lambda inputs: fails("there", inputs), seed=SEED, examples=40, shrink=shrink
    )
    assert here is not None
    assert repr(there) == repr(stacked_inputs(probe, here)) and judged == count
    assert seen["there"] == seen["here"]
    assert len(seen["here"]) > 5


@pytest.mark.slow
def test_a_search_that_is_left_in_the_middle_is_given_up_for_the_next(serve: Callable[..., Suite]) -> None:
    suite = serve(load_task(ENVIRONMENTS / "cartpole")).open()

    def broken(case: Case) -> bool:
        raise Crashed("the reference is gone")

    with pytest.raises(Crashed):
        suite.search_cases("up to the time limit", broken, seed=SEED, examples=10, shrink=True)
    seen: list[Case] = []
    assert suite.search_cases(
        "up to the time limit", lambda case: bool(seen.append(case)), seed=SEED, examples=10, shrink=True
    ) == (None, 10)  # fmt: skip
    assert {case.origin for case in seen} == {"up to the time limit"}
    assert all(case.start is not None and 490 <= case.start["state/steps"] <= 499 for case in seen)


RAISING = """

@invariant()
def it_looks_for_another_leaf(trajectory):
    return trajectory.leaves["state/other"] == 0
"""


def test_what_an_invariant_or_a_feature_raises_is_said_of_it_alone(serve: Callable[..., Suite], walk: Path) -> None:
    with (walk / "properties.py").open("a") as file:
        file.write(RAISING + RAISING.replace("@invariant()", "@feature").replace("it_looks", "that_looks"))
    suite = serve(load_task(walk)).open()
    assert suite.judge([episode()]) == [Judged((-1,), ""), Judged((), "KeyError: 'state/other'")]
    with pytest.raises(Raised, match="the feature `that looks for another leaf` raised KeyError: 'state/other'"):
        suite.show([episode()])


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("import nothing_of_this_name\n", "properties.py cannot be imported: ModuleNotFoundError: No module named"),
        (
            "@invariant(module='other')\ndef it(trajectory): return True\n",
            "belongs to module `other`, which task.toml lacks",
        ),
        ("from lockstep import generator\n@generator('other')\ndef it(): ...\n", "a generator is for probe `other`"),
        (
            "invariant()(lambda trajectory: True)\n",
            "the invariant `<lambda>` is declared, and no name of the file holds it",
        ),
        (
            "@invariant()\ndef it(trajectory): return True\n@invariant()\ndef it(trajectory): return False\n",
            "the invariant `it` is declared, and no name of the file holds it; expected each at the top level",
        ),
    ],
)
def test_a_wrong_file_of_a_task_is_named_as_before(
    serve: Callable[..., Suite], walk: Path, more: str, complaint: str
) -> None:
    with (walk / "properties.py").open("a") as file:
        file.write(more)
    with pytest.raises(TaskError) as here:
        load_suite(load_task(walk))
    with pytest.raises(TaskError) as there:
        serve(load_task(walk)).open()
    assert complaint in str(there.value) and str(there.value) == str(here.value)


def test_code_that_ends_its_process_is_no_answer(walk: Path) -> None:
    with (walk / "properties.py").open("a") as file:
        file.write("\n\n@invariant()\ndef it(trajectory):\n    import os\n    os._exit(0)\n")
    with closing(start_suite(load_task(walk))) as suite:
        suite.open()
        with pytest.raises(Crashed, match="ended with exit status 0"):
            suite.judge([episode()])
        assert not suite.alive


class Lying(SuiteServer):
    """Answers like a worker whose task has taken it over."""

    said: ClassVar[dict[str, Any]] = {}

    def __getattribute__(self, name: str) -> Any:
        if name in type(self).said:
            return lambda **given: type(self).said[name]
        return super().__getattribute__(name)


DECLARED: dict[str, list[Any]] = {"invariants": [["a", None]], "features": ["f"], "generators": [], "sequences": ["s"]}
TASK = load_task(WALK)
EDGE = {"place": np.zeros(1), "steps": np.zeros(1, np.int32)}


@pytest.mark.parametrize(
    "said",
    [
        None,
        7,
        {},
        {"invariants": []},
        DECLARED | {"invariants": [["a", "no module of it"]]},
        DECLARED | {"invariants": [["a", ["moving"]]]},
        DECLARED | {"invariants": [["\x1b[2J", None]]},
        DECLARED | {"invariants": [["a"]]},
        DECLARED | {"features": ["f" * 501]},
        DECLARED | {"features": ["f"] * 1001},
        DECLARED | {"features": np.zeros(3)},
        DECLARED | {"generators": ["no probe of it"]},
    ],
)
def test_a_worker_that_declares_nonsense_is_refused(serve: Callable[..., Suite], said: Any) -> None:
    with pytest.raises(BadAnswer, match="it does not say what the task declares"):
        serve(TASK, type("It", (Lying,), {"said": {"open": said}})).open()


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        [[[-1], ""], [[-1], ""]],
        [[[-1], 7]],
        [[[], ""]],
        [[[-1, -1], ""]],
        [[[4], ""]],
        [[[-2], ""]],
        [[[True], ""]],
        [[np.zeros(1, np.int64), ""]],
        {},
        {"unsent": 7},
        {"unsent": "no leaf of it"},
        {"unsent": "terminated"},  # again, when it has come
    ],
)
@pytest.mark.parametrize("call", ["judge", "show"])
def test_a_worker_that_answers_nonsense_of_a_trajectory_is_refused(
    serve: Callable[..., Suite], call: str, said: Any
) -> None:
    if call == "show" and isinstance(said, list):  # two numbers for a trajectory: how many timesteps, and the first
        said = [[[5, 3] if numbers == [4] else [1, *numbers] if numbers else [], raised] for numbers, raised in said]
    suite = serve(TASK, type("It", (Lying,), {"said": {"open": DECLARED, call: said}})).open()
    with pytest.raises(BadAnswer):
        getattr(suite, call)([episode()])


@pytest.mark.parametrize(
    "example",
    [
        None,
        {**EDGE, "more": np.zeros(1)},
        {"place": np.zeros(1)},
        {**EDGE, "place": np.zeros(1, np.float32)},
        {**EDGE, "place": np.zeros(2)},
        {**EDGE, "place": 0.0},
    ],
)
def test_an_example_that_is_no_input_of_its_probe_is_refused(serve: Callable[..., Suite], example: Any) -> None:
    said = {"open": DECLARED | {"generators": ["ending"]}, "search": {"example": example}}
    suite = serve(TASK, type("It", (Lying,), {"said": said})).open()
    with pytest.raises(BadAnswer):
        suite.search_inputs(TASK.probes["ending"], lambda inputs: False, seed=1, examples=5, shrink=True)


ACTIONS = {"action": np.zeros(2, np.int32)}
PLACE = {"state/place": np.zeros(()), "state/steps": np.zeros((), np.int32)}


@pytest.mark.parametrize(
    "example",
    [
        None,
        {"seed": -1, "actions": ACTIONS, "start": None},
        {"seed": True, "actions": ACTIONS, "start": None},
        {"seed": 1 << 63, "actions": ACTIONS, "start": None},
        {"seed": 1, "actions": {"action": np.zeros(2)}, "start": None},
        {"seed": 1, "actions": {"action": np.zeros(1 << 17, np.int32)}, "start": None},
        {"seed": 1, "actions": ACTIONS, "start": 3},
        {"seed": 1, "actions": ACTIONS, "start": {}},
        {"seed": 1, "actions": ACTIONS, "start": {**PLACE, "state/place": np.zeros(3)}},
    ],
)
def test_an_example_that_is_no_case_of_the_task_is_refused(serve: Callable[..., Suite], example: Any) -> None:
    suite = serve(TASK, type("It", (Lying,), {"said": {"open": DECLARED, "search": {"example": example}}})).open()
    with pytest.raises(BadAnswer):
        suite.search_cases("s", lambda case: False, seed=1, examples=5, shrink=True)


def test_a_search_that_does_not_end_is_ended(serve: Callable[..., Suite], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_SHRUNK", 3)
    again = {"example": {"seed": 1, "actions": ACTIONS, "start": PLACE}}
    said = {"open": DECLARED, "search": again, "searched": again}
    suite = serve(TASK, type("It", (Lying,), {"said": said})).open()
    with pytest.raises(BadAnswer, match="its search does not end"):
        suite.search_cases("s", lambda case: False, seed=1, examples=5, shrink=True)


def test_a_home_inside_the_environment_of_python_is_never_shown(
    walk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.errors import SetupError

    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    assert os.environ["LOCKSTEP_HOME"].startswith(str(tmp_path))
    with pytest.raises(SetupError, match="cannot be shown to a task's code"):
        start_suite(load_task(walk))
