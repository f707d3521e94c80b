"""CartPole-v1 of Gymnasium as a Lockstep reference.

Everything that a step or a reset decides is decided by Gymnasium's own code, `gymnasium.make("CartPole-v1")` with its
time limit. The adapter only puts values in (states, a forced start) and reads values out.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import TimeLimit

START = "start"
STATE = ("state/x", "state/x_dot", "state/theta", "state/theta_dot")


class CartPole:
    """One CartPole-v1 behind the protocol: a leaf for each of the four numbers, one for the steps taken."""

    def __init__(self) -> None:
        self._env, self._core = _make()
        self._env.reset(seed=0)
        self._step = self._env.step
        self._draws: list[tuple[str, np.ndarray]] = []
        self._probed, self._probed_core = _make()
        self._probed.reset(seed=0)
        self._drawn: Any = None
        self.policies = {"balance": balance, "drift": drift}

    def spec(self) -> dict[str, Any]:
        """What task.toml declares, as this adapter provides it."""
        number, flag = {"dtype": "float64", "shape": []}, {"dtype": "bool", "shape": []}
        count = {"dtype": "int32", "shape": []}
        four = {"x": number, "x_dot": number, "theta": number, "theta_dot": number}
        action = {"dtype": "int64", "shape": [], "low": 0, "high": 1}
        leaves = {
            **dict.fromkeys(STATE, number),
            "state/steps": count,
            "observation": {"dtype": "float32", "shape": [4]},
            "reward": number,
            "terminated": flag,
            "truncated": flag,
            "action": action,
        }
        return {
            "leaves": leaves,
            "capabilities": ["restore", "probe", "draws", "force_draws", "render"],
            "probes": {
                "dynamics": {"inputs": dict(four, action=action), "outputs": four},
                "termination": {"inputs": {"x": number, "theta": number}, "outputs": {"terminated": flag}},
                "truncation": {"inputs": {"steps": count}, "outputs": {"truncated": flag}},
            },
            "draws": {START: {"dtype": "float64", "shape": [4], "at": "reset"}},
            "policies": sorted(self.policies),
        }

    def reset(self, seed: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """Start an episode; with `draws`, Gymnasium's reset is handed them in place of its generator's numbers."""
        if draws is None:
            observation, _ = self._env.reset(seed=seed)
        else:
            self._core.np_random = _Forced(draws)
            observation, _ = self._env.reset()
        self._draws = [(START, self._core.state.copy())]
        return self._row(observation, 0.0, False, False)

    def step(self, action: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """One step: the hot path, which the bare environment's rate is compared with."""
        if draws:
            raise ValueError("a step of CartPole draws nothing, {} were given: {}".format(len(draws), _names(draws)))
        observation, reward, terminated, truncated, _ = self._step(action)
        x, x_dot, theta, theta_dot = self._core.state.tolist()
        return {
            "state/x": x,
            "state/x_dot": x_dot,
            "state/theta": theta,
            "state/theta_dot": theta_dot,
            "state/steps": self._env._elapsed_steps,
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
        }

    def restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Go on from a canonical state, as if its episode had led there."""
        _put(self._env, self._core, [state[path] for path in STATE], int(state["state/steps"]))
        self._draws = []
        return self._row(np.array(self._core.state, dtype=np.float32), 0.0, False, False)

    def probe(self, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Ask one rule of the real code, in an environment apart so that no episode is disturbed."""
        env, core = self._probed, self._probed_core
        if name == "dynamics":
            _put(env, core, [inputs["x"], inputs["x_dot"], inputs["theta"], inputs["theta_dot"]], 0)
            core.step(int(inputs["action"]))
            return dict(zip(("x", "x_dot", "theta", "theta_dot"), core.state.tolist(), strict=True))
        if name == "termination":
            # Positions move by the velocities alone, so at rest the step judges the very x and theta that were asked.
            _put(env, core, [inputs["x"], 0.0, inputs["theta"], 0.0], 0)
            return {"terminated": env.step(0)[2]}
        if name == "truncation":
            # The limit judges the count after the step.
            _put(env, core, [0.0, 0.0, 0.0, 0.0], int(inputs["steps"]) - 1)
            return {"truncated": env.step(0)[3]}
        raise ValueError("CartPole has no probe {!r}".format(name))

    def render(self) -> np.ndarray:
        """Gymnasium's own picture of the state, 600 wide and 400 high, drawn in an environment apart.

        It imports pygame, so it is made only when it is first asked for: nobody else pays for that.
        """
        if self._drawn is None:
            self._drawn = gymnasium.make("CartPole-v1", render_mode="rgb_array", disable_env_checker=True).unwrapped
        self._drawn.state = self._core.state
        return self._drawn.render()

    def take_draws(self) -> list[tuple[str, np.ndarray]]:
        """The draws since the last call: the start of a reset, and nothing for a step."""
        taken, self._draws = self._draws, []
        return taken

    def close(self) -> None:
        """Release the environments."""
        for env in (self._env, self._probed, self._drawn):
            if env is not None:
                env.close()

    def _row(self, observation: np.ndarray, reward: float, terminated: bool, truncated: bool) -> dict[str, Any]:
        row: dict[str, Any] = dict(zip(STATE, self._core.state.tolist(), strict=True))
        row["state/steps"] = self._env._elapsed_steps
        row["observation"] = observation
        row["reward"] = reward
        row["terminated"] = terminated
        row["truncated"] = truncated
        return row


class _Forced:
    """Stands where Gymnasium's random generator is and hands out a tape of draws, once each and in order."""

    def __init__(self, draws: list[Any]) -> None:
        if [name for name, _ in draws] != [START]:
            raise ValueError("a reset of CartPole draws {!r} once, it was given {}".format(START, _names(draws)))
        value = np.asarray(draws[0][1])
        if value.dtype != np.float64 or value.shape != (4,):
            raise ValueError("{!r} is float64 of shape (4,), not {} of {}".format(START, value.dtype, value.shape))
        self._value = value

    def uniform(self, low: float, high: float, size: tuple[int, ...]) -> np.ndarray:
        """What `reset` asks of its generator."""
        return self._value.copy()


def _make() -> tuple[TimeLimit, Any]:
    """The environment in its time limit, and the environment itself.

    Gymnasium's passive checker is left off: it looks at the first step and the first reset, warns, and changes nothing.
    """
    env = gymnasium.make("CartPole-v1", disable_env_checker=True)
    if not isinstance(env, TimeLimit):
        raise TypeError("CartPole-v1 should come in a TimeLimit, it came as {}".format(env))
    return env, env.unwrapped


def _put(env: TimeLimit, core: Any, four: list[Any], steps: int) -> None:
    core.state = np.array(four, dtype=np.float64)
    core.steps_beyond_terminated = None
    env._elapsed_steps = steps


def _names(draws: list[Any]) -> str:
    return "[{}]".format(", ".join(str(name) for name, _ in draws))


def balance(row: dict[str, Any], rng: np.random.RandomState) -> int:
    """Keep the pole up until the time limit; one action in twenty is chance, so that episodes differ."""
    if rng.random_sample() < 0.05:
        return int(rng.randint(2))
    x, x_dot, theta, theta_dot = row["observation"].tolist()
    return int(0.1 * x + 0.3 * x_dot + 2.0 * theta + 0.6 * theta_dot > 0.0)


def drift(row: dict[str, Any], rng: np.random.RandomState) -> int:
    """Run off one side with the pole up: hold a lean towards the side on which the episode began."""
    x, _, theta, theta_dot = row["observation"].tolist()
    lean = np.copysign(0.05, x) + 0.01 * rng.standard_normal()
    return int(theta - lean + 0.4 * theta_dot > 0.0)
