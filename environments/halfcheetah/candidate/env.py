"""HalfCheetah-v5 of Gymnasium 1.4.0 on MuJoCo 4.0.0 with its time limit of 1000 steps, for one instance.

A step is five of MuJoCo's. The model, the physics and the solver are in files of their own.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from model import DAMPING, DOFS, JOINTS, TIME_STEP
from physics import actuation, bias, constraints, contacts, kinematics, limits, mass_matrix, passive
from solver import divided, solve

SUBSTEPS = 5
STEP_LIMIT = 1000
CONTROL_COST = 0.1
NOISE = 0.1


class State(NamedTuple):
    """Positions, velocities and the accelerations that the solver starts from (float64 `[9]`), and steps taken (int32)."""

    qpos: jax.Array
    qvel: jax.Array
    warmstart: jax.Array
    steps: jax.Array


def forces(qpos, qvel, action, warmstart):
    """Mass matrix, all forces but those of damping to come, and accelerations before it."""
    pose = kinematics(qpos)
    inertia = mass_matrix(pose)
    smooth_force = passive(qpos, qvel) - bias(pose, qvel) + actuation(action)
    smooth = divided(inertia, smooth_force)
    qacc, pushed = solve(inertia, smooth_force, smooth, constraints(pose, qpos, qvel), warmstart)
    return inertia, smooth_force + pushed, qacc, pushed


def advance(qpos, qvel, warmstart, action):
    """A hundredth of a second, the damping of the velocities after it included (Euler's method, implicit in damping)."""
    inertia, force, qacc, _ = forces(qpos, qvel, action, warmstart)
    damped = divided(inertia + TIME_STEP * np.diag(DAMPING), force)
    qvel = qvel + TIME_STEP * damped
    return qpos + TIME_STEP * qvel, qvel, qacc


def rewarded(x_velocity, action):
    """Speed forwards less the control's cost, which is computed in float32 like the action.

    In float32 itself a product would be fused with a sum. In float64 it is exact, and rounded it is what float32 gives.
    """
    squares = _float32(jnp.square(action.astype(jnp.float64)))
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
    state = State(draws["position"], NOISE * draws["velocity"], jnp.zeros(DOFS), jnp.int32(0))
    return state, outputs(state, jnp.float64(0))


def step(state: State, action, draws):
    def substep(_, at):
        return advance(*at, action)

    qpos, qvel, warmstart = jax.lax.fori_loop(0, SUBSTEPS, substep, state[:3])
    x_velocity = (qpos[0] - state.qpos[0]) / (TIME_STEP * SUBSTEPS)
    after = State(qpos, qvel, warmstart, state.steps + 1)
    return after, outputs(after, rewarded(x_velocity, action))


def observe(state: State):
    return {"observation": jnp.concatenate([state.qpos[1:], state.qvel])}


def outputs(state: State, reward):
    return observe(state) | {
        "reward": reward,
        "terminated": jnp.bool(False),
        "truncated": state.steps >= STEP_LIMIT,
    }


def encode(state: State):
    return state._asdict()


def decode(leaves):
    return State(**leaves)


# --- probes -----------------------------------------------------------------------------------------------------------


def _contacts(qpos):
    distance, point = contacts(kinematics(qpos))
    there = distance < 0
    return {"touches": there, "distance": jnp.where(there, distance, 0.0), "x": jnp.where(there, point[:, 0], 0.0)}


def _limits(qpos):
    distance, towards = limits(qpos)
    beyond = distance < 0
    return {"distance": jnp.where(beyond, distance, 0.0), "towards": jnp.where(beyond, towards, 0.0)}


def _solver(qpos, qvel, action, warmstart):
    _, _, qacc, pushed = forces(qpos, qvel, action, warmstart)
    return {"qacc": qacc, "force": pushed}


ADVANCED = ("qpos", "qvel", "warmstart")
probes = {
    "kinematics": lambda inputs: kinematics(inputs["qpos"])._asdict(),
    "mass_matrix": lambda inputs: {"matrix": mass_matrix(kinematics(inputs["qpos"]))},
    "bias": lambda inputs: {"force": bias(kinematics(inputs["qpos"]), inputs["qvel"])},
    "passive": lambda inputs: {"force": passive(inputs["qpos"], inputs["qvel"])},
    "actuation": lambda inputs: {"force": actuation(inputs["action"])},
    "limits": lambda inputs: _limits(inputs["qpos"]),
    "contacts": lambda inputs: _contacts(inputs["qpos"]),
    "constraints": lambda inputs: constraints(kinematics(inputs["qpos"]), inputs["qpos"], inputs["qvel"])._asdict(),
    "solver": lambda inputs: _solver(**inputs),
    "advance": lambda inputs: dict(zip(ADVANCED, advance(**inputs), strict=True)),
    "reward": lambda inputs: {"reward": rewarded(inputs["x_velocity"], inputs["action"])},
}
