"""Sub-environments in one batch answer as single instances do that are stepped one by one; policies are trained in them."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import sandboxes
from harness.candidate.adapters.rust.candidate import RustCandidate
from harness.candidate.adapters.rust.vector import RustVectorCalls
from harness.candidate.crates.build import build
from harness.cli import main
from harness.protocol.environment import Environment
from harness.protocol.worker import ProtocolError, SingleEnvironment
from harness.task.training import PpoConfig
from harness.training.batch import batch_vector_env
from harness.training.host import train_host
from harness.training.trained import Trained
from tests.candidate.adapters.contracts import DICE, dice_case
from tests.rust.games import dice_task, write_walk
from tests.training.conftest import Direct
from tests.training.test_checkpoints import Interrupted, stop_after

pytestmark = [pytest.mark.slow, pytest.mark.rust]
NUM_ENVS, STEPS = 5, 30
CONFIG = PpoConfig(num_envs=8, rollout_steps=16, epochs=1, minibatches=2, segment_updates=2, hidden=(8,))
Answers = list[dict[str, Any]]


@pytest.fixture(scope="module")
def contract() -> dict[str, Any]:
    """The dice game's contract, with the module that was compiled of it."""
    task = dice_task()
    return DICE | {"entry": str(build(task, sandboxes.choose(None), task.directory))}


@pytest.fixture
def candidate(contract: dict[str, Any]) -> RustCandidate:
    opened = RustCandidate()
    opened.open(contract)
    return opened


def answers(
    candidate: RustCandidate, calls: type[SingleEnvironment], *, anew: bool, state: bool, fixed: Any = None
) -> Answers:
    """What sub-environments answer, whose first episodes have tapes that end before they do; with `anew` all go on after
    an end.
    """
    rng = np.random.default_rng(4)
    cases = [dice_case(rng, length) for length in (3, 8, 1, 5)]
    tapes = [*(case["draws"] for case in cases), None]
    found = [calls.vector(candidate, list(range(NUM_ENVS)), tapes, state, fixed)]
    for step in range(STEPS):
        bets, pushes = rng.integers(0, 4, NUM_ENVS), rng.uniform(-1, 1, (NUM_ENVS, 2)).astype(np.float32)
        for env_index, case in enumerate(cases):
            if step < len(case["actions"]["action/bet"]):
                bets[env_index] = case["actions"]["action/bet"][step]
        following = [1000 * step + env_index for env_index in range(NUM_ENVS)] if anew else None
        found.append(calls.advance(candidate, {"action/bet": bets, "action/push": pushes}, following))
    return found


def difference(ours: Answers, theirs: Answers) -> str:
    """Where answers first differ in what they have to hold; a sub-environment that rests has timesteps that mean nothing."""
    resting = np.zeros(NUM_ENVS, bool)
    for timestep, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        for name in sorted(other):
            alike = _same(one[name], other[name], ~resting if name == "leaves" else ...)
            if not alike:
                return f"timestep {timestep}, {name}"
        if "ended" in other and not other["final"]:
            resting[other["ended"]] = True
    return ""


def _same(one: Any, other: Any, timesteps: Any = ...) -> bool:
    if isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name], timesteps) for name in other)
    if isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(other, np.ndarray | np.generic):
        one, other = np.asarray(one)[timesteps], np.asarray(other)[timesteps]
        return (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())
    return one == other


@pytest.mark.parametrize("anew", [True, False])
@pytest.mark.parametrize("state", [True, False])
def test_sub_envs_answer_as_instances_that_are_stepped_one_by_one(
    candidate: RustCandidate, anew: bool, state: bool
) -> None:
    together = answers(candidate, RustCandidate, anew=anew, state=state)
    assert difference(together, answers(candidate, SingleEnvironment, anew=anew, state=state)) == ""
    assert sum(len(timestep.get("ended", ())) for timestep in together) >= (2 * NUM_ENVS if anew else NUM_ENVS)
    assert any(timestep["draws"][0] for timestep in together)


def test_what_is_fixed_is_drawn_by_every_reset_without_a_tape(candidate: RustCandidate) -> None:
    fixed = {"deck": np.array([3, 1], np.int32)}
    together, free = (answers(candidate, RustCandidate, anew=True, state=True, fixed=each) for each in (fixed, None))
    assert difference(together, answers(candidate, SingleEnvironment, anew=True, state=True, fixed=fixed)) == ""
    drawn = [together[0]["draws"][-1], *(timestep for one in together[1:] for timestep in one["next_draws"])]
    assert len(drawn) > NUM_ENVS and all(dict(timestep)["deck"].tolist() == [3, 1] for timestep in drawn)
    assert difference(together, free) == "timestep 0, draws"
    with pytest.raises(ValueError, match="the reset draws no roll, which was to be fixed"):
        candidate.vector([1, 2], fixed={"roll": 1})


class WithAnotherSeed(RustVectorCalls):
    """Begins anew from another seed than it was given."""

    def advance(self, actions: Any, following: Any = None) -> dict[str, Any]:
        return super().advance(actions, None if following is None else [seed + 1 for seed in following])


class WithoutTheEnd(RustVectorCalls):
    """Tells of an episode's end what the next one begins with."""

    def advance(self, actions: Any, following: Any = None) -> dict[str, Any]:
        answer = super().advance(actions, following)
        return answer | {"final": {path: answer["leaves"][path][answer["ended"]] for path in answer["final"]}}


class WithoutTapes(RustVectorCalls):
    """Draws by its own chance, whatever it is given."""

    def __init__(self, module: ModuleType, seeds: Any, tapes: Any = None, **options: Any) -> None:
        super().__init__(module, seeds, None, **options)


@pytest.mark.parametrize(
    ("fault", "where"),
    [(WithAnotherSeed, "leaves"), (WithoutTheEnd, "final"), (WithoutTapes, "timestep 0, draws")],
)
def test_a_planted_fault_of_sub_envs_is_found(
    fault: type[RustVectorCalls], where: str, candidate: RustCandidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = answers(candidate, SingleEnvironment, anew=True, state=True)
    monkeypatch.setattr("harness.candidate.adapters.rust.candidate.RustVectorCalls", fault)
    assert where in difference(answers(candidate, RustCandidate, anew=True, state=True), single)


def test_calls_that_fit_no_sub_envs_are_refused(candidate: RustCandidate) -> None:
    action = {"action/bet": np.zeros(2, int), "action/push": np.zeros((2, 2), np.float32)}
    with pytest.raises(ProtocolError, match="`vector` comes before `advance`"):
        candidate.advance(action)
    with pytest.raises(ProtocolError, match="sub-environments need a seed each"):
        candidate.vector([1, 2], [None])
    with pytest.raises(ProtocolError, match="seed -1 is not a whole number"):
        candidate.vector([1, -1])
    candidate.vector([1, 2])
    with pytest.raises(ProtocolError, match="2 sub-environments need an action each, and a next seed each"):
        candidate.advance(action, [])
    with pytest.raises(ProtocolError, match="2 sub-environments need an action each, and a next seed each"):
        candidate.advance({path: array[:1] for path, array in action.items()})
    with pytest.raises(ProtocolError, match="outside its bounds"):
        candidate.advance(action | {"action/bet": np.full(2, 4)})


def test_the_same_training_in_this_process_and_behind_the_protocol_is_the_same_bit_by_bit(
    contract: dict[str, Any], dice: ModuleType, tmp_path: Path
) -> None:
    environment = Environment(Direct(RustCandidate()), contract)  # type: ignore[arg-type]
    leaves, steps = environment.spec.leaves, 5 * CONFIG.steps_per_update

    def train(vector: Any, seed: int = 3, **options: Any) -> Trained:
        return train_host(vector, leaves, CONFIG, steps, seed, **options)

    behind, here = train(environment.vector), train(batch_vector_env(dice))
    assert here.digest == behind.digest and here.curve == behind.curve and None not in here.curve
    assert train(batch_vector_env(dice), seed=4).digest != here.digest
    file = tmp_path / "checkpoint.npz"
    with pytest.raises(Interrupted):
        train(batch_vector_env(dice), checkpoint=file, progress=stop_after(2))
    report: list[int] = []
    resumed = train(batch_vector_env(dice), checkpoint=file, progress=lambda what, done, total: report.append(done))
    assert report == [2, 3] and resumed.digest == here.digest


def test_the_command_trains_in_the_candidate_that_is_chosen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    walk, out = write_walk(tmp_path / "walk"), tmp_path / "policies"
    settings = [f"--set={name}={value}" for name, value in (("num_envs", 8), ("rollout_steps", 32), ("hidden", "[8]"))]
    arguments = ["train", str(walk), "--steps", "512", "--episodes", "2", "--out", str(out), *settings]
    assert main([*arguments, "--candidate", "rust", "--seeds", "2", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert [one["seed"] for one in document["policies"]] == [0, 1] and document["backend"] == "candidate"
    assert all(isinstance(one["return"], float) for one in document["policies"])
    saved = [Trained.load(Path(one["file"])) for one in document["policies"]]
    assert [one.backend for one in saved] == ["candidate"] * 2 and saved[0].digest != saved[1].digest
    assert not list(out.glob("checkpoint*"))
    assert main([*arguments, "--candidate", "jax"]) != 0
    assert "no candidate" in capfd.readouterr().err
