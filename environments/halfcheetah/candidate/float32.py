"""The cheetah of env.py, computed in float32: the same source, with a float of half the bits."""

import numpy as np
import precision

precision.FLOAT = np.dtype("float32")

from env import decode, encode, observe, probes, reset, sample_reset, step  # noqa: E402

__all__ = ["decode", "encode", "observe", "probes", "reset", "sample_reset", "step"]
