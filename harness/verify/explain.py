"""A divergence as text: everything that is known of it, short enough to be read at once, and marked as data.

What stands in a divergence was in part written by the candidate or the reference. Whoever shows it to an agent shows it
between marks that its content cannot forge, without control characters, and capped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.model import Case, Draw, Leaves
from harness.support.text import one_line
from harness.verdict import Divergence

CONTRACT = "contract"
"""The check of a candidate's form, before anything is compared."""
STATISTICAL = ("law", "equivalence")
"""Rules that are broken by many episodes together, at no step of any."""
MAX_CHARACTERS = 5000
"""Cap of a description: well under 2,000 tokens, whatever is in it."""
MAX_VALUE = 400
MAX_CAUSE = 2000
SHOWN_ELEMENTS = 12
WHOLE_ELEMENTS = 64
"""An array of several axes is written whole up to so many elements, row by row."""
SHOWN_ACTIONS = 40


def first(divergences: Sequence[Divergence]) -> Divergence | None:
    """What to tell first of all that was found: one difference at a time.

    Mistakes of form are reported together, because each alone would cost a round and says nothing of the others.
    """
    if not divergences:
        return None
    contract = [found for found in divergences if found.check == CONTRACT]
    if divergences[0].check != CONTRACT or len(contract) == 1:
        return divergences[0]
    causes = [found.cause or f"{found.address}: {found.rule}" for found in contract]
    together = "; ".join(f"({number}) {cause}" for number, cause in enumerate(causes, 1))
    return replace(contract[0], path="candidate", index=(), expected="", actual="", rule=CONTRACT, cause=together)


def describe(divergence: Divergence) -> str:
    """A divergence as aligned lines, below them the array in which it lies, at most `MAX_CHARACTERS` long."""
    lines = [f"{name + ':':<12} {value}" for name, value in facts(divergence) if value]
    if divergence.grid is not None:
        lines += ["", *divergence.grid.lines()]
    return _capped("\n".join(lines), MAX_CHARACTERS)


def facts(divergence: Divergence) -> list[tuple[str, str]]:
    """What is known of a divergence, as pairs of a name and one line of text."""
    where = [f"level {divergence.level}", divergence.check]
    if divergence.module:
        where.append(f"module {divergence.module}")
    pairs = [("found by", ", ".join(where)), ("address", divergence.address)]
    if divergence.probe is None and divergence.rule not in STATISTICAL and divergence.check != CONTRACT:
        pairs.append(("step", f"{divergence.step} (the reset)" if divergence.step == 0 else str(divergence.step)))
    pairs += [
        ("expected", divergence.expected),
        ("actual", divergence.actual),
        ("rule", divergence.rule),
        ("cause", divergence.cause),
    ]
    if divergence.probe is not None:
        pairs.append(("probe", divergence.probe))
    if divergence.inputs is not None:
        pairs.append(("inputs", leaves_text(divergence.inputs)))
    if divergence.case is not None:
        pairs += case_facts(divergence.case)
    return [(name, _capped(one_line(value), MAX_CAUSE if name == "cause" else MAX_VALUE)) for name, value in pairs]


def case_facts(case: Case) -> list[tuple[str, str]]:
    """A case as pairs of a name and one line of text."""
    begin = f"reset with seed {case.seed}" if case.start is None else leaves_text(case.start)
    pairs = [("starts from", begin), ("actions", _actions_text(case))]
    forced = [draw for timestep in case.draws or () for draw in timestep]
    if forced:
        pairs.append(("draws", _draws_text(forced)))
    return pairs


def as_data(text: str) -> str:
    """Text between two marked lines that it cannot contain itself, so that a reader knows where data ends."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"----- begin data {mark} -----\n{text}\n----- end data {mark} -----"


def leaves_text(leaves: Leaves) -> str:
    """Leaves as `x = 0.5, board = [1 0 0]`; long arrays are cut."""
    return ", ".join(f"{path.removeprefix('state/')} = {array_text(array)}" for path, array in leaves.items())


def array_text(array: np.ndarray) -> str:
    """An array's values, row by row those of a small board, the first few of a long one; a single value without brackets."""
    array = np.asarray(array)
    flat = array.ravel()
    if flat.size == 1:
        return str(flat[0])
    if array.ndim > 1 and flat.size <= WHOLE_ELEMENTS:
        return _nested(array)
    shown = " ".join(str(value) for value in flat[:SHOWN_ELEMENTS])
    return f"[{shown}{f' ... {flat.size} values' if flat.size > SHOWN_ELEMENTS else ''}]"


def _nested(array: np.ndarray) -> str:
    return f"[{' '.join(map(_nested, array))}]" if array.ndim else str(array)


def _actions_text(case: Case) -> str:
    if case.length == 0:
        return "none"
    parts = []
    for path, array in case.actions.items():
        shown = " ".join(array_text(action) for action in array[:SHOWN_ACTIONS])
        rest = f" ... {len(array)} in all" if len(array) > SHOWN_ACTIONS else ""
        parts.append(f"{'' if path == 'action' else f'{path} = '}{shown}{rest}")
    return ", ".join(parts)


def _draws_text(draws: list[Draw]) -> str:
    return ", ".join(f"{draw.name} = {array_text(draw.value)}" for draw in draws[:SHOWN_ELEMENTS])


def _capped(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 20]} ... (cut, {len(text)} characters)"
