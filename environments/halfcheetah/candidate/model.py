"""The numbers of the cheetah: MuJoCo's compiled model of Gymnasium 1.4.0's half_cheetah.xml.

A planar chain: a torso that slides along x and z and turns about y, and two legs of three links on it. The nine degrees of
freedom are in the order of the model: x, z, pitch, then thigh, shin and foot of the back leg and of the front leg. Positions
are metres and radians, velocities are per second; vectors are (x, z). What touches the ground are the two ends of each of
eight capsules.

What is computed has cheetahs on the last axis, so that a CPU works on many at once. Legs are alike: a table by parts has
an entry for the torso `[]`, then for the thighs, shins and feet of both legs `[2, 1]`.
"""

import numpy as np
from precision import FLOAT, PLACE

GRAVITY = 9.81
TIME_STEP = 0.01
DOFS, BODIES, JOINTS, ENDS = 9, 7, 6, 16
OFFSET = np.array([(0.0, 0.7), (-0.5, 0.0), (0.16, -0.25), (-0.28, -0.14), (0.5, 0.0), (-0.14, -0.24), (0.13, -0.18)])
"""Where each body hangs on its parent `[7, 2]`."""
CENTER = np.array(
    [
        (0.15238987816307403, 0.025398313027179008), (0.1, -0.13), (-0.14, -0.07), (0.03, -0.097), (-0.07, -0.12),
        (0.065, -0.09), (0.045, -0.07),
    ]
)  # fmt: skip
"""Centers of mass, in the frames of the bodies `[7, 2]`."""
MASS = np.array(
    [
        6.25020920502092, 1.5435146443514645, 1.5874476987447697, 1.0953974895397491, 1.4380753138075317,
        1.200836820083682, 0.8845188284518829,
    ]
)  # fmt: skip
INERTIA = np.array(
    [
        0.897117688111749, 0.01684433958158996, 0.018267419079497912, 0.0063524232635983275, 0.013739643347280341,
        0.008222108619246861, 0.003529109456066946,
    ]
)  # fmt: skip
"""Moments about y through the centers of mass, kg m^2."""
ARMATURE = np.array([0.0] * 3 + [0.1] * JOINTS)
DAMPING = np.array([0.0, 0.0, 0.0, 6.0, 4.5, 3.0, 4.5, 3.0, 1.5])
STIFFNESS = np.array([0.0, 0.0, 0.0, 240.0, 180.0, 120.0, 180.0, 120.0, 60.0])
GEAR = np.array([120.0, 90.0, 60.0, 120.0, 60.0, 30.0])
LOWEST = np.array([-0.52, -0.785, -0.4, -1.0, -1.2, -0.5])
HIGHEST = np.array([1.05, 0.785, 0.785, 0.7, 0.87, 0.5])

CAPSULE_BODY = (0, 0, 1, 2, 3, 4, 5, 6)
CAPSULE_CENTER = np.array(
    [
        (0.0, 0.0), (0.6, 0.1), (0.1, -0.13), (-0.14, -0.07), (0.03, -0.097), (-0.07, -0.12), (0.065, -0.09),
        (0.045, -0.07),
    ]
)  # fmt: skip
CAPSULE_ANGLE = np.array([-np.pi / 2, 0.87, -3.8, -2.03, -0.27, 0.52, -0.6, -0.6])
CAPSULE_HALF = np.array([0.5, 0.15, 0.145, 0.15, 0.094, 0.133, 0.106, 0.07])
RADIUS = 0.046
FRICTION = 0.4
END_BODY = np.repeat(CAPSULE_BODY, 2)
_AXIS = np.stack([np.sin(CAPSULE_ANGLE), np.cos(CAPSULE_ANGLE)], axis=1) * CAPSULE_HALF[:, None]
END = np.stack([CAPSULE_CENTER + _AXIS, CAPSULE_CENTER - _AXIS], axis=1).reshape(-1, 2)
"""The ends of the capsules' axes, in the frames of their bodies `[16, 2]`."""

# How strongly a constraint resists (MuJoCo's `solref` and `solimp`, and what it derives from the model at rest).
LEAST_IMPEDANCE, MOST_IMPEDANCE = 1e-4, 0.8
LIMIT_WIDTH, CONTACT_WIDTH = 0.03, 0.01
RESPONSE = 0.02
STIFF = 1 / (MOST_IMPEDANCE * MOST_IMPEDANCE * RESPONSE * RESPONSE)
DAMP = 2 / (MOST_IMPEDANCE * RESPONSE)
JOINT_WEIGHT = np.array(
    [2.729788644884893, 5.893248984162904, 8.894877004054676, 3.0813926054768768, 6.882795962275771, 9.468134962769764]
)
BODY_WEIGHT = np.array(
    [
        0.06415751945610272, 0.09691101560963138, 0.12720922534654552, 0.24374928349017175, 0.0814837948136707,
        0.1319968179007737, 0.2661441029233887,
    ]
)  # fmt: skip
SMALLEST = 1e-15

LINKS, LEGS = 3, 2


def by_part(table, dtype=FLOAT):
    """Of a table by bodies the entries of the torso, and of the thighs, shins and feet of both legs."""
    return [dtype.type(table[0]), *by_link(table[1:], dtype)]


def by_link(table, dtype=FLOAT):
    """Of a table by joints the entries of hips, knees and ankles, each of both legs."""
    return [table[link::LINKS, None].astype(dtype) for link in range(LINKS)]


def places(table):
    """Places of parts as (x, z)."""
    return list(zip(by_part(table[..., 0], PLACE), by_part(table[..., 1], PLACE), strict=True))
