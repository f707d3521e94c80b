"""How much a verdict is worth, and how fast a candidate is: coverage, strength, profile."""
