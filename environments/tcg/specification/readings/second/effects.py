"""Effects: words that are carried out, and the questions that some of them ask (65 to 91)."""

from tables import LETTERS, named_by

MINDS = ("", "asleep", "paralysed", "confused")
STOPPED = ("inflict", "strip", "bar", "weaken", "push", "return")  # 73
ASKING = ("choose", "spread", "push", "copy", "pay", "evolve", "promote")


class Effects:
    """What a game does while an effect runs. `run` is card, part, word, place; parts 1 and 2 are attacks."""

    def pays(self, cost, energy):
        """47."""
        enough = all(energy[at] >= cost.count(letter) for at, letter in enumerate(LETTERS))
        return enough and sum(energy) >= len(cost)

    def damage(self, side, place, amount):
        """Damage that nothing changes; how much was added (51)."""
        mon = side.mons[place]
        added = min(amount, self.cards[mon.card]["hp"] - mon.damage)
        mon.damage += added
        return added

    # --- running ---

    def start(self, run):
        self.run = run
        self.carry_on()

    def words(self):
        """The words of what runs, and its cost."""
        number, part = self.run[:2]
        card = self.cards.get(number)
        if part in (1, 2):
            return card["attacks"][part - 1][1], card["attacks"][part - 1][0]
        own = {5: [["pay"], ["choose", "own", "bench"], ["swap"]], 6: [["evolve"]], 7: [["promote"]]}
        return own.get(part) or (card["ability"] if part == 3 else card["effect"]), ""

    def carry_on(self):
        """Words one after another, up to one that asks or to the end."""
        self.heads = self.tails = self.more = self.dealt = 0  # 91
        while self.run[2] < len(self.words()[0]):
            word = self.words()[0][self.run[2]]
            attack = self.run[1] in (1, 2)
            if attack and word[0] in STOPPED and self.sides[1 - self.player].shield == 255:
                self.run[2] += 1  # 73
                continue
            if word[0] in ASKING:
                self.left = {"spread": self.heads, "pay": self.fee()}.get(word[0], 1)
                asked_before = self.asked
                if word[0] != "promote":
                    self.asked = 1 - self.player if word[0] == "push" else self.player
                possible = bool(self.left and self.answers())
                self.left = self.left if word[0] in ("spread", "pay") else 0
                if possible:
                    self.phase = 3
                    return
                self.asked = asked_before
                if word[0] == "choose":
                    break  # 77
            elif self.carry_out(word) == "stop":
                break
            self.run[2] += 1
        self.over()

    def fee(self):
        if self.run[1] != 5:
            return 0
        return max(0, self.cards[self.sides[self.player].mons[0].card]["retreat"] - self.eased)  # 41

    def over(self):
        """Nothing runs any more."""
        attack = self.run[1] in (1, 2)
        self.run, self.chosen, self.left = [0, 0, 0, 0], 0, 0
        self.phase, self.asked = 2, self.player
        if attack:
            self.finish_turn()  # 49
        else:
            self.go_on()

    # --- questions ---

    def choosable(self, what, me, you):
        """Actions that `choose` allows (77)."""
        whose, where, *filters = what
        side, first = (me, 21) if whose == "own" else (you, 25)
        places = {"any": side.everyone(), "bench": side.bench(), "active": [0]}[where]
        found = []
        for place in places:
            mon = side.mons[place]
            if all(mon.damage > 0 if one == "hurt" else named_by(one, self.cards[mon.card]) for one in filters):
                found.append(first + place)
        return found

    def target(self):
        """The side and place of who was chosen."""
        at = self.chosen - 1
        return self.sides[self.player if at < 4 else 1 - self.player], at % 4

    def answers(self):
        """The actions that answer the word at which the effect stands."""
        word = self.words()[0][self.run[2]]
        me, you = self.sides[self.asked], self.sides[1 - self.asked]
        match word:
            case ["choose", *what]:
                return self.choosable(what, me, you)
            case ["spread", letter]:
                return [21 + place for place in me.bench() if self.cards[me.mons[place].card]["type"] == letter]  # 79
            case ["push"] | ["promote"]:
                return [21 + place for place in me.bench()]
            case ["pay"]:
                return [44 + at for at in range(8) if me.mons[0].energy[at]]
            case ["evolve"]:
                return [21 + place for place in self.evolvable(self.cards[self.run[0]], me)]
            case ["copy"]:
                if self.chosen == 0:
                    return [25 + place for place in you.everyone() if self.cards[you.mons[place].card]["attacks"]]
                side, place = self.target()
                return [29 + at for at in range(len(self.cards[side.mons[place].card]["attacks"]))]

    def answer(self, action):
        """Do what an answer says, then ask again or carry on."""
        word = self.words()[0][self.run[2]]
        me = self.sides[self.asked]
        match word:
            case ["choose", *_]:
                self.chosen = action - 20
            case ["spread", letter]:
                me.mons[action - 21].energy[LETTERS.index(letter)] += 1
                self.left -= 1
                if self.left:
                    return
            case ["pay"]:
                me.mons[0].energy[action - 44] -= 1
                self.left -= 1
                if self.left:
                    return
            case ["push"] | ["promote"]:
                me.change(action - 21)
            case ["evolve"]:
                mon = me.mons[action - 21]
                mon.under.append(mon.card)
                mon.card, mon.fresh, mon.used = self.run[0], 1, 0  # 35
                if action == 21:
                    me.bare()
            case ["copy"]:
                if self.chosen == 0:
                    self.chosen = action - 20
                    return
                side, place = self.target()
                number, self.chosen = side.mons[place].card, 0
                cost, words = self.cards[number]["attacks"][action - 29]
                if self.pays(cost, me.mons[0].energy) and ["copy"] not in words:  # 89
                    self.start([number, action - 28, 0, 0])
                    return
        self.run[2] += 1
        self.carry_on()

    # --- words that ask nobody ---

    def carry_out(self, word):
        me, you, place = self.sides[self.player], self.sides[1 - self.player], self.run[3]
        own = me.mons[place]
        match word:
            case ["flip", count]:  # 66
                self.heads = self.tails = 0
                most = 16 if count == "run" else int(count)
                while self.heads + self.tails < most and not (count == "run" and self.tails):
                    heads = self.roll("coin")
                    self.heads, self.tails = self.heads + heads, self.tails + 1 - heads
            case ["need", what]:  # 67
                met = {"heads": self.heads > 0, "tails": self.tails > 0, "all": self.tails == 0}
                return None if met[what] else "stop"
            case ["more", amount, *count]:
                self.more += int(amount) * self.counted(count, me, you, own)
            case ["hit", amount]:
                self.dealt = self.strike(0, int(amount) + self.more)
                self.more = 0
            case ["strike", "bench", amount]:
                for each in you.bench():
                    self.strike(each, int(amount))
            case ["strike", "chosen", amount]:
                side, each = self.target()
                if side is you and self.run[1] in (1, 2):
                    self.strike(each, int(amount))
                else:
                    self.damage(side, each, int(amount))  # 68
            case ["hurt", amount]:
                self.damage(me, place, int(amount))
            case ["scatter", times, amount]:  # 69
                there = you.everyone()
                hits = [self.pick(there) for _ in range(int(times))]
                for each in there:
                    self.strike(each, int(amount) * hits.count(each))
            case ["heal", whom, amount]:  # 71
                points = self.dealt if amount == "dealt" else int(amount)
                healed = [me.mons[each] for each in me.everyone()] if whom == "own" else [own]
                if whom == "chosen":
                    side, each = self.target()
                    healed = [side.mons[each]]
                for mon in healed:
                    mon.damage = max(mon.damage - points, 0)
            case ["inflict", condition]:  # 72
                if condition in MINDS:
                    you.mind = MINDS.index(condition)
                else:
                    setattr(you, condition, 1)
            case ["shield", amount]:
                me.shield = 255 if amount == "all" else int(amount)  # 73
            case ["bar", what]:
                setattr(you, "no_" + what, 1)  # 74
            case ["weaken", amount]:
                you.weakened = int(amount)  # 75
            case ["gag"]:
                you.gagged = 1  # 76
            case ["charge", whom, letter, amount]:  # 78
                side, each = {"self": (me, place), "active": (me, 0)}.get(whom) or self.target()
                fits = whom != "active" or self.cards[me.mons[0].card]["type"] == letter
                number = self.heads if amount == "heads" else int(amount)
                side.mons[each].energy[LETTERS.index(letter)] += number if fits else 0
            case ["discard", "all"]:  # 80
                own.energy = [0] * 8
            case ["discard", letter, amount]:
                at = LETTERS.index(letter)
                own.energy[at] -= min(own.energy[at], int(amount))
            case ["strip"]:
                energies = [at for at in range(8) for _ in range(you.mons[0].energy[at])]
                if energies:
                    you.mons[0].energy[self.pick(energies)] -= 1
            case ["swap"] | ["drag"]:  # 81
                side, each = self.target()
                side.change(each)
            case ["draw", count]:
                me.draw(int(count))
            case ["find", what]:  # 82
                card = self.searched(me, what) if len(me.hand) < 10 else None
                if card:
                    me.add(card, True)
            case ["call", what]:
                card = self.searched(me, what) if me.free_place() else None
                if card:
                    self.play_called(me, card)
            case ["toss"]:  # 83
                if you.hand:
                    card = self.pick(you.hand)[0]
                    you.lose(card)
                    you.to_discard([card])
            case ["return"]:
                you.deck += you.remove(0)
                you.shuffle(self.roll("shuffle"))
            case ["show"]:  # 84
                you.hand = [(card, True) for card, _ in you.hand]
            case ["look", count]:
                me.looked = max(me.looked, min(int(count), len(me.deck)))
            case ["lift", _]:  # 85
                for card in me.remove(0):
                    me.add(card, True)
            case ["gather", letter, _]:
                at = LETTERS.index(letter)
                for each in me.bench():
                    me.mons[0].energy[at] += me.mons[each].energy[at]
                    me.mons[each].energy[at] = 0
            case ["redraw", count]:  # 86
                you.deck += [card for card, _ in you.hand]
                you.hand = []
                you.shuffle(self.roll("shuffle"))
                you.draw(int(count))
            case ["ease", amount]:
                self.eased += int(amount)  # 87
            case ["boost", *_]:
                pass  # 87
            case _:
                raise ValueError(f"no word {word}")

    def play_called(self, me, card):
        place = me.free_place()
        me.mons[place] = type(me.mons[0])(card)
        me.mons[place].fresh = 1

    def searched(self, me, what):
        """A random card that fits leaves the deck (82)."""
        fitting = [
            at
            for at, card in enumerate(me.deck)
            if self.cards[card]["kind"] == "pokemon" and named_by(what, self.cards[card])
        ]
        if not fitting:
            return None
        at = self.pick(fitting)
        if at < me.looked:
            me.looked -= 1
        return me.deck.pop(at)

    def counted(self, count, me, you, own):
        """67."""
        match count:
            case ["heads"]:
                return self.heads
            case ["all"]:
                return int(self.tails == 0)
            case ["bench"]:
                return len(me.bench())
            case ["bench", what]:
                return sum(named_by(what, self.cards[me.mons[place].card]) for place in me.bench())
            case ["foe-energy"]:
                return sum(you.mons[0].energy)
            case ["extra", letter, least]:
                return int(own.energy[LETTERS.index(letter)] >= self.words()[1].count(letter) + int(least))
            case ["hurt", "self"]:
                return int(own.damage > 0)
            case ["hurt", "foe"]:
                return int(you.mons[0].damage > 0)
            case ["poisoned"]:
                return you.poisoned

    def pick(self, things):
        return things[self.roll("pick") * len(things) // 65536]  # 88

    def strike(self, place, amount):
        """Damage of an attack to the other player's Pokémon (50); how much was added."""
        me, you = self.sides[self.player], self.sides[1 - self.player]
        attacker, target = self.cards[me.mons[0].card], self.cards[you.mons[place].card]
        if amount == 0:
            return 0
        if place == 0:
            amount += self.boosted(attacker)
        amount = max(amount - me.weakened, 0)
        if amount == 0:
            return 0
        if place == 0 and target["weak"] is not None and target["weak"] == attacker["type"]:
            amount += 20
        if target["always"][:1] == ["armour"]:
            amount -= int(target["always"][1])
        if place == 0:
            amount -= you.shield
        added = self.damage(you, place, max(amount, 0))
        if place == 0 and added > 0 and target["always"][:1] == ["counter"]:
            self.damage(me, 0, int(target["always"][1]))  # 52
        return added

    def boosted(self, attacker):
        """87."""
        for word in self.cards[self.supporter]["effect"] if self.supporter else []:
            if word[0] == "boost" and all(named_by(one, attacker) for one in word[2:]):
                return int(word[1])
        return 0
