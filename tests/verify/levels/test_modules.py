"""A module is verified while those after it are not written; nothing that stands for them passes for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.side_by_side import Episode, played
from tests.verify.levels.conftest import MOVE, Walk

pytestmark = pytest.mark.slow
ENTRY = "candidate/env.py"
LATER = [
    ('"terminated": jnp.abs(state["place"]) > 5.0,', '"terminated": jnp.bool(True),'),
    ('"truncated": state["steps"] >= 40,', '"truncated": jnp.bool(False),'),
]
"""The leaves of the later module hold anything, at a reset too."""
PROBE = 'probes = {"ending": ending}\n'
MISSING, UNWRITTEN = (PROBE, "probes = {}\n"), (PROBE, 'probes = {"ending": lambda inputs: 1 / 0}\n')


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    made = Walk(tmp_path / "walk")
    yield made
    made.close()


@pytest.mark.parametrize("probe", [MISSING, UNWRITTEN], ids=["missing", "not written"])
def test_a_module_passes_while_later_ones_are_stubs_and_they_do_not(walk: Walk, probe: tuple[str, str]) -> None:
    walk.edit(ENTRY, [*LATER, probe])
    first = walk.verify((1,), module="moving")
    assert first.outcome is Outcome.PASS, first.to_json()
    assert {"resets", "single steps"} <= {check.name for check in first.reports[0].checks}
    for later in (walk.verify((1,), module="ending"), walk.verify((1,)), walk.verify((2,))):
        [report] = later.reports
        assert report.outcome is Outcome.FAIL and report.checks[0].name == "contract"


@pytest.mark.parametrize(
    ("old", "new", "check", "path"),
    [
        (MOVE, MOVE.replace("+ move", "+ move * 1.01"), "single steps", "state/place"),
        ('"steps": jnp.int32(0)}', '"steps": jnp.int32(1)}', "resets", "state/steps"),
    ],
)
def test_a_fault_of_the_module_itself_is_found_beside_stubs(
    walk: Walk, old: str, new: str, check: str, path: str
) -> None:
    walk.edit(ENTRY, [*LATER, MISSING, (old, new)])
    verdict = walk.verify((1,), module="moving")
    [found] = [each for each in verdict.reports[0].divergences if each.check == check]
    assert (verdict.outcome, found.path, found.module) == (Outcome.FAIL, path, "moving")


def test_a_draw_that_is_not_made_is_traced_to_the_module_in_which_it_shows(walk: Walk) -> None:
    walk.edit(ENTRY, [("windy = action == 2", "windy = action == 3")])
    [found] = walk.verify((2,)).reports[0].divergences
    assert (found.path, found.rule, found.module) == ("draw/gust", "draws", "moving")


def test_a_reset_that_only_a_later_module_shows_is_found_with_the_last(walk: Walk) -> None:
    walk.edit(ENTRY, [("jnp.float32(0)) |", 'jnp.float32(0)) | {"terminated": jnp.bool(True)} |')])
    assert walk.verify((1,), module="moving").outcome is Outcome.PASS
    last = walk.verify((1,), module="ending")
    first = last.reports[0].divergences[0]
    assert (first.check, first.path) == ("resets", "terminated")
    whole = walk.verify((1,))
    first = whole.reports[0].divergences[0]
    assert (first.check, first.path) == ("resets", "terminated")


def test_what_is_there_of_a_candidate_is_compared(walk: Walk) -> None:
    walk.edit(ENTRY, [*LATER, MISSING])
    task, driver = load_task(walk.directory), sandboxes.choose(None)
    with played(task, walk.directory, driver, Episode("right", 3, 10)) as (seen, _):
        assert seen.difference is not None and seen.difference.path in ("terminated", "truncated")


@pytest.fixture
def shared(walk: Walk) -> Walk:
    """Whether an episode ends is a leaf of the first module, and follows from the rule of the second."""
    walk.edit(
        "task.toml",
        [
            ('"observation", "reward"]', '"observation", "reward", "terminated"]'),
            ('leaves = ["terminated", "truncated"]', 'leaves = ["truncated"]'),
        ],
    )
    return walk


BOUND = ('jnp.abs(state["place"]) > 5.0', 'jnp.abs(state["place"]) > 4.0')
ENDING = ("> 5.0) |", "> 4.0) |")


def test_a_step_that_a_later_probe_shows_is_told_and_is_the_later_module_s_failure(shared: Walk) -> None:
    shared.edit(ENTRY, [BOUND, ENDING])
    first = shared.verify((1,), module="moving")
    [steps] = [check for check in first.reports[0].checks if check.name == "single steps"]
    assert first.outcome is Outcome.PASS, first.to_json()
    assert "steps that differ are shown by a probe of ending, a later module, and belong to it" in steps.detail
    assert shared.verify((1,), module="ending").outcome is Outcome.FAIL
    whole = shared.verify((1,))
    assert whole.outcome is Outcome.FAIL
    assert whole.reports[0].divergences[0].module == "ending"


@pytest.mark.parametrize("probe", [(PROBE, PROBE), MISSING, UNWRITTEN], ids=["honest", "missing", "not written"])
def test_a_step_that_no_later_probe_shows_is_the_module_s_own(shared: Walk, probe: tuple[str, str]) -> None:
    shared.edit(ENTRY, [BOUND, probe])
    verdict = shared.verify((1,), module="moving")
    found = verdict.reports[0].divergences[0]
    assert (verdict.outcome, found.path, found.module) == (Outcome.FAIL, "terminated", "moving")


def test_a_step_of_its_own_is_found_among_those_of_a_later_module(shared: Walk) -> None:
    shared.edit(ENTRY, [BOUND, ENDING, (MOVE, MOVE.replace("+ move", "+ move * 1.01"))])
    verdict = shared.verify((1,), module="moving")
    found = verdict.reports[0].divergences[0]
    assert (verdict.outcome, found.path, found.module) == (Outcome.FAIL, "state/place", "moving")
