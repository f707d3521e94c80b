"""What a thing is that was given as an environment, and which module has to be imported before Gymnasium knows an id."""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import gymnasium
from gymnasium_describe import Unusable

_WRAP = "`--factory` with a function that returns "
_BY_HAND = "`--adapter` with an adapter written by hand (docs/protocol.md)"
_ZOO = "`--pettingzoo` in place of `--factory`"
KNOWN = (
    ("pettingzoo.utils.env.AECEnv", "a PettingZoo environment, whose agents take turns", _ZOO),
    ("pettingzoo.utils.env.ParallelEnv", "a PettingZoo environment, whose agents act at once", _ZOO),
    ("gymnasium.vector.vector_env.VectorEnv", "a Gymnasium vector environment, many at once", _WRAP + "one of them"),
    ("gymnasium.experimental.functional.FuncEnv", "a functional Gymnasium environment",
     _WRAP + "`gymnasium.envs.functional_jax_env.FunctionalJaxEnv(it)`"),
    ("gym.core.Env", "an environment of the old Gym, not of Gymnasium", _WRAP + "`shimmy.GymV26CompatibilityV0(env=it)`"),
    ("dm_env._environment.Environment", "a dm_env environment",
     _WRAP + "`shimmy.DmControlCompatibilityV0(it)`, or a `gymnasium.Env` around it"),
    ("jumanji.env.Environment", "a Jumanji environment, written in JAX",
     _WRAP + "`jumanji.wrappers.JumanjiToGymWrapper(it)`"),
    ("gymnax.environments.environment.Environment", "a gymnax environment, written in JAX",
     _WRAP + "`gymnax.wrappers.GymnaxToGymWrapper(it)`"),
    ("pgx.core.Env", "a pgx environment, written in JAX", _BY_HAND),
    ("brax.envs.base.Env", "a Brax environment, written in JAX", _WRAP + "`brax.envs.wrappers.gym.GymWrapper(it)`"),
    ("open_spiel.python.rl_environment.Environment", "an OpenSpiel environment", _BY_HAND),
    ("stable_baselines3.common.vec_env.base_vec_env.VecEnv", "a vector environment of Stable-Baselines3",
     _WRAP + "one of its environments"),
)  # fmt: skip
"""Kinds of environments that are not Gymnasium's, the classes that show them, and the best way to a task."""


def demand_environment(thing: Any, name: str) -> None:
    """Raises Unusable, which says what the thing is, if it is no Gymnasium environment."""
    if isinstance(thing, gymnasium.Env):
        return
    what, way = what_is(thing)
    raise Unusable(f"`{name}` gives {what}, not a Gymnasium environment. The way on: {way}")


def what_is(thing: Any) -> tuple[str, str]:
    """What a thing is, and how a task is made of it."""
    kinds = thing.__mro__ if isinstance(thing, type) else type(thing).__mro__
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in kinds}
    calling = "the class of " if isinstance(thing, type) else ""
    for name, what, way in KNOWN:
        if name in names:
            return calling + what, way
    if thing is None:
        return "nothing (None)", "let the function return the environment that it makes"
    if isinstance(thing, type):
        return f"the class {thing.__name__}", "let the function return an instance of it"
    if isinstance(thing, gymnasium.spaces.Space):
        return "a space", "let the function return the environment that has it"
    described = f"an object of {type(thing).__module__}.{type(thing).__qualname__}"
    if callable(getattr(thing, "reset", None)) and callable(getattr(thing, "step", None)):
        spaces = all(hasattr(thing, each) for each in ("observation_space", "action_space"))
        kind = "an environment of the old Gym's kind, or of its own" if spaces else "an environment of its own kind"
        return (
            f"{described}, {kind} (it has `reset` and `step`, and is no `gymnasium.Env`)",
            _WRAP + "a `gymnasium.Env` around it: spaces, `reset(seed=...)` with an info, and five values from `step`",
        )
    return f"{described}, which has no `reset` and `step`", "let the function return an environment"


def demand_results(answer: Any, count: int, method: str) -> Any:
    """What `reset` or `step` answered. Raises Unusable if those are not Gymnasium's values."""
    if isinstance(answer, tuple) and len(answer) == count:
        return answer
    given = f"{len(answer)} values" if isinstance(answer, tuple) else f"a {type(answer).__name__}"
    raise Unusable(
        f"`{method}` answers {given} where Gymnasium has {count}: this is an environment of the old Gym. "
        f"The way on: {_WRAP}a `gymnasium.Env` around it that answers {'an info too' if method == 'reset' else 'two ends'}"
    )


def modules_for(name: str, given: list[str], required: list[str]) -> Iterator[list[str]]:
    """Lists of modules that may register an id, the likeliest first: none, then by the id's namespace, then all modules
    of what the task requires. `module:function` stands for a function that registers.
    """
    yield given
    space = re.split(r"[/-]", name)[0]
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", space).lower()
    roots = dict.fromkeys((space.lower(), snake, space.replace("_", "").lower()))
    guesses = [form.format(root) for root in roots for form in ("{}", "{}_py", "{}_env", "{}_gym", "gym_{}", "{}_envs")]
    for module in dict.fromkeys([*guesses, *required]):
        if not module.isidentifier() or not _is_there(module):
            continue
        yield [*given, module]
        for inner, function in (
            ("", "register_envs"),
            ("gym", "register_envs"),
            ("", "register"),
            ("envs", "register_envs"),
        ):
            within = f"{module}.{inner}" if inner else module
            if _registers(getattr(_imported(within), function, None)):
                yield [*given, f"{within}:{function}"]


def _registers(function: Any) -> bool:
    """Whether this can be called without arguments, as Gymnasium's own `register`, which many modules import, cannot."""
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def _is_there(module: str) -> bool:
    return module != "gymnasium" and _imported(module) is not None


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except Exception:
        return None


def modules_of(distributions: list[str]) -> list[str]:
    """The modules that installed distributions bring, in their order."""
    from importlib import metadata

    found = {}  # type: dict[str, None]
    for distribution in distributions:
        try:
            files = metadata.files(distribution) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            root = file.parts[0]
            if str(file).endswith(".py") and (len(file.parts) > 1 or root.endswith(".py")):
                found[root[:-3] if root.endswith(".py") else root] = None
    return list(found)
