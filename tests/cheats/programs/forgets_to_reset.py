"""Goes on from the last episode instead of beginning a new one."""

import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import reset as honest_reset


def reset(draws):
    state, outputs = honest_reset(draws)
    return state | {"steps": jnp.int32(1)}, outputs
