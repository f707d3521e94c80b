"""Measured runs of a JAX candidate: what `harness.measure.profile` times, from inside the sandbox.

A run is a batch of sub-environments under random actions, with auto-reset, through the same `transition` that level 3
verifies. It answers with the sums of the outputs of some steps, one for each sub-environment. The last of these steps
depends on all others, so that a run can neither answer before the work is done nor do less of it: afterwards the verifier
chooses some sub-environments, asks for their outputs, adds them up itself, and has the reference play them.
Nothing here reads a clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.bench_random import added_up, checked_steps, random_action, run_key_data, step_key_data
from harness.candidate.adapters.jax.rollout import random_key
from harness.candidate.adapters.jax.tape import held
from harness.candidate.faces.jax_env import Arrays, JaxEnv, output_leaves
from harness.candidate.faces.leaves import OBSERVED, mask_of, pack_action
from harness.candidate.faces.over_devices import ALL, compiled, demand_share

Answer = dict[str, Any]
Array = np.ndarray[Any, Any]
KINDS = ("step", "scan")
CARRY = (ALL, 0, 0)
"""Of a carry, which axis is that of the sub-environments."""
DETAIL_TIMESTEPS = 128
"""Steps in one compiled part of the replay of single sub-environments."""


class Bench:
    """The measured runs of one candidate. What was prepared stays compiled.

    A run is named by its kind, its `batch` of sub-environments, and its `length`, the steps of one repetition: `step` calls
    one vmapped and jitted step after the other, as a Python loop would; `scan` has all steps in one `lax.scan`. Every
    repetition begins with resets.
    """

    def __init__(self, env: JaxEnv) -> None:
        self._env = env
        self._begin: dict[tuple[int, int], Any] = {}
        self._programs: dict[tuple[str, int, int, int], Any] = {}

    def prepare(self, kind: str, batch: int, length: int, devices: int = 1) -> Answer:
        """Compile a run, without running it; over several devices each steps its share of the batch.

        Returns:
            `flops` (with `transcendentals` among them) and `bytes` of the program as XLA counts them, each loop once, and
            its `temporary_bytes`; `state_bytes` of one sub-environment; `platform`, `device` and `devices`.

        Raises:
            ValueError: there is no such kind, actions cannot be chosen at random, or there are not so many devices.
        """
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r} of run; expected one of {', '.join(KINDS)}")
        demand_share(batch, devices)
        key_data, env_indices = run_key_data(0, 0), np.arange(batch, dtype=np.uint32)
        env = self._env
        if (batch, devices) not in self._begin:
            begin = compiled(partial(_begin, env), (ALL, 0), CARRY, devices)
            self._begin[batch, devices] = begin.lower(key_data, env_indices).compile()
        carry = jax.eval_shape(partial(_begin, env), key_data, env_indices)
        if kind == "step":
            step = compiled(partial(_step, env), (ALL, 0, CARRY), (CARRY, 0), devices)
            program = step.lower(key_data, env_indices, carry).compile()
        else:
            scan = compiled(partial(_scan, env, length), (ALL, 0, CARRY, ALL), (1, 1), devices)
            program = scan.lower(key_data, env_indices, carry, checked_steps(key_data, length)).compile()
        self._programs[kind, batch, length if kind == "scan" else 0, devices] = program
        device = jax.devices()[0]
        return _costs(program) | {
            "state_bytes": sum(leaf.dtype.itemsize * leaf.size for leaf in jax.tree.leaves(carry[1])) // batch,
            "platform": device.platform,
            "device": device.device_kind,
            "devices": devices,
        }

    def run(self, kind: str, batch: int, length: int, seed: int, repeats: int, devices: int = 1) -> Answer:
        """Do a run that was prepared; answers, once all outputs of all steps are there, with the sums of each repetition,
        uint32 `[repeats, batch]`.
        """
        keys = [run_key_data(seed, each) for each in range(repeats)]
        return {"sums": np.stack([self._repeat(kind, batch, length, key_data, devices)[0] for key_data in keys])}

    def bench_envs(
        self, kind: str, batch: int, length: int, seed: int, repeat: int, env_indices: Sequence[int], devices: int = 1
    ) -> Answer:
        """Some sub-environments of one repetition of a run, which is done again, and what went into them.

        Returns:
            `outputs`: of every step of the whole batch's program, and `actions`, each `[length, num_envs, ...]`; the rest
            as `JaxCandidate.autoreset` for the sub-environments alone.
        """
        key_data, shown = run_key_data(seed, repeat), np.asarray(env_indices, np.int32)
        _, outputs = self._repeat(kind, batch, length, key_data, devices, shown)
        return {"outputs": outputs, **self._detail(key_data, shown.astype(np.uint32), length)}

    def program(self, batch: int) -> tuple[Any, Any]:
        """The compiled step of a batch, and a call of it, for whoever looks where its time goes."""
        key_data, env_indices = run_key_data(0, 0), np.arange(batch, dtype=np.uint32)
        program, carry = self._programs["step", batch, 0, 1], self._begin[batch, 1](key_data, env_indices)
        return program, lambda: jax.block_until_ready(program(key_data, env_indices, carry))

    def _repeat(
        self, kind: str, batch: int, length: int, key_data: Any, devices: int, shown: Any = None
    ) -> tuple[Array, Answer]:
        """One repetition: the sum of each sub-environment, uint32 `[batch]`, and the outputs of those that are `shown`."""
        env_indices, chosen = np.arange(batch, dtype=np.uint32), checked_steps(key_data, length)
        carry = self._begin[batch, devices](key_data, env_indices)
        program = self._programs[kind, batch, length if kind == "scan" else 0, devices]
        if kind == "scan":
            outputs, checked = program(key_data, env_indices, carry, chosen)
            jax.block_until_ready(outputs)
            checked = {path: np.asarray(leaf) for path, leaf in checked.items()}
            added = [{path: leaf[row] for path, leaf in checked.items()} for row in range(len(chosen))]
            seen = {} if shown is None else {path: np.asarray(leaf[:, shown]) for path, leaf in outputs.items()}
        else:
            added, seen = _stepped(partial(program, key_data, env_indices), carry, length, chosen.tolist(), shown)
        total = np.zeros(batch, np.uint32)
        for outputs in added:
            total += added_up(outputs, batch)
        return total, seen

    def _detail(self, key_data: Any, env_indices: Any, length: int) -> Answer:
        carry, first = _detail_begin(self._env, key_data, env_indices)
        first, parts = jax.device_get(first), []
        for _ in range(0, length, DETAIL_TIMESTEPS):
            carry, part = _detail_scan(self._env, key_data, env_indices, carry)
            parts.append(jax.device_get(part))
        timesteps = jax.tree.map(lambda *arrays: np.concatenate(arrays)[:length], *parts)
        only_steps = {name: timesteps.pop(name) for name in ("step_draws", "step_used", "actions")}
        return only_steps | jax.tree.map(lambda a, b: np.concatenate([a[None], b]), first, timesteps)


def _stepped(step: Any, carry: Any, length: int, chosen: Sequence[int], shown: Any) -> tuple[list[Answer], Answer]:
    """The outputs of the chosen steps, and of all steps those of the sub-environments that are `shown`; no others are held,
    as a batch of large observations has more than a machine can hold.
    """
    kept, looked = {}, []
    for timestep in range(length):
        carry, outputs = step(carry)
        if timestep in chosen:
            kept[timestep] = outputs
        if shown is not None:
            looked.append({path: np.asarray(leaf[shown]) for path, leaf in outputs.items()})
    kept = jax.device_get(kept)
    seen = {path: np.stack([outputs[path] for outputs in looked]) for path in looked[0]} if looked else {}
    return [kept[timestep] for timestep in chosen], seen


def _costs(compiled: Any) -> dict[str, float]:
    try:
        counted = compiled.cost_analysis() or {}
    except NotImplementedError:  # not every backend counts
        counted = {}
    memory = compiled.memory_analysis()
    transcendentals = float(counted.get("transcendentals", 0.0))
    return {
        "flops": max(0.0, float(counted.get("flops", 0.0))) + max(0.0, transcendentals),
        "transcendentals": max(0.0, transcendentals),
        "bytes": max(0.0, float(counted.get("bytes accessed", 0.0))),
        "temporary_bytes": float(getattr(memory, "temp_size_in_bytes", 0) or 0),
    }


# --- compiled functions: a carry is (timestep, state, legal actions); state and actions are `[num_envs, ...]` ---------


def _begin(env: JaxEnv, key_data: Any, env_indices: Any) -> Any:
    def one(env_index: Any) -> Any:
        state, outputs = env.begin(env.sample_reset(_key(key_data, env_index, jnp.uint32(0))))
        return state, _legal(output_leaves(outputs))

    state, legal = jax.vmap(one)(env_indices)
    return jnp.uint32(1), state, legal


def _step(env: JaxEnv, key_data: Any, env_indices: Any, carry: Any) -> Any:
    timestep, state, legal = carry
    actions = _actions(env, key_data, env_indices, timestep, legal)

    def one(env_index: Any, state: Any, action: Any) -> Any:
        transition = env.transition(_key(key_data, env_index, timestep), state, pack_action(action))
        return transition["state"], output_leaves(transition["outputs"])

    state, outputs = jax.vmap(one)(env_indices, state, actions)
    return (timestep + jnp.uint32(1), state, _legal(outputs)), outputs


def _scan(env: JaxEnv, length: int, key_data: Any, env_indices: Any, carry: Any, chosen: Any) -> Any:
    _, outputs = jax.lax.scan(lambda carry, _: _step(env, key_data, env_indices, carry), carry, length=length)
    return outputs, {path: jnp.take(leaf, chosen, axis=0) for path, leaf in outputs.items()}


def _key(key_data: Any, env_index: Any, timestep: Any) -> jax.Array:
    return random_key(jnp.stack(step_key_data(key_data, env_index, timestep)))


def _legal(outputs: Arrays) -> Arrays:
    return {path: leaf for path, leaf in outputs.items() if path.split("/")[0] == "legal_actions"}


def _actions(env: JaxEnv, key_data: Any, env_indices: Any, timestep: Any, legal: Arrays) -> Arrays:
    x64 = bool(env.contract.get("x64"))
    return {
        path: random_action(jnp, number, leaf, key_data, env_indices, timestep, legal.get(mask_of(path))).astype(
            held(leaf["dtype"], x64)
        )
        for number, (path, leaf) in enumerate(env.actions.items())
    }


# --- some sub-environments, with all that went into them --------------------------------------------------------------


@partial(jax.jit, static_argnums=0)
def _detail_begin(env: JaxEnv, key_data: Any, env_indices: Any) -> Any:
    def one(env_index: Any) -> Any:
        draws = env.sample_reset(_key(key_data, env_index, jnp.uint32(0)))
        state, outputs = env.begin(draws)
        leaves = output_leaves(outputs)
        return (state, _legal(leaves)), shown_timestep(env, outputs, state, outputs, state) | {
            "reset_draws": draws,
            "reset_used": env.used(outputs, env.reset_draws),
        }

    (state, legal), timestep = jax.vmap(one)(env_indices)
    return (jnp.uint32(1), state, legal), timestep


@partial(jax.jit, static_argnums=0)
def _detail_scan(env: JaxEnv, key_data: Any, env_indices: Any, carry: Any) -> Any:
    def body(carry: Any, _: Any) -> Any:
        timestep, state, legal = carry
        actions = _actions(env, key_data, env_indices, timestep, legal)

        def one(env_index: Any, state: Any, action: Any) -> Any:
            t = env.transition(_key(key_data, env_index, timestep), state, pack_action(action))
            shown = shown_timestep(env, t["outputs"], t["state"], t["final_outputs"], t["final_state"])
            taken = {name: t[name] for name in ("step_draws", "step_used", "reset_draws", "reset_used")}
            return (t["state"], _legal(output_leaves(t["outputs"]))), shown | taken

        (state, legal), seen = jax.vmap(one)(env_indices, state, actions)
        return (timestep + jnp.uint32(1), state, legal), seen | {"actions": actions}

    return jax.lax.scan(body, carry, length=DETAIL_TIMESTEPS)


def shown_timestep(
    env: JaxEnv, outputs: Mapping[str, Any], state: Any, final_outputs: Mapping[str, Any], final_state: Any
) -> Answer:
    """A timestep of an auto-resetting batch: its leaves, and below `final/` those from before the auto-reset."""
    seen = {name: final_outputs[name] for name in OBSERVED if name in final_outputs}
    final = output_leaves(seen) | env.encode(final_state)
    leaves = output_leaves(dict(outputs)) | env.encode(state)
    return {"leaves": leaves | {f"final/{path}": leaf for path, leaf in final.items()}}
