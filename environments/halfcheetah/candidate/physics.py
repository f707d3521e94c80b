"""Where everything is, which forces act, and which constraints there are, for one pose and its velocities."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from model import (
    ABOVE,
    ARMATURE,
    BODIES,
    BODY_WEIGHT,
    CENTER,
    CONTACT_WIDTH,
    DAMP,
    DAMPING,
    DOFS,
    END,
    END_BODY,
    FRICTION,
    GEAR,
    GRAVITY,
    HIGHEST,
    INERTIA,
    JOINT_WEIGHT,
    JOINTS,
    LEAST_IMPEDANCE,
    LIMIT_WIDTH,
    LOWEST,
    MASS,
    MOST_IMPEDANCE,
    MOUNT,
    OFFSET,
    RADIUS,
    SMALLEST,
    STIFF,
    STIFFNESS,
)


class Pose(NamedTuple):
    """Where everything is: cosines and sines of the bodies' angles `[7]`, their hinges, centers of mass `[7, 2]`, and the
    ends of capsules `[16, 2]`.
    """

    cos: jax.Array
    sin: jax.Array
    hinge: jax.Array
    center: jax.Array
    end: jax.Array


class Rows(NamedTuple):
    """Constraints, of which each says that an acceleration is at least `wanted`: six limits, then for each of sixteen ends
    the ground with friction forwards, backwards and (twice) sideways. `strength` is 0 where there is none.
    """

    jacobian: jax.Array
    wanted: jax.Array
    strength: jax.Array


# --- kinematics -------------------------------------------------------------------------------------------------------


def kinematics(qpos) -> Pose:
    angle = jnp.asarray(ABOVE) @ qpos[2:]
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    root = jnp.stack([qpos[0], qpos[1] + OFFSET[0, 1]])
    arm = _turned(cos[MOUNT], sin[MOUNT], OFFSET).at[0].set(0.0)
    hinge = root + jnp.asarray(ABOVE) @ arm
    center = hinge + _turned(cos, sin, CENTER)
    end = hinge[END_BODY] + _turned(cos[END_BODY], sin[END_BODY], END)
    return Pose(cos, sin, hinge, center, end)


def _turned(cos, sin, vector):
    return jnp.stack([cos * vector[:, 0] + sin * vector[:, 1], cos * vector[:, 1] - sin * vector[:, 0]], axis=1)


def jacobian(point, body, hinge):
    """How points of bodies move: along x and z with each degree of freedom `[points, 9]`."""
    lever = (point[:, None, :] - hinge[None, :, :]) * jnp.asarray(ABOVE)[body][:, :, None]
    ones, zeros = jnp.ones((len(body), 1)), jnp.zeros((len(body), 1))
    along_x = jnp.concatenate([ones, zeros, lever[:, :, 1]], axis=1)
    along_z = jnp.concatenate([zeros, ones, -lever[:, :, 0]], axis=1)
    return along_x, along_z


# --- smooth dynamics --------------------------------------------------------------------------------------------------


def mass_matrix(pose: Pose):
    along_x, along_z = jacobian(pose.center, np.arange(BODIES), pose.hinge)
    turning = np.concatenate([np.zeros((BODIES, 2)), ABOVE], axis=1)
    moved = along_x.T @ (MASS[:, None] * along_x) + along_z.T @ (MASS[:, None] * along_z)
    return moved + turning.T @ (INERTIA[:, None] * turning) + np.diag(ARMATURE)


def bias(pose: Pose, qvel):
    """What gravity and turning take up of the forces `[9]`."""
    spin = jnp.asarray(ABOVE) @ qvel[2:]
    arm = pose.hinge - pose.hinge[MOUNT]
    pulled = -jnp.square(spin[MOUNT])[:, None] * arm
    acceleration = jnp.asarray(ABOVE) @ pulled - jnp.square(spin)[:, None] * (pose.center - pose.hinge)
    force = MASS[:, None] * (acceleration + np.array([0.0, GRAVITY]))
    along_x, along_z = jacobian(pose.center, np.arange(BODIES), pose.hinge)
    return along_x.T @ force[:, 0] + along_z.T @ force[:, 1]


def passive(qpos, qvel):
    return -STIFFNESS * qpos - DAMPING * qvel


def actuation(action):
    return jnp.concatenate([jnp.zeros(3), GEAR * jnp.clip(action.astype(jnp.float64), -1.0, 1.0)])


# --- constraints ------------------------------------------------------------------------------------------------------


def limits(qpos):
    """How far each joint is from the nearer end of its range, less than 0 beyond it, and whereto it is pushed `[6]`."""
    below, above = qpos[3:] - LOWEST, HIGHEST - qpos[3:]
    return jnp.minimum(below, above), jnp.where(below < above, 1.0, -1.0)


def contacts(pose: Pose):
    """How far each end is above the ground, less than 0 in it, and the point between both `[16]`, `[16, 2]`."""
    distance = pose.end[:, 1] - RADIUS
    middle = pose.end[:, 1] - (distance * 0.5 + RADIUS)
    return distance, jnp.stack([pose.end[:, 0], middle], axis=1)


def constraints(pose: Pose, qpos, qvel) -> Rows:
    beyond, towards = limits(qpos)
    joints = jnp.concatenate([jnp.zeros((JOINTS, 3)), jnp.diag(towards)], axis=1)
    depth, point = contacts(pose)
    along_x, along_z = jacobian(point, END_BODY, pose.hinge)
    edges = jnp.stack([along_z + FRICTION * along_x, along_z - FRICTION * along_x, along_z], axis=1)
    rows = jnp.concatenate([joints, edges.reshape(-1, DOFS)])
    distance = jnp.concatenate([beyond, jnp.repeat(depth, 3)])
    width = np.array([LIMIT_WIDTH] * JOINTS + [CONTACT_WIDTH] * 48)
    edge_weight = BODY_WEIGHT[END_BODY] * (1 + FRICTION * FRICTION)
    weight = np.concatenate([JOINT_WEIGHT, np.repeat(edge_weight, 3)])
    cone = np.array([1.0] * JOINTS + [2 * FRICTION * FRICTION] * 48)
    impedance = _impedance(distance, width)
    softness = cone * jnp.maximum(SMALLEST, (1 - impedance) * weight / impedance)
    there = distance < 0
    wanted = -DAMP * (rows @ qvel) - STIFF * impedance * distance
    return Rows(
        jnp.where(there[:, None], rows, 0.0), jnp.where(there, wanted, 0.0), jnp.where(there, 1 / softness, 0.0)
    )


def _impedance(distance, width):
    far = jnp.minimum(jnp.abs(distance) / width, 1.0)
    part = jnp.where(far <= 0.5, 2 * far * far, 1 - 2 * (1 - far) * (1 - far))
    return LEAST_IMPEDANCE + part * (MOST_IMPEDANCE - LEAST_IMPEDANCE)
