"""What is true of every episode of the coin run."""

import hypothesis.strategies as st
import numpy as np

from lockstep import feature, generator, invariant


@invariant(module="motion")
def the_agent_stays_on_the_field(trajectory):
    agent = trajectory.leaves["state/agent"]
    return ((agent >= 0) & (agent < 5)).all(axis=1)


@invariant(module="coins")
def a_reward_is_one_more_coin(trajectory):
    gained = np.diff(trajectory.leaves["state/coins"], prepend=trajectory.leaves["state/coins"][:1])
    return gained == trajectory.leaves["reward"]


@generator("move")
def move_inputs():
    cell = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda at: np.array(at, np.int32))
    return st.fixed_dictionaries({"agent": cell, "action": st.integers(0, 3)})


@feature
def in_a_corner(trajectory):
    return np.isin(trajectory.leaves["state/agent"], (0, 4)).all(axis=1)
