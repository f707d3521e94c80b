"""A linear congruential generator modulo 2**32."""

MULTIPLIER, INCREMENT = 1664525, 1013904223


def following(value):
    return value * MULTIPLIER + INCREMENT
