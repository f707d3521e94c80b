"""The table of outcomes is the same after it was written as JSON, says what never occurred, and refuses what is none."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from harness.occurrences import ENDS, SIDES, Occurrences, RewardRange, told
from harness.support.document import DocumentError

COUNTS = st.integers(0, 1 << 40)
PATHS = st.text(st.characters(codec="utf-8"), max_size=8)
NUMBERS = st.sampled_from(["-1.5", "0.0", "0", "3", "1e+20", "-2.5e-08", "nan", "inf", "-inf"])
RANGES = st.builds(RewardRange, smallest=NUMBERS, largest=NUMBERS, negative=COUNTS, zero=COUNTS, positive=COUNTS)
FEW = st.tuples(st.dictionaries(NUMBERS, COUNTS, max_size=5), st.none())
TABLES = st.builds(
    lambda rewards, **named: Occurrences(rewards=rewards[0], reward_range=rewards[1], **named),
    rewards=FEW | st.tuples(st.just({}), RANGES),
    trajectories=COUNTS,
    steps=COUNTS,
    ends=st.fixed_dictionaries(dict.fromkeys(ENDS, COUNTS)),
    unreached=st.dictionaries(PATHS, st.lists(st.sampled_from(SIDES), max_size=2).map(tuple), max_size=3),
    untaken=st.dictionaries(PATHS, st.lists(st.integers(-99, 99), max_size=4).map(tuple), max_size=3),
    longest=st.none() | COUNTS,
)


@given(TABLES)
def test_a_table_is_the_same_after_it_was_written(table: Occurrences) -> None:
    assert Occurrences.from_json(json.loads(json.dumps(table.to_json(), allow_nan=False))) == table


TABLE = Occurrences(
    trajectories=40,
    steps=900,
    ends={"terminated": 30, "truncated": 0, "both": 0},
    rewards={"-1.0": 12, "0.0": 888},
    unreached={"state/x": ("low", "high")},
    untaken={"action": (2,)},
)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("trajectories", -1, "trajectories is no count: expected 0 or more"),
        ("steps", True, "steps is True; expected a whole number"),
        ("ends", {"terminated": 1}, "ends has no 'truncated'"),
        ("ends", dict.fromkeys((*ENDS, "fled"), 1), "ends has 'fled'"),
        ("ends", dict.fromkeys(ENDS, -1), "ends.terminated is no count"),
        ("rewards", {"much": 1}, "rewards has 'much'; expected a number as text"),
        ("rewards", {"1" * 50: 1}, "expected a number as text"),
        ("rewards", {"1_0": 1}, "expected a number as text"),
        ("rewards", {str(value): 1 for value in range(33)}, "rewards has 33 values"),
        ("rewards", {"1.0": 0.5}, "rewards.1.0 is 0.5; expected a whole number"),
        ("reward_range", {"smallest": "0"}, "reward_range has no 'largest'"),
        ("reward_range", RewardRange("0", "1", 0, 1, 1).to_json(), "expected 32, or a range"),
        ("reward_range", RewardRange("<b>", "1", 0, 1, 1).to_json(), "reward_range.smallest has '<b>'"),
        ("reward_range", RewardRange("0", "1", 0, -1, 1).to_json(), "reward_range.zero is no count"),
        ("unreached", {"state/x": ["middle"]}, "'middle'; expected one of low, high"),
        ("unreached", {"state/x": ["low", "low", "low"]}, "unreached has a leaf with more than 2 entries"),
        ("unreached", {"x" * 501: ["low"]}, "unreached does not name leaves of a task"),
        ("untaken", {str(number): [] for number in range(10_001)}, "untaken does not name leaves of a task"),
        ("untaken", {"action": list(range(65))}, "untaken has a leaf with more than 64 entries"),
        ("steps", 1 << 63, "steps is no count"),
        ("rewards", {"1.0": 10**4000}, "rewards.1.0 is no count"),
        ("untaken", {"action": [10**4000]}, "untaken.action[0] is no action"),
        ("untaken", {"action": 3}, "untaken.action is 3; expected a list"),
    ],
)
def test_what_is_no_table_is_refused_by_name(name: str, value: Any, complaint: str) -> None:
    with pytest.raises(DocumentError) as refused:
        Occurrences.from_json(TABLE.to_json() | {name: value})
    assert complaint in str(refused.value)


def test_readers_are_told_what_occurred_and_what_never_did() -> None:
    assert told(TABLE, {"a draw": 0, "a win": 3}) == [
        ("ends", "30 terminated"),
        ("rewards", "-1.0 (12 times), 0.0 (888 times)"),
        ("never", "a draw, end truncated, action 2, state/x low, state/x high"),
    ]
    assert told(None, {"a draw": 0}) == [("never", "a draw")]
    assert told(None, {"a draw": 1}) == []


def test_many_things_are_told_in_few_words() -> None:
    many = Occurrences(
        10,
        100,
        dict.fromkeys(ENDS, 1),
        reward_range=RewardRange("-2.5", "1e+20", 1, 2, 97),
        untaken={"action": tuple(range(40))},
    )
    lines = dict(told(many, {}))
    assert lines["rewards"] == "from -2.5 to 1e+20: 1 negative, 2 zero, 97 positive"
    assert lines["never"].endswith("action 11 and 28 more")
