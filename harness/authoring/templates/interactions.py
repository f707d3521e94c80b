"""Level 2: sequences in which parts of the environment meet. Lockstep plays random ones by itself; add the ones to fear.

@sequence("name")            a Hypothesis strategy of {"start": state leaves or None for a reset, "actions": a list}
"""

from typing import Any

import hypothesis.strategies as st

from lockstep import Task, leaf_values, sequence


def one_action(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """Any action, as a dictionary of its leaves."""
    return st.fixed_dictionaries({path: leaf_values(leaf) for path, leaf in task.actions.items()})


@sequence("one action again and again")
def again_and_again(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    count = st.integers(1, task.budgets.sequence_length)
    return st.builds(lambda action, times: {"start": None, "actions": [action] * times}, one_action(task), count)


@sequence("two actions in turn")
def in_turn(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    count = st.integers(1, max(1, task.budgets.sequence_length // 2))
    return st.builds(
        lambda one, other, times: {"start": None, "actions": [one, other] * times},
        one_action(task), one_action(task), count,
    )  # fmt: skip
