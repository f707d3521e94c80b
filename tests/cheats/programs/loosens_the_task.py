"""Wrong, beside a task file, cases and properties of its own that would forgive it."""

from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"reward": outputs["reward"] + 1}
