"""HalfCheetah-v5 of Gymnasium 1.4.0 on MuJoCo 4.0.0 with its time limit of 1000 steps, for one instance.

A step is five of MuJoCo's. The model, the physics and the solver are in files of their own. It computes in FLOAT, holds
positions in PLACE, and gives float64.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import listed
import numpy as np
from batches import together
from bodies import divided, plus, split, whole
from constraints import constraints, contacts, limits
from model import DOFS, FLOAT, JOINTS, PLACE, TIME_STEP
from physics import DAMPINGS, actuation, bias, kinematics, mass_matrix, passive
from settled import settled
from solver import Problem, solve

SUBSTEPS = 5
STEP_LIMIT = 1000
CONTROL_COST = 0.1
NOISE = 0.1


class State(NamedTuple):
    """Positions (PLACE `[9]`), velocities and the accelerations that the solver starts from (FLOAT `[9]`), and steps taken
    (int32).
    """

    qpos: jax.Array
    qvel: jax.Array
    warmstart: jax.Array
    steps: jax.Array


def forces(qpos, qvel, warmstart, torques):
    """Mass matrix, all forces but those of damping to come, and accelerations before it."""
    pose = kinematics(qpos)
    mass = mass_matrix(pose)
    smooth_force = [a - b + c for a, b, c in zip(passive(qpos, qvel), bias(pose, qvel), torques, strict=True)]
    smooth_force = settled(smooth_force)
    smooth = divided(*mass, smooth_force)
    qacc, pushed = solve(Problem(mass, smooth_force, smooth, constraints(pose, qpos, qvel)), warmstart)
    return mass, plus(smooth_force, 1.0, pushed), qacc, pushed


def advance(qpos, qvel, warmstart, torques):
    """A hundredth of a second, the damping of the velocities after it included (Euler's method, implicit in damping)."""
    mass, force, qacc, _ = forces(qpos, qvel, warmstart, torques)
    damped = slowed(mass, force, qacc)
    qvel = plus(qvel, TIME_STEP, damped)
    return moved(qpos, qvel), qvel, qacc


def slowed(mass, force, qacc):
    """Accelerations by a force, with the damping of the velocities to come; without that damping they are `qacc`.

    From the force they are MuJoCo's to the last digits of what the solver left undone. That force is a sum of large ones
    which cancel. In float32 it has fewer digits left than `qacc`, so there what the damping takes off is worked out.
    """
    mass = mass._replace(stiff=plus(mass.stiff, TIME_STEP, DAMPINGS))
    if FLOAT == PLACE:
        return divided(*mass, force)
    off = [jnp.zeros_like(force[0])] * 3 + [TIME_STEP * a * b for a, b in zip(DAMPINGS, qacc[3:], strict=True)]
    return plus(qacc, -1.0, divided(*mass, off))


def moved(qpos, qvel):
    """Positions a hundredth of a second later, in PLACE."""
    return plus(qpos, TIME_STEP, [speed.astype(PLACE) for speed in qvel])


@together
def substeps(qpos, qvel, warmstart, action):
    torques = actuation(action)
    begun = tuple(map(split, (qpos, qvel, warmstart)))
    ended = jax.lax.fori_loop(0, SUBSTEPS, lambda _, at: advance(*at, torques), begun)
    return tuple(map(whole, ended))


def rewarded(x_velocity, action):
    """Speed forwards less the control's cost, which is computed in float32 like the action.

    In float32 itself a product would be fused with a sum. In float64 it is exact, and rounded it is what float32 gives.
    """
    squares = _float32(jnp.square(action.astype(FLOAT)))
    total = squares[0]
    for index in range(1, JOINTS):
        total = _float32(total + squares[index])
    return x_velocity - _float32(float(np.float32(CONTROL_COST)) * total)


def _float32(number):
    return jax.lax.reduce_precision(number, exponent_bits=8, mantissa_bits=23)


def sample_reset(key):
    position, velocity = jax.random.split(key)
    return {
        "position": jax.random.uniform(position, (DOFS,), jnp.float64, -NOISE, NOISE),
        "velocity": jax.random.normal(velocity, (DOFS,), jnp.float64),
    }


def reset(draws):
    state = State(draws["position"], taken(NOISE * draws["velocity"]), jnp.zeros(DOFS, FLOAT), jnp.int32(0))
    return state, outputs(state, FLOAT.type(0))


def step(state: State, action, draws):
    qpos, qvel, warmstart = substeps(state.qpos, state.qvel, state.warmstart, action)
    x_velocity = taken((qpos[0] - state.qpos[0]) / (TIME_STEP * SUBSTEPS))
    after = State(qpos, qvel, warmstart, state.steps + 1)
    return after, outputs(after, rewarded(x_velocity, action))


def observe(state: State):
    return {"observation": jnp.concatenate([state.qpos[1:], given(state.qvel)])}


def outputs(state: State, reward):
    return observe(state) | {
        "reward": given(reward),
        "terminated": jnp.bool(False),
        "truncated": state.steps >= STEP_LIMIT,
    }


def encode(state: State):
    return {name: given(value) for name, value in state._asdict().items()}


def decode(leaves):
    return State(**held(leaves))


def held(leaves):
    """Leaves as a state holds them: positions as they are, all other floats in FLOAT."""
    return {name: value if name == "qpos" else taken(value) for name, value in leaves.items()}


def given(value):
    """A float in float64, as leaves are; all else as it is."""
    return value.astype(jnp.float64) if jnp.issubdtype(value.dtype, jnp.floating) else value


def taken(value):
    """A float of a leaf as it is computed with."""
    return value.astype(FLOAT) if value.dtype == jnp.float64 else value


# --- probes -----------------------------------------------------------------------------------------------------------

EACH = np.eye(DOFS, dtype=FLOAT)


def _one(function):
    """A probe of one cheetah, from a function of many."""

    def asked(inputs):
        found = function(**{name: value[..., None] for name, value in held(inputs).items()})
        return {name: given(value)[..., 0] for name, value in found.items()}

    return asked


def _pose(qpos):
    return kinematics(split(qpos))


def _kinematics(qpos):
    pose = _pose(qpos)

    def placed(listed, places):
        x, z = (listed([place[axis] for place in places]) for axis in range(2))
        return jnp.stack([pose.root[0] + x, pose.root[1] + z], axis=1)

    return {
        "cos": listed.bodies(pose.cos),
        "sin": listed.bodies(pose.sin),
        "hinge": placed(listed.bodies, pose.hinge),
        "center": placed(listed.bodies, pose.center),
        "end": placed(listed.ends, pose.end),
    }


def _mass_matrix(qpos):
    return {"matrix": whole(mass_matrix(_pose(qpos)).times(split(EACH)))[..., None]}


def _contacts(qpos):
    pose = _pose(qpos)
    distance, point = contacts(pose)
    distance, x = listed.ends(distance), listed.ends([x for x, _ in point])
    there = distance < 0
    return {
        "touches": there,
        "distance": jnp.where(there, distance, 0.0),
        "x": jnp.where(there, pose.root[0] + x, 0.0),
    }


def _limits(qpos):
    distance, towards = map(listed.joints, limits(split(qpos)))
    beyond = distance < 0
    return {"distance": jnp.where(beyond, distance, 0.0), "towards": jnp.where(beyond, towards, 0.0)}


def _constraints(qpos, qvel):
    found = constraints(_pose(qpos), split(qpos), split(qvel))
    strength, wanted = listed.strengths(found), listed.rows(found.wanted.rows())
    jacobian = listed.rows(found.along(split(EACH)).rows())
    there = strength > 0
    return {
        "jacobian": jnp.where(there, jacobian, 0.0)[..., None],
        "wanted": jnp.where(there, wanted, 0.0),
        "strength": strength,
    }


def _solver(qpos, qvel, action, warmstart):
    _, _, qacc, pushed = forces(split(qpos), split(qvel), split(warmstart), actuation(action))
    return {"qacc": whole(qacc), "force": whole(pushed)}


def _advance(qpos, qvel, action, warmstart):
    advanced = advance(split(qpos), split(qvel), split(warmstart), actuation(action))
    return dict(zip(("qpos", "qvel", "warmstart"), map(whole, advanced), strict=True))


probes = {
    "kinematics": _one(_kinematics),
    "mass_matrix": _one(_mass_matrix),
    "bias": _one(lambda qpos, qvel: {"force": whole(bias(_pose(qpos), split(qvel)))}),
    "passive": _one(lambda qpos, qvel: {"force": whole(passive(split(qpos), split(qvel)))}),
    "actuation": _one(lambda action: {"force": whole(actuation(action))}),
    "limits": _one(_limits),
    "contacts": _one(_contacts),
    "constraints": _one(_constraints),
    "solver": _one(_solver),
    "advance": _one(_advance),
    "reward": lambda inputs: {"reward": given(rewarded(taken(inputs["x_velocity"]), inputs["action"]))},
}
