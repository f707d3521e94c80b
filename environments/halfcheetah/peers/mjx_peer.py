"""MJX, MuJoCo's own translation into JAX, with Gymnasium's model of the cheetah: all in float32, as it comes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import mujoco
from in_jax import STEP_LIMIT, InJax
from mujoco import mjx

SUBSTEPS = 5
NOISE = 0.1
CONTROL_COST = 0.1


class Mjx(InJax):
    """The model as Gymnasium has it."""

    def __init__(self) -> None:
        super().__init__()
        assets = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
        model = mujoco.MjModel.from_xml_path(str(assets / "half_cheetah.xml"))
        self.tune(model)
        self._model = mjx.put_model(model)
        self._start = mjx.make_data(self._model)

    def tune(self, model: Any) -> None:
        """Change options of the model before it is translated; here none."""

    def begin(self, batch: int, key: Any) -> Any:
        """Reset a batch."""
        key, resets = jax.random.split(key)
        return key, jax.vmap(self._reset)(jax.random.split(resets, batch)), jnp.zeros(batch, jnp.int32)

    def step(self, batch: int, carry: Any) -> Any:
        """Step it."""
        key, data, steps = carry
        key, acting, resets = jax.random.split(key, 3)
        actions = jax.random.uniform(acting, (batch, self._model.nu), minval=-1.0, maxval=1.0)
        data, steps, outputs = jax.vmap(self._one)(data, steps, actions, jax.random.split(resets, batch))
        return (key, data, steps), outputs

    def _reset(self, key: Any) -> Any:
        position, velocity = jax.random.split(key)
        qpos = jax.random.uniform(position, (self._model.nq,), minval=-NOISE, maxval=NOISE)
        return self._start.replace(qpos=qpos, qvel=NOISE * jax.random.normal(velocity, (self._model.nv,)))

    def _one(self, data: Any, steps: Any, action: Any, key: Any) -> Any:
        held = data.replace(ctrl=action)
        after = jax.lax.fori_loop(0, SUBSTEPS, lambda _, at: mjx.step(self._model, at), held)
        speed = (after.qpos[0] - data.qpos[0]) / (SUBSTEPS * self._model.opt.timestep)
        reward, truncated = speed - CONTROL_COST * jnp.sum(jnp.square(action)), steps + 1 >= STEP_LIMIT
        data = jax.tree.map(partial(jnp.where, truncated), self._reset(key), after)
        outputs = jnp.concatenate([after.qpos[1:], after.qvel]), reward, truncated
        return data, jnp.where(truncated, 0, steps + 1), outputs


class MjxFour(Mjx):
    """The same with at most four iterations of the solver, each with at most eight of its line search: other physics."""

    def tune(self, model: Any) -> None:
        """Let the solver end early."""
        model.opt.iterations, model.opt.ls_iterations = 4, 8
