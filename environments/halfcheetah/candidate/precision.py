"""What the cheetah is computed in."""

import numpy as np

FLOAT = np.dtype("float64")
"""As the reference computes. `float32.py` takes the other one, before anything else is imported."""
PLACE = np.dtype("float64")
"""What positions are held in, whatever FLOAT is, and all that says how deep an end is in the ground: half a unit of float32
in an angle moves a foot by a ten-millionth of a metre, and with it the force of a stiff ground, or whether there is one."""
