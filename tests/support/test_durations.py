"""Durations in words, and what remains of work that goes on as it went."""

from __future__ import annotations

import pytest

from harness.support.durations import in_words, left
from harness.support.progress import lines, within


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 seconds"),
        (1.2, "1 second"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (3569, "59 minutes"),
        (3571, "1 hour"),
        (4800, "1 hour 20 minutes"),
        (3660, "1 hour 1 minute"),
        (40_000, "11 hours"),
    ],
)
def test_a_duration_is_told_in_the_unit_that_fits_it(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_what_remains_follows_from_what_was_done() -> None:
    assert left(30.0, 10, 100) == ", about 4 minutes left"
    assert left(60.0, 120, 318) == ", about 99 seconds left"
    assert left(60.0, 0, 318) == left(60.0, 318, 318) == "", (
        "nothing is known before the first, nor left after the last"
    )


def test_a_part_of_a_longer_work_names_it_and_what_counts_itself_is_not_counted_twice() -> None:
    told: list[str] = []
    part = within("certify", lines(told.append))
    part("mutant 120 of 318, about 9 minutes left: env.py:7", 119, 318)
    assert told == ["certify: mutant 120 of 318, about 9 minutes left: env.py:7"]
