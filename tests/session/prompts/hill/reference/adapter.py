"""The reference of the hill: only its probe is asked here."""

STATE = {"dtype": "float64"}


class Hill:
    """Answers its one probe."""

    def spec(self):
        """What it is."""
        return {
            "leaves": {
                "observation": {"dtype": "float32", "shape": [2]},
                "action": {"dtype": "int64", "low": 0, "high": 2},
                "reward": {"dtype": "float64"},
                "terminated": {"dtype": "bool"},
                "truncated": {"dtype": "bool"},
            },
            "capabilities": ["probe"],
            "probes": {
                "roll": {"inputs": {"x": STATE, "push": {"dtype": "bool"}}, "outputs": {"x": STATE}},
            },
        }

    def probe(self, name, inputs):
        """A push moves the ball by a quarter."""
        return {"x": inputs["x"] + (0.25 if inputs["push"] else 0.0)}
