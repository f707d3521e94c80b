"""What an agent proposes beside its candidate: nothing of it turns a failure into a pass, or stops a verification."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.verdict import Outcome
from tests.cheats.conftest import Stages
from tests.cheats.stage import text_of, tree_at
from tests.cheats.table import BUBBLEWRAP

ACTIONS = {"dtype": "int32", "shape": [1], "values": [1]}
NO_CASES = {
    "a list": [],
    "actions that are none": {"seed": 1, "actions": [1, 2]},
    "numbers beyond all types": {"seed": 1, "actions": {"action": ACTIONS | {"values": [1e400]}}},
    "a seed beyond all types": {"seed": 1e400, "actions": {"action": ACTIONS}},
    "more values than memory": {"seed": 1, "actions": {"action": ACTIONS | {"shape": [1 << 60]}}},
    "an array of objects": {"seed": 1, "actions": {"action": ACTIONS | {"dtype": "object"}}},
    "draws that are text": {"seed": 1, "actions": {"action": ACTIONS}, "draws": "gust"},
    "draws without values": {"seed": 1, "actions": {"action": ACTIONS}, "draws": [[], [["gust"]]]},
    "an unknown leaf": {"seed": 1, "actions": {"../../action": ACTIONS}},
}
PROPERTIES = """
import os


def always_holds(trajectory):
    return True


def reads_the_harness(trajectory):
    import harness.verify.verifier
    return True


def writes_what_it_is_shown(trajectory):
    for leaf in trajectory.leaves.values():
        leaf[...] = 0
    return True
"""
LEAVING = "import os\n\n\ndef leaves(trajectory):\n    os._exit(0)\n"


def proposals(properties: str) -> dict[str, str]:
    files = {f"proposed/cases/{name}.json": json.dumps(case) for name, case in NO_CASES.items()}
    deep = "[" * 100_000
    return files | {
        "proposed/cases/deep.json": deep,
        "proposed/cases/large.json": " " * (2 << 20),
        "proposed/cases/directory.json/file": "",
        "proposed/properties.py": properties,
    }


@pytest.mark.slow
def test_what_is_no_case_is_set_aside_and_the_rest_is_judged(stages: Stages, tmp_path: Path) -> None:
    honest = "from honest import *  # noqa: F403\n"
    verdict = stages(BUBBLEWRAP).judge(tree_at(tmp_path / "tree", honest, proposals(PROPERTIES)), (2,))
    found = {check.name: check for check in verdict.reports[-1].checks if "proposed" in check.name}
    assert verdict.outcome is Outcome.PASS, verdict.to_json()
    assert {name for name, check in found.items() if check.outcome is Outcome.PASS} == {
        "proposed property always_holds"
    }
    assert sum("set aside" in check.detail for check in found.values()) == len(NO_CASES) + 3 + 2


@pytest.mark.slow
def test_a_property_that_ends_its_process_is_set_aside_and_a_wrong_candidate_fails_all_the_same(
    stages: Stages, tmp_path: Path
) -> None:
    tree = tree_at(tmp_path / "tree", text_of("hard_coded_results"), proposals(LEAVING))
    assert stages(BUBBLEWRAP).judge(tree, (2,)).outcome is Outcome.FAIL
    honest = tree_at(tmp_path / "honest", "from honest import *  # noqa: F403\n", {"proposed/properties.py": LEAVING})
    verdict = stages(BUBBLEWRAP).judge(honest, (2,))
    [check] = [check for check in verdict.reports[-1].checks if check.name == "proposed properties"]
    assert (verdict.outcome, check.outcome) == (Outcome.PASS, Outcome.SKIPPED)
