"""What the words of effects do that ask somebody: who is asked, what may be answered, and what an answer does.

A question is open while the state's phase is ASKED. It is the word at which the running effect stands, so that the state
alone says what may be answered.
"""

from cards import TYPES, fits
from state import ACTIVE, ATTACK_1, PLACES

END_OR_DONE, HAND, OWN, OTHERS, ATTACK, USE, LEAVE, CHARGE, SCRAP, ENERGY = 0, 1, 21, 25, 29, 31, 35, 36, 40, 44  # 92
ACTIONS = 52


class Question:
    """A word that asks. Answers are actions (92)."""

    stops_without_answer = False
    """Whether the rest of the effect is left out where nothing can be answered."""

    def begin(self, effect, arguments):
        """Set what is counted down; returns whether anything is to be asked at all."""
        return True

    def asks_other(self):
        return False

    def answers(self, effect, arguments):
        raise NotImplementedError

    def take(self, effect, arguments, action):
        """Do what an answer says; returns whether the same is asked again, as far as it can be answered."""
        raise NotImplementedError


class Choose(Question):
    """`choose SIDE PLACE FILTER` (77)."""

    stops_without_answer = True

    def answers(self, effect, arguments):
        side, where, *filters = arguments
        player, first = (effect.player, OWN) if side == "own" else (effect.other, OTHERS)
        return [
            first + place for place in effect.state.in_play(player) if self._fits(effect, player, place, where, filters)
        ]

    def take(self, effect, arguments, action):
        effect.state.chosen = action - OWN + 1
        return False

    def _fits(self, effect, player, place, where, filters):
        if where != "any" and (where == "active") != (place == ACTIVE):
            return False
        if "hurt" in filters and not effect.state.damage[player][place]:
            return False
        return fits(effect.card(player, place), filters)


class Spread(Question):
    """`spread X` (79)."""

    def begin(self, effect, arguments):
        effect.state.left = effect.heads
        return effect.heads > 0

    def answers(self, effect, arguments):
        return [
            OWN + place
            for place in effect.state.benched(effect.player)
            if effect.card(effect.player, place).type == arguments[0]
        ]

    def take(self, effect, arguments, action):
        effect.state.energy[effect.player][action - OWN][TYPES.index(arguments[0])] += 1
        effect.state.left -= 1
        return effect.state.left > 0


class Push(Question):
    """`push` (81): the other player chooses."""

    def asks_other(self):
        return True

    def answers(self, effect, arguments):
        return [OWN + place for place in effect.state.benched(effect.other)]

    def take(self, effect, arguments, action):
        effect.state.exchange(effect.other, action - OWN)
        return False


class Copy(Question):
    """`copy` (89): first a Pokémon, then one of its attacks. What the attack does, who runs the effect begins."""

    def answers(self, effect, arguments):
        state = effect.state
        if not state.chosen:
            return [OTHERS + place for place in state.in_play(effect.other) if effect.card(effect.other, place).attacks]
        return [ATTACK + at for at in range(len(effect.card(*effect.chosen).attacks))]

    def take(self, effect, arguments, action):
        state = effect.state
        if not state.chosen:
            state.chosen = action - OWN + 1
            return True
        card, at = effect.card(*effect.chosen), action - ATTACK
        attack = card.attacks[at]
        if affordable(attack.cost, state.energy[effect.player][ACTIVE]) and ["copy"] not in attack.words:
            state.run = [card.id, ATTACK_1 + at, 0, ACTIVE]
            state.chosen = 0  # 110
        return False


class Pay(Question):
    """The energy that a retreat costs, one after another (41)."""

    def begin(self, effect, arguments):
        effect.state.left = retreat_cost(effect.state, effect.card(effect.player, ACTIVE))
        return effect.state.left > 0

    def answers(self, effect, arguments):
        return [ENERGY + at for at, count in enumerate(effect.state.energy[effect.player][ACTIVE]) if count]

    def take(self, effect, arguments, action):
        effect.state.energy[effect.player][ACTIVE][action - ENERGY] -= 1
        effect.state.left -= 1
        return effect.state.left > 0


class Evolve(Question):
    """On whom an evolution is put (34, 35)."""

    def answers(self, effect, arguments):
        return [
            OWN + place
            for place in evolving(effect.state, effect.catalogue, effect.player, effect.catalogue[effect.state.run[0]])
        ]

    def take(self, effect, arguments, action):
        state, player, place = effect.state, effect.player, action - OWN
        under = state.under[player][place]
        under[under.index(0)] = state.card[player][place]
        state.put(player, place, state.run[0])
        state.used[player][place] = 0
        if place == ACTIVE:
            state.free_active(player)
        return False


class Promote(Question):
    """Who comes to an empty active spot (55). The effect is of the player who is asked."""

    def answers(self, effect, arguments):
        return [OWN + place for place in effect.state.benched(effect.player)]

    def take(self, effect, arguments, action):
        effect.state.exchange(effect.player, action - OWN)
        return False


QUESTIONS = {
    "choose": Choose(),
    "spread": Spread(),
    "push": Push(),
    "copy": Copy(),
    "pay": Pay(),
    "evolve": Evolve(),
    "promote": Promote(),
}
BUILT_IN = {5: [["pay"], ["choose", "own", "bench"], ["swap"]], 6: [["evolve"]], 7: [["promote"]]}
"""The words of a retreat, an evolution and a promotion, by the part that they are."""


def affordable(cost, energy):
    """Whether energy suffices for the letters of a cost (47)."""
    return sum(energy) >= len(cost) and all(energy[at] >= cost.count(letter) for at, letter in enumerate(TYPES))


def retreat_cost(state, card):
    """How much energy a retreat costs this turn (41)."""
    return max(0, card.retreat - state.eased)


def evolving(state, catalogue, player, card):
    """The places of Pokémon on which an evolution can be played (34)."""
    if state.turn <= 2 or card.evolves_from is None:
        return []
    there = [place for place in range(PLACES) if state.card[player][place] and not state.fresh[player][place]]
    return [place for place in there if catalogue[state.card[player][place]].name == card.evolves_from]
