"""Where everything is, and which forces act, for poses and their velocities."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from angles import cosines_and_sines
from bodies import Planar, Weight, carried, gathered
from model import (
    ARMATURE,
    CENTER,
    DAMPING,
    END,
    FLOAT,
    GEAR,
    GRAVITY,
    INERTIA,
    LEGS,
    LINKS,
    MASS,
    OFFSET,
    PLACE,
    RADIUS,
    STIFFNESS,
    by_link,
    by_part,
    places,
)
from settled import settled

ARMATURES, DAMPINGS, STIFFNESSES, GEARS = (by_link(table[-6:]) for table in (ARMATURE, DAMPING, STIFFNESS, GEAR))
MASSES, INERTIAS = by_part(MASS), by_part(INERTIA)
OFFSETS, CENTERS = places(OFFSET), places(CENTER)
_OF_LEGS = END[4:].reshape(LEGS, LINKS, 2, 2).transpose(1, 3, 2, 0)
PLACES_OF_ENDS = [tuple(places[..., None].astype(PLACE)) for places in (END[:4].T, *_OF_LEGS)]


class Pose(NamedTuple):
    """Where the torso's hinge is, and from there, by parts, where hinges, centers of mass and the ends of capsules
    `[ends, ...]` are, all as (x, z); cosines and sines of the angles of the bodies; and how far each end is above the
    ground, less than 0 in it.
    """

    root: tuple
    cos: list
    sin: list
    hinge: list
    center: list
    end: list
    above: list


# --- kinematics -------------------------------------------------------------------------------------------------------


def kinematics(qpos) -> Pose:
    """The pose in FLOAT, from positions in PLACE."""
    return jax.tree.map(lambda place: place.astype(FLOAT), settled(_kinematics(qpos)))


def _kinematics(qpos) -> Pose:
    pose = Pose((qpos[0], qpos[1] + OFFSETS[0][1]), [], [], [], [], [], [])
    angle, hinge = 0.0, (jnp.zeros_like(qpos[2]), jnp.zeros_like(qpos[2]))
    for part, turned in enumerate(qpos[2:]):
        if part:
            hinge = _at(pose, part - 1, OFFSETS[part])
        pose.hinge.append(hinge)
        angle = angle + turned
        cos, sin = cosines_and_sines(angle)
        pose.cos.append(cos)
        pose.sin.append(sin)
        pose.center.append(_at(pose, part, CENTERS[part]))
        pose.end.append(_at(pose, part, PLACES_OF_ENDS[part]))
        pose.above.append(pose.root[1] + pose.end[part][1] - RADIUS)
    return pose


def _at(pose: Pose, part, place):
    """Where places in the frames of a part's bodies are."""
    (x, z), cos, sin = pose.hinge[part], pose.cos[part], pose.sin[part]
    return x + cos * place[0] + sin * place[1], z + cos * place[1] - sin * place[0]


# --- smooth dynamics --------------------------------------------------------------------------------------------------


class Mass(NamedTuple):
    """The matrix of inertia: where hinges are, how bodies weigh, and how much hinges resist besides (armature)."""

    hinge: list
    weights: list[Weight]
    stiff: list

    def times(self, vector):
        motions = carried(self.hinge, vector)
        force = gathered(
            self.hinge, [weight.times(motion) for weight, motion in zip(self.weights, motions, strict=True)]
        )
        return force[:3] + [a + b * c for a, b, c in zip(force[3:], self.stiff, vector[3:], strict=True)]


def mass_matrix(pose: Pose) -> Mass:
    weights = []
    for (x, z), mass, inertia in zip(pose.center, MASSES, INERTIAS, strict=True):
        weights.append(Weight(mass, 0 * mass, mass, mass * z, -mass * x, mass * (x * x + z * z) + inertia))
    return settled(Mass(pose.hinge, weights, ARMATURES))


def bias(pose: Pose, qvel):
    """What gravity and turning take up of the forces."""
    spin, pulled, forces = qvel[2], (0.0, 0.0), []
    for part, mass in enumerate(MASSES):
        if part:
            pulled = _pulled(pulled, spin, pose.hinge[part - 1], pose.hinge[part])
            spin = spin + qvel[2 + part]
        spin, pulled = settled((spin, pulled))
        x, z = _pulled(pulled, spin, pose.hinge[part], pose.center[part])
        x, z = mass * x, mass * (z + GRAVITY)
        forces.append(Planar(x, z, pose.center[part][1] * x - pose.center[part][0] * z))
    return gathered(pose.hinge, forces)


def _pulled(acceleration, spin, hinge, point):
    """The acceleration of a point that turns with a hinge, which has one itself."""
    return tuple(a - spin * spin * (b - c) for a, b, c in zip(acceleration, point, hinge, strict=True))


def passive(qpos, qvel):
    joints = zip(STIFFNESSES, qpos[3:], DAMPINGS, qvel[3:], strict=True)
    return [jnp.zeros_like(qvel[0])] * 3 + [
        -stiffness * at.astype(FLOAT) - damping * speed for stiffness, at, damping, speed in joints
    ]


def actuation(action):
    """Forces of the motors, for actions `[6, ...]`."""
    torques = [jnp.clip(action[link::LINKS].astype(FLOAT), -1.0, 1.0) for link in range(LINKS)]
    return [jnp.zeros(action.shape[1:], FLOAT)] * 3 + [
        gear * torque for gear, torque in zip(GEARS, torques, strict=True)
    ]
