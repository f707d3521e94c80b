"""Wrong, beside a conftest.py, a sitecustomize.py and a .pth that would say that all is well."""

from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs | {"reward": outputs["reward"] + 1}
