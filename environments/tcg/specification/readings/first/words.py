"""What the words of effects do that ask nobody (section Words of the rules)."""

from cards import TYPES, fits
from state import (
    ACTIVE,
    ALL,
    ASLEEP,
    ATTACK_1,
    ATTACK_2,
    CONFUSED,
    PARALYSED,
    PLACES,
)

LONGEST_RUN = 16  # 66
FULL_HAND = 10  # 31
MINDS = {"asleep": ASLEEP, "paralysed": PARALYSED, "confused": CONFUSED}
PREVENTED = {"inflict", "strip", "bar", "weaken", "push", "return"}  # 73


class Effect:
    """One effect that is carried out: who uses it, and what is counted until somebody is asked (91).

    Attributes:
        player, other: whose effect it is, and the other one.
        place: where self is.
        part: whether it is an attack, an ability or a trainer's.
        cost: of an attack.
    """

    def __init__(self, state, catalogue, chance, player, place, part, cost=""):
        self.state, self.catalogue, self.chance = state, catalogue, chance
        self.player, self.other, self.place, self.part, self.cost = player, 1 - player, place, part, cost
        self.heads = self.tails = self.more = self.dealt = 0

    @property
    def is_attack(self):
        return self.part in (ATTACK_1, ATTACK_2)

    def card(self, player, place):
        """The card of who is there, or None."""
        number = self.state.card[player][place]
        return self.catalogue[number] if number else None

    @property
    def chosen(self):
        """Whose Pokémon was chosen, and its place."""
        own, place = divmod(self.state.chosen - 1, PLACES)
        return (self.player if own == 0 else self.other), place

    def do(self, word):
        """Carry a word out. Returns whether the effect goes on."""
        name, *arguments = word
        return self.prevented(name) or WORDS[name](self, *arguments) is not False

    def prevented(self, name):
        """Whether a whole shield stops a word of an attack (73)."""
        return name in PREVENTED and self.is_attack and self.state.shield[self.other] == ALL

    # --- damage ---

    def add_damage(self, player, place, amount):
        """Damage that nothing changes; returns how much was added (51)."""
        hp, before = self.card(player, place).hp, self.state.damage[player][place]
        self.state.damage[player][place] = min(hp, before + amount)
        return min(hp, before + amount) - before

    def attack(self, place, amount):
        """Damage of the attack to a Pokémon of the other player (50); returns how much was added."""
        state, target, attacker = self.state, self.card(self.other, place), self.card(self.player, ACTIVE)
        if amount and place == ACTIVE:
            amount += self._boost(attacker)
        amount = max(0, amount - state.weakened[self.player])
        if amount == 0:
            return 0
        if place == ACTIVE and target.weakness == attacker.type:
            amount += 20
        amount -= target.constant("armour")
        if place == ACTIVE:
            amount = 0 if state.shield[self.other] == ALL else amount - state.shield[self.other]
        added = self.add_damage(self.other, place, max(0, amount))
        if place == ACTIVE and added:
            self.add_damage(self.player, ACTIVE, target.constant("counter"))  # 52
        return added

    def _boost(self, attacker):
        """Of the supporter of this turn (87)."""
        for name, *arguments in self.catalogue[self.state.supporter].effect if self.state.supporter else ():
            if name == "boost" and fits(attacker, arguments[1:]):
                return int(arguments[0])
        return 0

    # --- chance ---

    def pick(self, things):
        """One of a list (88)."""
        return things[self.chance("pick") * len(things) >> 16]

    def shuffle(self, player):
        shuffle(self.state, player, self.chance("shuffle"))

    def draw(self, player, count):
        for _ in range(count):
            draw(self.state, player)


def shuffle(state, player, numbers):
    """Sort a deck by numbers; equal ones keep their order (16)."""
    deck = state.deck[player]
    state.deck[player] = [deck[i] for i in sorted(range(len(deck)), key=lambda i: numbers[i])]
    state.looked[player] = 0


def draw(state, player):
    """Take the top card, unless the hand is full or the deck is empty (31)."""
    if len(state.hand[player]) < FULL_HAND and state.deck[player]:
        state.take(player, state.deck[player].pop(0), False)
        state.looked[player] = max(0, state.looked[player] - 1)


# --- words ------------------------------------------------------------------------------------------------------------


def _flip(effect, count):
    effect.heads = effect.tails = 0  # 66
    until_tails = count == "run"
    while effect.heads + effect.tails < (LONGEST_RUN if until_tails else int(count)):
        if effect.chance("coin"):
            effect.heads += 1
        else:
            effect.tails += 1
            if until_tails:
                return


def _need(effect, what):
    return {"heads": effect.heads > 0, "tails": effect.tails > 0, "all": effect.tails == 0}[what]  # 67


def _more(effect, amount, *count):
    effect.more += int(amount) * _count(effect, *count)


def _count(effect, what, *arguments):
    state, player, other = effect.state, effect.player, effect.other
    if what == "heads":
        return effect.heads
    if what == "all":
        return int(effect.tails == 0)
    if what == "bench":
        return sum(fits(effect.card(player, place), arguments) for place in state.benched(player))
    if what == "foe-energy":
        return sum(state.energy[other][ACTIVE])
    if what == "extra":
        letter, least = arguments
        return int(state.energy[player][ACTIVE][TYPES.index(letter)] - effect.cost.count(letter) >= int(least))
    if what == "hurt":
        whose, place = (player, effect.place) if arguments == ("self",) else (other, ACTIVE)
        return int(state.damage[whose][place] > 0)
    return int(state.poisoned[other])


def _hit(effect, amount):
    effect.dealt = effect.attack(ACTIVE, int(amount) + effect.more)
    effect.more = 0


def _strike(effect, target, amount):
    on_bench = [(effect.other, place) for place in effect.state.benched(effect.other)]
    for player, place in on_bench if target == "bench" else [effect.chosen]:
        if effect.is_attack and player == effect.other:
            effect.attack(place, int(amount))
        else:
            effect.add_damage(player, place, int(amount))  # 68


def _hurt(effect, amount):
    effect.add_damage(effect.player, effect.place, int(amount))


def _scatter(effect, times, amount):
    places = effect.state.in_play(effect.other)
    picked = [effect.pick(places) for _ in range(int(times))]  # 69
    for place in places:
        effect.attack(place, picked.count(place) * int(amount))


def _heal(effect, target, amount):
    points = effect.dealt if amount == "dealt" else int(amount)
    if target == "own":
        places = [(effect.player, place) for place in effect.state.in_play(effect.player)]
    else:
        places = [effect.chosen if target == "chosen" else (effect.player, effect.place)]
    for player, place in places:
        effect.state.damage[player][place] = max(0, effect.state.damage[player][place] - points)


def _inflict(effect, condition):
    if condition in MINDS:
        effect.state.mind[effect.other] = MINDS[condition]  # 59
    else:
        getattr(effect.state, condition)[effect.other] = 1


def _shield(effect, amount):
    effect.state.shield[effect.player] = ALL if amount == "all" else int(amount)


def _bar(effect, what):
    getattr(effect.state, "no_" + what)[effect.other] = 1


def _weaken(effect, amount):
    effect.state.weakened[effect.other] = int(amount)


def _gag(effect):
    effect.state.gagged[effect.other] = 1


def _charge(effect, target, letter, amount):
    count = effect.heads if amount == "heads" else int(amount)
    self_or_active = (effect.player, effect.place if target == "self" else ACTIVE)
    player, place = effect.chosen if target == "chosen" else self_or_active
    if target == "active" and effect.card(player, place).type != letter:
        return  # 78
    effect.state.energy[player][place][TYPES.index(letter)] += count


def _discard(effect, letter, amount="0"):
    energy = effect.state.energy[effect.player][effect.place]
    if letter == "all":
        energy[:] = [0] * len(energy)
    else:
        at = TYPES.index(letter)
        energy[at] = max(0, energy[at] - int(amount))


def _strip(effect):
    energy = effect.state.energy[effect.other][ACTIVE]
    there = [at for at, count in enumerate(energy) for _ in range(count)]
    if there:
        energy[effect.pick(there)] -= 1


def _swap(effect):
    effect.state.exchange(*effect.chosen)


def _draw(effect, count):
    effect.draw(effect.player, int(count))


def _taken(effect, is_right):
    """A random card of the own deck, which leaves it; None where none is right (82)."""
    deck = effect.state.deck[effect.player]
    cards = [effect.catalogue[number] for number in deck]
    places = [at for at, card in enumerate(cards) if card.kind == "pokemon" and is_right(card)]
    if not places:
        return None
    at = effect.pick(places)
    effect.state.looked[effect.player] -= at < effect.state.looked[effect.player]
    return deck.pop(at)


def _find(effect, *filters):
    if len(effect.state.hand[effect.player]) < FULL_HAND:
        card = _taken(effect, lambda card: fits(card, filters))
        if card is not None:
            effect.state.take(effect.player, card, True)


def _call(effect, name):
    room = effect.state.room(effect.player)
    if room is not None:
        card = _taken(effect, lambda card: fits(card, [name]))
        if card is not None:
            effect.state.put(effect.player, room, card)


def _toss(effect):
    hand = effect.state.hand[effect.other]
    if hand:
        card = effect.pick(hand)
        effect.state.give(effect.other, card)
        effect.state.throw(effect.other, card)


def _return(effect):
    effect.state.deck[effect.other] += effect.state.clear(effect.other, ACTIVE)
    effect.shuffle(effect.other)


def _show(effect):
    effect.state.known[effect.other] = [True] * len(effect.state.hand[effect.other])


def _look(effect, count):
    state, player = effect.state, effect.player
    state.looked[player] = max(state.looked[player], min(int(count), len(state.deck[player])))


def _lift(effect, names):
    for card in effect.state.clear(effect.player, ACTIVE):
        effect.state.take(effect.player, card, True)


def _gather(effect, letter, names):
    energy, at = effect.state.energy[effect.player], TYPES.index(letter)
    for place in effect.state.benched(effect.player):
        energy[ACTIVE][at] += energy[place][at]
        energy[place][at] = 0


def _redraw(effect, count):
    state, other = effect.state, effect.other
    state.deck[other] += state.hand[other]
    state.hand[other], state.known[other] = [], []
    effect.shuffle(other)
    effect.draw(other, int(count))


def _ease(effect, amount):
    effect.state.eased += int(amount)


def _boost(effect, *arguments):
    """Nothing now: while the supporter counts, attacks ask for it (87)."""


WORDS = {
    "flip": _flip,
    "need": _need,
    "more": _more,
    "hit": _hit,
    "strike": _strike,
    "hurt": _hurt,
    "scatter": _scatter,
    "heal": _heal,
    "inflict": _inflict,
    "shield": _shield,
    "bar": _bar,
    "weaken": _weaken,
    "gag": _gag,
    "charge": _charge,
    "discard": _discard,
    "strip": _strip,
    "swap": _swap,
    "drag": _swap,
    "draw": _draw,
    "find": _find,
    "call": _call,
    "toss": _toss,
    "return": _return,
    "show": _show,
    "look": _look,
    "lift": _lift,
    "gather": _gather,
    "redraw": _redraw,
    "ease": _ease,
    "boost": _boost,
}
