"""The quirks that environments/pong/QUIRKS.md lists, in its order, each shown on the real library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.model import Case
from harness.protocol.environment import Environment
from harness.reference.install import Installed
from harness.task.contract import Task
from tests.environments.pong.game import (
    DIRECTORY,
    DOWN,
    HIT,
    STILL,
    UP,
    f32,
    field,
    from_state,
    i32,
    play,
    run_python,
    seen,
    u32,
)

pytestmark = pytest.mark.pong


def test_the_library_begins_the_next_game_inside_the_step_that_ends_one(
    pong: Environment, task: Task, bare: Callable[[str], Any]
) -> None:
    """Quirk 1: bare, the last observation and the scores are gone; the adapter keeps both."""
    answer = bare("""
        environment = make(frameskip=8)
        environment.reset(0)
        fields = environment.fields[0]
        fields.score_l, fields.ball_x, fields.ball_y = 20, 460.0, 600.0
        environment.step(np.array([0]))
        answer = [bool(environment.terminals[0]), fields.score_l, environment.observations[0].tolist()]
    """)
    assert answer[:2] == [True, 0]
    assert answer[2][2] == np.float32(0.2)
    end = play(pong, from_state(task, [STILL], serve=1, score_l=20, ball_x=450, ball_y=600))
    assert end.leaves["terminated"].tolist() == [False, True]
    assert (field(end, "score_l")[-1], field(end, "score_r")[-1]) == (21, 5)
    assert seen(end)[-1][2] == np.float32(460 / 500)
    assert (field(end, "ball_x")[-1], field(end, "tick")[-1]) == (100, 0)


@pytest.mark.parametrize(("ball_x", "frames"), [(465, 0), (455, 1), (395, 7)])
def test_a_point_ends_the_step_and_leaves_the_observation_of_the_sub_frame_before(
    pong: Environment, task: Task, ball_x: int, frames: int
) -> None:
    """Quirk 2: the sub-frame of the point is not observed, and the rest of the step is not played."""
    lost = play(pong, from_state(task, [STILL], serve=0, ball_x=ball_x, ball_y=600))
    assert lost.leaves["reward"].tolist() == [0, -1]
    assert (field(lost, "ball_x")[-1], field(lost, "ball_y")[-1]) == (100, 304)
    shown = 0.25 if frames == 0 else np.float32(ball_x + 10 * frames) / np.float32(500)
    assert seen(lost)[-1][2] == np.float32(shown)


def test_the_tick_counts_the_steps_of_a_round_and_so_the_log_tells_the_length_of_the_last_one(
    pong: Environment, task: Task, bare: Callable[[str], Any]
) -> None:
    """Quirk 3."""
    assert field(play(pong, from_state(task, [STILL], serve=0, ball_x=465, ball_y=600)), "tick") == [7, 0]
    length, steps = bare("""
        environment = make(frameskip=8, log_interval=1)
        environment.reset(0)
        for steps in range(1, 1000):
            *_, info = environment.step(np.array([1]))
            if environment.terminals[0]:
                break
        answer = [info[0]["episode_length"], steps]
    """)
    assert steps > 100
    assert length < 50


def test_scores_are_observed_as_zero_until_a_side_has_21(pong: Environment) -> None:
    """Quirk 4: an unsigned integer division. With 21 a step would observe 1, but no step observes a score of 21."""
    rest = {name: f32([0, 0]) for name in ("paddle_yl", "paddle_yr", "ball_x", "ball_y", "ball_vx", "ball_vy")}
    answer = pong.probe("observation", {**rest, "score_l": u32([20, 21]), "score_r": u32([0, 20])})
    assert answer["observation"][:, 6:].tolist() == [[0, 0], [1, 0]]


def test_a_serve_goes_down_or_straight_and_never_up(pong: Environment) -> None:
    """Quirk 5: `rand() % 2 - 1`."""
    served = pong.probe("serve", {"serve": np.arange(1000, dtype=np.int32)})
    assert served["ball_vy"].tolist() == [-1.0, 0.0] * 500
    assert np.signbit(served["ball_vy"][1::2]).sum() == 0


def test_only_the_agents_contact_puts_the_ball_back_into_the_field(pong: Environment, task: Task) -> None:
    """Quirk 6."""
    [left] = pong.rollout([from_state(task, [STILL], ball_x=78, ball_y=5, ball_vx=-10, ball_vy=-1, paddle_yl=-35)])
    assert (field(left, "ball_x")[-1], field(left, "ball_vx")[-1]) == (-2, 10)
    at_edge = {
        "ball_x": f32([465]),
        "ball_y": f32([4]),
        "ball_vy": f32([-9]),
        "serve": i32([0]),
    }
    right = pong.probe("agent", {**at_edge, "paddle_yr": f32([-35]), "action": np.array([STILL])})
    assert (right["ball_x"][0], right["ball_y"][0]) == (468, 0)
    at_edge["ball_x"] = f32([5])
    left = pong.probe("opponent", {**at_edge, "paddle_yl": f32([-35])})
    assert (left["ball_x"][0], left["ball_y"][0]) == (-5, -5)


def test_only_the_agents_paddle_changes_the_slope_of_the_ball_by_its_direction_alone(
    pong: Environment, task: Task
) -> None:
    """Quirk 7: by 3 for the direction in which it moves, wherever it is hit, and to 13 at most."""
    same = {"ball_x": f32([465] * 4), "ball_y": f32([300] * 4), "serve": i32([0] * 4)}
    same["ball_vy"] = f32([5, 5, 5, 12])
    hit = pong.probe("agent", {**same, "paddle_yr": f32([285] * 4), "action": np.array([STILL, UP, DOWN, UP])})
    assert hit["ball_vy"].tolist() == [5, 8, 2, 13]
    against_the_limit = play(pong, from_state(task, [UP], ball_x=455, ball_y=580, ball_vy=0, paddle_yr=605))
    assert field(against_the_limit, "paddle_yr") == [605, 605]
    assert field(against_the_limit, "ball_vy") == [0, 3]
    same["ball_x"] = f32([5] * 4)
    assert pong.probe("opponent", {**same, "paddle_yl": f32([285] * 4)})["ball_vy"].tolist() == [5, 5, 5, 12]


def test_a_level_ball_rises_after_the_agents_hit_even_from_a_paddle_that_moves_down(pong: Environment) -> None:
    """Quirk 8: |vy| < 0.01 becomes +3; the float32 nearest to 0.01 is less than the double, so it counts as level."""
    slopes = np.array([0, 3, -3, 0.01, 0.010001], dtype=np.float32)
    ask = {
        "ball_x": f32([465] * 5),
        "ball_y": f32([300] * 5),
        "ball_vy": slopes,
        "paddle_yr": f32([285] * 5),
        "action": np.array([STILL, DOWN, UP, STILL, STILL]),
        "serve": i32([0] * 5),
    }
    assert pong.probe("agent", ask)["ball_vy"].tolist() == [3, 3, 3, 3, slopes[4].item()]


def test_a_wall_turns_the_ball_and_leaves_it_outside_for_a_sub_frame(pong: Environment) -> None:
    """Quirk 9: by the same vy it comes back to where it was, so it never sticks in the wall."""
    middle = {"ball_x": f32([200] * 3), "ball_vx": f32([10] * 3)}
    once = pong.probe("ball", {**middle, "ball_y": f32([5, 0, 605]), "ball_vy": f32([-13, 0, 13])})
    assert once["ball_y"].tolist() == [-8, 0, 618]
    assert once["ball_vy"].tolist() == [13, 0, -13]
    back = pong.probe("ball", {**middle, "ball_y": once["ball_y"], "ball_vy": once["ball_vy"]})
    assert back["ball_y"].tolist() == [5, 0, 605]


def test_the_opponent_follows_the_ball_as_it_was_before_it_moves_by_8_pixels_at_most(
    pong: Environment, task: Task
) -> None:
    """Quirk 10: all of its play. It returns every ball that stays within 8 pixels a sub-frame."""
    ask = {"paddle_yl": f32([285, 285, 285]), "ball_y": f32([304, 310, 100])}
    ask |= {"paddle_yr": f32([0, 0, 0]), "action": np.array([STILL] * 3)}
    assert pong.probe("paddles", ask)["paddle_yl"].tolist() == [277, 277, 277]
    ask["ball_y"] = f32([320, 323, 621])
    assert pong.probe("paddles", ask)["paddle_yl"].tolist() == [285, 288, 293]
    arriving = from_state(task, [STILL], ball_x=250, ball_y=400, ball_vy=8, paddle_yl=365)
    assert field(play(pong, arriving), "paddle_yl") == [365, 400 + 7 * 8 - 35]


def test_paddles_reach_half_their_height_beyond_the_field(pong: Environment) -> None:
    """Quirk 11: but the opponent, which aims at the lower edge of the ball, not so far up."""
    ask = {"paddle_yl": f32([-30, 584]), "ball_y": f32([-13, 621])}
    ask |= {"paddle_yr": f32([-30, 600]), "action": np.array([DOWN, UP])}
    moved = pong.probe("paddles", ask)
    assert (moved["paddle_yl"].tolist(), moved["paddle_yr"].tolist()) == ([-35, 586], [-35, 605])


def test_contact_is_judged_behind_the_edge_and_touching_is_missing(pong: Environment) -> None:
    """Quirk 12: the ball has to overlap the paddle's span; at the edge itself nothing happens yet."""
    ask = {"ball_x": f32([458, 465, 465, 465, 465]), "ball_vy": f32([0] * 5), "serve": i32([1] * 5)}
    ask["ball_y"] = f32([300] * 5)
    ask["paddle_yr"] = f32([300, 332, 331, 230, 231])
    answer = pong.probe("agent", {**ask, "action": np.array([STILL] * 5)})
    assert answer["reward"].tolist() == [0, -1, HIT, -1, HIT]


def test_up_is_where_y_grows_and_any_other_number_stands_still(pong: Environment, bare: Callable[[str], Any]) -> None:
    """Quirk 13: the picture is drawn upside down. Actions arrive as floats and are compared as such."""
    moved = bare("""
        environment = make(frameskip=1)
        answer = []
        for action in (0, 1, 2, 3, -1):
            environment.reset(0)
            environment.step(np.array([action]))
            answer.append(environment.fields[0].paddle_yr - 285)
    """)
    assert moved == [0, 8, -8, 0, 0]


def test_all_games_of_a_process_draw_from_one_generator_whatever_their_seeds(bare: Callable[[str], Any]) -> None:
    """Quirk 14: `vec_reset` seeds before each game's reset; then all take what the last seed gives, in step order."""
    alone, together = bare("""
        from tape import RandTape
        tape = RandTape("serve")

        def points(environment):
            drawn = []
            for _ in range(80):
                environment.step(np.zeros(environment.num_agents))
                drawn.append([int(value) for _, value in tape.take()])
            return [timestep for timestep in drawn if timestep]

        one = make(num_envs=1, frameskip=8)
        one.reset(7)
        tape.discard()
        alone = points(one)
        two = make(num_envs=2, frameskip=8)
        two.reset(3)
        tape.discard()
        answer = [alone, points(two)]
    """)
    # Two games with the seed 3 get 3 * 2 and 3 * 2 + 1: from then on both take from the stream of 7.
    flat = [value for timestep in together for value in timestep]
    assert flat[: len(alone)] == [timestep[0] for timestep in alone]


def test_of_a_seed_only_32_bits_count_and_0_is_1(pong: Environment) -> None:
    """Quirk 15."""
    actions = {"action": np.array([DOWN] * 100)}
    draws = [trajectory.draws for trajectory in pong.rollout([Case(seed, actions) for seed in (5, 2**32 + 5, 0, 1, 6)])]
    assert draws[0] == draws[1]
    assert draws[2] == draws[3]
    assert draws[0] != draws[4]


def test_a_reset_leaves_win_direction_reward_and_terminal_as_they_were(
    pong: Environment, bare: Callable[[str], Any]
) -> None:
    """Quirk 16: the adapter begins each episode as in a new environment."""
    left = bare("""
        environment = make(frameskip=8)
        environment.reset(0)
        fields = environment.fields[0]
        fields.score_r, fields.ball_x, fields.ball_vx, fields.ball_y = 20, 5.0, -10.0, 600.0
        environment.step(np.array([2]))
        environment.reset(1)
        answer = [fields.win, fields.paddle_dir, float(environment.rewards[0]), bool(environment.terminals[0])]
    """)
    assert left == [1, -1, 1, True]
    pong.drive("track", [1], 2500)
    fresh = pong.reset(1)
    assert (field(fresh, "win"), field(fresh, "paddle_dir"), fresh.leaves["reward"].tolist()) == ([0], [0], [0])


def test_a_ball_beyond_an_edge_is_observed_outside_of_the_declared_space(pong: Environment, task: Task) -> None:
    """Quirk 17: the package's space is 0 to 1."""
    beyond = play(pong, from_state(task, [STILL], ball_x=78, ball_y=83, ball_vx=-10, ball_vy=-11, paddle_yl=0))
    assert seen(beyond)[-1][2:4].tolist() == [np.float32(-2 / 500).item(), np.float32(-5 / 640).item()]


def test_a_rally_may_go_on_for_ever_and_is_never_truncated(pong: Environment, task: Task) -> None:
    """Quirk 18: at a slope of 3 neither side misses as long as the agent stands where the ball comes down."""
    unbroken = play(pong, from_state(task, following(pong, task, 600), ball_x=450, ball_y=304))
    assert unbroken.steps == 600
    assert field(unbroken, "n_bounces")[-1] > 90
    assert not unbroken.leaves["truncated"].any()


def following(pong: Environment, task: Task, steps: int) -> list[int]:
    """Actions that keep the agent's paddle at the ball and still when it arrives, found step by step."""
    actions: list[int] = []
    at = play(pong, from_state(task, [STILL], ball_x=450, ball_y=304)).state(0)
    for _ in range(steps):
        distance = float(at["state/ball_y"]) + 8 * float(at["state/ball_vy"]) + 16 - (float(at["state/paddle_yr"]) + 35)
        arriving = float(at["state/ball_vx"]) > 0 and float(at["state/ball_x"]) > 390
        action = STILL if abs(distance) <= 32 or arriving else (UP if distance > 0 else DOWN)
        actions.append(action)
        at = play(pong, Case(1, {"action": np.array([action])}, start=at)).state(1)
    return actions


def test_importing_the_package_leaves_a_link_in_the_current_folder_and_the_adapter_does_not(
    task: Task, installed: Installed, bare: Callable[[str], Any], tmp_path: Path
) -> None:
    """Quirk 19."""
    run_python(task, installed, "import pufferlib", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["resources"]
    assert bare("answer = os.listdir('.')") == []
    assert not (DIRECTORY / "resources").is_symlink()


def test_c_keeps_subnormal_numbers(pong: Environment) -> None:
    """Quirk 20: XLA takes them for 0, so nothing is asked there."""
    names = ("paddle_yl", "paddle_yr", "ball_x", "ball_y", "ball_vx", "ball_vy")
    tiny = {name: f32([1e-40]) for name in names}
    answer = pong.probe("observation", {**tiny, "score_l": u32([0]), "score_r": u32([0])})
    assert 0 < answer["observation"][0, 2] < 1e-41


def test_the_class_plays_at_frameskip_1_and_the_configuration_at_8(bare: Callable[[str], Any]) -> None:
    """Quirk 21."""
    assert bare("answer = [make().fields[0].frameskip, make(frameskip=8).fields[0].frameskip]") == [1, 8]


def test_games_know_whole_numbers_only(pong: Environment) -> None:
    """Quirk 22."""
    for episode in pong.drive("track", [1, 2, 3], 2500):
        for name in ("paddle_yl", "paddle_yr", "ball_x", "ball_y", "ball_vx", "ball_vy"):
            values = episode.leaves[f"state/{name}"]
            assert np.array_equal(values, np.round(values))
