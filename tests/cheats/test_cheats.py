"""Candidates that cheat, crash, flood or look around: each gets the verdict that it must get, and harms nothing."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from harness.verdict import Outcome
from tests.cheats.conftest import Stages
from tests.cheats.stage import HERE, text_of, tree_at
from tests.cheats.table import BUBBLEWRAP, CHEATS, DOCKER, EVERYWHERE, MODULE, PROCESS

QUICK = ("exits_at_import", "nan_as_a_wildcard", "looks_for_the_reference")
"""Judged in the default loop too; all others only where slow tests run."""
IN_DOCKER = ("looks_for_the_reference", "kills_its_parent", "takes_all_memory")
"""Judged in containers by day: a look around, an attack on processes, a limit."""
EVERY_DRIVER = os.environ.get("LOCKSTEP_EVERY_DRIVER") == "1"
"""Judge those programs too in every driver's sandbox that only compute, and so are the same in each."""
LONGEST_VERDICT = 200_000
"""Characters: whatever a candidate says, so little of it is passed on."""

FIRST = {(cheat.outcome, cheat.level, cheat.module, cheat.words): name for name, cheat in reversed(CHEATS.items())}
"""Of the programs that come to the same, the one that CI judges; the others are judged every night."""


def at_night(name: str, driver: str) -> bool:
    """Whether it is left to the night: what others stand for. In bubblewrap, the default, all that attack a sandbox stay."""
    cheat = CHEATS[name]
    if driver == PROCESS:
        return not cheat.unisolated
    if driver == DOCKER:
        return name not in IN_DOCKER
    return name not in (*QUICK, *FIRST.values()) and cheat.drivers == (BUBBLEWRAP,)


CASES = [
    pytest.param(
        name,
        driver,
        id=f"{name}-{driver}",
        marks=[
            *([] if name in QUICK and driver == BUBBLEWRAP else [pytest.mark.slow]),
            *([pytest.mark.docker] if driver == DOCKER else []),
            *([pytest.mark.nightly] if at_night(name, driver) else []),
        ],
    )
    for name, cheat in CHEATS.items()
    for driver in (EVERYWHERE if EVERY_DRIVER and cheat.drivers == (BUBBLEWRAP,) else cheat.drivers)
]


@pytest.mark.parametrize(("name", "driver"), CASES)
def test_a_cheat_gets_the_verdict_that_it_must_get(name: str, driver: str, stages: Stages, tmp_path: Path) -> None:
    cheat, stage = CHEATS[name], stages(driver)
    tree = tree_at(tmp_path / "tree", text_of(name), cheat.files)
    if name == "a_link_out_of_the_tree":
        (tree / "candidate" / "shortcut").symlink_to("/etc", target_is_directory=True)
    module = cheat.module if cheat.level == 1 else None
    verdict = stage.judge(tree, (cheat.level,), module=module, short=cheat.short)
    reported = json.dumps(verdict.to_json(), ensure_ascii=False)
    assert verdict.isolated is stage.driver.isolated
    assert len(reported) < LONGEST_VERDICT
    if cheat.or_error and verdict.outcome is Outcome.ERROR:
        return
    if cheat.unisolated and not stage.driver.isolated:
        # What nothing keeps from it, it finds. That it says so makes it fail; one that kept silent could use it.
        assert verdict.outcome is Outcome.FAIL, reported
        assert re.search(cheat.unisolated, reported), reported
        return
    assert verdict.outcome is cheat.outcome, reported
    assert re.search(cheat.words, reported), reported


def test_every_program_stands_in_the_table_and_says_what_it_does() -> None:
    programs = {path.stem: path.read_text(encoding="utf-8") for path in (HERE / "programs").glob("*.py")}
    assert programs.keys() == CHEATS.keys()
    assert len(CHEATS) >= 50
    for name, text in programs.items():
        assert re.match(r'"""[^"]{20,}\.\s*"""|"""[^"]{20,}\.$', text.split("\n\n")[0]), name
    assert all(cheat.module in (None, MODULE) for cheat in CHEATS.values())
