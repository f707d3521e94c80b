"""HalfCheetah-v5 of Gymnasium, on MuJoCo, as a Lockstep reference.

Everything that a step or a reset decides is decided by Gymnasium's own code, `gymnasium.make("HalfCheetah-v5")` with its
time limit. The adapter only puts values in (states, a forced start) and reads values out; probes read what MuJoCo keeps of a
step.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium.utils import seeding
from gymnasium.wrappers import TimeLimit
from picture import draw_capsules
from policies import POLICIES
from probe_spec import CAPSULES, EDGES, ENDS, JOINTS, PROBES, number

DOFS = 9
POSITION, VELOCITY = "position", "velocity"
STATE = ("state/qpos", "state/qvel", "state/warmstart")


class HalfCheetah:
    """One HalfCheetah-v5 behind the protocol: what MuJoCo's next step depends on, and the steps taken."""

    def __init__(self) -> None:
        self._env, self._core = _make()
        self._data = self._core.data
        self._draws: list[tuple[str, np.ndarray]] = []
        self._probed: Probes | None = None
        self.policies = dict(POLICIES)

    def spec(self) -> dict[str, Any]:
        """What task.toml declares, as this adapter provides it."""
        flag = {"dtype": "bool", "shape": []}
        leaves = {
            **dict.fromkeys(STATE, number(DOFS)),
            "state/steps": {"dtype": "int32", "shape": []},
            "observation": number(2 * DOFS - 1),
            "reward": number(),
            "terminated": flag,
            "truncated": flag,
            "action": {"dtype": "float32", "shape": [JOINTS], "low": -1.0, "high": 1.0},
        }
        draw = {"dtype": "float64", "shape": [DOFS], "at": "reset"}
        return {
            "leaves": leaves,
            "capabilities": ["restore", "probe", "draws", "force_draws", "render"],
            "probes": PROBES,
            "draws": {POSITION: draw, VELOCITY: draw},
            "policies": sorted(self.policies),
        }

    def reset(self, seed: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """Start an episode; with `draws`, Gymnasium's reset is handed them in place of its generator's numbers."""
        tape = _Recorded(seed) if draws is None else _Forced(draws)
        self._core._np_random = tape
        observation, _ = self._env.reset()
        self._draws = tape.taken
        return self._row(observation, 0.0, False, False)

    def step(self, action: Any, draws: list[Any] | None = None) -> dict[str, Any]:
        """One step of 0.05 s."""
        if draws:
            raise ValueError("a step of HalfCheetah draws nothing, {} were given".format(len(draws)))
        observation, reward, terminated, truncated, _ = self._env.step(np.asarray(action))
        return self._row(observation, reward, terminated, truncated)

    def restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Go on from a canonical state, as if its episode had led there."""
        qpos, qvel, warmstart = (np.asarray(state[path]) for path in STATE)
        self._core.set_state(qpos, qvel)
        self._data.qacc_warmstart[:] = warmstart
        self._env._elapsed_steps = int(state["state/steps"])
        self._draws = []
        return self._row(self._core._get_obs(), 0.0, False, False)

    def probe(self, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Ask MuJoCo for one part of a step."""
        return getattr(self._apart(), name)(**inputs)

    def render(self) -> np.ndarray:
        """The cheetah from its side, 480 wide and 240 high."""
        return self._apart().picture(self._data.qpos)

    def take_draws(self) -> list[tuple[str, np.ndarray]]:
        """The draws since the last call: both of a reset, and nothing for a step."""
        taken, self._draws = self._draws, []
        return taken

    def close(self) -> None:
        """Release the environments."""
        self._env.close()

    def _apart(self) -> Probes:
        """An environment that no episode runs in."""
        if self._probed is None:
            self._probed = Probes(_make()[1])
        return self._probed

    def _row(self, observation: np.ndarray, reward: float, terminated: bool, truncated: bool) -> dict[str, Any]:
        data = self._data
        return {
            "state/qpos": data.qpos.copy(),
            "state/qvel": data.qvel.copy(),
            "state/warmstart": data.qacc_warmstart.copy(),
            "state/steps": self._env._elapsed_steps,
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
        }


class Probes:
    """Parts of MuJoCo's step, and a picture. Each is read from its own data after it was made to compute as far as that."""

    def __init__(self, core: Any) -> None:
        self._core, self._model, self._data = core, core.model, core.data

    def kinematics(self, qpos: Any) -> dict[str, Any]:
        """Where bodies, their centers of mass and the ends of capsules are; the latter as MuJoCo makes their contacts."""
        self._placed(qpos)
        data = self._data
        rotation = data.xmat[1:].reshape(-1, 3, 3)
        return {
            "cos": rotation[:, 0, 0].copy(),
            "sin": rotation[:, 0, 2].copy(),
            "hinge": data.xpos[1:, ::2].copy(),
            "center": data.xipos[1:, ::2].copy(),
            "end": self._ends()[:, ::2].copy(),
        }

    def mass_matrix(self, qpos: Any) -> dict[str, Any]:
        """The matrix of inertia, with armature."""
        self._placed(qpos)
        matrix = np.zeros((DOFS, DOFS))
        mujoco.mj_fullM(self._model, self._data, matrix)
        return {"matrix": matrix}

    def bias(self, qpos: Any, qvel: Any) -> dict[str, Any]:
        """Forces of gravity and of turning."""
        self._placed(qpos, qvel)
        return {"force": self._data.qfrc_bias.copy()}

    def passive(self, qpos: Any, qvel: Any) -> dict[str, Any]:
        """Forces of springs and dampers."""
        self._placed(qpos, qvel)
        return {"force": self._data.qfrc_passive.copy()}

    def actuation(self, action: Any) -> dict[str, Any]:
        """Forces of the motors."""
        self._placed(action=action)
        return {"force": self._data.qfrc_actuator.copy()}

    def limits(self, qpos: Any) -> dict[str, Any]:
        """Of each joint beyond its range, how far it is and where to it is pushed."""
        self._placed(qpos)
        distance, towards = np.zeros(JOINTS), np.zeros(JOINTS)
        for row, joint in self._limit_rows():
            distance[joint] = self._data.efc_pos[row]
            towards[joint] = self._jacobian()[row, 3 + joint]
        return {"distance": distance, "towards": towards}

    def contacts(self, qpos: Any) -> dict[str, Any]:
        """Of each end of a capsule in the ground, how deep it is, and where along x."""
        self._placed(qpos)
        touches, distance, x = np.zeros(ENDS, bool), np.zeros(ENDS), np.zeros(ENDS)
        for end, contact in self._contacts():
            touches[end], distance[end], x[end] = True, contact.dist, contact.pos[0]
        return {"touches": touches, "distance": distance, "x": x}

    def constraints(self, qpos: Any, qvel: Any) -> dict[str, Any]:
        """What MuJoCo puts together for its solver, in the order of the task: limits, then three edges of each end."""
        self._placed(qpos, qvel)
        data, rows = self._data, JOINTS + EDGES * ENDS
        jacobian, wanted, strength = np.zeros((rows, DOFS)), np.zeros(rows), np.zeros(rows)
        whole = self._jacobian()
        places = [(JOINTS + EDGES * end + edge, row) for end, edge, row in self._edge_rows()]
        for place, row in places + [(joint, row) for row, joint in self._limit_rows()]:
            jacobian[place], wanted[place], strength[place] = whole[row], data.efc_aref[row], data.efc_D[row]
        return {"jacobian": jacobian, "wanted": wanted, "strength": strength}

    def solver(self, qpos: Any, qvel: Any, action: Any, warmstart: Any) -> dict[str, Any]:
        """The accelerations that the solver finds, and the forces of the constraints."""
        self._placed(qpos, qvel, action, warmstart)
        return {"qacc": self._data.qacc.copy(), "force": self._data.qfrc_constraint.copy()}

    def advance(self, qpos: Any, qvel: Any, action: Any, warmstart: Any) -> dict[str, Any]:
        """One step of MuJoCo's, of 0.01 s."""
        self._put(qpos, qvel, action, warmstart)
        mujoco.mj_step(self._model, self._data)
        data = self._data
        return {"qpos": data.qpos.copy(), "qvel": data.qvel.copy(), "warmstart": data.qacc_warmstart.copy()}

    def reward(self, x_velocity: float, action: Any) -> dict[str, Any]:
        """Gymnasium's reward for a speed and an action."""
        return {"reward": self._core._get_rew(np.float64(x_velocity), np.asarray(action, np.float32))[0]}

    def picture(self, qpos: Any) -> np.ndarray:
        """The cheetah at these positions, as `picture.draw_capsules` has it."""
        self._placed(qpos)
        ends = self._ends()[:, ::2].reshape(CAPSULES, 2, 2)
        if not np.isfinite(ends).all():
            raise ValueError("a cheetah at {} cannot be drawn".format(np.asarray(qpos)))
        return draw_capsules(ends, self._model.geom_size[1:, 0], self._model.geom_rgba[1:, :3], float(qpos[0]))

    def _put(self, qpos: Any = 0.0, qvel: Any = 0.0, action: Any = 0.0, warmstart: Any = 0.0) -> None:
        data = self._data
        data.qpos[:], data.qvel[:], data.ctrl[:], data.qacc_warmstart[:] = qpos, qvel, action, warmstart

    def _placed(self, *put: Any, **named: Any) -> None:
        self._put(*put, **named)
        mujoco.mj_forward(self._model, self._data)

    def _ends(self) -> np.ndarray:
        """The ends of the axes of capsules `[16, 3]`, both of one after another."""
        axis = self._data.geom_xmat[1:].reshape(-1, 3, 3)[:, :, 2] * self._model.geom_size[1:, 1:2]
        center = self._data.geom_xpos[1:]
        return np.stack([center + axis, center - axis], axis=1).reshape(ENDS, 3)

    def _contacts(self) -> list[tuple[int, Any]]:
        """Contacts, each with the number of its end. MuJoCo tells the capsule, and the contact lies right below its end."""
        ends, radius = self._ends(), self._model.geom_size[1:, 0]
        found = []
        for contact in self._data.contact:
            capsule = int(contact.geom[1]) - 1
            pair = ends[2 * capsule : 2 * capsule + 2]
            below = pair - np.outer((pair[:, 2] - radius[capsule]) / 2 + radius[capsule], [0.0, 0.0, 1.0])
            nearer = int(np.argmin(np.abs(below - contact.pos).sum(axis=1)))
            found.append((2 * capsule + nearer, contact))
        return found

    def _edge_rows(self) -> list[tuple[int, int, int]]:
        """End, edge and row: friction forwards, backwards, and sideways, which MuJoCo has on both sides, both alike."""
        found = []
        for end, contact in self._contacts():
            first, forwards = int(contact.efc_address), contact.frame[3] > 0
            found += [(end, 0, first + (not forwards)), (end, 1, first + forwards), (end, 2, first + 2)]
        return found

    def _limit_rows(self) -> list[tuple[int, int]]:
        data, limit = self._data, int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT)
        return [(row, int(data.efc_id[row]) - 3) for row in range(data.nefc) if data.efc_type[row] == limit]

    def _jacobian(self) -> np.ndarray:
        return self._data.efc_J.reshape(-1, DOFS)


class _Recorded:
    """Stands where Gymnasium's random generator is, and notes in `taken` what the one made from a seed hands out."""

    def __init__(self, seed: int) -> None:
        self.taken: list[tuple[str, np.ndarray]] = []
        self._generator = seeding.np_random(seed)[0]

    def uniform(self, low: float, high: float, size: int) -> np.ndarray:
        """What a reset asks for the positions."""
        return self._noted(POSITION, self._generator.uniform(low=low, high=high, size=size))

    def standard_normal(self, size: int) -> np.ndarray:
        """What a reset asks for the velocities."""
        return self._noted(VELOCITY, self._generator.standard_normal(size))

    def _noted(self, name: str, value: np.ndarray) -> np.ndarray:
        self.taken.append((name, value.copy()))
        return value


class _Forced:
    """Stands there too, and hands out draws that are given, once each and in order."""

    def __init__(self, draws: list[Any]) -> None:
        names = [str(name) for name, _ in draws]
        if names != [POSITION, VELOCITY]:
            raise ValueError("a reset of HalfCheetah draws a position and a velocity, it was given {}".format(names))
        self.taken = [(str(name), np.asarray(value)) for name, value in draws]
        for name, value in self.taken:
            if value.dtype != np.float64 or value.shape != (DOFS,):
                raise ValueError("{!r} is float64 of shape (9,), not {} of {}".format(name, value.dtype, value.shape))

    def uniform(self, low: float, high: float, size: int) -> np.ndarray:
        """What a reset asks for the positions."""
        return self.taken[0][1].copy()

    def standard_normal(self, size: int) -> np.ndarray:
        """What a reset asks for the velocities."""
        return self.taken[1][1].copy()


def _make() -> tuple[TimeLimit, Any]:
    """The environment in its time limit, and the environment itself, both begun.

    Gymnasium's passive checker is left off: it looks at the first step and the first reset, warns, and changes nothing.
    """
    env = gymnasium.make("HalfCheetah-v5", disable_env_checker=True)
    if not isinstance(env, TimeLimit):
        raise TypeError("HalfCheetah-v5 should come in a TimeLimit, it came as {}".format(env))
    env.reset(seed=0)
    model = env.unwrapped.model
    if (model.nv, model.ngeom - 1) != (DOFS, CAPSULES):
        raise TypeError("HalfCheetah-v5 should have nine degrees of freedom and eight capsules")
    return env, env.unwrapped
