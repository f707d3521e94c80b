"""A candidate's functions as one environment: the functional face, and the core on which every other face stands.

This file and the faces beside it need nothing but JAX and numpy and are copied into exported packages, so that what
users train on is what was verified. A *contract* is the JSON-ready part of task.toml that concerns a candidate:

    {"x64": bool, "mode": "tape|shared|law|none", "leaves": {path: {dtype, shape, low, high}},
     "draws": {name: {dtype, shape, at, capacity}}, "probes": {name: {"inputs": {...}, "outputs": {...}}}}
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .leaves import OBSERVED, Actions, flatten, is_action, is_of_kind, pack_action, unpack_action
from .restarts import restarted

State = Any
Outputs = dict[str, Any]
Arrays = dict[str, Any]
KEYS = "threefry2x32"
"""The generator of the keys with which candidates are verified."""

_loaded = itertools.count()


def load_module(index: str | Path) -> ModuleType:
    """The candidate module in a file. It imports the files beside it by their plain names, at its top.

    Nothing of it stays importable afterwards, so that two candidates whose files bear the same names can be used in one
    process.
    """
    path = Path(index).resolve()
    spec = importlib.util.spec_from_file_location(f"candidate_{next(_loaded)}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    beside = {entry.stem for entry in path.parent.iterdir() if entry.suffix == ".py" or entry.is_dir()}
    hidden = _take_modules(beside)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
        _take_modules(beside)
        sys.modules.update(hidden)
    return module


def _take_modules(names: Collection[str]) -> dict[str, ModuleType]:
    """Take modules of these names, and what lies within them, out of the interpreter's table."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] in names}


class JaxEnv:
    """The functional face: pure functions of one instance, free to be vmapped, jitted and scanned.

    Args:
        module: the candidate: its module, or the path of its file.
        contract: see the module's docstring.

    `reset`, `step` and `step_autoreset` are held against what was verified. Keys are JAX's own threefry keys, typed
    (`jax.random.key`) or legacy (`jax.random.PRNGKey`); others draw otherwise in a batch than alone. Actions may have any
    dtype of their kind that the leaf's holds, and must lie within its bounds. Under `jit` or `vmap` there are no values to
    look at: there an action is not held against its bounds, and one of a wider dtype than its leaf's is refused, as it
    would wrap around.

    Raises:
        RuntimeError: JAX's 64-bit types are off where the contract needs them, or on where it was verified without them;
            also raised by whatever is traced later.
    """

    def __init__(self, module: Any, contract: Mapping[str, Any]) -> None:
        self._x64 = bool(contract.get("x64"))
        self._demand_width()
        self.module = load_module(module) if isinstance(module, (str, Path)) else module
        self.contract = contract
        self.mode: str = contract["mode"]
        self.leaves: dict[str, Any] = dict(contract["leaves"])
        self.actions = {path: leaf for path, leaf in self.leaves.items() if is_action(path)}
        self.players: tuple[str, ...] = tuple(contract.get("players", ()))
        self._taken = Actions(self.actions, (), jax.dtypes.canonicalize_dtype)
        self.state_leaves = {path: leaf for path, leaf in self.leaves.items() if path.startswith("state/")}
        draws = contract.get("draws", {}) if self.mode in ("tape", "law") else {}
        self.reset_draws = {name: draw for name, draw in draws.items() if draw["at"] != "step"}
        self.step_draws = {name: draw for name, draw in draws.items() if draw["at"] != "reset"}

    # --- one instance -------------------------------------------------------------------------------------------------

    def reset(self, key: jax.Array) -> tuple[State, Outputs]:
        """Begin an episode; outputs are `observation`, `reward` (0), `terminated`, `truncated`, and where the task has
        them `legal_actions`, `to_move` and `alive`. What each of several players has of its own comes in dicts by name.
        """
        _demand_key(key)
        state, outputs = self.begin(self.sample_reset(key))
        return _own(state), _own(_public(outputs))

    def step(self, key: jax.Array, state: State, action: Any) -> tuple[State, Outputs]:
        """One step. Nothing is reset: after `terminated` or `truncated` the state is not to be stepped again."""
        _demand_key(key)
        action = self._action(action)
        state, outputs = self.advance(state, action, self.sample_step(key, state, action))
        return _own(state), _own(_public(outputs))

    def step_autoreset(self, key: jax.Array, state: State, action: Any) -> tuple[State, Outputs]:
        """One step, and where it ends the episode the begin of the next one in the same step.

        `reward`, `terminated` and `truncated` are the step's. `observation` (and the rest of `OBSERVED`) is what to act
        on next; `final_observation` is the step's own, which differs from it only where an episode ended.
        """
        _demand_key(key)
        transition = self.transition(key, state, self._action(action))
        final = transition["final_outputs"]
        return transition["state"], transition["outputs"] | {"final_observation": final["observation"]}

    # --- what the faces and the verifier share ------------------------------------------------------------------------

    def transition(self, key: jax.Array, state: State, action: Any) -> dict[str, Any]:
        """A step with auto-reset, with all that went into it.

        Returns:
            `state` and `outputs` after the auto-reset; `final_state` and `final_outputs` before it; `step_draws`,
            `step_used`, `reset_draws`, `reset_used`: the draws that the step took, and those of the reset, zeros where
            the episode went on.
        """
        # A split costs as much as a small environment's whole step, and only one of two that draw needs it.
        step_key, reset_key = jax.random.split(key) if self.step_draws and self.reset_draws else (key, key)
        step_draws = self.sample_step(step_key, state, action)
        stepped, final = self.advance(state, action, step_draws)
        outputs = _public(final)
        before = {name: outputs[name] for name in OBSERVED if name in outputs}

        def begin(key: jax.Array) -> tuple[State, Any]:
            draws = self.sample_reset(key)
            fresh, first = self.begin(draws)
            return fresh, ({name: first[name] for name in before}, draws, self.used(first, self.reset_draws))

        # Where no episode ended there are no draws of a reset.
        none = jax.tree.map(jnp.zeros_like, jax.eval_shape(begin, reset_key)[1][1:])
        ended = final["terminated"] | final["truncated"]
        fresh, (first, reset_draws, reset_used) = restarted(ended, begin, reset_key, stepped, (before, *none))
        return {
            "state": fresh,
            "outputs": outputs | first,
            "final_state": stepped,
            "final_outputs": outputs,
            "step_draws": step_draws,
            "step_used": self.used(final, self.step_draws),
            "reset_draws": reset_draws,
            "reset_used": reset_used,
        }

    def begin(self, draws: Arrays) -> tuple[State, Outputs]:
        """The candidate's `reset` for given draws; weak types are made strong, so that a loop may carry the state."""
        self._demand_width()
        return _transition(self.module.reset(draws))

    def advance(self, state: State, action: Any, draws: Arrays) -> tuple[State, Outputs]:
        """The candidate's `step` for given draws."""
        self._demand_width()
        return _transition(self.module.step(state, action, draws))

    def sample_reset(self, key: jax.Array) -> Arrays:
        """Draws for a reset by the candidate's own law; in mode `shared`, a seed below 2**31 as two 32-bit numbers."""
        if self.mode == "shared":
            return {"seed": jnp.stack([jnp.uint32(0), jax.random.bits(key, dtype=jnp.uint32) >> 1])}
        return self.module.sample_reset(key) if self.reset_draws else {}

    def sample_step(self, key: jax.Array, state: State, action: Any) -> Arrays:
        """Draws for a step by the candidate's own law."""
        return self.module.sample_step(key, state, action) if self.step_draws else {}

    def used(self, outputs: Outputs, draws: Mapping[str, Any]) -> Arrays:
        """How often each of `draws` was consumed: as the candidate says, else as often as it can be."""
        said = outputs.get("draws_used", {})
        return {name: jnp.asarray(said.get(name, draw["capacity"]), jnp.int32) for name, draw in draws.items()}

    def encode(self, state: State) -> Arrays:
        """The canonical state's leaves, with their `state/` prefix."""
        return {f"state/{name}": leaf for name, leaf in self.module.encode(state).items()} if self.state_leaves else {}

    def decode(self, leaves: Mapping[str, Any]) -> State:
        """The state that canonical leaves describe; the inverse of `encode`."""
        return _strong(self.module.decode({path.removeprefix("state/"): leaf for path, leaf in leaves.items()}))

    def _action(self, action: Any) -> Any:
        """An action as it was given, in the dtypes that its leaves have."""
        given = unpack_action(self.actions, action)
        return pack_action({path: self._action_leaf(path, value) for path, value in given.items()})

    def _action_leaf(self, path: str, value: Any) -> jax.Array:
        if not isinstance(value, Tracer):
            return jnp.asarray(self._taken.leaf(path, value))
        leaf = self.actions[path]
        dtype, shape = jax.dtypes.canonicalize_dtype(np.dtype(leaf["dtype"])), tuple(leaf["shape"])
        expected = f"expected {dtype}{list(shape)} of one instance"
        if value.shape != shape:
            raise ValueError(f"{path}: the shape {list(value.shape)} was given; {expected} (jax.vmap takes a batch)")
        rounds = dtype.kind == "f" and jnp.issubdtype(value.dtype, jnp.floating)
        casting = "same_kind" if dtype.kind == "f" else "safe"
        if not rounds and not (is_of_kind(value.dtype, dtype) and np.can_cast(value.dtype, dtype, casting)):
            raise TypeError(
                f"{path}: {value.dtype} was given; {expected}. While JAX traces there is no value to look at, and a cast "
                f"might wrap around: cast what is known to fit, as in action.astype({dtype.name!r})"
            )
        return jax.lax.convert_element_type(value, dtype)

    def _demand_width(self) -> None:
        """Refuse JAX's types of another width than those with which the environment was verified."""
        on = jax.dtypes.canonicalize_dtype(np.float64) == np.float64
        if self._x64 and not on:
            raise RuntimeError(
                "this environment computes in 64 bits as its reference does, and JAX's 64-bit types are off: call "
                'jax.config.update("jax_enable_x64", True) before anything else uses JAX, or set JAX_ENABLE_X64=1'
            )
        if on and not self._x64:
            raise RuntimeError(
                "this environment was verified without JAX's 64-bit types, and they are on, with which it may compute and "
                'draw otherwise: call jax.config.update("jax_enable_x64", False), or use it in a process of its own'
            )


def output_leaves(outputs: Outputs) -> Arrays:
    """A step's outputs as leaves by path, without the count of draws."""
    return {path: leaf for name, value in _public(outputs).items() for path, leaf in flatten(name, value).items()}


def _demand_key(key: Any) -> None:
    """Refuse what is no key of one instance, or one of another generator than the one with which draws were verified."""
    dtype, shape = getattr(key, "dtype", None), getattr(key, "shape", None)
    if dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key):
        fits = shape == () and str(jax.random.key_impl(key)) == KEYS
        found = f"{jax.random.key_impl(key)}{list(key.shape)}"
    else:
        fits = dtype == np.uint32 and shape == (2,)
        found = f"a {type(key).__name__}" if dtype is None else f"{dtype}{list(shape or ())}"
    if not fits:
        raise TypeError(
            f"{found} was given as a key; expected one of one instance, of {KEYS}: jax.random.key(7) or "
            "jax.random.PRNGKey(7) (jax.vmap takes a batch of them)"
        )


def _own(tree: Any) -> Any:
    """Arrays of the caller's own, which he may donate: not those that the candidate's module holds, or one of them twice."""
    return jax.tree.map(lambda leaf: leaf if isinstance(leaf, Tracer) else jnp.array(leaf), tree)


def _public(outputs: Outputs) -> Outputs:
    return {name: value for name, value in outputs.items() if name != "draws_used"}


def _transition(returned: Any) -> tuple[State, Outputs]:
    if not (isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], Mapping)):
        kind = type(returned).__name__
        raise TypeError(f"it returned a {kind}; expected (state, outputs), where outputs is a dict")
    return _strong(returned)


def _strong(tree: Any) -> Any:
    return jax.tree.map(_strong_leaf, tree)


def _strong_leaf(leaf: Any) -> jax.Array:
    array = jnp.asarray(leaf)
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        return array
    return jax.lax.convert_element_type(array, array.dtype)
