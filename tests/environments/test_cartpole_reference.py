"""CartPole's reference: that the adapter shows Gymnasium's own CartPole, and the quirks that QUIRKS.md states."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from harness.authoring.conformance import check_reference
from harness.model import Case, Trajectory
from harness.protocol.worker import SingleEnvironment, load
from harness.reference.install import setup
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.load import load_task
from harness.task.suite import Sequence, Suite, load_suite
from harness.verdict import Outcome
from tests.paths import ENVIRONMENTS

DIRECTORY = ENVIRONMENTS / "cartpole"
THETA_LIMIT = 12 * 2 * math.pi / 360
NUMBERS = ("x", "x_dot", "theta", "theta_dot")


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(DIRECTORY)


@pytest.fixture(scope="module")
def suite(task: Task) -> Suite:
    return load_suite(task)


@pytest.fixture(scope="module")
def adapter_class() -> Iterator[Any]:
    path, module = list(sys.path), sys.modules.get("adapter")
    yield load(f"{DIRECTORY / 'reference/adapter.py'}:CartPole")
    sys.path[:] = path
    sys.modules.pop("adapter", None)
    if module is not None:
        sys.modules["adapter"] = module


@pytest.fixture
def adapter(adapter_class: Any) -> Iterator[Any]:
    made = adapter_class()
    yield made
    made.close()


@pytest.fixture
def served(adapter_class: Any) -> Iterator[SingleEnvironment]:
    """The adapter as the worker serves it, in this process."""
    environment = SingleEnvironment(adapter_class)
    environment.open({})
    yield environment
    environment.close()


@pytest.fixture
def bare() -> Iterator[Any]:
    """Gymnasium's own, as a user makes it, checker and all."""
    env = gymnasium.make("CartPole-v1")
    yield env
    env.close()


def state(
    x: float = 0.0, x_dot: float = 0.0, theta: float = 0.0, theta_dot: float = 0.0, steps: float = 0
) -> dict[str, Any]:
    return {
        "state/x": x,
        "state/x_dot": x_dot,
        "state/theta": theta,
        "state/theta_dot": theta_dot,
        "state/steps": steps,
    }


def as_trajectory(case: Case, answer: dict[str, Any]) -> Trajectory:
    return Trajectory(case, answer["leaves"])


# --- the adapter shows what Gymnasium does ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
def test_an_episode_is_bit_for_bit_the_one_that_gymnasium_plays(adapter: Any, bare: Any, seed: int) -> None:
    actions = np.random.default_rng(seed).integers(0, 2, 600).tolist()
    observation, _ = bare.reset(seed=seed)
    timestep = adapter.reset(seed)
    assert timestep["observation"].tobytes() == observation.tobytes()
    for action in actions:
        observation, reward, terminated, truncated, _ = bare.step(action)
        timestep = adapter.step(action)
        assert timestep["observation"].tobytes() == observation.tobytes()
        assert (timestep["reward"], timestep["terminated"], timestep["truncated"]) == (reward, terminated, truncated)
        assert [timestep[f"state/{name}"] for name in NUMBERS] == bare.unwrapped.state.tolist()
        if terminated:
            break


def test_the_spec_agrees_with_the_task_file(adapter: Any, task: Task) -> None:
    spec = adapter.spec()
    assert {path: (leaf["dtype"], tuple(leaf["shape"])) for path, leaf in spec["leaves"].items()} == {
        path: (leaf.dtype, leaf.shape) for path, leaf in task.leaves.items()
    }
    for name, probe in task.probes.items():
        assert {p: leaf["dtype"] for p, leaf in spec["probes"][name]["inputs"].items()} == {
            p: leaf.dtype for p, leaf in probe.inputs.items()
        }
        assert set(spec["probes"][name]["outputs"]) == set(probe.outputs)
    assert set(spec["draws"]) == set(task.draws)
    assert set(task.budgets.policies) - {"random", "sticky"} == set(spec["policies"])


def test_a_reset_forced_with_its_own_draw_is_the_same_reset(adapter: Any) -> None:
    first = adapter.reset(7)
    [(name, value)] = adapter.take_draws()
    assert (name, value.dtype, value.shape) == ("start", np.float64, (4,))
    adapter.reset(8)
    again = adapter.reset(9, [["start", value]])
    assert all(np.array_equal(first[path], again[path]) for path in first)
    assert adapter.take_draws()[0][1].tobytes() == value.tobytes()


@pytest.mark.parametrize(
    "draws",
    [
        [],
        [["begin", np.zeros(4)]],
        [["start", np.zeros(4)], ["start", np.zeros(4)]],
        [["start", np.zeros(3)]],
        [["start", np.zeros(4, np.float32)]],
    ],
    ids=["missing", "misnamed", "left over", "of another shape", "of another dtype"],
)
def test_a_draw_that_does_not_fit_is_refused(adapter: Any, draws: list[Any]) -> None:
    with pytest.raises(ValueError, match="start"):
        adapter.reset(0, draws)


def test_a_draw_for_a_step_is_refused_as_left_over(adapter: Any) -> None:
    adapter.reset(0, [["start", np.zeros(4)]])
    adapter.step(1, [])
    with pytest.raises(ValueError, match="draws nothing"):
        adapter.step(1, [["start", np.zeros(4)]])


def test_a_forced_reset_leaves_no_trace_in_the_next_seeded_one(adapter: Any) -> None:
    expected = adapter.reset(3)["observation"]
    adapter.reset(0, [["start", np.zeros(4)]])
    assert np.array_equal(adapter.reset(3)["observation"], expected)


def test_a_restored_state_goes_on_as_the_episode_did(served: SingleEnvironment) -> None:
    [episode] = served.drive("balance", [5], 600)
    middle = {path: array[470] for path, array in episode["leaves"].items() if path.startswith("state/")}
    actions = {"action": episode["actions"]["action"][470:]}
    [rest] = served.rollout([{"seed": 0, "actions": actions, "start": middle}])
    for path, array in episode["leaves"].items():
        assert np.array_equal(rest["leaves"][path][1:], array[471:]), path


def test_a_restored_environment_has_forgotten_that_it_failed_before(adapter: Any) -> None:
    adapter.restore(state(theta=0.3))
    assert adapter.step(0)["terminated"]
    timestep = adapter.restore(state())
    assert (timestep["reward"], timestep["terminated"], timestep["truncated"]) == (0.0, False, False)
    assert adapter.step(0)["reward"] == 1.0


def test_a_probe_disturbs_no_episode(adapter: Any) -> None:
    adapter.reset(1)
    expected = adapter.step(1)
    adapter.reset(1)
    adapter.probe("dynamics", {"x": 1.0, "x_dot": 1.0, "theta": 0.1, "theta_dot": 1.0, "action": 0})
    adapter.probe("truncation", {"steps": 500})
    actual = adapter.step(1)
    assert all(np.array_equal(expected[path], actual[path]) for path in expected)


@given(
    st.tuples(st.floats(-2.4, 2.4), st.floats(-3, 3), st.floats(-THETA_LIMIT, THETA_LIMIT), st.floats(-3.5, 3.5)),
    st.integers(0, 1),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_the_probe_of_the_dynamics_is_a_step(adapter: Any, four: tuple[float, ...], action: int) -> None:
    adapter.restore(state(*four))
    timestep = adapter.step(action)
    probed = adapter.probe("dynamics", dict(zip(NUMBERS, four, strict=True)) | {"action": action})
    assert probed == {name: timestep[f"state/{name}"] for name in NUMBERS}


def test_an_action_outside_the_space_is_refused_and_the_environment_goes_on(adapter: Any) -> None:
    adapter.reset(0)
    with pytest.raises(AssertionError):
        adapter.step(2)
    assert adapter.step(1)["reward"] == 1.0


def test_timesteps_do_not_share_memory(adapter: Any) -> None:
    first = adapter.reset(0)["observation"]
    kept = first.copy()
    second = adapter.step(1)["observation"]
    adapter.step(1)
    assert np.array_equal(first, kept)
    assert not np.shares_memory(first, second)


@pytest.mark.slow
def test_the_reference_keeps_the_protocol_in_every_point(task: Task) -> None:
    installed = setup(task)
    results = check_reference(lambda: start_reference(task, installed), task)
    assert results
    assert [
        result for result in results if result.outcome is not Outcome.PASS and result.name not in ("masks", "players")
    ] == []


def test_a_picture_shows_the_cart_and_the_pole_where_the_state_says(task: Task) -> None:
    reference = start_reference(task, setup(task))

    def drawn(**numbers: float) -> np.ndarray:
        leaves = state(**numbers)
        reference.restore({path: np.asarray(value, task.leaves[path].dtype) for path, value in leaves.items()})
        return reference.render()

    def middle(picture: np.ndarray, line: int, colour: tuple[int, int, int]) -> float:
        return float(np.flatnonzero((picture[line] == colour).all(axis=1)).mean())

    black, wood = (0, 0, 0), (202, 152, 101)
    try:
        upright, moved, leaning = drawn(), drawn(x=1.2), drawn(theta=0.2)
    finally:
        reference.close()
    assert upright.shape == (400, 600, 3)
    assert middle(moved, 310, black) - middle(upright, 310, black) == pytest.approx(1.2 * 600 / 4.8, abs=1)
    # 80 pixels above its axle.
    assert middle(leaning, 212, wood) - middle(upright, 212, wood) == pytest.approx(80 * math.tan(0.2), abs=2)


# --- the policies reach all ends --------------------------------------------------------------------------------------


def test_balance_reaches_the_time_limit_and_its_episodes_differ(served: SingleEnvironment) -> None:
    episodes = served.drive("balance", list(range(8)), 600)
    assert all(len(episode["leaves"]["reward"]) == 501 for episode in episodes)
    assert all(episode["leaves"]["truncated"][-1] and not episode["leaves"]["terminated"][-1] for episode in episodes)
    assert len({episode["actions"]["action"].tobytes() for episode in episodes}) == 8


def test_drift_leaves_the_field_on_both_sides_with_the_pole_up(served: SingleEnvironment) -> None:
    ends = [episode["leaves"] for episode in served.drive("drift", list(range(12)), 600)]
    assert all(abs(leaves["state/theta"][-1]) < THETA_LIMIT for leaves in ends)
    assert {np.sign(leaves["state/x"][-1]) for leaves in ends if abs(leaves["state/x"][-1]) > 2.4} == {-1.0, 1.0}


def test_the_policies_together_show_every_feature(served: SingleEnvironment, task: Task, suite: Suite) -> None:
    seen = dict.fromkeys((feature.name for feature in suite.features), 0)
    for policy in task.budgets.policies:
        for episode in served.drive(policy, list(range(12)), task.budgets.horizon):
            trajectory = as_trajectory(Case(0, episode["actions"]), episode)
            for feature in suite.features:
                seen[feature.name] += len(feature.shown(trajectory))
    assert all(seen.values()), seen


# --- the suite is true of the reference, and can be broken ------------------------------------------------------------


def test_every_invariant_holds_on_the_reference(served: SingleEnvironment, task: Task, suite: Suite) -> None:
    for policy in task.budgets.policies:
        for seed, episode in enumerate(served.drive(policy, list(range(4)), 600)):
            trajectory = as_trajectory(Case(seed, episode["actions"]), episode)
            for invariant in suite.invariants:
                assert not len(invariant.violations(trajectory)), (policy, seed, invariant.name)


FAULTS = {
    "an observation is the state rounded to float32": ("observation", lambda a: np.nextafter(a, np.float32(9))),
    "an episode starts near rest in the middle": ("state/x", lambda a: a + 0.2),
    "positions move by the velocities before the step": ("state/theta", lambda a: np.roll(a, 1)),
    "the cart gains speed towards the side that it is pushed to": ("state/x_dot", lambda a: -a),
    "an episode fails exactly when cart or pole are beyond their limits": ("terminated", np.logical_not),
    "every step pays one and so does the last": ("reward", lambda a: np.append(a[:-1], 0.0)),
    "steps are counted one by one": ("state/steps", lambda a: a // 2),
    "an episode is truncated exactly at its five hundredth step": ("truncated", np.zeros_like),
}


def test_every_invariant_is_broken_by_a_fault_of_its_kind(served: SingleEnvironment, suite: Suite) -> None:
    [episode] = served.drive("balance", [0], 600)
    for invariant in suite.invariants:
        path, fault = FAULTS[invariant.name]
        leaves = {**episode["leaves"], path: fault(episode["leaves"][path])}
        assert len(invariant.violations(Trajectory(Case(0, episode["actions"]), leaves))), invariant.name


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_declared_sequences_and_probe_inputs_lie_within_the_task(
    adapter: Any, task: Task, suite: Suite, data: st.DataObject
) -> None:
    sequence: Sequence = data.draw(st.sampled_from(suite.sequences))
    made = data.draw(sequence.make(task))
    assert set(made["start"]) == set(task.state)
    for path, value in made["start"].items():
        assert task.leaves[path].low <= value <= task.leaves[path].high, (sequence.name, path)
    assert 1 <= len(made["actions"]) <= task.budgets.sequence_length
    for name, generator in suite.generators.items():
        for path, value in data.draw(generator.make()).items():
            leaf = task.probes[name].inputs[path]
            assert leaf.low <= value <= leaf.high, (name, path)


@pytest.mark.parametrize(
    ("name", "x", "theta", "truncated"),
    [
        ("over the edge of the field", True, None, False),
        ("over the limit of the angle", None, True, False),
        ("over both limits in the same step", True, True, False),
        ("up to the time limit", None, None, True),
        ("failed and out of time in the same step", None, True, True),
    ],
)
def test_a_sequence_reaches_what_its_name_says(
    adapter: Any, task: Task, suite: Suite, name: str, x: bool | None, theta: bool | None, truncated: bool
) -> None:
    [sequence] = [sequence for sequence in suite.sequences if sequence.name == name]
    reached = False

    @settings(max_examples=60, database=None, derandomize=True)
    @given(sequence.make(task))
    def play(made: dict[str, Any]) -> None:
        nonlocal reached
        adapter.restore(made["start"])
        for action in made["actions"]:
            timestep = adapter.step(action)
            if timestep["terminated"] or timestep["truncated"]:
                beyond = (abs(timestep["state/x"]) > 2.4, abs(timestep["state/theta"]) > THETA_LIMIT)
                wanted = (beyond[0] if x is None else x, beyond[1] if theta is None else theta)
                reached |= beyond == wanted and timestep["truncated"] == truncated
                return

    play()
    assert reached


# --- the quirks that QUIRKS.md states ---------------------------------------------------------------------------------


def test_the_step_that_fails_pays_one_too(adapter: Any) -> None:
    adapter.restore(state(theta=0.2, theta_dot=3.0))
    timestep = adapter.step(1)
    assert timestep["terminated"]
    assert timestep["reward"] == 1.0


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_thresholds_themselves_are_still_inside(adapter: Any, sign: int) -> None:
    for x, theta in ((2.4, 0.0), (0.0, THETA_LIMIT)):
        asked = {"x": sign * x, "theta": sign * theta}
        assert not adapter.probe("termination", asked)["terminated"]
        beyond = {name: np.nextafter(value, sign * np.inf) if value else 0.0 for name, value in asked.items()}
        assert adapter.probe("termination", beyond)["terminated"]


def test_failing_in_the_last_step_is_both_terminated_and_truncated(adapter: Any) -> None:
    adapter.restore(state(theta=0.2, theta_dot=3.0, steps=499))
    timestep = adapter.step(1)
    assert (timestep["terminated"], timestep["truncated"], timestep["state/steps"]) == (True, True, 500)


def test_an_episode_may_go_on_past_the_time_limit_and_stays_truncated(adapter: Any) -> None:
    adapter.restore(state(steps=499))
    assert [adapter.step(0)["truncated"] for _ in range(2)] == [True, True]


def test_a_step_after_a_failure_warns_and_pays_nothing(bare: Any) -> None:
    bare.reset(seed=0)
    bare.unwrapped.state = np.array([0.0, 0.0, 0.3, 0.0])
    assert bare.step(0)[1] == 1.0
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert bare.step(0)[1] == 0.0


def test_the_observation_can_sit_on_a_threshold_that_the_state_has_crossed(adapter: Any) -> None:
    adapter.restore(state(x=math.nextafter(2.4, 3)))
    timestep = adapter.step(0)
    assert timestep["terminated"]
    assert timestep["observation"][0] == np.float32(2.4)


def test_positions_move_by_the_old_velocities(adapter: Any) -> None:
    timestep = adapter.restore(state(x_dot=1.0, theta_dot=-1.0))
    timestep = adapter.step(1)
    assert (timestep["state/x"], timestep["state/theta"]) == (0.02, -0.02)


def test_two_states_one_bit_apart_come_to_fall_differently(served: SingleEnvironment) -> None:
    [episode] = served.drive("balance", [1], 600)
    start = {path: array[0] for path, array in episode["leaves"].items() if path.startswith("state/")}
    start["state/theta"] = np.nextafter(start["state/theta"], 1.0)
    [other] = served.rollout([{"seed": 0, "actions": episode["actions"], "start": start}])
    timesteps = len(other["leaves"]["reward"])
    apart = np.abs(other["leaves"]["state/theta"] - episode["leaves"]["state/theta"][:timesteps])
    assert apart[1] < 1e-15
    assert apart.max() > 1e-3
