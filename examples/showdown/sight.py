"""What a player of Showdown's first generation sees, rebuilt from what Showdown tells that player: the stream of a battle.

`Sight` reads requests and lines of the log, and gives the observation of `environments/pokemon` (its README lists the 176
numbers), the mask of legal actions, and the word for an action. Three things the stream does not tell, and are guessed:

- points of the own substitute once it was hit: as when it was made;
- stats that Transform copied from the other: one's own;
- when the hold of Wrap and its like ends: not before it shows.

The members of the other team stand in the order in which they appeared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from showdown.fighters import Fighter, Member

ACTIONS, MOVE_ACTIONS = 10, 4
STATUS = ("", "slp", "psn", "brn", "frz", "par", "tox")
STAGES = ("atk", "def", "spe", "spa", "accuracy", "evasion")
STARTED = {"confusion": "confused", "leechseed": "leech_seed", "focusenergy": "focus_energy", "mist": "mist"}
STARTED |= {"reflect": "reflect", "lightscreen": "light_screen", "bide": "bides", "toxiccounter": "toxic"}
ORDER = ("leech_seed", "focus_energy", "mist", "reflect", "light_screen", "rests", "thrashes", "charges", "hidden")
ORDER += ("bides", "rages")
CHARGED, VANISH = ("razorwind", "solarbeam", "skullbash", "skyattack", "fly", "dig"), ("fly", "dig")
HOLDS = ("bind", "wrap", "firespin", "clamp")
LASTS = {"rage": "rages", "thrash": "thrashes", "petaldance": "thrashes"} | dict.fromkeys(HOLDS, "holds")
STOPS = ("bides", "charges", "thrashes", "holds")
"""What ends for who is paralysed, or hit by its own confusion."""
MODIFIED, SUBSTITUTE, TRAPS = range(92, 96), 105, (119, 174)
"""Places of an observation: the own four stats, the points of the own substitute, whether one is held and holds."""
MAJOR = ("turn", "switch", "move", "cant", "faint")


def id_of(name: str) -> str:
    """Showdown's id of a name."""
    return re.sub("[^a-z0-9]", "", name.lower())


class Sight:
    """One battle as one player sees it.

    Args:
        numbers: of species, types and moves by Showdown's ids (`numbers.mjs`).
        player: `p1` or `p2`.
        request: the first one. It has the team, which the log before it does not show.
    """

    def __init__(self, numbers: Mapping[str, Any], player: str, request: Mapping[str, Any]) -> None:
        self._numbers, self._player = numbers, player
        self._teams: dict[bool, list[Member]] = {
            True: [self._member(one) for one in request["side"]["pokemon"]],
            False: [],
        }
        self._fighters: dict[bool, Fighter] = {}
        self._request: dict[str, Any] = {}
        self._order: list[int] = []
        self._turn = 0
        self._mover = True  # whether the own side made the last move
        self._begun = ""  # what that move has begun
        self._called = False  # whether another move called it
        self._boosted = ""  # what the line before changed a stage by: a `move`, or by one that was `stuck` at its end
        self._chosen = 0  # the place of the move whose points are paid

    # --- reading ------------------------------------------------------------------------------------------------------

    def ask(self, request: Mapping[str, Any]) -> None:
        """Take a request. It tells of the end of the turn, so the log of that turn is read before."""
        self._request = dict(request)
        shown = request["side"]["pokemon"]
        own = self._teams[True]
        names = [member.name for member in own]
        self._order = [names.index(one["ident"].split(": ", 1)[1]) for one in shown]
        for place, one in zip(self._order, shown, strict=True):
            own[place].take(one["condition"])
        fighter, member = self._fighters[True], own[self._order[0]]
        fighter.moves = self._moves(shown[0]["moves"])
        [active] = request.get("active") or [{"moves": []}]
        for number, move in enumerate(active["moves"]):
            if "pp" in move:
                fighter.points[number] = move["pp"]
        if not fighter.transformed:
            member.points = list(fighter.points)

    def tell(self, line: str) -> None:
        """Take a line of the log."""
        _, kind, *words = [*line.split("|"), ""]
        if self._boosted and kind not in ("-boost", "-unboost"):
            self._lessen_again()
        take = getattr(self, f"_on_{kind.removeprefix('-')}", None)
        if take is not None and (kind.startswith("-") or kind in MAJOR):
            take(*words)

    def _member(self, shown: Mapping[str, Any]) -> Member:
        member = self._known(shown["ident"].split(": ", 1)[1], shown["details"])
        member.moves = self._moves(shown["moves"])
        points = {move["number"]: move["points"] for move in self._numbers["moves"].values()}
        member.points = [points.get(move, 0) for move in member.moves]
        member.stats = [shown["stats"][name] for name in STAGES[:4]]
        return member

    def _known(self, name: str, details: str) -> Member:
        species, *more = details.split(", ")
        known = self._numbers["species"][id_of(species)]
        level = next((int(word[1:]) for word in more if re.fullmatch(r"L\d+", word)), 100)
        return Member(name, known["number"], level, [self._numbers["types"][each] for each in known["types"]])

    def _moves(self, ids: Sequence[str]) -> list[int]:
        return [*(self._numbers["moves"][each]["number"] for each in ids), 0, 0, 0, 0][:4]

    def _whose(self, who: str) -> bool:
        return who.startswith(self._player)

    def _of(self, who: str) -> tuple[Member, Fighter]:
        mine = self._whose(who)
        return self._teams[mine][self._fighters[mine].place], self._fighters[mine]

    # --- lines of the log ---------------------------------------------------------------------------------------------

    def _on_turn(self, number: str, *_: str) -> None:
        self._turn = int(number)

    def _on_switch(self, who: str, details: str, condition: str, *_: str) -> None:
        mine, name = self._whose(who), who.split(": ", 1)[1]
        team = self._teams[mine]
        known = [member.name for member in team]
        if name not in known:
            team.append(self._known(name, details))
        member = team[known.index(name) if name in known else -1]
        member.take(condition)
        if member.status == "tox":
            member.status = "psn"
        self._fighters[mine] = Fighter.of(member, team.index(member))
        for each in self._fighters.values():
            each.last = 0
            each.on.discard("holds")
        if mine:
            self._chosen = 0

    def _on_move(self, who: str, name: str, *more: str) -> None:
        self._mover = self._whose(who)
        fighter = self._of(who)[1]
        move = id_of(name)
        number = self._numbers["moves"][move]["number"]
        called = any(word in ("[from] Metronome", "[from] Mirror Move") for word in more)
        fighter.before, fighter.last = fighter.last, number
        goes_on = bool({"thrashes", "rages", "bides", "holds"} & fighter.on) and any("[from]" in word for word in more)
        charged = "charges" in fighter.on
        if charged:
            fighter.on -= {"charges", "hidden"}
        if not called and not goes_on and move != "struggle" and (charged or move not in CHARGED):
            # Who may be held to a move chooses another in vain.
            if self._mover and number in fighter.moves and fighter.moves[self._chosen] != number:
                self._chosen = fighter.moves.index(number)
            self._pay(1)
        self._called = called
        self._begun = LASTS.get(move, "") if LASTS.get(move) not in fighter.on else ""
        if move in LASTS:
            fighter.on.add(LASTS[move])
        if move in HOLDS:
            self._fighters[not self._mover].on.discard("rests")

    def _pay(self, points: int) -> None:
        """Points of the own move that was chosen last."""
        fighter = self._fighters[True]
        if self._mover and self._chosen < sum(map(bool, fighter.moves)):
            fighter.points[self._chosen] = (fighter.points[self._chosen] - points) % 64
            if not fighter.transformed:
                self._teams[True][fighter.place].points[self._chosen] = fighter.points[self._chosen]

    def _on_miss(self, *_: str) -> None:
        """Thrash goes on though it misses, Rage that went on already too."""
        fighter = self._fighters[self._mover]
        fighter.on -= {"holds", "" if self._begun == "thrashes" else self._begun}

    def _on_immune(self, *_: str) -> None:
        self._on_miss()

    def _on_prepare(self, who: str, name: str, *_: str) -> None:
        fighter = self._of(who)[1]
        fighter.last = fighter.before
        fighter.on |= {"charges", "hidden"} if id_of(name) in VANISH else {"charges"}
        if self._called:
            self._pay(-1)  # such a move is paid for in its second turn, and Metronome has been

    def _on_cant(self, who: str, why: str, *_: str) -> None:
        fighter = self._of(who)[1]
        if why in ("slp", "frz"):
            fighter.last = 0
        if why == "recharge":
            fighter.on.discard("rests")
        if why == "par":
            fighter.on -= set(STOPS)

    def _on_mustrecharge(self, who: str, *_: str) -> None:
        self._of(who)[1].on.add("rests")

    def _on_damage(self, who: str, condition: str, *more: str) -> None:
        member, fighter = self._of(who)
        member.take(condition)
        if "[from] confusion" in more:
            fighter.on -= {*STOPS, "hidden"}

    def _on_heal(self, who: str, condition: str, *_: str) -> None:
        self._of(who)[0].take(condition)

    def _on_faint(self, who: str, *_: str) -> None:
        mine, (member, fighter) = self._whose(who), self._of(who)
        self._fighters[mine] = Fighter.of(member, fighter.place)
        member.hp, member.status = 0, ""

    def _on_status(self, who: str, status: str, *_: str) -> None:
        member, fighter = self._of(who)
        member.status = status
        if status == "tox":
            fighter.on.add("toxic")
        if status == "slp":
            fighter.on.discard("rests")
        fighter.lessen(status)

    def _on_curestatus(self, who: str, status: str, *_: str) -> None:
        mine, name = self._whose(who), who.split(": ", 1)[1]
        next(member for member in self._teams[mine] if member.name == name).status = ""
        if status == "slp" and mine in self._fighters:
            self._fighters[mine].last = 0

    def _on_start(self, who: str, effect: str, *more: str) -> None:
        member, fighter = self._of(who)
        what = id_of(effect.removeprefix("move: "))
        if what in STARTED:
            fighter.on.add(STARTED[what])
        if what == "substitute":
            fighter.substitute = member.most // 4 + 1
        if what == "disable":
            number = self._numbers["moves"][id_of(more[0])]["number"]
            fighter.disabled = fighter.moves.index(number) + 1 if number in fighter.moves else 1
        if what == "typechange":
            fighter.types = [self._numbers["types"][name] for name in more[0].split("/")]
        if what == "confusion" and "[silent]" in more:
            fighter.on.discard("thrashes")

    def _on_end(self, who: str, effect: str, *_: str) -> None:
        fighter = self._of(who)[1]
        what = id_of(effect.removeprefix("move: "))
        fighter.on.discard(STARTED.get(what, what))
        if what == "disable":
            fighter.disabled = 0
        if what == "substitute":
            fighter.substitute = 0
            if self._begun == "rages":  # not where it breaks a substitute
                self._fighters[self._mover].on.discard("rages")

    def _on_transform(self, who: str, other: str, *_: str) -> None:
        fighter = self._of(who)[1]
        copied = self._of(other)[1]
        fighter.types, fighter.boosts, fighter.transformed = list(copied.types), list(copied.boosts), True
        fighter.points = [5] * 4

    def _on_clearallboost(self, *_: str) -> None:
        for fighter in self._fighters.values():
            fighter.boosts, fighter.modified = [0] * 6, list(fighter.stats)

    # --- stages -------------------------------------------------------------------------------------------------------

    def _on_boost(self, who: str, stat: str, by: str, *more: str) -> None:
        self._change(who, stat, int(by), *more)

    def _on_unboost(self, who: str, stat: str, by: str, *more: str) -> None:
        self._change(who, stat, -int(by), *more)

    def _change(self, who: str, stat: str, by: int, *more: str) -> None:
        if stat in STAGES:
            # A stat at its end keeps its value, and the next line takes one stage back.
            stuck = self._of(who)[1].change(STAGES.index(stat), by, keeps=self._boosted == "stuck")
            self._boosted = "stuck" if stuck else "" if any("[from]" in word for word in more) else "move"

    def _lessen_again(self) -> None:
        """A move that changed stages lowers the stats of the one whose turn it was not once more."""
        if self._boosted == "move":
            mine = not self._mover
            self._fighters[mine].lessen(self._teams[mine][self._fighters[mine].place].status)
        self._boosted = ""

    # --- what a policy sees -------------------------------------------------------------------------------------------

    def observation(self) -> np.ndarray[Any, Any]:
        """The 176 numbers, int16."""
        numbers: list[int] = []
        own, other = self._fighters[True], self._fighters[False]
        for place, member in enumerate(self._teams[True]):
            about = [member.species, member.level, member.hp, member.most, STATUS.index(member.status)]
            numbers += [*about, place == own.place, *member.moves, *member.points]
        trapped = "holds" in other.on
        numbers += [*own.boosts, *_two(own.types), *own.modified, *own.moves, *own.points]
        numbers += self._volatile(own, own.substitute, own.disabled, trapped)
        rows = [
            [member.species, member.level, member.hp, STATUS.index(member.status), place == other.place]
            for place, member in enumerate(self._teams[False])
        ]
        for row in [*rows, *[[0] * 5] * (6 - len(rows))]:
            numbers += row
        numbers += [*other.boosts, *_two(other.types), other.last]
        numbers += self._volatile(other, bool(other.substitute), bool(other.disabled), "holds" in other.on)
        return np.array([*numbers, self._turn], np.int16)

    @staticmethod
    def _volatile(fighter: Fighter, substitute: int, disabled: int, hold: bool) -> list[int]:
        flags = [name in fighter.on for name in ORDER]
        return [*map(int, ["confused" in fighter.on, substitute, *flags, disabled, "toxic" in fighter.on, hold])]

    def guessed(self) -> list[int]:
        """Places of the observation whose numbers are guesses now."""
        own, other = self._fighters[True], self._fighters[False]
        places = list(MODIFIED) if own.transformed else []
        places += [SUBSTITUTE] if own.substitute else []
        return places + (list(TRAPS) if "holds" in own.on | other.on else [])

    def legal(self) -> np.ndarray[Any, Any]:
        """What may be chosen, bool of shape (10,)."""
        mask = np.zeros(ACTIONS, bool)
        request = self._request
        if request.get("wait"):
            return mask
        [active] = request.get("active") or [{"moves": [], "trapped": False}]
        for number, move in enumerate(active["moves"]):
            mask[number] = not move.get("disabled")
        if not active.get("trapped"):
            for place, one in zip(self._order, request["side"]["pokemon"], strict=True):
                mask[MOVE_ACTIONS + place] = not one["active"] and not one["condition"].endswith(" fnt")
        return mask

    def word(self, action: int) -> str:
        """What Showdown calls an action that is chosen now."""
        if action < MOVE_ACTIONS:
            [active] = self._request["active"]
            if not active.get("trapped") and active["moves"][action]["id"] not in ("fight", "struggle"):
                self._chosen = action
            return f"move {action + 1}"
        return f"switch {self._order.index(action - MOVE_ACTIONS) + 1}"


def _two(types: Sequence[int]) -> list[int]:
    return [*types, 0][:2]
