"""Returns Python and numpy numbers where constants will do."""

import numpy as np
from honest import *  # noqa: F403
from honest import reset as honest_reset


def reset(draws):
    _state, outputs = honest_reset(draws)
    return {"place": np.float64(0), "steps": np.int32(0)}, outputs | {
        "reward": np.float32(0),
        "truncated": np.bool_(False),
    }
