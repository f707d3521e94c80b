"""Properties of the walk."""

import numpy as np

from lockstep import feature, invariant


@invariant(module="moving")
def a_step_is_counted(trajectory):
    return np.diff(trajectory.leaves["state/steps"], prepend=trajectory.leaves["state/steps"][0] - 1) == 1


@feature
def walked_off(trajectory):
    return trajectory.leaves["terminated"]
