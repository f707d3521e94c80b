"""The conformance kit: a good adapter passes it, and each planted fault is found by the check that is for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.authoring.conformance import CHECKS, check_reference
from harness.model import Leaf
from harness.protocol.environment import Environment
from harness.task.contract import Budgets, Candidate, Mode, Module, Reference, Task, TaskDraw, TaskProbe
from harness.verdict import CheckResult, Outcome
from tests.protocol.walker import EDGE, Walker

Open = Callable[..., Environment]


def walker_task(**changes: object) -> Task:
    """The task of the walker, as its task.toml would state it."""
    spec = Walker().spec()
    place = Leaf("place", "int64", (), -EDGE, EDGE)
    action = Leaf("action", "int64", (), 0, 2)
    task = Task(
        name="walker",
        summary="a walk on a line",
        workflow="translate",
        directory=Path(__file__).parent,
        reference=Reference("walker.py:Walker"),
        candidate=Candidate("jax", "candidate/env.py"),
        leaves={
            path: Leaf(path, leaf["dtype"], tuple(leaf.get("shape", ())), leaf.get("low"), leaf.get("high"))
            for path, leaf in spec["leaves"].items()
        },
        modules=(Module("motion", probes=("move",)),),
        probes={"move": TaskProbe("move", {"place": place, "action": action}, {"place": place})},
        mode=Mode.TAPE,
        draws={
            name: TaskDraw(name, draw["dtype"], tuple(draw["shape"]), draw["at"])
            for name, draw in spec["draws"].items()
        },
        budgets=Budgets(horizon=30, policies=("random", "outward")),
    )
    return replace(task, **changes)  # type: ignore[arg-type]


def checked(open_walker: Open, adapter: str, *only: str, **changes: object) -> dict[str, CheckResult]:
    results = check_reference(lambda: open_walker(adapter), walker_task(**changes), only or tuple(CHECKS))
    return {result.name: result for result in results}


@pytest.mark.slow
def test_a_good_adapter_passes_every_check(open_walker: Open) -> None:
    results = checked(open_walker, "Walker")
    assert list(results) == list(CHECKS)
    assert {name: (r.outcome, r.detail) for name, r in results.items() if r.outcome is not Outcome.PASS} == {
        "masks": (Outcome.SKIPPED, "the task has no masks of legal actions"),
        "players": (Outcome.SKIPPED, "the task has one player"),
    }
    assert all(result.examples > 0 for name, result in results.items() if name not in ("masks", "players"))
    assert results["wrong tapes"].detail.split("; ") == [
        "a draw left over at the reset",
        "a draw missing at the reset",
        "a draw left over at a step",
        "a draw missing at a step",
        "draws out of order at the reset",
    ]


def test_an_adapter_may_take_draws_by_their_names_in_any_order(open_walker: Open) -> None:
    results = checked(open_walker, "TakesAnyOrder", "tape", "wrong tapes")
    assert {result.outcome for result in results.values()} == {Outcome.PASS}


@pytest.mark.parametrize(
    ("adapter", "check", "complaint"),
    [
        ("FailsToOpen", "opens", "the ROM is not there"),
        ("OtherSpec", "spec", "leaf state/slope: the adapter says float32 [], task.toml says float64 []"),
        ("OtherSpec", "spec", "leaf state/extra: only the adapter declares it"),
        ("OtherSpec", "spec", "leaf action: the adapter's bounds are 0 to 3, task.toml says 0 to 2"),
        ("OtherProbe", "spec", "probe move, output place: the adapter says int32 [], task.toml says int64 []"),
        ("LacksCapabilities", "spec", "mode tape needs the capability draws"),
        ("LacksCapabilities", "spec", "policy outward: task.toml names it, the adapter does not have it"),
        ("Misspells", "spec", "capability forcedraws: there is none of this name"),
        ("Raises", "episodes", "the third step is too much"),
        ("ExitsWith3", "episodes", "ended with exit status 3"),
        ("WrongDtype", "episodes", "leaf observation/place has dtype float64 in timestep 3"),
        ("RewardsItsReset", "reset", "reward is 1.0; a reset has reward 0 and no end"),
        ("EndsAtOnce", "reset", "truncated is True; a reset has reward 0 and no end"),
        ("LeavesItsBounds", "bounds", "observation/place[0] is 1"),
        ("CarriesOver", "determinism", "the same case played twice differs"),
        ("CountsEpisodes", "determinism", "in another order differ: something carries over"),
        ("DependsOnItsProcess", "determinism", "in a fresh process differ"),
        ("IgnoresItsSeed", "seeds", "8 seeds give the same trajectory"),
        ("ReusesItsBuffer", "single steps", "a buffer that it uses again"),
        ("RestoresElsewhere", "restore", "state/steps"),
        ("RestoresRoughly", "restore", "reads differently once it is restored"),
        ("RewardsItsRestore", "restore", "reward: 0.0 and then 1.0"),
        ("HidesState", "sufficient state", "the state lacks something"),
        ("ForgetsADraw", "tape", "the tape has no gust here"),
        ("DrawsTooSoon", "tape", "the draw gust occurs at a reset (seed 1, timestep 0); task.toml says"),
        ("DrawsTwice", "tape", "the draw gust occurs 2 times"),
        ("IgnoresItsTape", "tape", "some chance is not on the tape, or it is ignored"),
        ("ToleratesLeftovers", "wrong tapes", "a tape with a draw left over at the reset is played as if nothing"),
        ("MakesUpDraws", "wrong tapes", "a tape with a draw missing at the reset is played as if nothing"),
        ("TakesWhatComes", "wrong tapes", "a tape with draws out of order at the reset is taken as it comes"),
        ("SlopeFirst", "tape", "it does not take draws in the order in which task.toml names them"),
        (
            "KeepsOldDraws",
            "wrong tapes",
            "was refused, it answers differently: timestep 0, draw/start: 1 consumed and then 2",
        ),
        (
            "DrawsFloats",
            "pictures",
            "not float64 [4, 20, 3]",
        ),
        ("DrawsGrey", "pictures", "not uint8 [4, 20]"),
        ("DrawsTooLarge", "pictures", "not uint8 [1, 4097, 3]"),
        ("DrawsNothing", "pictures", "not object []"),
        ("GrowsItsPicture", "pictures", "different sizes: 20 by 4 pixels and then 19 by 4 pixels"),
        ("DrawsAtRandom", "pictures", "drawn again in a fresh process, looks different"),
        ("DrawsHowOftenItDrew", "pictures", "the same state, restored and drawn again after others, looks different"),
        (
            "MovesWhenDrawn",
            "pictures",
            "drawing changes the episode: after 1 pictures, timestep 1, state/steps: 1 and then 2",
        ),
        ("SpendsChanceOnDrawing", "pictures", "drawing changes the episode"),
        ("ProbeRemembers", "probes", "probe move answers the same inputs differently"),
        ("ProbeRefuses", "probes", "not today"),
        ("PolicyRaises", "policies", "KeyError"),
        ("PolicyLeavesTheSpace", "policies", "policy outward chose action 7, outside its bounds"),
        ("TakesAnyAction", "wrong actions", "action 3, outside its bounds, is played as if nothing were wrong"),
        ("WillNotClose", "close", "no answer within"),
        ("LeavesAThread", "close", "it goes on running after `close`"),
    ],
)
def test_a_planted_fault_is_found(
    open_walker: Open, adapter: str, check: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.authoring.conformance.calls.CLOSE_SECONDS", 1.0)
    result = checked(open_walker, f"faulty:{adapter}", check)[check]
    assert result.outcome is Outcome.FAIL
    assert complaint in result.detail


def test_a_difference_comes_with_the_case_that_shows_it(open_walker: Open) -> None:
    result = checked(open_walker, "faulty:HidesState", "sufficient state")["sufficient state"]
    (divergence,) = result.divergences
    assert divergence.path == "reward" and divergence.check == "sufficient state" and divergence.level == 0
    assert divergence.case is not None and divergence.case.start is not None


@pytest.mark.slow
def test_what_a_missing_capability_costs_is_said(open_walker: Open) -> None:
    task = {"mode": Mode.LAW, "budgets": Budgets(horizon=30)}
    results = checked(open_walker, "faulty:LacksCapabilities", **task)
    skipped = {name: result.detail for name, result in results.items() if result.outcome is Outcome.SKIPPED}
    assert {name for name, result in results.items() if result.outcome is Outcome.FAIL} == set()
    assert list(skipped) == [
        "masks", "players", "restore", "sufficient state", "tape", "wrong tapes", "pictures", "probes"
    ]  # fmt: skip
    assert "a difference is not confirmed by stepping again" in skipped["restore"]
    assert "nothing can be filmed" in skipped["pictures"]
    assert "mode law has no tape" in skipped["tape"]
    assert "modules are tested only through whole steps" in skipped["probes"]


def test_without_forced_draws_only_the_future_up_to_the_next_draw_is_compared(open_walker: Open) -> None:
    results = checked(open_walker, "faulty:TakesNoTape", "sufficient state", "tape")
    assert results["sufficient state"].outcome is Outcome.PASS
    assert results["tape"].outcome is Outcome.SKIPPED
    assert "is not proven" in results["tape"].detail


def test_a_task_without_randomness_whose_reference_has_some_is_found_out(open_walker: Open) -> None:
    result = checked(open_walker, "Walker", "seeds", mode=Mode.NONE)["seeds"]
    assert result.outcome is Outcome.FAIL and "the seed changes the trajectory" in result.detail


def test_one_cause_is_not_reported_sixteen_times(open_walker: Open) -> None:
    results = checked(open_walker, "faulty:Raises")
    failed = [name for name, result in results.items() if result.outcome is Outcome.FAIL]
    assert failed == ["episodes", "policies"]
    assert results["reset"].outcome is Outcome.SKIPPED and "no episode could be played" in results["reset"].detail


def test_an_adapter_that_does_not_open_is_asked_nothing_else(open_walker: Open) -> None:
    results = checked(open_walker, "faulty:FailsToOpen")
    assert {r.outcome for name, r in results.items() if name != "opens"} == {Outcome.SKIPPED}
