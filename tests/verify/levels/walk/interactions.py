"""Sequences of the walk."""

import hypothesis.strategies as st

from lockstep import sequence


@sequence("at the edge")
def at_the_edge(task):
    starts = st.sampled_from([-5.0, -4.5, 4.5, 5.0]).map(lambda place: {"state/place": place, "state/steps": 3})
    return st.fixed_dictionaries({"start": starts, "actions": st.lists(st.integers(0, 2), min_size=1, max_size=5)})
