"""A difference that rounding explains as well as a wrong rule does: told as such, with the ways out and what they cost."""

from __future__ import annotations

from functools import partial

import numpy as np

from harness.compare import Difference
from harness.errors import Raised
from harness.model import Trajectory
from harness.task.contract import Mode
from harness.verify.pair import Pair
from harness.verify.resynchronised import spread_steps
from harness.verify.rounding.tolerances import moved, same_but_floats, table_lines, tolerances

STEPS = 512
FEW = 16
"""Units in the last place of a leaf's largest value: further apart no two mathematical libraries round one step."""
NARROWER = 1e-5
"""A difference of float64 that is relatively smaller may come from a number that one side holds in float32."""
FLAGS = '`xla_flags = ["--xla_cpu_max_isa=AVX", "--xla_disable_hlo_passes=algsimp"]` below `[candidate]`'


def said_of_rounding(pair: Pair, difference: Difference) -> str:
    """What to say of a difference that one step shows again; empty where rounding has no part in it."""
    leaf = pair.task.outputs.get(difference.path)
    if leaf is None or np.dtype(leaf.dtype).kind != "f" or difference.rule != "value" or not pair.can_restore:
        return ""
    wanted, given = float(difference.expected), float(difference.actual)
    off = abs(given - wanted)
    if pair.task.mode not in (Mode.TAPE, Mode.NONE) or not np.isfinite(off):
        return ""
    try:
        expected, actual = _steps(pair)
    except Raised:
        return ""
    found = moved(pair.task, expected, [actual])
    if not found or not all(map(partial(same_but_floats, pair.task), expected, actual)):
        return ""
    units = {path: one.distance / _unit(one.largest, pair.task.outputs[path].dtype) for path, one in found.items()}
    largest = max(abs(wanted), found[difference.path].largest)
    here = off / _unit(largest, leaf.dtype)
    worst = max(here, *units.values())
    if worst <= FEW:
        return _few(pair, len(expected), worst, "; ".join(table_lines(tolerances(pair.task, found))))
    if leaf.dtype == "float64" and off <= NARROWER * largest:
        return (
            f": the rule of this step is wrong. It is off by {here:,.0f} units in the last place of the leaf's largest "
            "value: too far for rounding in float64, and as far as a number makes that only one side holds in float32"
        )
    return ""


def _few(pair: Pair, count: int, worst: float, lines: str) -> str:
    jax = pair.task.candidate.kind == "jax"
    flags = f"either {FLAGS}, with which sums and products round as they are written, or " if jax else ""
    return (
        f". But in {count} steps of the reference every whole number and flag is the same, and no float is further off than "
        f"{max(1, round(worst))} units in the last place of its leaf's largest value. So far apart round other mathematical "
        "functions, fused multiply-adds and sums in another order; a wrong rule is mostly further off. If the rule is "
        "written as the reference has it, the candidate needs no repair, and task.toml needs a line, which its owner writes "
        f"and an agent may not: {flags}a tolerance below `[tolerance]`: {lines or 'for the leaf that differs'}. With a "
        "tolerance each step is compared from the reference's own state, and limits are no longer compared to the last bit"
    )


def _steps(pair: Pair) -> tuple[list[Trajectory], list[Trajectory]]:
    cases = [pair.step_of(one, step) for one, step in spread_steps(pair.few_episodes, STEPS)]
    expected = pair.reference.rollout(cases)
    return expected, pair.candidate.rollout([pair.as_case(one) for one in expected])


def _unit(value: float, dtype: str) -> float:
    return float(np.spacing(np.dtype(dtype).type(value) or np.finfo(dtype).tiny))
