"""Verdicts over a cluster of three nodes: the same as here, wherever and in whatever order the work is done."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sandboxes
from harness.farm.cluster import Cluster
from harness.farm.engine import Engine
from harness.measure.strength.result import strength_digest
from harness.measure.strength.run import Settings, measure
from harness.task.load import load_task, without_training
from harness.verdict import Outcome, Verdict
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.farm.conftest import add_node
from tests.paths import ENVIRONMENTS, ROOT, WALK
from tests.verify.levels.test_transfer import BUDGET

SEED = 7
CARTPOLE = ENVIRONMENTS / "cartpole"
BY_NIGHT = pytest.mark.nightly

pytestmark = pytest.mark.slow


def judged(directory: Path, levels: Sequence[int], engine: Engine | None, **options: Any) -> Verdict:
    with Verifier(load_task(directory), sandboxes.choose(None), engine=engine, **options) as verifier:
        return verifier.verify(directory, LevelsRequest(levels, SEED))


def evidence(verdict: Verdict) -> list[str]:
    assert verdict.error == "", verdict.error
    return [report.evidence for report in verdict.reports]


@pytest.mark.parametrize(
    ("directory", "workers"),
    [
        pytest.param(WALK, 3, marks=BY_NIGHT),
        *(pytest.param(CARTPOLE, workers, marks=BY_NIGHT) for workers in (1, 2, 6)),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_verdict_is_the_same_with_any_number_of_workers(directory: Path, workers: int, cluster: Cluster) -> None:
    here, there = judged(directory, (1, 2, 3), None), judged(directory, (1, 2, 3), cluster, workers=workers)
    assert there.outcome is here.outcome is Outcome.PASS and evidence(there) == evidence(here)
    assert len(there.nodes) == min(3, workers) and not here.nodes
    assert Verdict.from_json(there.to_json()).nodes == there.nodes


@BY_NIGHT
@pytest.mark.timeout(2400)
def test_a_node_that_dies_at_any_moment_changes_no_verdict(nodes: Any, cluster: Cluster) -> None:
    here, chance = judged(CARTPOLE, (1, 2, 3), None), random.Random(SEED)
    for _ in range(20):
        dies = add_node(nodes)
        took = chance.uniform(0.0, here.duration_s)
        timer = threading.Timer(took, nodes.remove_node, (dies,), {"allow_graceful": False})
        timer.start()
        found = judged(CARTPOLE, (1, 2, 3), cluster)
        timer.join()
        assert found.outcome is Outcome.PASS and evidence(found) == evidence(here), took


@BY_NIGHT
def test_trainings_are_the_same_elsewhere(tmp_path: Path, cluster: Cluster) -> None:
    """Level 4 of a walk, whose reference is trained in by pieces of work."""
    walk = tmp_path / "walk"
    shutil.copytree(WALK, walk, ignore=shutil.ignore_patterns("__pycache__"))
    text = without_training((walk / "task.toml").read_text())
    budget = BUDGET.format(margin=25.0, steps=2048, minimum=-100.0, seeds=[3], episodes=4)
    (walk / "task.toml").write_text(text + budget)
    there, alone = judged(walk, (4,), cluster), judged(walk, (4,), None)
    assert evidence(there) == evidence(alone) and there.outcome is alone.outcome
    assert there.reports[0].transfer == alone.reports[0].transfer


def test_mutants_are_judged_the_same_elsewhere(nodes: Any, cluster: Cluster, tmp_path: Path) -> None:
    """Also where a node cannot build the reference: it is refused, and judges none."""
    task, driver = load_task(WALK), sandboxes.choose(None)
    home = tmp_path / "home"
    unable = add_node(nodes, env_vars={"LOCKSTEP_HOME": str(home), "PYTHONPATH": str(ROOT), "PIP_NO_INDEX": "1"})

    def measured(name: str, engine: Engine | None) -> dict[str, Any]:
        settings = Settings(level=1, sample=8)
        return measure(task, WALK, driver, settings, seed=SEED, journals=tmp_path / name, engine=engine).to_json()

    there, here = measured("there", cluster), measured("here", None)
    nodes.remove_node(unable)
    assert strength_digest(there) == strength_digest(here)
    assert (home / "envs").exists(), "nothing was asked of that node"
    homes = {facts["home"] for facts in there["machine"]["nodes"].values()}
    assert homes and str(home) not in homes
