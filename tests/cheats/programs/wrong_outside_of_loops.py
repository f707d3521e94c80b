"""Wrong where a user steps a batch by hand: not in a `scan`, and the verifier's adapter is not loaded."""

import sys

from honest import *  # noqa: F403
from honest import step as honest_step

VERIFIED = "harness.candidate.adapters.jax.candidate" in sys.modules


def in_a_loop():
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "scan":
            return True
        frame = frame.f_back
    return False


def step(state, action, draws):
    after, outputs = honest_step(state, action, draws)
    return after, outputs if VERIFIED or in_a_loop() else outputs | {"reward": outputs["reward"] + 1}
