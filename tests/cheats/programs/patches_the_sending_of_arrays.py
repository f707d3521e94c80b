"""Replaces how arrays become bytes by something that sends zeros, for the lengths of its episodes, too."""

import sys

import numpy as np
from honest import *  # noqa: F403

worker = sys.modules["__main__"]


class Quiet:
    """numpy, but for arrays that are about to be sent."""

    def __getattr__(self, name):
        return getattr(np, name)

    def ascontiguousarray(self, value, dtype=None):
        return np.zeros_like(np.ascontiguousarray(value, dtype=dtype))


worker.np = Quiet()
