"""The adapter: frames are PyBoy's, states are whole, draws choose the cartridge."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.authoring.conformance import check_reference
from harness.errors import Raised
from harness.model import Case, Draw
from harness.protocol.environment import Environment
from harness.reference.install import Installed
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.verdict import Outcome
from tests.environments.gameboy.game import (
    CARTRIDGES,
    NOTHING,
    after,
    differences,
    i32,
    inserted,
    onward,
    play,
    presses,
)

pytestmark = pytest.mark.slow

FRAMES, ONWARD = 600, 40


@pytest.mark.nightly
def test_the_reference_keeps_the_protocol_in_every_point(task: Task, installed: Installed) -> None:
    short = replace(task, budgets=replace(task.budgets, episodes=6, horizon=60))
    results = check_reference(lambda: start_reference(task, installed), short)
    assert results
    assert [
        result for result in results if result.outcome is not Outcome.PASS and result.name not in ("masks", "players")
    ] == []


@pytest.mark.parametrize("cartridge", CARTRIDGES)
def test_a_restored_state_goes_on_as_the_episode_did(gameboy: Environment, cartridge: str) -> None:
    """From frames at random, in a console that has been elsewhere in between."""
    episode = play(gameboy, inserted(cartridge, presses(3, FRAMES)))
    rows = np.random.default_rng(5).integers(0, episode.rows - 1, 12).tolist()
    for row, part in zip(rows, gameboy.rollout([onward(episode, row, ONWARD) for row in rows]), strict=True):
        assert differences(episode, row, part) == set(), row


LOST = {
    "state/lcd/vram": "sprites",
    "state/lcd/oam": "sprites",
    "state/lcd/scx": "window",
    "state/lcd/window_line": "window",
    "state/lcd/screen": "bricks",
    "state/memory/wram": "bricks",
    "state/memory/hram": "bricks",
    "state/cartridge/ram": "mbc1ram",
    "state/cartridge/rom_bank": "mbc3",
    "state/cpu/sp": "bricks",
    "state/cpu/requested": "interrupts",
    "state/timer/counter": "timers",
    "state/timer/tac": "timers",
    "state/joypad/held": "bricks",
    "state/clock/seconds": "mbc3",
}


@pytest.mark.parametrize("path", LOST)
def test_a_leaf_that_is_lost_shows(gameboy: Environment, path: str) -> None:
    """What the test above rests on: with a leaf as it was in the console's first moment, an episode goes on otherwise."""
    episode = play(gameboy, inserted(LOST[path], presses(3, FRAMES)))
    values = episode.leaves[path]
    other = np.flatnonzero((values != values[0]).reshape(episode.rows, -1).any(axis=1)[:-ONWARD])
    rows = other[np.linspace(0, len(other) - 1, 12).astype(int)].tolist()
    faulty = [onward(episode, row, ONWARD, {**episode.state(row), path: values[0]}) for row in rows]
    played = zip(rows, gameboy.rollout(faulty), strict=True)
    assert any(
        differences(episode, row, part) - {path} or differences(episode, row + 1, after(part)) for row, part in played
    )


@pytest.mark.parametrize("cartridge", ["bricks", "window", "mbc3"])
def test_frames_are_those_of_a_console_that_nobody_looks_into(
    gameboy: Environment, bare: Callable[[str], Any], cartridge: str
) -> None:
    """A freshly made PyBoy, stepped through its API alone, shows the same memory and the same pictures."""
    actions = [0] * 60 + [8] * 4 + [2, 2, 5, 1] * 20
    masks = {0: [], 8: ["start"], 2: ["left"], 5: ["a"], 1: ["right"]}
    answer = bare(f"""
        import hashlib, io, tempfile
        from pyboy import PyBoy
        with tempfile.NamedTemporaryFile() as boot:
            boot.write(boot_rom())
            boot.flush()
            fresh = PyBoy(io.BytesIO(cartridge(NAMES.index({cartridge!r})).image), window="null", bootrom=boot.name,
                          cgb=False, sound_emulated=False, log_level="CRITICAL")
        fresh.set_emulation_speed(0)
        answer, held = [], []
        for wanted in {[masks[action] for action in actions]!r}:
            for button in held:
                if button not in wanted:
                    fresh.button_release(button)
            for button in wanted:
                if button not in held:
                    fresh.button_press(button)
            held = wanted
            fresh.tick(1, True, False)
            shades = (3 - (fresh.screen.ndarray[:, :, 0] >> 6)).astype("u1")
            memory = bytes(fresh.memory[0xC000:0xE000]) + shades.tobytes()
            answer.append([hashlib.sha256(memory).hexdigest(), fresh.register_file.PC])
    """)

    episode = play(gameboy, inserted(cartridge, actions, random=0))
    wram, shades = episode.leaves["state/memory/wram"], episode.leaves["observation"]
    digests = [hashlib.sha256(wram[row].tobytes() + shades[row].tobytes()).hexdigest() for row in range(episode.rows)]
    counters = episode.leaves["state/cpu/pc"].tolist()
    assert [list(both) for both in zip(digests, counters, strict=True)][1:] == answer[: episode.steps]
    assert episode.steps > 100


def test_a_reset_is_a_console_that_was_just_made_whatever_was_played_before(gameboy: Environment) -> None:
    case = inserted("sprites", presses(1, 60))
    first, _, again = gameboy.rollout([case, inserted("window", presses(2, 60)), case])
    assert differences(first, 0, again) == set()
    assert first.leaves["state/cpu/clock"][0] == 0
    assert first.leaves["state/booting"][0]


def test_the_same_random_number_gives_the_same_game_and_another_one_another(gameboy: Environment) -> None:
    for game in ("bricks", "meteors"):
        one, same, other = gameboy.rollout([inserted(game, [NOTHING] * 250, random) for random in (7, 7, 8)])
        assert differences(one, 0, same) == set(), game
        assert "observation" in differences(one, 0, other), game


def test_a_seed_chooses_the_first_game_thrice_as_often_as_each_of_the_others(gameboy: Environment) -> None:
    episodes = gameboy.rollout([Case(seed, {"action": np.zeros(0, np.int64)}) for seed in range(300)])
    chosen = [int(episode.leaves["state/cartridge/inserted"][0]) for episode in episodes]
    assert set(chosen) == set(range(len(CARTRIDGES)))
    assert all(5 < chosen.count(number) < 45 for number in range(1, len(CARTRIDGES)))
    assert 35 < chosen.count(0) < 85
    assert all(
        episode.draws is not None and [draw.name for draw in episode.draws[0]] == ["cartridge", "random"]
        for episode in episodes
    )


@pytest.mark.parametrize(
    "row",
    [
        (),
        (Draw("cartridge", i32(0)),),
        (Draw("random", i32(0)), Draw("cartridge", i32(0))),
        (Draw("cartridge", i32(13)), Draw("random", i32(0))),
        (Draw("cartridge", i32(0)), Draw("random", i32(65536))),
        (Draw("cartridge", np.array(0, np.int64)), Draw("random", i32(0))),
    ],
    ids=["none", "one missing", "in another order", "no such cartridge", "too large", "of another dtype"],
)
def test_draws_that_do_not_fit_are_refused(gameboy: Environment, row: tuple[Draw, ...]) -> None:
    with pytest.raises(Raised, match=r"cartridge|random"):
        play(gameboy, Case(1, {"action": np.zeros(1, np.int64)}, draws=(row,)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("state/cartridge/inserted", 13),
        ("state/cartridge/rom_bank", 2),
        ("state/cartridge/low_bank", 64),
        ("state/cartridge/ram_bank", 16),
        ("state/dma/done", 161),
        ("state/lcd/window_line", -2),
        ("state/timer/reload", 1),
        ("state/clock/seconds", 1),
        ("state/cpu/clock", -1),
    ],
)
def test_a_state_that_pyboy_could_not_bear_is_refused_by_the_leafs_name(
    gameboy: Environment, task: Task, path: str, value: int
) -> None:
    reached = play(gameboy, inserted("bricks", [NOTHING] * 3)).state(2)
    state = {**reached, path: np.array(value, task.leaves[path].dtype)}
    with pytest.raises(Raised, match=path.rsplit("/", 1)[0]):
        gameboy.rollout([Case(1, {"action": np.zeros(1, np.int64)}, start=state)])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("console.access.wait(8)", "a unit has not run as far as the processor"),
        ("console.poke(0xFF40, 0x91); console.access.run_screen(2000)", "the screen is not at its first line"),
        (
            "console = Console(telling(0x1B, 2, 4)); console.poke(0, 10); console.poke(0x4000, 5); console.poke(0xA000, 1)",
            "the cartridge keeps something in RAM beyond what the state shows",
        ),
    ],
)
def test_a_console_that_does_not_rest_between_two_frames_gives_no_row(
    bare: Callable[[str], Any], fault: str, said: str
) -> None:
    """The state leaves out what follows from the rest; where it does not, that is an error and no wrong row."""
    assert said in bare(f"""
        from probes import telling
        console = started()
        console.access.read()
        {fault}
        try:
            answer = str(console.access.read())
        except RuntimeError as error:
            answer = str(error)
    """)


def test_a_picture_is_the_screen_in_greys(gameboy: Environment) -> None:
    episode = play(gameboy, inserted("bricks", [NOTHING] * 40))
    gameboy.restore(episode.state(40))
    picture = gameboy.render()
    assert (picture[..., 0] == np.array([255, 170, 85, 0], np.uint8)[episode.leaves["observation"][40]]).all()
    assert len(np.unique(picture)) > 1


def test_frames_of_one_step_are_those_of_several(task: Task, installed: Installed, gameboy: Environment) -> None:
    options = {**task.reference.options, "frame_skip": 4}
    skipping = start_reference(replace(task, reference=replace(task.reference, options=options)), installed)
    try:
        fourth = play(skipping, inserted("bricks", [2] * 50))
    finally:
        skipping.close()
    every = play(gameboy, inserted("bricks", [2] * 200))
    for path in ("observation", "state/cpu/clock", "state/memory/wram"):
        assert np.array_equal(fourth.leaves[path], every.leaves[path][::4]), path
    assert fourth.leaves["reward"].sum() == every.leaves["reward"].sum()
