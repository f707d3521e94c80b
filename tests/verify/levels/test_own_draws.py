"""Draws that a candidate makes in episodes of its own, where a mask says which actions are legal."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.errors import Raised
from harness.model import Array, Case, Draw, Trajectory
from harness.task.contract import Law, Mode, TaskDraw
from harness.verdict import Outcome
from harness.verify.levels import generic
from harness.verify.levels.own_draws import all_taken, driven_timesteps, own_timesteps
from harness.verify.streams import Streams

DIE = TaskDraw("die", "int32", (), "step", capacity=2, law=Law("integers", 1, 6))
COIN = TaskDraw("coin", "int8", (), "step", law=Law("integers", 0, 1))
HORIZON = 10_000


class Masked:
    """A stand-in for a candidate whose steps refuse what its mask forbids: even timesteps allow 0 alone, odd ones 1.

    In step `t` of sub-environment `e` the first die shows `t + e`, and the second 100; every third step makes no draw.
    """

    def rollout(self, cases: Any) -> Any:
        raise Raised("action 1 is not legal")

    def ask(self, call: str, *, envs: int, steps: int, lanes: list[int], actions: Any, **_: Any) -> Any:
        assert call == "autoreset" and lanes == list(range(envs))
        timesteps, numbers = np.arange(steps), np.arange(envs)
        dice = np.stack([timesteps[:, None] + numbers, np.full((steps, envs), 100)], axis=2).astype(np.int32)
        used = np.broadcast_to((timesteps % 3)[:, None], (steps, envs)).astype(np.int32)
        coins = np.zeros((steps, envs), np.int8)

        def chance(lanes: Any) -> dict[str, dict[str, Array]]:
            drawn = {"die": dice[:, lanes], "coin": coins[:, lanes]}
            counts = {"die": used[:, lanes], "coin": np.minimum(used[:, lanes], 1)}
            return {"reset_draws": {}, "reset_used": {}, "step_draws": drawn, "step_used": counts}

        mask = np.zeros((steps + 1, 1, 2), bool)
        mask[np.arange(steps + 1), 0, np.arange(steps + 1) % 2] = True
        ended = np.zeros((steps + 1, envs), bool)
        taken = np.broadcast_to((timesteps % 2)[:, None], (steps, envs)).astype(np.int32)
        shown = {"leaves": {"legal_actions": mask, "final/legal_actions": mask}, **chance([0])}
        return {
            **shown,
            "actions": {"action": taken},
            "lanes": {**chance(numbers), "lanes": {"ended": ended}, "ended": ended},
        }


def pair() -> Any:
    task = SimpleNamespace(
        actions={"action": SimpleNamespace(low=0, dtype="int32", shape=())},
        outputs={"legal_actions": SimpleNamespace(shape=(2,))},
        draws={"die": DIE, "coin": COIN},
        budgets=SimpleNamespace(horizon=HORIZON, samples=4),
        mode=Mode.TAPE,
        masked=True,
    )
    return SimpleNamespace(
        task=task,
        candidate=Masked(),
        derive=lambda stream: 7,
        random_case_actions=lambda stream, count: {"action": np.ones(count, np.int32)},
        random_batch_actions=lambda stream, steps, envs: {"action": np.ones((steps, envs), np.int32)},
    )


def test_where_a_mask_forbids_actions_only_legal_ones_are_played() -> None:
    timesteps = own_timesteps(pair(), "step")
    # Episode after episode, and of each step what it took.
    assert [[(one.name, int(one.value)) for one in step] for step in timesteps[:4]] == [
        [],
        [("die", 1), ("coin", 0)],
        [("die", 2), ("die", 100), ("coin", 0)],
        [],
    ]
    taken = all_taken(timesteps, [DIE, COIN])
    steps, episodes = 500, 100
    assert len(timesteps) == steps * episodes
    assert len(taken["die"]) == episodes * sum(step % 3 for step in range(steps))
    assert (taken["coin"].dtype, len(taken["coin"])) == (np.int8, episodes * sum(step % 3 > 0 for step in range(steps)))


def test_a_candidate_that_is_a_reference_chooses_legal_actions_itself() -> None:
    reading, asked = pair(), []
    tape = ((), (Draw("die", np.array(3, np.int32)),), ())

    def drive(policy: str, seeds: Any, steps: int) -> list[Any]:
        asked.append((policy, len(seeds), steps))
        return [SimpleNamespace(draws=tape) for _ in seeds]

    reading.candidate.drive, reading.seeds = drive, lambda stream, count: range(count)
    assert driven_timesteps(reading, "step") == [*tape[1:]] * 100
    assert asked == [("random", 100, 500)]


def test_without_the_mask_the_refusal_would_be_met() -> None:
    blind = pair()
    blind.task.masked = False
    blind.seeds = lambda stream, count: range(count)
    with pytest.raises(Raised, match="not legal"):
        own_timesteps(blind, "step")


class Growing:
    """A stand-in for either side: a step from state `n` draws a whole number from 0 to `n`, and leads to `n + 1`."""

    spec = SimpleNamespace(capabilities=("draws", "restore"))

    def __init__(self, more: int = 0) -> None:
        self._more = more

    def drive(self, policy: str, seeds: Any, steps: int) -> list[Trajectory]:
        return [self._played(Case(seed, {"action": np.zeros(steps, np.int32)})) for seed in seeds]

    def rollout(self, cases: Sequence[Case]) -> list[Trajectory]:
        return [self._played(case) for case in cases]

    def _played(self, case: Case) -> Trajectory:
        rng = np.random.default_rng(case.seed)
        numbers = (0 if case.start is None else int(case.start["state/n"])) + np.arange(case.length + 1)
        drawn = [(Draw("card", np.array(rng.integers(0, n + 1 + self._more), np.int32)),) for n in numbers[:-1]]
        return Trajectory(case, {"state/n": numbers}, ((), *drawn))


def growing(candidate: Growing, *, restores: bool) -> Any:
    """A stand-in for a pair whose one draw has no stated law."""
    task = SimpleNamespace(
        draws={"card": TaskDraw("card", "int32", (), "step")},
        budgets=SimpleNamespace(horizon=500, samples=2000),
        candidate=SimpleNamespace(kind="rust"),
        modules=(),
        masked=False,
    )
    streams = Streams(7)
    return SimpleNamespace(
        task=task,
        reference=Growing(),
        candidate=candidate,
        can_restore=restores,
        derive=streams.derive,
        seeds=streams.seeds,
        random_case_actions=lambda stream, count: {"action": np.ones(count, np.int32)},
        random_batch_actions=lambda stream, steps, envs: {"action": np.ones((steps, envs), np.int32)},
    )


@pytest.mark.parametrize("restores", [True, False])
@pytest.mark.parametrize(("more", "outcome"), [(0, Outcome.PASS), (10, Outcome.FAIL)])
def test_a_law_that_is_not_stated_may_hang_on_the_state(more: int, outcome: Outcome, restores: bool) -> None:
    """Longer episodes would come to other states than those in which the reference's draws are looked at."""
    [found] = generic._laws(growing(Growing(more), restores=restores), "step", own_timesteps)
    assert (found.name, found.outcome) == ("law of card at step", outcome)
