"""The interface contract and the target's constraints, in the words of a prompt, from what task.toml declares."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.model import STATE, Case, Leaf
from harness.task.contract import Mode, Module, Task, TaskDraw
from harness.task.players import Order
from harness.verify.explain import array_text
from harness.verify.resynchronised import is_resynchronised

MAX_LEAVES = 60
MAX_PROBES = 12
_COMPUTED_AS = {"jax": "JAX", "rust": "Rust"}


def target(task: Task) -> str:
    """What the candidate's language and runtime allow and demand."""
    candidate = task.candidate
    kind = _COMPUTED_AS[candidate.kind]
    lines = [f"The candidate is {kind}, in `{candidate.entry}`, with helpers beside it in `candidate/`."]
    lines += _JAX if candidate.kind == "jax" else _RUST
    if candidate.kind == "jax":
        allowed = ", ".join(("jax", "numpy", "the standard library", *candidate.packages))
        lines.append(f"It may import {allowed}; nothing else is installed where it runs.")
        wide = "on: float64 and int64 are what they say"
        if not candidate.x64:
            wide = "off: every float is float32, every integer int32"
        lines.append(f"JAX's 64-bit types are {wide}.")
    if candidate.xla_flags:
        lines.append(f"XLA runs with {' '.join(candidate.xla_flags)}, so that it rounds as the reference does.")
    limits = f"{candidate.memory_mb} MB of memory, {candidate.timeout_s:g} s for a call"
    lines.append(f"It has {limits}, no network, no files to write.")
    return _dashes(lines)


def contract(task: Task, module: Module | None) -> str:
    """The functions that the candidate offers, and what is declared of a module."""
    return f"{_dashes(_functions(task))}\n\n{declared(task, module)}"


def reference_contract(task: Task, module: Module | None) -> str:
    """The calls that the reference's adapter answers, and what is declared of a module, or of all."""
    return f"{_dashes(_REFERENCE)}\n\n{declared(task, module)}"


def declared(task: Task, module: Module | None) -> str:
    """The leaves, probes and draws that task.toml declares, those of a module first."""
    parts = []
    mine = None if module is None else set(module.leaves)
    leaves = [leaf for path, leaf in task.leaves.items() if mine is None or path in mine]
    if leaves:
        whose = "All leaves" if module is None else "Leaves that this module writes"
        parts.append(f"{whose}:\n\n{_leaf_lines(task, leaves)}")
    if module is not None:
        others = [leaf for path, leaf in task.leaves.items() if path not in (mine or ())]
        parts.append(f"Leaves that other modules write, or that come in:\n\n{_leaf_lines(task, others)}")
    probes = [name for name in task.probes if module is None or name in module.probes]
    if probes:
        head = "Probes, asked apart from any episode (`probes[name](inputs) -> outputs`)"
        parts.append(f"{head}:\n\n{_probe_lines(task, probes)}")
    if task.draws:
        parts.append(f"Draws ({_MODES[task.mode]}):\n\n{_dashes(_draw(draw) for draw in task.draws.values())}")
    elif task.mode is not Mode.NONE:
        parts.append(f"Chance: {_MODES[task.mode]}.")
    if is_resynchronised(task):
        parts.append(
            "Episodes are compared step by step: each step begins at the reference's canonical state, and is held to the "
            "tolerances of one step."
        )
    return "\n\n".join(parts)


def starts(task: Task) -> str:
    """From where a sequence may begin."""
    bounded = [path for path, leaf in task.state.items() if leaf.low is not None or leaf.high is not None]
    if not task.state:
        return "No state is exported: a sequence begins at a reset (`start` left out) and is steered by its actions."
    text = (
        "A sequence begins at a reset (`start` left out) or at any canonical state: all `state/` leaves, within bounds."
    )
    free = [path for path in task.state if path not in bounded]
    if free:
        text += f" Without bounds, so take values that episodes reach: {', '.join(f'`{path}`' for path in free[:8])}."
    return text


def example_case(task: Task) -> str:
    """A case of this task as the JSON of its file: two steps from the lowest state, indented as an example."""
    start = {path: _value(leaf) for path, leaf in task.state.items()} or None
    actions = {path: np.stack([_value(leaf)] * 2) for path, leaf in task.actions.items()}
    described = Case(0, actions, start, name="what meets, in a few words", origin="proposed").to_json()
    rows = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in described.items()]
    return "       {" + ",\n        ".join(rows) + "}"


def fixed(task: Task) -> str:
    """What an optimisation must leave as it is."""
    tolerant = [path for path in task.tolerances if not task.tolerances[path].exact]
    exact = (
        f"Every leaf is compared bit for bit, but for the stated tolerances of {', '.join(f'`{p}`' for p in tolerant[:12])}"
        f"{' and others' if len(tolerant) > 12 else ''}."
        if tolerant
        else "Every leaf is compared bit for bit."
    )
    lines = [
        "The functions, their names and arguments; dtype, shape and bounds of every leaf, the canonical state included.",
        f"{exact} So the order of floating point operations stays.",
        "One instance alone, in a batch and in a scan: the same bytes, in another process too.",
    ]
    if task.draws:
        lines.append("Names, slots, order and law of the draws: `" + "`, `".join(task.draws) + "`.")
    lines.append("The code path: what is measured, verified and trained on is one and the same.")
    return _dashes(lines)


def module_list(task: Task) -> str:
    """The modules in dependency order, with what each writes."""
    rows = []
    for number, module in enumerate(task.modules, 1):
        writes = ", ".join(f"`{path}`" for path in module.leaves) or "nothing that task.toml names"
        rows.append(f"{number}. `{module.name}`: {module.summary or 'no summary'}. Writes {writes}.")
    return "\n".join(rows) or "The task is not divided: everything is one module."


_JAX = (
    "Pure functions of one instance: no side effects, no state outside the pytree, no randomness but the draws handed in. "
    "Lockstep makes the batch with `vmap`, compiles it and scans it.",
    "No Python control flow over traced values: `where`, `lax.cond`, `lax.switch` over few branches; loops of a fixed "
    "count, or `lax.fori_loop`, `lax.scan`.",
    "Shapes are fixed: what can be empty is padded, with a count or a sentinel.",
    "Dtypes are explicit: a Python number beside an array does not change its type, but `jnp.array(1.0)` alone has the "
    "default one.",
)
_RUST = (
    "A plain value as state and functions of one instance; the runtime makes the batch and the threads.",
    "No `unsafe` without need, no global state, no clock, no randomness but the draws handed in.",
    "No allocation in a step; arrays of fixed size where a bound is known.",
    "Integer widths as declared: say `wrapping_` or `checked_` where the reference overflows. No fast-math, no fused "
    "multiply-add that the reference does not have.",
)
_REFERENCE = (
    "An adapter class in `reference/adapter.py`, served by Lockstep's worker (docs/protocol.md, Adapters in Python).",
    "`spec()`: leaves, capabilities, probes and draws, as they are declared below.",
    "`reset(seed, draws=None)` and `step(action, draws=None)`: all leaves by path. Neither resets by itself; draws that "
    "are handed in take the place of chance.",
    "`restore(state)`: goes on from any canonical state, so everything that a later step needs is in it.",
    "`probe(name, inputs)`: the rule of one module alone.",
    "`take_draws()`: the chance events since the last call, in order, as pairs of name and value.",
)
_MODES = {
    Mode.TAPE: "the reference reports each chance event, the candidate is handed the very same values",
    Mode.SHARED: "both sides implement one generator, whose state is part of the canonical state",
    Mode.LAW: "only distributions are compared, so the candidate draws by its own sampler",
    Mode.NONE: "there is no chance",
}
_ORDERS = {
    Order.TURNS: "They act in turns: `to_move` is the place of the one to move; what others give changes nothing.",
    Order.SIMULTANEOUS: "All act in each step.",
    Order.ANY: "Those act for whom `to_move/<player>` is true; what others give changes nothing.",
}


def _functions(task: Task) -> list[str]:
    if task.candidate.kind == "rust":
        return _trait(task)
    draws = {at: [draw.name for draw in task.draws.values() if draw.occurs_at(at)] for at in ("reset", "step")}
    lines = [
        "`reset(draws) -> (state, outputs)`: a new episode; reward 0, nothing ended.",
        "`step(state, action, draws) -> (state, outputs)`: one step. Neither resets by itself.",
    ]
    if task.state:
        lines += [
            "`encode(state) -> leaves` and `decode(leaves) -> state`: the canonical state, without the prefix `state/`, "
            "and back; between them nothing may be lost that a later step needs.",
            "`observe(state) -> outputs`: what is seen of a state that was restored.",
        ]
    if draws["reset"]:
        lines.append("`sample_reset(key) -> draws`: the candidate's own sampler of the draws at a reset.")
    if draws["step"]:
        lines.append("`sample_step(key, state, action) -> draws`: the same for a step.")
    names = dict.fromkeys(path.split("/", 1)[0] for path in task.outputs if not path.startswith(STATE))
    lines.append(
        f"Outputs are a dictionary of {', '.join(f'`{name}`' for name in names)}; leaves below a name are nested."
    )
    if task.players is not None:
        lines.append(f"Players: {', '.join(f'`{name}`' for name in task.players.names)}. {_ORDERS[task.players.order]}")
    if any(draw.capacity > 1 for draw in task.draws.values()):
        lines.append(
            "A draw with several slots has one more axis; `outputs['draws_used'][name]` says how many were used."
        )
    return lines


def _trait(task: Task) -> list[str]:
    lines = [
        "A crate that depends on `lockstep-env` and names its environment once: `lockstep_env::environment!(Name);`. "
        "`Name` implements `lockstep_env::Environment`, for one instance and one step at a time.",
        'Structs of leaves by `leaves! { pub struct Seen { pub board: [i8; 9] => "observation/board" } }`: types and '
        "paths as declared, those of the state without the prefix `state/`.",
        "`reset(&mut self, draws)` begins an episode, `step(&mut self, action, draws) -> Step` is one step. Neither resets "
        "by itself.",
        "`observe(&self)` is what is seen of where it is.",
    ]
    if task.state:
        lines.append(
            "`encode(&self)` and `decode(&mut self, state)`: the canonical state and back; between them nothing may be lost "
            "that a later step needs."
        )
    if task.draws:
        lines.append(
            "A draw is made where it happens: `draws.draw(&COIN, |random| ...)` with `const COIN: Draw<i8> = "
            'Draw::new("coin");`. The closure is its law, and is not asked where the verifier hands the value in.'
        )
    if task.probes:
        lines.append('`const PROBES`: `probe!("name", Inputs => Outputs, function)` for each probe.')
    return lines


def _leaf_lines(task: Task, leaves: Iterable[Leaf]) -> str:
    rows = [_leaf(task, leaf) for leaf in leaves]
    more = [f"... and {len(rows) - MAX_LEAVES} more in task.toml"] if len(rows) > MAX_LEAVES else []
    return _dashes([*rows[:MAX_LEAVES], *more]) if rows else "- none"


def _leaf(task: Task, leaf: Leaf) -> str:
    tolerance = task.tolerance(leaf.path)
    floating = np.dtype(leaf.dtype).kind == "f" and leaf.path not in task.actions
    how = "" if tolerance.exact or not floating else f", within {tolerance}"
    return f"`{leaf.path}`: {_typed(leaf)}{how}"


def _typed(leaf: Leaf) -> str:
    shape = str(list(leaf.shape)) if leaf.shape else ""
    bounds = (
        "" if leaf.low is None and leaf.high is None else f", {_bound(leaf.low, '-inf')} to {_bound(leaf.high, 'inf')}"
    )
    return f"{leaf.dtype}{shape}{bounds}"


def _bound(bound: Any, without: str) -> str:
    return without if bound is None else array_text(np.asarray(bound))


def _probe_lines(task: Task, names: list[str]) -> str:
    def side(leaves: Mapping[str, Leaf]) -> str:
        return ", ".join(f"{name} ({_typed(leaf)})" for name, leaf in leaves.items())

    rows = [f"`{name}`: {side(task.probes[name].inputs)} -> {side(task.probes[name].outputs)}" for name in names]
    more = [f"... and {len(rows) - MAX_PROBES} more in task.toml"] if len(rows) > MAX_PROBES else []
    return _dashes([*rows[:MAX_PROBES], *more])


def _draw(draw: TaskDraw) -> str:
    slots = f", up to {draw.capacity} in one timestep" if draw.capacity > 1 else ""
    law = draw.law
    if law is None:
        how = "the reference's own draws are the law"
    elif law.kind == "categorical":
        how = f"categorical over {len(law.probabilities)} values"
    elif law.kind == "normal":
        how = f"normal, mean {law.mean!r}, standard deviation {law.std!r}"
    else:
        how = f"{law.kind} from {law.low!r} to {law.high!r}"
    when = "a reset and a step" if draw.at == "both" else f"a {draw.at}"
    return f"`{draw.name}`: {draw.dtype}{list(draw.shape) or ''} at {when}{slots}; {how}"


def _value(leaf: Leaf) -> np.ndarray:
    """A value that the leaf may have: its lower bound, or zero."""
    low = np.zeros((), leaf.dtype) if leaf.low is None else np.asarray(leaf.low)
    finite = np.where(np.isfinite(low), low, 0) if low.dtype.kind == "f" else low
    return np.broadcast_to(finite, leaf.shape).astype(leaf.dtype)


def _dashes(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
