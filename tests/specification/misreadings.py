"""Ways to misread the rules of Harbour: what the second reading says instead, one at a time."""

MISREADINGS: dict[str, tuple[str, str]] = {
    "a cost that is greater than the score is not taken at all": (
        "return score - min(score, points)",
        "return score - points if points <= score else score",
    ),
    "a load that is too large costs one point in all": (
        "score=cost(ship.score, over))",
        "score=cost(ship.score, min(over, 1)))",
    ),
    "a game begins with a full tank": ("START = Ship(hold=0, fuel=3", "START = Ship(hold=0, fuel=6"),
    "storm 3 takes half, rounded down": (
        "sold = ship.hold // 2 if ship.storm == 3",
        "sold = ship.hold - ship.hold // 2 if ship.storm == 3",
    ),
    "storm 2 takes half too": ("if ship.storm == 3 else", "if ship.storm >= 2 else"),
    "two units are burnt in storm 3 alone": ("1 + (ship.storm > 1)", "1 + (ship.storm > 2)"),
    "a full hold earns more though the storm took half": ("3 if sold == 12", "3 if ship.hold == 12"),
    "the fuel is burnt after the weather has changed": (
        "        after = after._replace(waits=0, storm=min(max(after.storm + change, 0), 3))\n",
        "        late = burn(after._replace(storm=min(max(after.storm + change, 0), 3))) - burn(ship)\n"
        "        fuel = max(after.fuel - (late if action == 1 and legal(ship)[1] else 0), 0)\n"
        "        after = after._replace(waits=0, fuel=fuel, storm=min(max(after.storm + change, 0), 3))\n",
    ),
    "a ship sails without crates": ("ship.hold > 0 and ship.fuel", "ship.fuel"),
    "one unit of fuel is always enough": ("ship.fuel >= burn(ship)", "ship.fuel >= 1"),
    "refuelling is free": (
        "fuel=min(ship.fuel + 2, 6), score=cost(ship.score, 1))",
        "fuel=min(ship.fuel + 2, 6))",
    ),
    "refuelling with room for one unit is illegal": ("ship.fuel < 6, True", "ship.fuel < 5, True"),
    "the wind die is rolled while waiting": (
        "    if action != 3:\n        change",
        "    if action == 3:\n        roll('wind')\n    else:\n        change",
    ),
    "an illegal action rolls no wind die": (
        "        after = ship._replace(score=cost(ship.score, 1))\n",
        "        return ship._replace(score=cost(ship.score, 1), waits=0, turn=ship.turn + 1)\n",
    ),
    "an illegal action does not end a row of waits": (
        "after._replace(waits=0, storm",
        "after._replace(waits=0 if legal(ship)[action] else after.waits, storm",
    ),
    "the fourth wait spoils the crate": ("spoils = ship.waits == 2", "spoils = ship.waits == 3"),
    "a row of waits goes on after a crate has spoilt": (
        "waits=0 if spoils else ship.waits + 1",
        "waits=2 if spoils else ship.waits + 1",
    ),
    "a 4 raises the storm too": ("{0: -1, 5: 1}", "{0: -1, 4: 1, 5: 1}"),
    "the reward is what was earned, without costs": (
        "self.told(self.ship.score - before.score)",
        "self.told(max(self.ship.score - before.score, 0))",
    ),
    "more than 30 points win": ('out["terminated"] = ship.score >= 30', 'out["terminated"] = ship.score > 30'),
    "turn 41 is the last": ("ship.turn >= 40 and", "ship.turn >= 41 and"),
    "a game that is won in turn 40 is cut short too": ("ship.turn >= 40 and ship.score < 30", "ship.turn >= 40"),
    "the player sees the storm before the fuel": (
        "np.array(ship[:4], np.int16)",
        "np.array([ship.hold, ship.storm, ship.fuel, ship.score], np.int16)",
    ),
}
