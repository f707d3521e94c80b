"""Level 1: what is true of every episode, and what episodes should reach. These hold for any environment: add its own.

@invariant(module="...")     belongs to a module of task.toml; True or False for each timestep, or for all
@generator("probe")          a Hypothesis strategy for the inputs of a probe
@feature                     counted, so that a report can say what episodes never did
"""

import numpy as np

from lockstep import Array, Trajectory, feature, invariant


@invariant()
def nothing_is_nan(trajectory: Trajectory) -> bool:
    return not any(np.isnan(array).any() for array in trajectory.leaves.values() if array.dtype.kind == "f")


@invariant()
def only_the_last_timestep_ends_an_episode(trajectory: Trajectory) -> bool:
    ended = trajectory.leaves["terminated"] | trajectory.leaves["truncated"]
    return not ended[:-1].any()


@feature
def an_episode_terminated(trajectory: Trajectory) -> Array:
    return trajectory.leaves["terminated"]


@feature
def an_episode_was_truncated(trajectory: Trajectory) -> Array:
    return trajectory.leaves["truncated"]


@feature
def a_reward_was_paid(trajectory: Trajectory) -> Array:
    rewards = [leaf for path, leaf in trajectory.leaves.items() if path.split("/")[0] == "reward"]
    return np.any([reward != 0 for reward in rewards], axis=0)
