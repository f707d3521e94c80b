"""`lockstep new --openspiel`: games in turns and at once, with chance and without, as OpenSpiel itself plays them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.authoring.conformance import check_reference
from harness.authoring.scaffold import new
from harness.errors import SetupError
from harness.model import Trajectory
from harness.reference.install import setup as install
from harness.reference.start import start_reference
from harness.task.contract import Mode, Task
from harness.task.load import load_task
from harness.verdict import Outcome

pytestmark = pytest.mark.slow
ITSELF = """
import json, sys
import pyspiel

name, histories = json.loads(sys.stdin.read())
game, shown = pyspiel.load_game(name), []
for history in histories:
    state, rest, paid = game.new_initial_state(), list(history), []
    while True:
        if state.is_terminal() or (not state.is_chance_node() and not state.is_simultaneous_node()):
            seen = [state.observation_tensor(n) for n in range(2)] if not state.is_terminal() else None
            paid.append([state.returns(), None if state.is_terminal() else state.legal_actions(), seen])
        if not rest:
            break
        if state.is_simultaneous_node():
            state.apply_actions(rest[:2])
            rest = rest[2:]
        else:
            state.apply_action(rest.pop(0))
    shown.append([paid, state.is_terminal()])
print(json.dumps(shown))
"""


def made(directory: Path, game: str) -> Task:
    return load_task(new("game", directory / "game", openspiel=game))


def episodes_of(task: Task, count: int = 30) -> list[Trajectory]:
    reference = start_reference(task, install(task, lambda line: None))
    try:
        return reference.drive("random", range(count), 60)
    finally:
        reference.close()


def itself(task: Task, game: str, episodes: list[Trajectory]) -> Any:
    """What OpenSpiel says of the same histories."""
    histories = [each.leaves["state/moves"][-1][: int(each.leaves["state/count"][-1])].tolist() for each in episodes]
    python = str(install(task, lambda line: None).python)
    given = json.dumps([game, histories])
    finished = subprocess.run([python, "-c", ITSELF], input=given, capture_output=True, text=True, check=True)
    return json.loads(finished.stdout)


def differences(task: Task, game: str) -> list[str]:
    """Where episodes of the reference differ from what OpenSpiel itself shows after the same moves."""
    found = []
    episodes = episodes_of(task)
    for number, (one, (rows, over)) in enumerate(zip(episodes, itself(task, game, episodes), strict=True)):
        if not (bool(one.leaves["terminated"][-1]) and over and len(rows) == one.timesteps):
            found.append(f"{number}: {one.timesteps} timesteps, not {len(rows)}, {over}")
            continue
        for step, (returns, legal, seen) in enumerate(rows):
            paid = [one.leaves[f"reward/player_{n}"][: step + 1].sum() for n in (0, 1)]
            if not np.allclose(paid, returns):
                found.append(f"{number}, {step}: paid {paid}, not {returns}")
            if legal is not None and np.flatnonzero(one.leaves["legal_actions"][step]).tolist() != legal:
                found.append(f"{number}, {step}: the legal actions")
            for player, numbers in enumerate(seen or ()):
                if one.leaves[f"observation/player_{player}"][step].ravel().tolist() != numbers:
                    found.append(f"{number}, {step}: what player {player} sees")
    return found


def not_passed(task: Task) -> list[str]:
    installed = install(task, lambda line: None)
    results = check_reference(lambda: start_reference(task, installed), task)
    return [f"{each.name}: {each.detail}" for each in results if each.outcome not in (Outcome.PASS, Outcome.SKIPPED)]


@pytest.mark.parametrize(("game", "mode"), [("tic_tac_toe", Mode.NONE), ("leduc_poker", Mode.TAPE)])
def test_a_game_is_openspiel_s_game(game: str, mode: Mode, tmp_path: Path) -> None:
    task = made(tmp_path, game)
    assert (task.mode, task.summary) == (mode, f"OpenSpiel's {game}, as `lockstep new` found it")
    assert (
        task.player_names == ("player_0", "player_1") and "restored" not in (task.directory / "QUIRKS.md").read_text()
    )
    assert not_passed(task) == [] and differences(task, game) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("after[n] - before[n] for n", "before[n] - after[n] for n"),
        ("mask[legal] = 1", "mask[legal[:1]] = 1"),
        ("position.observation_tensor(player)", "position.observation_tensor(0)"),
    ],
)
def test_what_the_reference_shows_otherwise_is_found(
    before: str, after: str, tmp_path: Path, change_template: Callable[[str, str], None]
) -> None:
    change_template(before, after)
    assert differences(made(tmp_path, "leduc_poker"), "leduc_poker")


def test_players_who_act_at_once_have_an_action_and_a_mask_each(tmp_path: Path) -> None:
    task = made(tmp_path, "goofspiel(num_cards=4)")
    assert task.players is not None and task.players.order == "simultaneous" and task.mode is Mode.TAPE
    assert {"action/player_0", "action/player_1", "legal_actions/player_0", "legal_actions/player_1"} <= set(
        task.leaves
    )
    assert not_passed(task) == []
    for one in episodes_of(task):
        assert bool(one.leaves["terminated"][-1])
        for player in task.player_names:
            taken, legal = one.case.actions[f"action/{player}"], one.leaves[f"legal_actions/{player}"]
            assert all(legal[step][action] for step, action in enumerate(taken))


@pytest.mark.parametrize(
    ("game", "said"),
    [
        ("catch", "catch has 1 player: two or more are needed"),
        ("conect_four", "no game conect_four; did you mean connect_four"),
        ("mfg_garnet", "neither in turns nor at once"),
        ("negotiation", "draws its chance where nobody sees it"),
        ("coop_box_pushing", "took more than the 300 moves"),
        ("hex(bord_size=3)", "OpenSpiel refuses hex"),
        ("chess", "more than 2048 are no state to compare"),
    ],
)
def test_what_cannot_be_a_task_is_refused(game: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=said):
        made(tmp_path, game)
    assert not (tmp_path / "game").exists()
