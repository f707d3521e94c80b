"""Levels 1 to 3 compare what each player sees, may do and earns; planted faults of each kind are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

import sandboxes
from harness.occurrences import Occurrences, told
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.plant import Mutant, assert_caught, plant
from tests.paths import NIM, RELAY, STANDING

pytestmark = pytest.mark.slow
TASKS = {path.name: load_task(path) for path in (NIM, RELAY, STANDING)}
HONEST = Mutant("honest", (), 0, "")
NIM_FAULTS = (
    Mutant("the loser earns", (("jnp.arange(2), -1.0, 1.0", "jnp.arange(2), 1.0, -1.0"),), 1, "reward/.*"),
    Mutant("both lose", (('"second": rewards[1]', '"second": -jnp.abs(rewards[1])'),), 1, "reward/second"),
    Mutant("the same player moves again", (('"mover": 1 - mover}', '"mover": mover}'),), 1, "state/mover|to_move"),
    Mutant("told is the other one", (('"to_move": state["mover"]', '"to_move": 1 - state["mover"]'),), 1, "to_move"),
)
STANDING_FAULTS = (
    Mutant(
        "the dead strike",
        (('jnp.where(alive & (chosen != REST), jnp.where', 'jnp.where(chosen != REST, jnp.where'),),
        1, "state/strength",
    ),
    Mutant("blue earns for green", (("name: rewards[player]", "name: rewards[min(player, 1)]"),), 1, "reward/blue"),
    Mutant("the weakest counts as dead", (('["alive"][name] = own > 0', '["alive"][name] = own > 1'),), 1, "alive/.*"),
    Mutant(
        "nobody wins where all fall",
        (("(after > 0).sum() <= 1", "(after > 0).sum() == 1"),),
        2, "terminated|reward/.*|truncated",
    ),
)  # fmt: skip
RELAY_FAULTS = (
    Mutant("both act always", (("& 1 == 1", "& 1 >= 0"),), 1, "state/place|to_move/.*"),
    Mutant("told is another", (('["to_move"][name] = may[player]', '["to_move"][name] = may[~player]'),), 1, "to_move/.*"),
    Mutant("who may not act runs", (("jnp.where(_may(state), jnp", "jnp.where(_may(state) | True, jnp"),), 1, "state/place"),
    Mutant("a dead heat is won", (("there[0] == there[1], 0.0", "~there.any(), 0.0"),), 3, "reward/.*"),
)  # fmt: skip


@pytest.fixture(scope="module")
def verifiers() -> Iterator[Mapping[str, Verifier]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(Verifier(task, sandboxes.choose(None), prepare=True))
            for name, task in TASKS.items()
        }


@pytest.mark.parametrize("name", sorted(TASKS))
def test_honest_candidates_pass_and_each_player_is_counted(
    name: str, verifiers: Mapping[str, Verifier], tmp_path: Path
) -> None:
    plant(TASKS[name], HONEST, tmp_path)
    verdict = verifiers[name].verify(tmp_path, LevelsRequest((1, 2, 3), 7))
    assert verdict.outcome is Outcome.PASS, verdict
    occurred, players = verdict.reports[-1].occurred, TASKS[name].players
    assert occurred is not None and players is not None
    assert tuple(occurred.players) == players.names and Occurrences.from_json(occurred.to_json()) == occurred
    assert sum(occurred.results.values()) == sum(occurred.ends.values())
    assert dict(told(occurred, {}))["results"].startswith(", ".join(players.names))


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        pytest.param(name, fault, id=f"{name}, {fault.name}")
        for name, faults in (("nim", NIM_FAULTS), ("relay", RELAY_FAULTS), ("standing", STANDING_FAULTS))
        for fault in faults
    ],
)
def test_a_planted_fault_is_found(name: str, fault: Mutant, verifiers: Mapping[str, Verifier], tmp_path: Path) -> None:
    plant(TASKS[name], fault, tmp_path)
    assert_caught(fault, verifiers[name].verify(tmp_path, LevelsRequest((1, 2, 3), 7, stop_at_failure=True)))
