"""The course of a game: beginning, turns, what may be done, attacks, knockouts, checkups, the end."""

import tables
from board import Mon, Side
from effects import Effects

START, BENCHING, TURN, ANSWER, OVER = 0, 1, 2, 3, 4


class Play(Effects):
    """One game; `roll(name)` makes a draw."""

    def __init__(self, listed, decks, roll):
        self.listed, self.decks, self.roll = listed, decks, roll
        self.cards = {card["id"]: card for card in listed}
        self.sides = [Side(), Side()]
        self.turn = self.phase = self.player = self.asked = self.stage = 0
        self.supporter = self.retreated = self.eased = self.chosen = self.left = 0
        self.run, self.winner = [0, 0, 0, 0], None

    def begin(self):
        first = self.roll("first")
        source, archetype, base, line = [self.roll(name) for name in ("source", "archetype", "base", "line")]  # 10
        for at, side in enumerate(self.sides):
            if source[at] == 0:
                side.deck, side.types = tables.archetype_deck(self.decks, archetype[at])  # 11
            else:
                side.deck, side.types = tables.free_deck(self.listed, self.decks, base[at], line[at])
        for side in self.sides:
            side.shuffle(self.roll("shuffle"))  # 17
            nearest = min(at for at, card in enumerate(side.deck) if tables.basic(self.cards[card]))
            if nearest > 4:  # 18
                side.deck[4], side.deck[nearest] = side.deck[nearest], side.deck[4]
            side.draw(5)  # 19
        for side in self.sides:
            self.new_energy(side)  # 21
        self.player = self.asked = first  # 20
        self.phase = START

    def new_energy(self, side):
        side.zone[1] = side.types[self.roll("energy") % len(side.types)]  # 45

    # --- what may be done ---

    def legal(self):
        """The numbers of all legal actions (92)."""
        me, you = self.sides[self.asked], self.sides[1 - self.asked]
        if self.phase == OVER:
            return set()  # 58
        if self.phase == ANSWER:
            return set(self.answers())
        if self.phase in (START, BENCHING):
            may = {1 + at for at, (card, _) in enumerate(me.hand) if tables.basic(self.cards[card])}  # 22
            may = may if self.phase == START or me.free_place() else set()
            return may | ({0} if self.phase == BENCHING else set())
        may = {0} | {1 + at for at, (card, _) in enumerate(me.hand) if self.playable(self.cards[card], me, you)}
        active, card = me.mons[0], self.cards[me.mons[0].card]
        rigid = me.mind in (1, 2)
        if not rigid and not me.no_attack:  # 47
            may |= {29 + at for at, (cost, _) in enumerate(card["attacks"]) if self.pays(cost, active.energy)}
        fee = max(0, card["retreat"] - self.eased)  # 41
        if not (rigid or me.no_retreat or self.retreated or card["kind"] == "fossil"):  # 42
            may |= {35} if me.bench() and sum(active.energy) >= fee else set()
        for place in me.everyone():
            mon = self.cards[me.mons[place].card]
            if mon["ability"] and not me.mons[place].used and (place == 0 or mon["when"] == "turn"):  # 39
                may |= {31 + place} if self.can(mon["ability"][0], me, you) else set()
            may |= {36 + place} if me.zone[0] else set()  # 46
            may |= {40 + place} if mon["kind"] == "fossil" and len(me.everyone()) > 1 else set()  # 40
        return may

    def playable(self, card, me, you):
        if tables.basic(card) or card["kind"] == "fossil":
            return me.free_place() > 0  # 33
        if card["kind"] == "pokemon":
            return bool(self.evolvable(card, me))
        if card["kind"] == "supporter":
            silent = self.cards[you.mons[0].card]["always"][:1] == ["silence"]  # 90
            if self.supporter or me.gagged or silent:  # 36, 76
                return False
        return self.can(card["effect"][0], me, you)

    def evolvable(self, card, me):
        """Where an evolution may be put (34)."""
        if self.turn <= 2:
            return []
        return [
            place
            for place in me.everyone()
            if not me.mons[place].fresh and self.cards[me.mons[place].card]["name"] == card["from"]
        ]

    def can(self, word, me, you):
        """Whether a first word can do something (38)."""
        active = self.cards[me.mons[0].card]
        match word:
            case ["choose", *what]:
                return bool(self.choosable(what, me, you))
            case ["heal", "own", _]:
                return any(me.mons[place].damage for place in me.everyone())
            case ["push"]:
                return bool(you.bench())
            case ["draw" | "look" | "find", _]:
                return bool(me.deck)
            case ["show"] | ["redraw", _]:
                return bool(you.hand)
            case ["lift", names]:
                return tables.named_by(names, active) and bool(me.bench())
            case ["gather", letter, names]:
                at = tables.LETTERS.index(letter)
                return tables.named_by(names, active) and any(me.mons[place].energy[at] for place in me.bench())
            case ["charge", "active", letter, _]:
                return active["type"] == letter
        return True

    # --- doing it ---

    def act(self, action):
        self.winner = None
        if action not in self.legal():
            return  # 93
        me = self.sides[self.asked]
        if self.phase == ANSWER:
            self.answer(action)
        elif self.phase != TURN:
            self.place(action, me)
        elif action == 0:
            self.finish_turn()
        elif action <= 20:
            self.play(me.hand[action - 1][0], me)
        elif action <= 30:
            if me.mind == 3 and self.roll("coin") == 0:
                self.finish_turn()  # 48
            else:
                self.start([me.mons[0].card, action - 28, 0, 0])
        elif action <= 34:
            me.mons[action - 31].used = 1
            self.start([me.mons[action - 31].card, 3, 0, action - 31])
        elif action == 35:
            self.retreated = 1
            self.start([me.mons[0].card, 5, 0, 0])
        elif action <= 39:
            me.mons[action - 36].energy[me.zone[0] - 1] += 1
            me.zone[0] = 0
        else:
            me.to_discard(me.remove(action - 40))
            self.go_on()

    def place(self, action, me):
        if action:
            card = me.hand[action - 1][0]
            me.lose(card)
            me.mons[0 if self.phase == START else me.free_place()] = Mon(card)
            self.phase = BENCHING
        elif self.sides[1 - self.asked].mons[0]:
            self.start_turn(1 - self.asked)  # 24
        else:
            self.asked, self.phase = 1 - self.asked, START

    def play(self, number, me):
        card = self.cards[number]
        me.lose(number)
        if tables.basic(card) or card["kind"] == "fossil":
            mon = me.mons[me.free_place()] = Mon(number)
            mon.fresh = 1
        elif card["kind"] == "pokemon":
            self.start([number, 6, 0, 0])
        else:
            self.supporter = number if card["kind"] == "supporter" else self.supporter
            me.to_discard([number])  # 37
            self.start([number, 4, 0, 0])

    # --- turns ---

    def start_turn(self, player):
        self.turn += 1
        self.player = self.asked = player
        self.phase, self.stage = TURN, 0
        side = self.sides[player]
        if self.turn > 1:  # 44
            side.zone[0] = side.zone[1]
            self.new_energy(side)
        side.draw(1)  # 30

    def finish_turn(self):
        """The turn is over; what lasted until now ends."""
        me, you = self.sides[self.player], self.sides[1 - self.player]
        me.zone[0] = 0  # 46
        me.no_attack = me.no_retreat = me.weakened = me.gagged = 0  # 74, 75, 76
        you.shield = 0  # 73
        for place in me.everyone():
            me.mons[place].fresh = me.mons[place].used = 0
        self.supporter = self.retreated = self.eased = 0
        self.stage = 1
        self.go_on()

    def go_on(self):
        """Knockouts, the end, who comes to an empty active spot, and what is next (53 to 57)."""
        while True:
            for at, side in enumerate(self.sides):
                for place in side.everyone():
                    card = self.cards[side.mons[place].card]
                    if side.mons[place].damage >= card["hp"]:  # 53
                        side.to_discard(side.remove(place))
                        self.sides[1 - at].points += 2 if card["name"].endswith(" ex") else 1  # 5
            one, two = [(self.sides[at].points >= 3) + (not self.sides[1 - at].everyone()) for at in (0, 1)]  # 54
            if one or two:
                self.phase = OVER
                self.winner = None if one == two else int(two > one)
                return
            empty = [at for at in (1 - self.player, self.player) if not self.sides[at].mons[0]]
            if empty:  # 55
                self.asked, self.phase, self.run = empty[0], ANSWER, [0, 7, 0, 0]
                return
            if self.stage == 0:
                return
            if self.stage == 1:
                self.checkup()
                self.stage = 2
            elif self.turn == 30:  # 57
                self.phase = OVER
                return
            else:
                self.start_turn(1 - self.player)
                return

    def checkup(self):
        for at in (self.player, 1 - self.player):  # 62
            side = self.sides[at]
            if side.poisoned:
                self.damage(side, 0, 10)
            if side.burned:
                self.damage(side, 0, 20)
                if self.roll("coin"):
                    side.burned = 0
            if side.mind == 1 and self.roll("coin"):
                side.mind = 0
        if self.sides[self.player].mind == 2:  # 63
            self.sides[self.player].mind = 0
