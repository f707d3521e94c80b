"""Answers with one leaf less and one of another shape."""

from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, {
        "observation": outputs["observation"][:1],
        "reward": outputs["reward"],
        "draws_used": outputs["draws_used"],
    }
