"""A step: what both chose, who is first, switches, both moves, and what the end of a turn brings."""

import jax
import jax.numpy as jnp
from moves import NO_AIM, STAGES
from rules import (
    BURN,
    CANNOT_MOVE,
    FREEZE,
    GHOST,
    METRONOME_MOVE,
    MOVE_SLOTS,
    POISON,
    PRIORITY,
    SLEEP,
    SPECIES_TABLE,
    SPEED,
    STRUGGLE,
    TOXIC,
    TRANSFORM,
    look,
)
from scene import NO_TRAP, Rolls, Scene, at_slot
from state import MOVE, NOBODY, SWITCH, arrived, load, members, places, put, save, select, wide

LAST_TURN = 1000


class Choice:
    """What was chosen, of both sides `[2]`: who switches, whereto, and who makes a move."""

    def __init__(self, state, action):
        self.forced = jnp.any(state.request == SWITCH)
        asked = state.request != NOBODY
        self.switches = asked & (action >= MOVE_SLOTS)
        self.place = jnp.maximum(action - MOVE_SLOTS, 0)
        self.moves = asked & ~self.switches


def locks(both):
    """Whether both are bound to go on with a move: hard, so that they cannot switch, and at all."""
    hard = both.recharge | (both.thrash_move > 0) | (both.two_turn > 0) | (both.rage > 0)
    return hard, hard | (both.trap_turns > 0) | (both.bide_turns > 0)


def usable(both):
    """Slots `[2, 4]` that can be chosen where nothing else decides."""
    slots = jnp.arange(MOVE_SLOTS, dtype=jnp.int32)
    disabled = (both.disable_turns[:, None] > 0) & (slots == both.disable_slot[:, None])
    return (both.act_moves > 0) & (both.act_pp > 0) & ~disabled


def maybe_locked(both):
    """Whether they may not know themselves whether they can choose."""
    maybe = ((both.trapped > 0) & both.trapped_maybe) | (both.fake_trapped > 0)
    maybe &= ~_is_still(both)
    maybe |= (both.trap_turns > 0) & (both.trap_total - both.trap_turns > 1)
    return maybe & (both.bide_turns == 0)


def _is_still(both):
    return (both.status == SLEEP) | (both.status == FREEZE)


def legal(state, both):
    """Which of ten actions each side may choose, `[2, 10]`."""
    hard, bound = locks(both)
    maybe = maybe_locked(both) & ~hard
    free = usable(both)
    single = hard | (bound & ~maybe) | _is_still(both) | ((both.trapped > 0) & ~maybe) | ~jnp.any(free, axis=1)
    first = jnp.arange(MOVE_SLOTS) == 0
    moves = jnp.where(single[:, None], first, free) & (state.request == MOVE)[:, None]
    bench = (state.hp > 0) & (places() != both.place[:, None])
    bench &= ((state.request == SWITCH) | ((state.request == MOVE) & ~hard))[:, None]
    return jnp.concatenate([moves, bench], axis=1)


def _select_moves(both, choice, action):
    """What the sides remember as selected, which is the move that is made: who cannot choose keeps what was chosen last."""
    _, bound = locks(both)
    still = _is_still(both)
    fights = ~bound & (still | (both.trapped > 0))
    free = jnp.any(usable(both), axis=1)
    chooses = choice.moves & ~bound & ~fights
    slots = jnp.arange(MOVE_SLOTS, dtype=jnp.int32)
    chosen = jnp.sum(jnp.where(slots == action[:, None], both.act_moves, 0), axis=1, dtype=jnp.int32)
    both = put(both, choice.moves & fights & ~still, selected=CANNOT_MOVE)
    both = put(both, chooses & ~free, selected=STRUGGLE)
    both = put(both, chooses & free, selected=chosen, slot=action)
    return both._replace(queued=both.selected)


def _order(both, choice, rolls):
    """Whether the second side goes first. Equals are put in order by a roll, and who thrashes is put in once more."""
    speed, priority = both.modified[:, SPEED], look(PRIORITY, both.selected)
    priority = jnp.where(choice.switches, 2, priority)  # switches come before all moves
    takes_part = choice.switches | choice.moves
    both_act, equal = jnp.all(takes_part), speed[0] == speed[1]
    thrashes = choice.moves & (both.thrash_move > 0)
    flips = rolls.draws["speed_tie"]

    def insert(carry, turn):
        """First both, then the first and the second side once more, if it thrashes."""
        second, used, priority = carry
        again = (jnp.arange(2) == turn - 1) & thrashes
        counts = both_act & ((turn == 0) | jnp.any(again))
        priority = jnp.where(again & both_act, 0, priority)
        tie = counts & equal & (priority[0] == priority[1])
        later = (priority[1] > priority[0]) | ((priority[1] == priority[0]) & (speed[1] > speed[0]))
        # Drawn 0 who is put in comes before the other, drawn 1 behind it.
        behind = (at_slot(flips, used) == 1) != (turn == 2)
        second = jnp.where(counts, jnp.where(tie, behind, later), second)
        return (second, used + tie.astype(jnp.int32), priority), None

    start = (jnp.bool(False), jnp.int32(0), priority)
    (second, used, _), _ = jax.lax.scan(insert, start, jnp.arange(3))
    rolls.count("speed_tie", used)
    second = jnp.where(both_act, second, takes_part[1])
    return second.astype(jnp.int32), put(both, thrashes, queued=both.thrash_move)


def _switch(state, both, choice, second, rolls):
    """Switches of one side or of both, and what poison and burns take of who comes in. Whether the turn goes on."""
    others = members(state, choice.place)
    fresh = arrived(both._replace(place=choice.place, **others))
    fresh = put(fresh, fresh.status == TOXIC, status=POISON)
    toll = jnp.where((fresh.status == POISON) | (fresh.status == BURN), jnp.maximum(fresh.max_hp >> 4, 1), 0)
    left = jnp.where(choice.forced, fresh.hp, jnp.maximum(fresh.hp - toll, 0))
    is_first = jnp.arange(2) == second
    # Who faints as it comes in ends the turn: the other switch is off.
    ends = jnp.any(choice.switches & is_first & (left == 0))
    switches = choice.switches & (is_first | ~ends)
    alone = jnp.all(switches)
    tie = alone & choice.forced & (fresh.modified[0, SPEED] == fresh.modified[1, SPEED])
    rolls.count("speed_tie", tie)
    # Whose trap was laid by Metronome, chooses Metronome when the one it held has gone.
    slots = jnp.arange(MOVE_SLOTS, dtype=jnp.int32)
    in_slot = jnp.sum(jnp.where(slots == both.slot[:, None], both.act_moves, 0), axis=1, dtype=jnp.int32)
    foe_switches = jnp.flip(switches & is_first) & ~(choice.forced & switches)
    calls = foe_switches & (both.trap_turns > 0) & (both.hp > 0) & (in_slot == METRONOME_MOVE)
    both = put(both, calls, selected=METRONOME_MOVE, queued=METRONOME_MOVE)
    both = put(both, jnp.any(switches) & (both.hp > 0), last_move=0)
    fresh = fresh._replace(hp=left, slot=jnp.zeros_like(fresh.slot), selected=both.selected, queued=both.queued)
    both = select(switches, fresh, both)
    seen = state.seen | (switches[:, None] & (places() == both.place[:, None]))
    return state._replace(seen=seen), both, jnp.all(both.hp > 0)


def _with_bench(state, both):
    bench = (state.hp > 0) & (places() != both.place[:, None])
    slept = bench & (state.status == SLEEP) & state.slept_by_foe
    return both._replace(
        bench_slept=jnp.any(slept, axis=1), bench_frozen=jnp.any(bench & (state.status == FREEZE), axis=1)
    )


def _moves(both, last_damage, rolls, on, second):
    """Both Pokémon's turns, one after the other, until somebody faints.

    One loop goes through the stages of both: so the compiler works out each stage once, and none of it again where its
    results are needed.
    """

    def run(stage):
        def ran(carry):
            own, foe, own_on, foe_on, last_damage, used, aim = carry
            scene = Scene(own, foe, last_damage, Rolls(rolls.draws, used))
            aim = stage(scene, own_on, aim)
            turn = scene.own, scene.foe, own_on, foe_on, scene.last_damage, scene.rolls.used, aim
            return _give_way(*turn) if stage is STAGES[-1] else turn

        return ran

    def advance(carry, number):
        return jax.lax.switch(number, [run(stage) for stage in STAGES], carry), None

    turned = select_order(second, (both, on))
    (first, first_on), (other, other_on) = (jax.tree.map(lambda leaf, at=at: leaf[at], turned) for at in range(2))
    carry = (first, other, first_on, other_on, last_damage, rolls.used, NO_AIM)
    carry, _ = jax.lax.scan(advance, carry, jnp.tile(jnp.arange(len(STAGES)), 2))
    first, other, _, _, last_damage, rolls.used, _ = carry
    both = jax.tree.map(lambda a, b: jnp.stack([a, b]), first, other)
    return select_order(second, both), last_damage


def _give_way(own, foe, own_on, foe_on, last_damage, used, aim):
    """The other's turn comes, unless somebody fainted."""
    return foe, own, foe_on & (own.hp > 0) & (foe.hp > 0), own_on, last_damage, used, NO_AIM


def select_order(second, tree):
    """Both sides, the second side first where it is the first to move."""
    return jax.tree.map(lambda leaf: jnp.where(second == 1, jnp.flip(leaf, axis=0), leaf), tree)


def _end_turn(both, forced):
    """What lasts for some turns lasts one less, except in the turn of a replacement. Traps end whose other side is gone."""
    lasting = ("trapped", "fake_trapped", "trap_turns")
    less = {name: jnp.maximum(getattr(both, name) - 1, 0) for name in lasting}
    both = put(both, ~forced, flinch=False, **less)
    both = put(both, both.trap_turns == 0, **NO_TRAP)
    both = put(both, both.trapped == 0, trapped_maybe=False)
    for side in range(2):
        here, other = jnp.arange(2) == side, 1 - side
        held = (both.trapped[other] > 0) & (both.place[other] == both.trap_target[side])
        both = put(both, here & ~held, **NO_TRAP)
        both = put(both, here & (both.trap_turns[other] == 0), trapped=0, trapped_maybe=False)
        both = put(both, here & (both.fake_trapped[other] == 0), fake_trapped=0)
    return both


def stuck(state, both):
    """Whether nobody can ever do anything any more."""
    gone = state.hp == 0
    here = places() == both.place[:, None]
    types = jnp.where(here[:, :, None], both.types[:, None], look(SPECIES_TABLE, state.species)[:, :, :2])
    moves = jnp.where(here[:, :, None], both.act_moves[:, None], wide(state.moves))
    pp = jnp.where(here[:, :, None], both.act_pp[:, None], wide(state.pp))
    ghosts = jnp.all(gone | jnp.any(types == GHOST, axis=2), axis=1)
    turns_into = jnp.all((moves == TRANSFORM) | (moves == 0), axis=2)
    transforms = jnp.all(gone | turns_into, axis=1)
    spent = jnp.all((pp == 0) | (moves == 0), axis=2)
    idle = gone | (state.status == FREEZE)
    idle |= (turns_into & jnp.flip(transforms)[:, None]) | (spent & jnp.flip(ghosts)[:, None])
    return jnp.all(idle)


def play(state, action, draws):
    """The state after a step, whether the battle is over, who won it `[2]`, and how many rolls were used by name."""
    rolls = Rolls(draws, {name: jnp.int32(0) for name in draws})
    choice = Choice(state, action)
    both = _select_moves(load(state), choice, action)
    second, both = _order(both, choice, rolls)
    state, both, goes_on = _switch(state, both, choice, second, rolls)
    both = _with_bench(state, both)
    both, last_damage = _moves(both, state.last_damage, rolls, choice.moves & goes_on, second)
    dead = both.hp == 0
    falls = jnp.any(dead)
    both = put(both, falls & ~dead, bide_damage=0)
    both = put(select(dead, arrived(both), both), dead, status=0, sleep=0, slept_by_foe=False)
    ended = select(jnp.broadcast_to(falls, 2), both, _end_turn(both, choice.forced))
    state = save(state, ended)
    left = jnp.any(state.hp > 0, axis=1)
    over = ~jnp.all(left)
    turn = state.turn + (~falls).astype(jnp.uint16)
    drawn = ~falls & (stuck(state, ended) | (turn > LAST_TURN))
    request = jnp.where(falls, jnp.where(dead, SWITCH, NOBODY), MOVE)
    request = jnp.where(over | drawn, NOBODY, request)
    state = state._replace(turn=turn, last_damage=last_damage, request=request.astype(jnp.uint8))
    return state, over | drawn, left & over, rolls.used
