"""What users may give to the faces: keys of either kind, actions of any dtype, donated buffers. It is equal, or refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from harness.candidate.faces.jax_env import JaxEnv
from harness.candidate.faces.jax_gymnax import GymnaxEnv
from harness.candidate.faces.jax_vector import JaxVectorEnv
from harness.candidate.faces.leaves import Actions
from harness.candidate.faces.rust_batch import RustBatch
from harness.candidate.faces.rust_pool import RustPool
from harness.candidate.faces.rust_vector import RustVectorEnv
from tests.candidate.adapters.contracts import DICE, leaf

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
ENVS = 3
BYTE = {"action": leaf("uint8", low=0, high=2)}
WHOLE_BYTE = {"action": leaf("uint8")}


@pytest.fixture(autouse=True)
def env() -> JaxEnv:
    jax.config.update("jax_enable_x64", False)
    return JaxEnv(DICE["entry"], DICE)


def action(bet: Any, push: Any = (0.5, 0.25)) -> dict[str, Any]:
    return {"bet": bet, "push": np.array(push, np.float32)}


def same(one: Any, other: Any) -> None:
    jax.tree.map(np.testing.assert_array_equal, jax.device_get(one), jax.device_get(other))


def begun(env: JaxEnv) -> Any:
    return env.reset(jax.random.key(3))[0]


# --- keys -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_legacy_and_typed_keys_of_one_seed_play_the_same(env: JaxEnv) -> None:
    typed, legacy = jax.random.key(5), jax.random.PRNGKey(5)
    same(env.reset(typed), env.reset(legacy))
    for step in (env.step, env.step_autoreset, jax.jit(env.step), GymnaxEnv(env).step):
        same(step(typed, begun(env), action(2)), step(legacy, begun(env), action(2)))
    keys = [jax.random.split(key, 4) for key in (typed, legacy)]
    same(*(jax.vmap(env.reset)(each) for each in keys))


def test_what_is_no_key_of_one_instance_is_refused(env: JaxEnv) -> None:
    wrong: list[Any] = [7, np.uint32(7), jax.random.split(jax.random.key(0), 2), jax.random.key(0, impl="rbg")]
    wrong += [jax.random.split(jax.random.PRNGKey(0), 3), np.zeros(2, np.int32), np.zeros(4, np.uint32)]
    for key in wrong:
        with pytest.raises(TypeError, match="was given as a key; expected one of one instance, of threefry2x32"):
            env.reset(key)
        with pytest.raises(TypeError, match="was given as a key"):
            env.step(key, begun(env), action(1))


# --- actions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*INTEGERS, int, jnp.int32])
def test_an_integer_of_any_dtype_is_the_same_action(env: JaxEnv, dtype: Any) -> None:
    key, state = jax.random.key(1), begun(env)
    same(env.step(key, state, action(dtype(3))), env.step(key, state, action(np.int64(3))))


@pytest.mark.parametrize("wrong", [-1, 4, 256, 2**31, 2**32 + 1, -(2**40)])
def test_an_action_out_of_range_is_refused_by_every_face(env: JaxEnv, wrong: int) -> None:
    key, state = jax.random.key(1), begun(env)
    for step in (env.step, env.step_autoreset, GymnaxEnv(env).step, GymnaxEnv(env).step_env):
        with pytest.raises(ValueError, match=f"action/bet: {wrong} was given; expected int32"):
            step(key, state, action(wrong))
    with pytest.raises(ValueError, match=f"action/bet: {wrong} was given"):
        jax.jit(lambda key, state: env.step(key, state, action(wrong)))(key, state)
    envs = JaxVectorEnv(env, ENVS)
    envs.reset(seed=1)
    with pytest.raises(ValueError, match=rf"action/bet: {wrong} was given; expected int32\[3\]\S* from 0 to 3"):
        envs.step(action(np.array([0, wrong, 1]), np.zeros((ENVS, 2))))


def test_other_kinds_and_shapes_are_refused(env: JaxEnv) -> None:
    key, state = jax.random.key(1), begun(env)
    with pytest.raises(TypeError, match="action/bet: float64 was given; expected int32"):
        env.step(key, state, action(1.5))
    with pytest.raises(ValueError, match=r"action/bet: the shape \[2\] was given"):
        env.step(key, state, action(np.array([1, 2])))
    with pytest.raises(ValueError, match=r"expected a dict with \['bet', 'push'\]"):
        env.step(key, state, {"bet": 1})
    with pytest.raises(ValueError, match=r"a int was given as actions"):
        env.step(key, state, 1)
    with pytest.raises(ValueError, match="action/push: nan was given"):
        env.step(key, state, action(1, (np.nan, 0)))
    envs = JaxVectorEnv(env, ENVS)
    envs.reset(seed=1)
    with pytest.raises(ValueError, match=r"action/bet: the shape \[\] was given; expected int32\[3\]"):
        envs.step(action(1, np.zeros((ENVS, 2))))


def test_what_is_traced_is_refused_where_a_cast_might_wrap_around(env: JaxEnv) -> None:
    key, state = jax.random.key(1), begun(env)
    step = jax.jit(env.step)
    same(step(key, state, action(jnp.uint8(3))), env.step(key, state, action(3)))
    with pytest.raises(TypeError, match=r"uint32 was given; expected int32\[\] of one instance\. .*astype\('int32'\)"):
        step(key, state, action(jnp.uint32(3)))
    with pytest.raises(TypeError, match="float32 was given"):
        step(key, state, action(jnp.float32(3)))
    with pytest.raises(ValueError, match=r"the shape \[4\] was given; .*jax.vmap takes a batch"):
        step(key, state, action(jnp.zeros(4, jnp.int32)))


@pytest.mark.parametrize("given", [256, -1, 300, 2**40])
def test_a_wide_integer_never_wraps_around_to_a_byte(given: int) -> None:
    for declared in (BYTE, WHOLE_BYTE):
        with pytest.raises(ValueError, match=f"action: {given} was given; expected uint8"):
            Actions(declared, (1,)).unpacked(np.array([given]))
    assert Actions(BYTE, (2,)).unpacked([1, 2])["action"].dtype == np.uint8


def test_the_bounds_of_a_float_are_those_of_its_own_precision() -> None:
    taken = Actions({"action": leaf("float32", low=-0.1, high=0.1)})
    assert taken.leaf("action", 0.1) == np.float32(0.1)
    with pytest.raises(ValueError, match=r"action: 0\.11 was given"):
        taken.leaf("action", 0.11)


# --- faces in Rust, over a module that only notes ---------------------------------------------------------------------


class Module:
    class Unfit(ValueError):
        """As a module in Rust raises it, before anything steps."""

    def __init__(self) -> None:
        self.taken: list[Any] = []
        self.SPEC = {
            "observation": [("observation", "float32", ())],
            "action": [("action", "uint8", ())],
            "state": [],
            "reward": [("reward", "float32", ())],
        }
        nothing = SimpleNamespace(reset=lambda *_: None, reset_env=lambda *_: None, step=self._step)
        self.environment = SimpleNamespace(vector=lambda *_: nothing)
        self.Results = lambda *arrays: arrays

    def _step(self, given: list[Any], _: Any) -> None:
        if not isinstance(given[0], np.ndarray) or given[0].dtype != np.uint8:
            raise self.Unfit("action: it is no array of uint8")
        self.taken.append(given[0])


LEAVES = BYTE | {"observation": leaf("float32"), "reward": leaf("float32")}


@pytest.mark.parametrize("face", ["batch", "batch of the package", "pool", "vector"])
def test_the_faces_in_rust_take_an_action_as_it_is_or_not_at_all(face: str) -> None:
    module = Module()
    if face.startswith("batch"):
        batch = RustBatch(module, ENVS, leaves=LEAVES if "package" in face else None)
        batch.reset([1, 2, 3])
        step = lambda actions: batch.step({"action": actions})  # noqa: E731
    else:
        envs = RustPool(module, LEAVES, ENVS) if face == "pool" else RustVectorEnv(module, LEAVES, ENVS)
        envs.reset()
        step = envs.step
    for dtype in INTEGERS:
        step(np.array([0, 2, 1], dtype))
    step([0, 2, 1])
    assert all(taken.dtype == np.uint8 and taken.tolist() == [0, 2, 1] for taken in module.taken)
    for wrong in ([0, 256, 1], [0, -1, 1], [0.5, 0, 1]):
        with pytest.raises((ValueError, TypeError), match=r"action: .* was given.*expected uint8"):
            step(np.array(wrong))
    if face != "batch":  # that knows no bounds
        with pytest.raises(ValueError, match="action: 3 was given; expected uint8"):
            step(np.array([0, 3, 1]))
    assert len(module.taken) == len(INTEGERS) + 1


# --- 64-bit types, donated buffers, vmap ------------------------------------------------------------------------------


def test_64_bit_types_that_it_was_not_verified_with_are_refused_at_once_and_later(env: JaxEnv) -> None:
    state = begun(env)
    jax.config.update("jax_enable_x64", True)
    try:
        uses = [
            lambda: JaxEnv(DICE["entry"], DICE),
            lambda: env.reset(jax.random.key(0)),
            lambda: env.step(jax.random.key(0), state, action(1)),
        ]
        for use in uses:
            with pytest.raises(RuntimeError, match="verified without JAX's 64-bit types, and they are on"):
                use()
    finally:
        jax.config.update("jax_enable_x64", False)


def test_donated_states_change_nothing(env: JaxEnv) -> None:
    def play(step: Any) -> list[Any]:
        state, first = env.reset(jax.random.key(2))
        seen = [jax.device_get(first)]
        for number in range(5):
            state, outputs = step(jax.random.key(number), state, action(jnp.int32(1)))
            seen.append(jax.device_get(outputs))
        return seen

    donated = jax.jit(env.step_autoreset, donate_argnums=1)
    same(play(donated), play(jax.jit(env.step_autoreset)))
    same(play(donated), play(donated))


@pytest.mark.slow
def test_a_batch_that_the_user_makes_is_its_instances(env: JaxEnv) -> None:
    keys, bets = jax.random.split(jax.random.key(4), 7), jnp.arange(7) % 4
    pushes = jnp.linspace(-1, 1, 14).reshape(7, 2)
    states, outputs = jax.vmap(env.reset)(keys)
    stepped = jax.jit(jax.vmap(env.step_autoreset))(keys, states, {"bet": bets, "push": pushes})
    for index in range(7):

        def one(tree: Any, index: int = index) -> Any:
            return jax.tree.map(lambda array: array[index], tree)

        same(one((states, outputs)), jax.jit(env.reset)(keys[index]))
        alone = jax.jit(env.step_autoreset)(keys[index], one(states), {"bet": bets[index], "push": pushes[index]})
        same(one(stepped), alone)
