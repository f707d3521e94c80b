"""Real mutants of predicates: a JAX candidate that pays one too much where a predicate holds."""

from __future__ import annotations

from pathlib import Path

from harness.measure.strength.rare.curve import Planted, named
from harness.measure.strength.rare.numbers import ACTION, BEFORE, Numbers
from harness.measure.strength.rare.predicates import Condition, Predicate
from harness.model import STATE
from harness.task.contract import Task
from harness.verdict import Outcome, Verdict
from harness.verify.directory import copy_candidate

WRAPPED = """

def _planted():
    import jax
    import jax.numpy as jnp

    honest = step

    def element(leaves, path, index):
        return jnp.ravel(jnp.asarray(leaves[path]))[index]

    def change(before, after):
        kind = before.dtype.kind
        return (after - before).astype(f"int{{8 * before.dtype.itemsize}}") if kind in "iu" else after - before

    def planted(state, action, *chance):
        before = encode(state)
        state, outputs = honest(state, action, *chance)
        after = encode(state)
        actions = {{"": action}} if not isinstance(action, dict) else action
        holds = {holds}
        reward = jax.tree.map(lambda one: jnp.asarray(one) + holds.astype(jnp.asarray(one).dtype), outputs["reward"])
        return state, {{**outputs, "reward": reward}}

    return planted


step = _planted()
"""


def plant(task: Task, original: Path, numbers: Numbers, predicate: Predicate, tree: Path) -> None:
    """Write a tree whose candidate has the fault.

    Args:
        original: a tree with the candidate, in JAX.
    """
    copy_candidate(original, tree)
    entry = tree / task.candidate.entry
    holds = " & ".join(_source(numbers, condition) for condition in predicate.conditions)
    entry.write_text(entry.read_text() + WRAPPED.format(holds=holds))


def judged(trial: int, said: str, verdict: Verdict) -> Planted | None:
    """What became of a mutant; None where nothing was learned of it."""
    if verdict.outcome is Outcome.PASS:
        return Planted(trial, said, "")
    if verdict.error or verdict.outcome is not Outcome.FAIL:
        return None
    report = verdict.reports[-1]
    failed = next(check for check in report.checks if check.outcome is Outcome.FAIL)
    return Planted(trial, said, named(report.level, failed.name))


def _source(numbers: Numbers, condition: Condition) -> str:
    number = condition.number
    path = number.path.removeprefix(STATE)
    if number.kind == ACTION:
        value = f"element(actions, {number.path.removeprefix('action').removeprefix('/')!r}, {number.index})"
    elif number.kind == BEFORE:
        value = f"element(before, {path!r}, {number.index})"
    else:
        value = f"change(element(before, {path!r}, {number.index}), element(after, {path!r}, {number.index}))"
    if numbers.dtype(number).kind in "iub":
        return f"({value} {condition.relation} {int(condition.value)})"
    return f"({value} {condition.relation} jnp.asarray({condition.value!r}, {numbers.dtype(number).name!r}))"
