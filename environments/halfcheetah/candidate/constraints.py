"""Which constraints there are: each says that an acceleration is at least `wanted`, and how strongly."""

from typing import NamedTuple

import jax.numpy as jnp
from bodies import Planar, Weight, added, carried, gathered, joined
from model import (
    BODY_WEIGHT,
    CONTACT_WIDTH,
    DAMP,
    FLOAT,
    FRICTION,
    HIGHEST,
    JOINT_WEIGHT,
    LEAST_IMPEDANCE,
    LIMIT_WIDTH,
    LOWEST,
    MOST_IMPEDANCE,
    PLACE,
    RADIUS,
    SMALLEST,
    STIFF,
    by_link,
    by_part,
)
from physics import Pose
from settled import settled

LOWESTS, HIGHESTS, JOINT_WEIGHTS = by_link(LOWEST, PLACE), by_link(HIGHEST, PLACE), by_link(JOINT_WEIGHT)
EDGE_WEIGHTS = by_part(BODY_WEIGHT * (1 + FRICTION * FRICTION))
CONE = 2 * FRICTION * FRICTION
"""How much softer than the ground alone an edge of the pyramid of friction is."""
TIMES = (1.0, 1.0, 2.0)
"""How often the edges count: friction sideways moves nothing in the plane, so both of its edges are the ground alone."""


class Along(NamedTuple):
    """A number for each constraint: by joints, then how ends go up and forwards, from which those of the edges come."""

    joints: list
    up: list
    forwards: list

    def rows(self):
        """Of each joint, then of each edge: forwards, backwards and (twice) sideways."""
        edges = []
        for up, forwards in zip(self.up, self.forwards, strict=True):
            edges += [up + FRICTION * forwards, up - FRICTION * forwards, up]
        return self.joints + edges


class Rows(NamedTuple):
    """The limits and contacts of a pose. Strengths go by rows, and are 0 where there is no constraint."""

    hinge: list
    towards: list
    point: list
    wanted: Along
    strength: list

    def along(self, vector) -> Along:
        """What a vector of the degrees of freedom is along each constraint."""
        return _along(self.hinge, self.towards, self.point, vector)

    def pushed(self, pushes):
        """What rows do together that push so much each."""
        joints, edges = pushes[: len(self.towards)], pushes[len(self.towards) :]
        forces = []
        for part, (x, z) in enumerate(self.point):
            one, other, alone = edges[3 * part : 3 * part + 3]
            up, forwards = one + other + alone, FRICTION * (one - other)
            forces.append(Planar(*map(added, (forwards, up, z * forwards - x * up))))
        force = gathered(self.hinge, forces)
        return force[:3] + [a + b * c for a, b, c in zip(force[3:], self.towards, joints, strict=True)]

    def added(self, weights, stiff, times):
        """Weights of bodies and what hinges resist, plus the square of each row, so many times."""
        joints, edges = times[: len(self.towards)], times[len(self.towards) :]
        sums = []
        for part, (x, z) in enumerate(self.point):
            one, other, alone = edges[3 * part : 3 * part + 3]
            up, mixed, forwards = one + other + alone, FRICTION * (one - other), FRICTION * FRICTION * (one + other)
            xt, zt = z * forwards - x * mixed, z * mixed - x * up
            square = Weight(*map(added, (forwards, mixed, up, xt, zt, z * xt - x * zt)))
            sums.append(joined(weights[part], square))
        return sums, [a + b for a, b in zip(stiff, joints, strict=True)]


def limits(qpos):
    """How far each joint is from the nearer end of its range, less than 0 beyond it, and whereto it is pushed."""
    distances, towards = [], []
    for at, lowest, highest in zip(qpos[3:], LOWESTS, HIGHESTS, strict=True):
        below, above = at - lowest, highest - at
        distances.append(jnp.minimum(below, above).astype(FLOAT))
        towards.append(jnp.where(below < above, FLOAT.type(1.0), FLOAT.type(-1.0)))
    return distances, towards


def contacts(pose: Pose):
    """How far each end is above the ground, less than 0 in it, and from the torso's hinge the point between both."""
    return pose.above, [
        (x, z - (distance * 0.5 + RADIUS)) for (x, z), distance in zip(pose.end, pose.above, strict=True)
    ]


def constraints(pose: Pose, qpos, qvel) -> Rows:
    beyond, towards = limits(qpos)
    depth, point = contacts(pose)
    speed = _along(pose.hinge, towards, point, qvel)
    joints = [_resisting(*given) for given in zip(beyond, [LIMIT_WIDTH] * 3, JOINT_WEIGHTS, [1.0] * 3, strict=True)]
    ends = [_resisting(*given) for given in zip(depth, [CONTACT_WIDTH] * 4, EDGE_WEIGHTS, [CONE] * 4, strict=True)]
    wanted = Along(
        [pushed - DAMP * now for (pushed, _), now in zip(joints, speed.joints, strict=True)],
        [pushed - DAMP * now for (pushed, _), now in zip(ends, speed.up, strict=True)],
        [-DAMP * now for now in speed.forwards],
    )
    edges = [times * strength for _, strength in ends for times in TIMES]
    return settled(Rows(pose.hinge, towards, point, wanted, [strength for _, strength in joints] + edges))


def _along(hinge, towards, point, vector) -> Along:
    up, forwards = [], []
    for (x, z), motion in zip(point, carried(hinge, vector), strict=True):
        up.append(motion.z - x * motion.turn)
        forwards.append(motion.x + z * motion.turn)
    return Along([a * b for a, b in zip(towards, vector[3:], strict=True)], up, forwards)


def _resisting(distance, width, weight, cone):
    """What a constraint wants at rest that is violated by so much, and how strongly; 0 where it is not violated."""
    impedance = _impedance(distance, width)
    softness = cone * jnp.maximum(SMALLEST, (1 - impedance) * weight / impedance)
    return -STIFF * impedance * distance, jnp.where(distance < 0, 1 / softness, 0.0)


def _impedance(distance, width):
    far = jnp.minimum(jnp.abs(distance) / width, 1.0)
    part = jnp.where(far <= 0.5, 2 * far * far, 1 - 2 * (1 - far) * (1 - far))
    return LEAST_IMPEDANCE + part * (MOST_IMPEDANCE - LEAST_IMPEDANCE)
