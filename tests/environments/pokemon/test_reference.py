"""The reference of Pokémon: the quirks that QUIRKS.md states, shown by Showdown's own code."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from harness.authoring.conformance import check_reference
from harness.errors import Raised
from harness.protocol.environment import Environment
from harness.reference.install import reference_command, setup
from harness.reference.start import start_reference
from harness.verdict import Outcome
from tests.environments.pokemon.battles import TASK, fight, turns

pytestmark = pytest.mark.slow
TACKLE, HYPER_BEAM, COUNTER, HAZE, RECOVER, RAGE, EXPLOSION, METRONOME = 33, 63, 68, 114, 105, 99, 153, 118
SUBSTITUTE, GROWL, BIDE, TRANSFORM, PSYCHIC, SPLASH, THRASH, WRAP, DIG, TOXIC = (
    164,
    45,
    117,
    144,
    94,
    150,
    37,
    35,
    91,
    92,
)
POISONED, BURNED, FROZEN, PARALYSED, BADLY_POISONED = 2, 3, 4, 5, 6
HITS, MISSES = ("hit", 0), ("hit", 255)
PLAIN = [HITS, ("crit", 255), ("damage", 255)]
"""The rolls of a move that hits and is not critical."""
FAST, SLOW = [200, 200, 300, 200], [200, 200, 100, 200]


@pytest.fixture(scope="module")
def reference() -> Iterator[Environment]:
    started = start_reference(TASK, setup(TASK))
    yield started
    started.close()


def who(*moves: int, **more: Any) -> dict[str, Any]:
    return {"moves": [*moves, 0, 0, 0][:4], **more}


@pytest.mark.nightly
def test_the_adapter_passes_the_kit() -> None:
    results = check_reference(lambda: start_reference(TASK, setup(TASK)), TASK)
    assert not [(each.name, each.detail) for each in results if each.outcome is Outcome.FAIL]


def test_a_move_that_cannot_miss_on_paper_misses_one_time_in_256(reference: Environment) -> None:
    start = fight(who(HYPER_BEAM, stats=FAST), who(SPLASH, stats=SLOW))
    assert turns(reference, start, (0, 0, [MISSES]))["hp"][1, 0] == 300


def test_hyper_beam_needs_no_rest_after_it_beats_somebody(reference: Environment) -> None:
    beaten = fight(who(HYPER_BEAM, stats=FAST), who(SPLASH, stats=SLOW, hp=1))
    assert not turns(reference, beaten, (0, 0, PLAIN))["recharge"][0]
    alive = fight(who(HYPER_BEAM, stats=FAST), who(SPLASH, stats=SLOW))
    assert turns(reference, alive, (0, 0, PLAIN))["recharge"][0]


def test_a_change_of_stages_lowers_the_stats_of_who_is_paralysed_or_burned_once_more(reference: Environment) -> None:
    paralysed = fight(who(GROWL, stats=FAST), who(SPLASH, stats=SLOW, status=PARALYSED, modified=[200, 200, 25, 200]))
    assert turns(reference, paralysed, (0, 0, [HITS, ("paralysed", 255)]))["modified"][1].tolist() == [132, 200, 6, 200]
    burned = fight(who(GROWL, stats=FAST), who(SPLASH, stats=SLOW, status=BURNED, modified=[100, 200, 100, 200]))
    after = turns(reference, burned, (0, 0, [HITS]))
    assert after["modified"][1, 0] == 66, "the stage is taken of the stat, and then halved"


def test_haze_cures_the_other_alone_and_who_was_frozen_cannot_move_in_that_turn(reference: Environment) -> None:
    start = fight(who(HAZE, stats=FAST, status=POISONED), who(TACKLE, stats=SLOW, status=FROZEN))
    after = turns(reference, start, (0, 0, []))
    assert after["status"][:, 0].tolist() == [POISONED, 0]
    assert after["selected"][1] == 166 and after["hp"][0, 0] == 300 - 300 // 16


def test_leech_seed_takes_more_where_poison_grows(reference: Environment) -> None:
    on_both = {"status": BADLY_POISONED, "toxic": 2, "leech_seed": True}
    after = turns(reference, fight(who(SPLASH, stats=FAST, **on_both), who(SPLASH, stats=SLOW)), (0, 0, []))
    assert after["toxic"][0] == 4 and after["hp"][0, 0] == 300 - 18 * 3 - 18 * 4


@pytest.mark.parametrize(("hp", "healed"), [(703 - 255, False), (703 - 511, False), (703 - 254, True), (512, True)])
def test_recover_fails_at_255_and_511_points_below_the_most(reference: Environment, hp: int, healed: bool) -> None:
    most = 703 if hp != 512 else 767
    start = fight(who(RECOVER, stats=FAST, hp=hp, max_hp=most), who(SPLASH, stats=SLOW))
    assert bool(turns(reference, start, (0, 0, []))["hp"][0, 0] > hp) == healed


def test_a_substitute_costs_the_life_of_who_has_a_quarter_left(reference: Environment) -> None:
    start = fight(who(SUBSTITUTE, stats=FAST, hp=75), who(SPLASH, stats=SLOW))
    after = turns(reference, start, (0, 0, []))
    assert after["hp"][0, 0] == 0 and after["request"].tolist() == [2, 0]


def test_points_of_a_move_wrap_around_to_63_where_whom_it_held_has_left(reference: Environment) -> None:
    held = {"trap_turns": 2, "trap_total": 3, "trap_damage": 5, "trap_move": WRAP}
    start = fight(who(WRAP, stats=FAST, pp=[0, 0, 0, 0], **held), who(SPLASH, stats=SLOW, trapped=1))
    assert turns(reference, start, (0, 0, []))["pp"][0, 0, 0] == 0, "who goes on holding pays no points"
    again = turns(reference, start, (0, 5, [*PLAIN, ("trap_turns", 0)]))
    assert again["pp"][0, 0, 0] == 63 and again["trap_target"][0] == 1


def test_who_breaks_a_substitute_by_exploding_lives_on_and_so_may_who_broke_one_before(reference: Environment) -> None:
    breaks = fight(who(EXPLOSION, stats=FAST), who(SPLASH, stats=SLOW, substitute=1))
    assert turns(reference, breaks, (0, 0, PLAIN))["hp"][0, 0] == 300
    # Metronome is a move on oneself: what the other's substitute was is not forgotten before the explosion.
    remembered = fight(who(METRONOME, stats=FAST), who(SPLASH, stats=SLOW, sub_fainted=True))
    explosion = ("metronome", 151)
    assert turns(reference, remembered, (0, 0, [explosion, *PLAIN]))["hp"][0, 0] == 300
    forgotten = fight(who(METRONOME, stats=FAST), who(SPLASH, stats=SLOW))
    assert turns(reference, forgotten, (0, 0, [explosion, *PLAIN]))["hp"][0, 0] == 0


def test_who_is_paralysed_below_the_ground_stays_out_of_reach(reference: Environment) -> None:
    digs = who(DIG, stats=FAST, status=PARALYSED, two_turn=DIG, invulnerable=True)
    after = turns(reference, fight(digs, who(TACKLE, stats=SLOW)), (0, 0, [("paralysed", 0)]))
    assert after["invulnerable"][0] and not after["two_turn"][0] and after["hp"][0, 0] == 300


def test_a_flinch_outlives_a_turn_that_somebody_s_fainting_cut_short(reference: Environment) -> None:
    start = fight(who(SPLASH, stats=FAST, hp=1, status=POISONED), who(TACKLE, stats=SLOW, flinch=True))
    after = turns(reference, start, (0, 0, []))
    assert after["flinch"][1] and after["request"].tolist() == [2, 0]
    after = turns(reference, start, (0, 0, []), (5, 0, []))
    assert after["flinch"][1] and after["request"].tolist() == [1, 1]


def test_counter_takes_what_was_done_last_whoever_did_it(reference: Environment) -> None:
    """Twice the damage of before the turn, as the other's selected move and last move can be countered."""
    start = fight(who(TACKLE, stats=SLOW, side_last=TACKLE), who(COUNTER, stats=FAST), last_damage=40)
    after = turns(reference, start, (0, 0, [*PLAIN, HITS]))
    assert after["hp"][0, 0] == 300 - 2 * (300 - after["hp"][1, 0])


def test_equal_actions_are_put_in_order_by_one_roll(reference: Environment) -> None:
    start = fight(who(HYPER_BEAM, hp=1), who(HYPER_BEAM, hp=1))
    for first, request in ((0, [0, 2]), (1, [2, 0])):
        after = turns(reference, start, (0, 0, [("speed_tie", first), *PLAIN]))
        assert after["request"].tolist() == request


@pytest.mark.parametrize(("speed", "rolls"), [(100, []), (25, [("speed_tie", 0)])])
def test_of_two_who_fainted_the_one_that_paralysis_left_faster_is_replaced_first(
    reference: Environment, speed: int, rolls: list[tuple[str, int]]
) -> None:
    gone = {"hp": 0, "request": 2, "types": [1, 0]}
    first = who(TACKLE, stats=SLOW, modified=[200, 200, 25, 200], **gone)
    start = fight(first, who(TACKLE, stats=SLOW, modified=[200, 200, speed, 200], **gone))
    # One more roll puts those two in order who come, as they are equally fast.
    assert turns(reference, start, (5, 5, [*rolls, ("speed_tie", 0)]))["active"].tolist() == [1, 1]


def test_a_roll_too_many_and_a_roll_too_few_are_refused(reference: Environment) -> None:
    start = fight(who(TACKLE, stats=FAST), who(SPLASH, stats=SLOW))
    with pytest.raises(Raised, match="crit is missing"):
        turns(reference, start, (0, 0, [HITS]))
    with pytest.raises(Raised, match="secondary was given and not drawn"):
        turns(reference, start, (0, 0, [*PLAIN, ("secondary", 0)]))
    with pytest.raises(Raised, match="it lies in 217 to 255"):
        turns(reference, start, (0, 0, [HITS, ("crit", 255), ("damage", 216)]))


def test_an_action_that_is_not_legal_is_refused_and_the_next_battle_is_as_ever(reference: Environment) -> None:
    start = fight(who(TACKLE, stats=FAST), who(SPLASH, stats=SLOW))
    with pytest.raises(Raised, match="action 3 of player 1 is not legal"):
        turns(reference, start, (3, 0, []))
    assert turns(reference, start, (0, 0, PLAIN))["hp"][1, 0] < 300


@pytest.mark.parametrize(
    ("name", "value"), [("trap_target", 9), ("moves", 166), ("status", 9), ("types", 99), ("max_hp", 0)]
)
def test_a_state_that_no_battle_has_is_refused_by_name(reference: Environment, name: str, value: int) -> None:
    start = fight(who(TACKLE), who(TACKLE))
    start[f"state/{name}"].reshape(-1)[0] = value
    with pytest.raises(Raised, match=f"{name} is {value}, it lies in"):
        turns(reference, start)


def test_a_node_that_dies_ends_the_worker_and_is_no_refusal() -> None:
    """An error would be taken for a state that the reference refuses, and passed over."""
    program = (
        "import adapter; node = adapter.Showdown.shared(); node._process.kill(); node._process.wait()\n"
        "try: adapter.Pokemon().reset(1)\n"
        "except SystemExit as end: print(end)\n"
    )
    command, variables = reference_command(TASK, setup(TASK))
    ran = subprocess.run(
        [command[0], "-c", program],
        env=variables | {"PYTHONPATH": str(TASK.directory / "reference")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("Node, in which the battles are, has ended with status -9")
