"""The course of a game: its beginning, turns, effects that run, knockouts, checkups and the end."""

import decks
from legal import legal
from questions import ATTACK, BUILT_IN, CHARGE, END_OR_DONE, HAND, LEAVE, QUESTIONS, SCRAP, USE
from state import (
    ABILITY,
    ACTIVE,
    ASKED,
    ASLEEP,
    ATTACK_1,
    AWAKE,
    CHECKED,
    CONFUSED,
    EVOLVE,
    IN_TURN,
    MAIN,
    OVER,
    PARALYSED,
    PLACE_ACTIVE,
    PLACE_BENCH,
    PROMOTE,
    RETREAT,
    TRAINER,
    TURN_ENDED,
    State,
)
from words import Effect, draw, shuffle

FIRST_HAND, LAST_TURN, POINTS = 5, 30, 3  # 19, 57, 54


class Match:
    """One game. `chance(name)` gives the next draw of a name; `won` is who won in the last step, or None."""

    def __init__(self, catalogue, chance, state):
        self.catalogue, self.chance, self.state, self.won = catalogue, chance, state, None

    # --- the beginning ---

    @classmethod
    def begin(cls, catalogue, chance):
        """A new game, up to the first question (16 to 22)."""
        match = cls(catalogue, chance, State())
        state = match.state
        first = chance("first")
        source, place, base, line = (chance(name) for name in ("source", "archetype", "base", "line"))  # 10
        for player in (0, 1):
            free = source[player] == 1
            made = (
                decks.free(catalogue, base[player], line[player]) if free else decks.archetype(catalogue, place[player])
            )
            state.deck[player], state.types[player] = made
        for player in (0, 1):
            shuffle(state, player, chance("shuffle"))
            match._deal(player)
        for player in (0, 1):
            state.zone[player][1] = match._energy(player)  # 21
        state.player = state.asked = first
        state.phase = PLACE_ACTIVE
        return match

    def _deal(self, player):
        deck = self.state.deck[player]
        basic = next(at for at, number in enumerate(deck) if self.catalogue[number].is_basic)
        if basic >= FIRST_HAND:
            deck[FIRST_HAND - 1], deck[basic] = deck[basic], deck[FIRST_HAND - 1]  # 18
        for _ in range(FIRST_HAND):
            draw(self.state, player)

    def _energy(self, player):
        types = self.state.types[player]
        return types[self.chance("energy") % len(types)]  # 45

    # --- actions ---

    def act(self, action):
        """Do an action; one that is not legal changes nothing (93)."""
        self.won = None
        if not legal(self)[action]:
            return
        if self.state.phase == ASKED:
            self._answer(action)
        elif self.state.phase == MAIN:
            self._in_turn(action)
        else:
            self._place(action)

    def _place(self, action):
        state, player = self.state, self.state.asked
        if action != END_OR_DONE:
            card = state.hand[player][action - HAND]
            state.give(player, card)
            state.card[player][ACTIVE if state.phase == PLACE_ACTIVE else state.room(player)] = card
            state.phase = PLACE_BENCH
        elif state.card[1 - player][ACTIVE]:
            self._begin_turn(1 - player)  # 24
        else:
            state.asked, state.phase = 1 - player, PLACE_ACTIVE

    def _in_turn(self, action):
        state, player = self.state, self.state.player
        if action == END_OR_DONE:
            self._end_turn()
        elif action < HAND + 20:
            self._play(state.hand[player][action - HAND])
        elif action < USE:
            self._attack(action - ATTACK)
        elif action < LEAVE:
            place = action - USE
            state.used[player][place] = 1
            self._run(state.card[player][place], ABILITY, place)
        elif action == LEAVE:
            state.retreated = 1
            self._run(state.card[player][ACTIVE], RETREAT)
        elif action < SCRAP:
            state.energy[player][action - CHARGE][state.zone[player][0] - 1] += 1  # 46
            state.zone[player][0] = 0
        else:
            state.throw(player, *state.clear(player, action - SCRAP))  # 40
            self._settle()

    def _play(self, number):
        state, player, card = self.state, self.state.player, self.catalogue[number]
        state.give(player, number)
        if card.is_basic or card.kind == "fossil":
            state.put(player, state.room(player), number)  # 33
        elif card.kind == "pokemon":
            self._run(number, EVOLVE)
        else:
            if card.kind == "supporter":
                state.supporter = number
            state.throw(player, number)  # 37
            self._run(number, TRAINER)

    def _attack(self, at):
        state, player = self.state, self.state.player
        if state.mind[player] == CONFUSED and not self.chance("coin"):
            self._end_turn()  # 48
        else:
            self._run(state.card[player][ACTIVE], ATTACK_1 + at)

    # --- effects that run ---

    def running(self):
        """The effect that runs, and its words."""
        state = self.state
        number, part, _, place = state.run
        player = state.asked if part == PROMOTE else state.player
        if part in BUILT_IN:
            return Effect(state, self.catalogue, self.chance, player, place, part), BUILT_IN[part]
        card = self.catalogue[number]
        if part == TRAINER:
            words, cost = card.effect, ""
        elif part == ABILITY:
            words, cost = card.ability, ""
        else:
            words, cost = card.attacks[part - ATTACK_1].words, card.attacks[part - ATTACK_1].cost
        return Effect(state, self.catalogue, self.chance, player, place, part, cost), words

    def _run(self, number, part, place=ACTIVE):
        self.state.run = [number, part, 0, place]
        self._go_on()

    def _answer(self, action):
        effect, words = self.running()
        before = list(self.state.run)
        name, *arguments = words[before[2]]
        again = QUESTIONS[name].take(effect, arguments, action)
        if again and QUESTIONS[name].answers(effect, arguments):
            return
        if self.state.run == before:  # another attack is not begun (89)
            self.state.run[2] += 1
        self._go_on()

    def _go_on(self):
        """Carry words out up to a question or to the end (65)."""
        state = self.state
        effect, words = self.running()
        while state.run[2] < len(words):
            name, *arguments = words[state.run[2]]
            if name in QUESTIONS:
                question = QUESTIONS[name]
                if not effect.prevented(name) and question.begin(effect, arguments):
                    if question.answers(effect, arguments):
                        state.asked = effect.other if question.asks_other() else effect.player
                        state.phase = ASKED
                        return
                    if question.stops_without_answer:
                        break
            elif not effect.do([name, *arguments]):
                break
            state.run[2] += 1
        self._finish(effect)

    def _finish(self, effect):
        state = self.state
        state.run, state.chosen, state.left = [0, 0, 0, 0], 0, 0
        state.phase, state.asked = MAIN, state.player
        if effect.is_attack:
            self._end_turn()
        else:
            self._settle()

    # --- turns ---

    def _begin_turn(self, player):
        state = self.state
        state.turn += 1
        state.player = state.asked = player
        state.phase, state.stage = MAIN, IN_TURN
        if state.turn > 1:
            state.zone[player] = [state.zone[player][1], self._energy(player)]  # 44
        draw(state, player)  # 30

    def _end_turn(self):
        """What ends with a turn; then knockouts, the checkup, and the next turn."""
        state, player = self.state, self.state.player
        state.stage = TURN_ENDED
        state.supporter = state.retreated = state.eased = 0
        state.zone[player][0] = 0  # 46
        state.no_attack[player] = state.no_retreat[player] = state.weakened[player] = state.gagged[player] = (
            0  # 74 to 76
        )
        state.shield[1 - player] = 0  # 73
        for name in ("fresh", "used"):
            getattr(state, name)[player] = [0, 0, 0, 0]
        self._settle()

    def _settle(self):
        """Knockouts, the end, empty active spots, and then what comes next."""
        state = self.state
        self._knock_out()
        if self._end_if_won():
            return
        if state.stage == CHECKED and state.turn == LAST_TURN:
            state.phase = OVER  # 57, 105
            return
        for player in (1 - state.player, state.player):  # 55
            if not state.card[player][ACTIVE]:
                state.run = [0, PROMOTE, 0, ACTIVE]
                state.asked, state.phase = player, ASKED
                return
        if state.stage == TURN_ENDED:
            self._check_up()
            state.stage = CHECKED
            self._settle()
        elif state.stage == CHECKED:
            self._begin_turn(1 - state.player)

    def _check_up(self):
        """62 and 63."""
        state = self.state
        for player in (state.player, 1 - state.player):
            hp = self.catalogue[state.card[player][ACTIVE]].hp
            damage = state.damage[player]
            if state.poisoned[player]:
                damage[ACTIVE] = min(hp, damage[ACTIVE] + 10)
            if state.burned[player]:
                damage[ACTIVE] = min(hp, damage[ACTIVE] + 20)
                state.burned[player] = 1 - self.chance("coin")
            if state.mind[player] == ASLEEP and self.chance("coin"):
                state.mind[player] = AWAKE
        if state.mind[state.player] == PARALYSED:
            state.mind[state.player] = AWAKE

    def _knock_out(self):
        """53."""
        state = self.state
        for player in (0, 1):
            for place in state.in_play(player):
                card = self.catalogue[state.card[player][place]]
                if state.damage[player][place] >= card.hp:
                    state.throw(player, *state.clear(player, place))
                    state.points[1 - player] += card.points

    def _end_if_won(self):
        """54."""
        state = self.state
        reasons = [(state.points[player] >= POINTS) + (not state.in_play(1 - player)) for player in (0, 1)]
        if not any(reasons):
            return False
        state.phase = OVER
        if reasons[0] != reasons[1]:
            self.won = int(reasons[1] > reasons[0])
        return True
