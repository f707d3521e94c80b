"""What `check-reference` finds that shows seldom: leaks of few seeds, inputs and states that are not answered, masks."""

from __future__ import annotations

import pytest

from harness.authoring.conformance import probes
from harness.model import Leaf
from harness.task.contract import Mode
from harness.verdict import CheckResult, Outcome
from tests.authoring.test_conformance import Open, checked, walker_task
from tests.protocol.walker import EDGE

OWN_CHANCE = {"mode": Mode.LAW}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("adapter", "complaints"),
    [
        (
            "KeepsItsLastAction",
            ["after one action again and again", "Something survives a reset", "it takes two episodes"],
        ),
        ("KnowsAnEnd", ["12 steps from seed 96, and then seed 97", "Something survives a reset", "state/slope"]),
        (
            "KnowsTheSeedBefore",
            ["backwards, in a third process", "Something survives a reset", "it takes two episodes"],
        ),
        ("CountsTheResetsOfItsClass", ["Something outlives more than one episode", "at the level of the class"]),
        ("KnowsItsProcess", ["in another order and process", "An episode depends on its process"]),
        ("KnowsThatItWasProbed", ["after the probe move"]),
        ("KnowsARestoredState", ["after a restored state", "steps from a restored state, and then seed"]),
    ],
)
def test_a_planted_fault_that_shows_for_few_seeds_is_found(
    open_walker: Open, adapter: str, complaints: list[str]
) -> None:
    result = checked(open_walker, f"leaky:{adapter}", "leaks", **OWN_CHANCE)["leaks"]
    assert result.outcome is Outcome.FAIL
    for complaint in complaints:
        assert complaint in result.detail
    (divergence,) = result.divergences
    assert divergence.check == "leaks" and divergence.case is not None
    assert f"seed {divergence.case.seed}, " in result.detail


@pytest.mark.parametrize(
    "adapter",
    [
        "KnowsAnEnd",
        "KnowsTheSeedBefore",
        "CountsTheResetsOfItsClass",
        "KnowsItsProcess",
        "KnowsThatItWasProbed",
        "KnowsARestoredState",
    ],
)
def test_without_the_many_seeds_nobody_would_know(open_walker: Open, adapter: str) -> None:
    assert checked(open_walker, f"leaky:{adapter}", "determinism")["determinism"].outcome is Outcome.PASS


@pytest.mark.slow
def test_what_a_restored_state_lacks_is_looked_for_after_each_kind_of_episode(open_walker: Open) -> None:
    result = checked(open_walker, "leaky:GoesOnFromAnotherEpisode", "sufficient state")["sufficient state"]
    assert result.outcome is Outcome.FAIL and "as after " in result.detail


@pytest.mark.parametrize(
    ("adapter", "complaint"),
    [
        ("ProbeCannotAnswerOne", "ZeroDivisionError"),
        ("ProbeEndsItsProcess", "exit status 3"),
        pytest.param("ProbeHangs", "no answer within", marks=pytest.mark.slow),
    ],
)
def test_a_planted_fault_of_one_input_is_named_with_it(
    open_walker: Open, adapter: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "LATE_SECONDS", 1.0)
    result = checked(lambda name: open_walker(name, timeout=2.0), f"leaky:{adapter}", "probes")["probes"]
    assert result.outcome is Outcome.FAIL
    assert (
        f"probe move cannot answer an input within the bounds of task.toml: place = {-EDGE}, action = 2: "
        in result.detail
    )
    assert complaint in result.detail and "narrow the bounds" in result.detail


def test_a_probe_that_fails_only_over_many_inputs_is_told_as_that(open_walker: Open) -> None:
    result = checked(open_walker, "leaky:ProbeWantsNoWholeMessage", "probes")["probes"]
    assert result.outcome is Outcome.FAIL
    assert "does not answer" in result.detail and "in one message, though it answers each part of it" in result.detail


def test_all_inputs_of_a_probe_are_asked_where_they_can_be_counted(open_walker: Open) -> None:
    result = checked(open_walker, "Walker", "probes")["probes"]
    assert result.outcome is Outcome.PASS and result.detail == f"move: all {3 * (2 * EDGE + 1)} inputs"


def bounded(adapter: str, open_walker: Open, **bounds: Leaf) -> CheckResult:
    leaves = {**walker_task().leaves, **{leaf.path: leaf for leaf in bounds.values()}}
    return checked(open_walker, adapter, "state bounds", leaves=leaves)["state bounds"]


def test_a_planted_fault_in_the_bounds_of_the_state_is_named_with_its_timestep(open_walker: Open) -> None:
    result = bounded("Walker", open_walker, steps=Leaf("state/steps", "int32", (), 0, 4))
    assert result.outcome is Outcome.FAIL
    assert "timestep 5: state/steps is 5, outside the bounds of task.toml, 0 to 4" in result.detail


def test_where_an_episode_has_ended_its_state_may_lie_beyond_the_bounds(open_walker: Open) -> None:
    assert (
        bounded("Walker", open_walker, place=Leaf("state/place", "int64", (), 1 - EDGE, EDGE - 1)).outcome
        is Outcome.PASS
    )


def test_states_within_the_bounds_that_are_refused_are_counted_and_named(open_walker: Open) -> None:
    result = bounded("leaky:RestoresNoEdge", open_walker)
    assert result.outcome is Outcome.PASS
    assert f" of 48 states are refused, as with state/place = {-EDGE}" in result.detail


def test_a_planted_fault_of_bounds_that_no_state_may_move_in_is_found(open_walker: Open) -> None:
    result = bounded("leaky:RestoresOnlyKnownSlopes", open_walker, slope=Leaf("state/slope", "float64", (), -1.0, 2.0))
    assert result.outcome is Outcome.FAIL
    assert "refuses every state whose state/slope alone is another value" in result.detail
    assert "state/slope = -1." in result.detail and "no walker has such a slope" in result.detail


def test_a_planted_fault_of_a_state_that_ends_the_process_is_named(open_walker: Open) -> None:
    result = bounded("leaky:EndsOnAState", open_walker)
    assert result.outcome is Outcome.FAIL
    assert f"with state/place = {EDGE}: " in result.detail and "exit status 3" in result.detail


def masked(adapter: str, open_walker: Open) -> CheckResult:
    task = walker_task()
    leaves = {**task.leaves, "legal_actions": Leaf("legal_actions", "bool", (3,))}
    return checked(open_walker, f"leaky:{adapter}", "masks", leaves=leaves, modules=task.modules)["masks"]


@pytest.mark.parametrize(
    ("adapter", "said"), [("Fenced", "ruled out 3 are refused, the others played"), ("PlaysAnything", "0 are refused")]
)
def test_a_mask_that_is_kept_passes_and_what_becomes_of_the_rest_is_said(
    open_walker: Open, adapter: str, said: str
) -> None:
    result = masked(adapter, open_walker)
    assert result.outcome is Outcome.PASS and result.examples > 0
    assert said in result.detail


@pytest.mark.parametrize(
    ("adapter", "complaint"),
    [
        ("AllowsNothing", "legal_actions allows no action at all, and the episode goes on"),
        ("AllowsWhatItRefuses", "action 0, which its mask says is legal, is refused: "),
        ("PolicyIgnoresTheMask", "policy outward took action 2, which legal_actions rules out"),
        ("EndsOnAnIllegalAction", "which its mask rules out, is not refused but: "),
    ],
)
def test_a_planted_fault_of_a_mask_is_found(open_walker: Open, adapter: str, complaint: str) -> None:
    result = masked(adapter, open_walker)
    assert result.outcome is Outcome.FAIL and complaint in result.detail
