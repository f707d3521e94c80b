"""The chance of a seed, as Lockstep's Rust runtime makes it: xoshiro256++ (Blackman and Vigna, 2019), filled by SplitMix64.

A game here and one in the candidate in Rust that begin with the same seed draw the same, as long as they draw in the same
order.
"""

import math

GOLDEN = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


def _mixed(word):
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def _turned(word, by):
    return (word << by | word >> 64 - by) & WORD


class Generator:
    """Args:
    seed: 64 bits.
    """

    def __init__(self, seed):
        self._words = [_mixed(seed + number * GOLDEN & WORD) for number in (1, 2, 3, 4)]

    def _next(self):
        """The upper half of the next 64 bits."""
        first, second, third, fourth = self._words
        given = _turned(first + fourth & WORD, 23) + first & WORD
        third, fourth = third ^ first, fourth ^ second
        self._words = [first ^ fourth, second ^ third, third ^ (second << 17 & WORD), _turned(fourth, 45)]
        return given >> 32

    def uniform(self, below, shape):
        """A number from 0 to `below` - 1, or nested lists of them."""
        numbers = [self._next() * below >> 32 for _ in range(math.prod(shape))]
        for length in reversed(shape[1:]):
            numbers = [numbers[at : at + length] for at in range(0, len(numbers), length)]
        return numbers if shape else numbers[0]
