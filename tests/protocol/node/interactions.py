"""Sequences across the modules of the coin run."""

import hypothesis.strategies as st

from lockstep import sequence


@sequence("to and fro")
def to_and_fro(task):
    """Steps that are legal from the middle of the field, wherever the coin is."""
    there_and_back = st.sampled_from([[0, 2], [2, 0], [1, 3], [3, 1], [0, 1, 2, 3], [3, 2, 1, 0]])
    actions = st.lists(there_and_back, min_size=1, max_size=8).map(lambda parts: [a for part in parts for a in part])
    return st.fixed_dictionaries({"start": st.none(), "actions": actions})
