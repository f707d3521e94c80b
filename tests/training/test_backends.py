"""One trainer, three backends: in a JAX environment, behind the protocol, and in a candidate's sandbox."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import BadAnswer, TrainingError
from harness.model import Leaf, Trajectory
from harness.protocol.environment import Environment
from harness.protocol.vector import VectorStep
from harness.task.training import PpoConfig
from harness.training.evaluate import evaluate
from harness.training.host import train_host
from harness.training.local import train_local
from harness.training.policy import Policy
from harness.training.ppo import Ppo
from harness.training.remote import train_candidate
from harness.training.trained import Trained
from tests.candidate.adapters.contracts import DICE, leaf
from tests.paths import ROOT
from tests.training.conftest import cue, jax_env, opened

CONFIG = PpoConfig(
    num_envs=8, rollout_steps=8, epochs=2, minibatches=2, learning_rate=3e-3, segment_updates=3, hidden=(16,)
)
STEPS = 5 * CONFIG.steps_per_update


def furthest(one: Trained, other: Trained) -> float:
    assert one.learner.keys() == other.learner.keys()
    return max(
        float(np.abs(np.asarray(one.learner[name], np.float64) - other.learner[name]).max(initial=0.0))
        for name in one.learner
    )


def changed(**config: Any) -> PpoConfig:
    return PpoConfig.from_json(CONFIG.to_json() | config)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contract", "config"),
    [
        pytest.param(cue("shown"), changed(), id="mlp"),
        pytest.param(cue("once"), changed(network="gru"), id="gru", marks=[pytest.mark.slow, pytest.mark.nightly]),
        pytest.param(cue("picture"), changed(network="cnn"), id="cnn", marks=pytest.mark.slow),
        pytest.param(
            cue("picture", masked=False),
            changed(hold=3, pool=2),
            id="held",
            marks=[pytest.mark.slow, pytest.mark.nightly],
        ),
        pytest.param(DICE, changed(), id="dice", marks=pytest.mark.slow),
    ],
)
def test_the_same_training_fused_and_behind_the_protocol_differs_by_rounding_alone(
    contract: dict[str, Any], config: PpoConfig
) -> None:
    """Same seeds, noise, episodes and minibatches: only what a compiler fuses differs, in a float's last bits."""
    environment = opened(contract)
    host = train_host(environment.vector, environment.spec.leaves, config, STEPS * config.hold, 11)
    [fused] = train_local(jax_env(contract), config, STEPS * config.hold, [11])
    assert fused.curve == pytest.approx(host.curve, rel=1e-5) and None not in fused.curve
    assert furthest(fused, host) < 2e-5
    other = train_host(environment.vector, environment.spec.leaves, config, STEPS * config.hold, 12)
    assert furthest(other, host) > 1e-2, "another seed would pass for the same training"


@pytest.mark.slow
def test_a_candidate_s_worker_trains_as_its_environment_does_here() -> None:
    contract = cue("shown")
    worker = opened(contract)
    trained = train_candidate(worker, worker.spec.leaves, CONFIG, STEPS, [1, 2])
    local = train_local(jax_env(contract), CONFIG, STEPS, [1, 2])
    assert [one.digest for one in trained] == [one.digest for one in local]
    assert trained[0].digest != trained[1].digest and trained[0].steps == STEPS


@pytest.mark.slow
def test_another_hyper_parameter_makes_another_policy() -> None:
    contract = cue("shown")
    changed = PpoConfig.from_json(CONFIG.to_json() | {"learning_rate": 1e-3})
    [one], [other] = (train_local(jax_env(contract), config, STEPS, [1]) for config in (CONFIG, changed))
    assert furthest(one, other) > 1e-3


def solved(network: str, *shown: str) -> float:
    """Mean return of a short training's policy, of 4 where it names each cue."""
    contract = cue(*shown)
    config = PpoConfig(
        num_envs=64, rollout_steps=16, learning_rate=1e-2, segment_updates=10, hidden=(32,), network=network
    )
    [trained] = train_local(jax_env(contract), config, 30 * config.steps_per_update, [0])
    environment = opened(contract)
    policy = Policy(environment.spec.leaves, config)
    [played] = evaluate(environment, policy, [trained.learner], [range(32)], horizon=8)
    return float(np.mean([episode.leaves["reward"].sum() for episode in played]))


@pytest.mark.slow
def test_a_masked_and_continuous_task_is_learned() -> None:
    assert solved("mlp", "shown") > 3.5


@pytest.mark.slow
def test_what_was_shown_once_is_remembered_by_a_network_with_memory_alone() -> None:
    # Two actions are legal, of which the mask does not tell which is right; but it tells that much.
    assert solved("gru", "once") > 3.5


@pytest.mark.slow
def test_a_picture_is_understood_by_convolutions() -> None:
    assert solved("cnn", "picture") > 3.5


@pytest.mark.slow
def test_both_sides_play_the_same_episodes_with_the_same_noise_and_the_same_tapes() -> None:
    environment, other = opened(cue("shown")), opened(cue("shown"))
    policy = Policy(environment.spec.leaves, CONFIG)
    trained = train_local(jax_env(cue("shown")), CONFIG, CONFIG.steps_per_update, [0, 1])
    learners, seeds = [each.learner for each in trained], [range(70), range(100, 170)]
    for greedy in (True, False):
        first = evaluate(environment, policy, learners, seeds, horizon=3, greedy=greedy)
        tapes = [[episode.draws for episode in each] for each in first]
        again = evaluate(other, policy, learners, seeds, horizon=3, greedy=greedy, draws=tapes)
        for number, (one, two) in enumerate(zip(first, again, strict=True)):
            assert [episode.digest for episode in one] == [episode.digest for episode in two]
            assert [episode.case.seed for episode in one] == list(seeds[number])
            assert_replayed(environment, one)
    noisy = [episode.case.actions["action/aim"].tobytes() for each in first for episode in each]
    assert len(set(noisy)) == 140, "each episode has noise of its own"


@pytest.mark.slow
def test_an_action_is_held_until_the_next_decision_or_the_end() -> None:
    environment = opened(cue("shown", masked=False))
    config = changed(hold=3)
    policy = Policy(environment.spec.leaves, config)
    learner = Ppo(policy).leaves(Ppo(policy).begin(0))
    [played] = evaluate(environment, policy, [learner], [range(8)], horizon=4, greedy=False)
    aims = np.stack([episode.case.actions["action/aim"][:4] for episode in played if episode.steps == 4])
    assert len(aims) and (aims[:, :3] == aims[:, :1]).all() and (aims[:, 3] != aims[:, 2]).all()
    assert_replayed(environment, played)


class Paying:
    """Two sub-environments whose episodes pay 1, 2, 3, ... and end with their second and fifth step."""

    count = 2

    def __init__(self) -> None:
        self._steps, self._ends = np.zeros(2, int), np.array([2, 5])
        self.leaves, self.draws = {"observation": np.zeros((2, 1), np.float32)}, ((), ())

    def advance(self, actions: Any, following: Any = None) -> VectorStep:
        self._steps += 1
        paid, ended = self._steps.astype(np.float32), self._steps == self._ends
        seen = paid.reshape(2, 1)
        self._steps[ended] = 0
        nothing = np.zeros(2, bool)
        leaves = {"observation": np.where(ended[:, None], np.float32(0), seen), "reward": paid}
        ends = {"terminated": ended, "truncated": nothing}
        return VectorStep(leaves | ends, ended, {"observation": seen[ended]}, ((), ()), ((),) * int(ended.sum()))


@pytest.mark.slow
def test_a_decision_is_paid_until_its_episode_ends() -> None:
    described = {
        path: leaf(dtype) for path, dtype in (("reward", "float32"), ("terminated", "bool"), ("truncated", "bool"))
    }
    described |= {"observation": leaf("float32", 1), "action": leaf("int64", low=0, high=1)}
    leaves = {path: Leaf(path, **fields) for path, fields in described.items()}
    config = changed(hold=3, num_envs=2, rollout_steps=2, minibatches=1, segment_updates=1)
    trained = train_host(lambda seeds: Paying(), leaves, config, config.steps_per_update, 0)
    # The first sub-environment's decisions: 1 + 2, ended; what its next episode pays before the next decision, 1, is
    # nobody's; then 2, ended. The second sub-environment's: 1 + 2 + 3, and 4 + 5, ended.
    assert trained.curve == ((3 + 2 + 15) / 3,)


@pytest.mark.slow
def test_learners_that_play_together_play_as_they_do_alone() -> None:
    environment = opened(cue("shown"))
    policy = Policy(environment.spec.leaves, CONFIG)
    trained = train_local(jax_env(cue("shown")), CONFIG, CONFIG.steps_per_update, [0, 1, 2])
    learners, seeds = [each.learner for each in trained], [[5, 6], [7, 8], [9, 10]]
    together = evaluate(environment, policy, learners, seeds, horizon=3)
    for learner, own, played in zip(learners, seeds, together, strict=True):
        [alone] = evaluate(environment, policy, [learner], [own], horizon=3)
        for one, other in zip(alone, played, strict=True):
            for path, taken in one.case.actions.items():
                np.testing.assert_allclose(taken, other.case.actions[path], rtol=1e-5, atol=1e-6)


def assert_replayed(environment: Environment, played: list[Trajectory]) -> None:
    """What was played in a closed loop is what a rollout of its actions gives."""
    cases = [episode.case for episode in played]
    assert [episode.digest for episode in environment.rollout(cases)] == [episode.digest for episode in played]


class Recorded:
    """A candidate's worker that keeps what it answered last."""

    def __init__(self) -> None:
        self._worker = opened(cue("shown"))
        self.spec = self._worker.spec
        self.answer: Any = None

    def ask(self, call: str, **arguments: Any) -> Any:
        self.answer = self._worker.ask(call, **arguments)
        return copy.deepcopy(self.answer)


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    """After a training of one segment, which was accepted."""
    worker = Recorded()
    train_candidate(worker, worker.spec.leaves, CONFIG, CONFIG.steps_per_update, [1])  # type: ignore[arg-type]
    return worker


class Damaged:
    """A worker that answers what another has answered, changed."""

    def __init__(self, recorded: Recorded, change: Any) -> None:
        self._recorded, self._change = recorded, change

    def ask(self, call: str, **arguments: Any) -> Any:
        answer = copy.deepcopy(self._recorded.answer)
        self._change(answer)
        return answer


FIRST = "network/actor/0/weight"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda a: a["learners"].pop(FIRST), BadAnswer),
        (lambda a: a["learners"].update({FIRST: a["learners"][FIRST].astype(np.float64)}), BadAnswer),
        (lambda a: a["learners"].update({FIRST: a["learners"][FIRST][..., :1]}), BadAnswer),
        (lambda a: a["learners"].update({FIRST: np.full_like(a["learners"][FIRST], np.inf)}), TrainingError),
        (lambda a: a.update(returns=np.array(["many"])) or a.update(returns=None), BadAnswer),
        (lambda a: a.update(episodes=np.full_like(a["episodes"], np.nan)), BadAnswer),
    ],
)
def test_what_a_candidate_hands_out_must_be_learners(recorded: Recorded, change: Any, error: type[Exception]) -> None:
    damaged: Any = Damaged(recorded, change)
    with pytest.raises(error):
        train_candidate(damaged, recorded.spec.leaves, CONFIG, CONFIG.steps_per_update, [1])


@pytest.mark.slow
def test_seeds_are_laid_out_over_devices_and_learn_what_they_do_on_one(tmp_path: Path) -> None:
    program = (
        "import sys, jax\n"
        "jax.config.update('jax_num_cpu_devices', 2)\n"
        "from pathlib import Path\n"
        "from tests.training.conftest import cue, jax_env\n"
        "from tests.training.test_backends import CONFIG, STEPS\n"
        "from harness.training.local import train_local\n"
        "trained = train_local(jax_env(cue('shown')), CONFIG, STEPS, [1, 2, 3, 4])\n"
        "print(len(jax.devices()), flush=True)\n"
        "[one.save(Path(sys.argv[1]) / f'{one.seed}.npz') for one in trained]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=True, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["2"]
    alone = train_local(jax_env(cue("shown")), CONFIG, STEPS, [1, 2, 3, 4])
    for one in alone:
        assert furthest(one, Trained.load(tmp_path / f"{one.seed}.npz")) < 2e-5
