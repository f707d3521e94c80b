"""Pong's adapter: that it shows PufferLib's own Pong, takes tapes, restores states, and refuses what it does not know."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandboxes
from harness.authoring.conformance import check_reference
from harness.compare import compare
from harness.errors import Raised
from harness.model import Case, Draw, Trajectory
from harness.protocol.environment import Environment
from harness.reference.install import Installed
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.suite import Suite
from harness.verdict import Outcome
from harness.verify.directory import verify_directory
from harness.verify.request import LevelsRequest
from tests.environments.pong.game import DIRECTORY, DOWN, STILL, field, from_state, i32, play, run_python, seen, u32

pytestmark = pytest.mark.pong


@pytest.mark.slow
def test_the_conformance_kit_finds_nothing_wrong(task: Task, installed: Installed) -> None:
    results = check_reference(lambda: start_reference(task, installed), task)
    assert [
        (r.name, r.detail) for r in results if r.outcome is not Outcome.PASS and r.name not in ("masks", "players")
    ] == []


def test_the_library_played_bare_is_the_adapters_games_one_after_the_other(
    pong: Environment, bare: Callable[[str], Any]
) -> None:
    actions, timesteps = bare("""
        from tape import RandTape
        tape, environment = RandTape("serve"), make(frameskip=8)
        environment.reset(11)
        timesteps = [[environment.observations[0].tolist(), 0.0, False, [int(value) for _, value in tape.take()], []]]
        actions = np.random.RandomState(4).randint(0, 3, 700).tolist()
        for action in actions:
            observations, rewards, terminals, _, _ = environment.step(np.array([action]))
            state = [getattr(environment.fields[0], name) for name in ("paddle_yl", "ball_x", "score_l", "tick")]
            draws = [int(value) for _, value in tape.take()]
            timesteps.append([observations[0].tolist(), float(rewards[0]), bool(terminals[0]), draws, state])
        answer = [actions, timesteps]
    """)
    ends = [number for number, timestep in enumerate(timesteps) if timestep[2]]
    assert len(ends) >= 2
    tape = [tuple(Draw("serve", i32(value)) for value in timestep[3]) for timestep in timesteps]
    for begin, end in zip([0, *ends], ends, strict=False):
        # The serve with which the library goes on after a game is the one that it drew in the game's last step.
        case = Case(11, {"action": np.array(actions[begin:end])}, draws=(tape[begin], *tape[begin + 1 : end + 1]))
        game = play(pong, case)
        assert game.steps == end - begin
        assert seen(game)[0].tolist() == timesteps[begin][0]
        for timestep in range(1, game.timesteps):
            observation, reward, terminal, _, state = timesteps[begin + timestep]
            assert (game.leaves["reward"][timestep].item(), game.leaves["terminated"][timestep]) == (reward, terminal)
            if not terminal:
                assert seen(game)[timestep].tolist() == observation
                assert [field(game, name)[timestep] for name in ("paddle_yl", "ball_x", "score_l", "tick")] == state
    seeded = play(pong, Case(11, {"action": np.array(actions[: ends[0]])}))
    assert seeded.draws == tuple(tape[: ends[0] + 1])


@pytest.mark.parametrize("policy", ["random", "track", "dodge"])
def test_an_episode_from_its_seed_and_from_its_tape_is_the_same(pong: Environment, policy: str) -> None:
    [episode] = pong.drive(policy, [5], 2500)
    again = play(pong, replace(episode.case, seed=77, draws=episode.draws))
    assert again.digest == episode.digest


def test_every_state_of_an_episode_goes_on_as_the_episode_did(pong: Environment, task: Task) -> None:
    [episode] = pong.drive("random", [6], 2500)
    assert episode.draws is not None
    for timestep in range(0, episode.steps, 7):
        rest = play(
            pong,
            Case(
                seed=1,
                actions={"action": episode.case.actions["action"][timestep:]},
                start=episode.state(timestep),
                draws=((), *episode.draws[timestep + 1 :]),
            ),
        )
        expected = {path: array[timestep:].copy() for path, array in episode.leaves.items()}
        expected["reward"][0] = 0
        assert compare(Trajectory(rest.case, expected), replace(rest, draws=None), task.leaves, {}) is None


def test_a_draw_that_is_left_over_is_refused(pong: Environment) -> None:
    serve = Draw("serve", i32(1))
    with pytest.raises(Raised, match="1 of 1 draws are left over"):
        play(pong, Case(1, {"action": np.array([STILL])}, draws=((serve,), (serve,))))
    with pytest.raises(Raised, match="1 of 2 draws are left over"):
        play(pong, Case(1, {"action": np.array([], dtype=int)}, draws=((serve, serve),)))


def test_a_draw_that_is_missing_is_refused(pong: Environment, task: Task) -> None:
    with pytest.raises(Raised, match=r"1 draw\(s\) of 'serve' are missing"):
        play(pong, Case(1, {"action": np.array([STILL])}, draws=((), ())))
    lost = from_state(task, [STILL], ball_x=465, ball_y=600)
    with pytest.raises(Raised, match="missing"):
        play(pong, replace(lost, draws=((), ())))


def test_a_draw_of_another_name_or_beyond_what_rand_returns_is_refused(pong: Environment) -> None:
    for draw, why in (
        (Draw("toss", i32(1)), "has 'toss'"),
        (Draw("serve", np.array(2**31)), "from 0 to 2147483647"),
    ):
        with pytest.raises(Raised, match=why):
            play(pong, Case(1, {"action": np.array([STILL])}, draws=((draw,), ())))


def test_after_a_refused_tape_the_next_case_is_as_it_always_was(pong: Environment) -> None:
    case = Case(9, {"action": np.zeros(60, dtype=int)})
    before = play(pong, case)
    with pytest.raises(Raised):
        play(pong, replace(case, draws=((),)))
    assert play(pong, case).digest == before.digest


def test_probes_between_two_steps_disturb_neither_the_game_nor_its_chance(pong: Environment) -> None:
    case = Case(3, {"action": np.array([DOWN] * 40)})
    expected = play(pong, case)
    pong.ask("reset", seed=3)
    tell = {"score_l": u32([20]), "score_r": u32([20]), "agent_scores": np.array([True])}
    for timestep in range(1, expected.timesteps):
        assert pong.probe("scoring", tell)["terminated"][0]
        pong.probe("serve", {"serve": i32([timestep])})
        answer = pong.ask("step", action={"action": np.int64(DOWN)})
        assert answer["leaves"]["state/ball_vy"][0] == expected.leaves["state/ball_vy"][timestep]


def test_a_process_without_the_tape_is_refused(task: Task, installed: Installed, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(DIRECTORY / "reference")}
    done = subprocess.run(
        [str(installed.python), "-c", "import adapter; adapter.Pong()"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "rand() is not on a tape in this process: start it with LD_PRELOAD" in done.stderr


@pytest.mark.parametrize(
    ("known", "other"),
    [
        ('("paddle_yl", "paddle_yr", "ball_x"', '("paddle_yr", "paddle_yl", "ball_x"'),
        ('("score_l", "score_r")', '("score_r", "score_l")'),
        ('("tick", "n_bounces", "win")', '("n_bounces", "tick", "win")'),
        ('("tick", "n_bounces", "win")', '("tick", "win", "n_bounces")'),
        ('("log", _FLOAT * 5)', '("log", _FLOAT * 7)'),
        ('"ball_width": 40,\n    "ball_height": 32,', '"ball_height": 32,\n    "ball_width": 40,'),
        ('("min_paddle_y", _FLOAT)', '("lowest", _FLOAT), ("min_paddle_y", _FLOAT)'),
    ],
)
def test_a_build_with_another_layout_is_refused(
    task: Task, installed: Installed, tmp_path: Path, known: str, other: str
) -> None:
    """Instead of another build, another description of it: the check cannot tell which of the two is wrong."""
    copy = tmp_path / "reference"
    shutil.copytree(DIRECTORY / "reference", copy)
    source = (copy / "library.py").read_text()
    assert source.count(known) == 1
    (copy / "library.py").write_text(source.replace(known, other))
    code = "import library\ntry: library.check_layout(library.Library())\nexcept RuntimeError as error: print(error)"
    assert "this build of Pong is not the one that the adapter knows: `" in run_python(
        task, installed, code, tmp_path, copy
    )


def test_a_finished_build_is_not_done_again(task: Task, installed: Installed) -> None:
    script = DIRECTORY / "reference" / "build.py"
    command = [str(installed.python), "-B", str(script), str(installed.prefix)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "Pong is built\n"


# --- the suite --------------------------------------------------------------------------------------------------------


def test_every_feature_is_reached_and_every_invariant_holds(pong: Environment, task: Task, suite: Suite) -> None:
    episodes = [
        episode
        for policy in task.budgets.policies
        for episode in pong.drive(policy, list(range(100, 116)), task.budgets.horizon)
    ]
    assert all(episode.leaves["terminated"][-1] for episode in episodes)
    broken = [
        (check.name, number)
        for check in suite.invariants
        for number, episode in enumerate(episodes)
        if len(check.violations(episode))
    ]
    assert broken == []
    unreached = [item.name for item in suite.features if not any(len(item.shown(episode)) for episode in episodes)]
    assert unreached == []


def test_every_probe_has_a_generator_or_whole_bounds_that_the_reference_answers(task: Task, suite: Suite) -> None:
    assert set(task.probes) - set(suite.generators) == {"serve", "scoring"}


@pytest.mark.slow
def test_the_candidate_is_equal_bit_for_bit_at_all_levels(task: Task, installed: Installed) -> None:
    assert not task.tolerances
    verdict = verify_directory(task, sandboxes.choose(None), LevelsRequest((1, 2, 3), 2026))
    assert (verdict.error, [d.to_json() for d in verdict.divergences]) == ("", [])
    assert verdict.outcome is Outcome.PASS


def test_a_picture_shows_paddles_ball_and_scores_where_the_state_says(task: Task, pong: Environment) -> None:
    def drawn(**fields: Any) -> np.ndarray:
        start = from_state(task, [STILL], **fields).start
        assert start is not None
        pong.restore(start)
        return pong.render()

    def box(picture: np.ndarray, colour: tuple[int, int, int]) -> list[int]:
        """Left, right, upper and lower edge of what has a colour."""
        timesteps, columns = np.nonzero((picture == colour).all(axis=2))
        return [columns.min(), columns.max() + 1, timesteps.min(), timesteps.max() + 1]

    red, cyan, white, score = (255, 0, 0), (0, 255, 255), (255, 255, 255), (0, 187, 187)
    picture = drawn(paddle_yl=100, paddle_yr=285, ball_x=250, ball_y=304)
    assert picture.shape == (640, 620, 3)
    assert box(picture, red) == [40, 60, 640 - 170, 640 - 100]
    assert box(picture, cyan) == [560, 580, 640 - 355, 640 - 285]
    assert box(picture, white) == [310, 342, 640 - 336, 640 - 304]
    assert box(picture, score)[2:] == [10, 40]
    assert (drawn(score_l=4) != drawn(score_l=14)).any()
    # A paddle that is half below the field is cut off.
    assert box(drawn(paddle_yl=-35), red) == [40, 60, 605, 640]
