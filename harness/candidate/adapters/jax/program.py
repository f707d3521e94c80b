"""What a candidate's functions compile to, as digests: two candidates with equal ones are the same programs.

Names, locations in the source and the order in which names were given out are taken away first; shapes, dtypes, constants
and the order of inputs and outputs stay. Equal digests prove equality; other digests prove nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import jax

from harness.candidate.adapters.jax.check import action_shapes, draw_shapes, probe_shapes
from harness.candidate.faces.jax_env import JaxEnv

LOWERED, OPTIMISED = "lowered", "optimised"
BATCH = 3
"""How many instances the vmapped form has. A function that treats one batch otherwise than another is no pure function of
one instance, which level 1 sees; here one size stands for all."""
_ELIDED = ("{...}", "dense_resource", "__elided__")
_TABLES = re.compile(r"^(FileNames|FunctionNames|FileLocations|StackFrames)\n(?:\d+ .*\n)*", re.MULTILINE)
_METADATA = re.compile(r", metadata=\{[^{}]*\}")
_LOCATION = re.compile(r"\s*loc\([^\n]*\)|^#loc.*$", re.MULTILINE)
_MODULE = re.compile(r"^(module @|HloModule )[\w.\-<>]+", re.MULTILINE)
_NAME = re.compile(r"[%@][\w.\-]+")
_PARAMETER = re.compile(r"\b[\w.\-]+: (?=[a-z]+\d*\[|\()")


def program(env: JaxEnv, probes: dict[str, Any], form: str, names: list[str] | None = None) -> dict[str, str]:
    """SHA-256 of each function's program, for one instance and vmapped (`step`, `step/vmapped`).

    Args:
        env: the candidate.
        probes: its probes that the task declares, by name.
        form: `lowered` (StableHLO, needs tracing only) or `optimised` (what XLA makes of it here).
        names: the functions to look at; None looks at all.
    """
    digests = {}
    for name, function, arguments in _functions(env, probes):
        forms = {name: (function, arguments)}
        if jax.tree.leaves(arguments):  # a reset that draws nothing is the same in every instance
            forms[f"{name}/vmapped"] = (jax.vmap(function), _stacked(arguments))
        digests |= {each: _digest(*forms[each], form) for each in forms if names is None or each in names}
    return digests


def _functions(env: JaxEnv, probes: dict[str, Any]) -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Every function through which a candidate is ever asked, with the shapes of its arguments."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    shared = env.mode == "shared"
    start = {"seed": jax.ShapeDtypeStruct((2,), "uint32")} if shared else draw_shapes(env.reset_draws)
    state, _ = jax.eval_shape(env.begin, start)
    action = action_shapes(env)
    yield "reset", env.begin, (start,)
    yield "step", env.advance, (state, action, draw_shapes(env.step_draws))
    if env.reset_draws or shared:
        yield "sample_reset", env.sample_reset, (key,)
    if env.step_draws:
        yield "sample_step", env.sample_step, (key, state, action)
    if env.state_leaves:
        yield "encode", env.encode, (state,)
        yield "decode", env.decode, (jax.eval_shape(env.encode, state),)
        yield "observe", env.module.observe, (state,)
    for name, inputs in probe_shapes(env).items():
        yield f"probe/{name}", probes[name], (inputs,)


def _stacked(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((BATCH, *leaf.shape), leaf.dtype), arguments)


def _digest(function: Callable[..., Any], arguments: tuple[Any, ...], form: str) -> str:
    # An argument that is not used stays one: its place among the others is part of what is compared.
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    text = lowered.as_text() if form == LOWERED else lowered.compile().as_text() or ""
    if form == OPTIMISED and any(mark in text for mark in _ELIDED):
        text += lowered.as_text()  # XLA's text leaves large constants out, and they may be all that differs
    return hashlib.sha256(f"{lowered.out_tree}\n{normalised(text)}".encode()).hexdigest()


def normalised(text: str) -> str:
    """A program's text without its locations in the source, and with names by the order in which they first appear."""
    text = _LOCATION.sub("", _METADATA.sub("", _TABLES.sub("", text)))
    text = _PARAMETER.sub("", _MODULE.sub(r"\1program", text))
    seen: dict[str, str] = {}
    return _NAME.sub(lambda found: seen.setdefault(found[0], f"{found[0][0]}{len(seen)}"), text)
