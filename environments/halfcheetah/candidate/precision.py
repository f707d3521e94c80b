"""What the cheetah is computed in."""

import numpy as np

FLOAT = np.dtype("float64")
"""As the reference computes. `float32.py` takes the other one, before anything else is imported."""
