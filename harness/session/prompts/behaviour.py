"""How the reference behaves, as far as it is known without reading it: quirks, known cases, and its probes' own answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from harness.errors import LockstepError
from harness.model import Array, Leaf
from harness.reference.install import installed
from harness.reference.start import start_reference
from harness.task.contract import CASES_DIRECTORY, INTERACTIONS_FILE, PROPERTIES_FILE, Module, Task
from harness.verify.explain import as_data, leaves_text

MAX_QUIRKS = 4_000
MAX_ROW = 400
MAX_ROWS = 24
RANDOM_ROWS = 3
DECORATORS = ("invariant", "generator", "feature", "sequence")


def behaviour(task: Task, module: Module | None, *, samples: bool) -> str:
    """Quirks, answers of the module's probes, and how many counterexamples are kept; each part marked as data.

    Args:
        samples: whether to start the reference and ask its probes; needs its environment.
    """
    parts = [part for part in (_quirks(task), _samples(task, module) if samples else "", _cases(task)) if part]
    return "\n\n".join(parts) or "Nothing is written down: find out by asking the reference (`lockstep compare`)."


def existing(task: Task, module: Module | None, file: str) -> str:
    """The invariants, generators, features or sequences that a file of the task declares, by name."""
    path = task.directory / file
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return f"`{file}` declares nothing."
    rows = [row for node in tree.body if isinstance(node, ast.FunctionDef) for row in _declared(node, module)]
    said = "a sequence" if file == INTERACTIONS_FILE else "declared"
    return "\n".join(rows[:60]) or f"`{file}` has nothing {said} for it."


def _declared(function: ast.FunctionDef, module: Module | None) -> Iterator[str]:
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        name = call.func if call else decorator
        if not isinstance(name, ast.Name) or name.id not in DECORATORS:
            continue
        values = [*call.args, *(keyword.value for keyword in call.keywords)] if call else []
        given_text = [
            value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)
        ]
        if name.id == "invariant" and module is not None and given_text and given_text != [module.name]:
            continue
        if name.id == "generator" and module is not None and not set(given_text) & set(module.probes):
            continue
        sentence = given_text[0] if name.id == "sequence" and given_text else function.name.replace("_", " ")
        yield f"- {name.id}{f' ({given_text[0]})' if given_text and name.id != 'sequence' else ''}: {sentence}"


def existing_properties(task: Task, module: Module | None) -> str:
    """What `properties.py` says of a module, or of all."""
    return existing(task, module, PROPERTIES_FILE)


def existing_sequences(task: Task) -> str:
    """The sequences of `interactions.py`."""
    return existing(task, None, INTERACTIONS_FILE)


def _quirks(task: Task) -> str:
    path = task.directory / "QUIRKS.md"
    try:
        text = path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    if not text:
        return ""
    rest = f"\n(cut: read the rest in `{path.name}`)" if len(text) > MAX_QUIRKS else ""
    return f"Its quirks, from `{path.name}`, each with the decision:\n\n{as_data(text[:MAX_QUIRKS])}{rest}"


def _cases(task: Task) -> str:
    count = len(list((task.directory / CASES_DIRECTORY).glob("*.json")))
    if not count:
        return ""
    return f"Counterexamples from earlier, in `{CASES_DIRECTORY}/`, played first: {count}."


def _samples(task: Task, module: Module | None) -> str:
    """Answers of the reference to a few inputs of each probe: at both bounds, in the middle, and between."""
    probes = [name for name in task.probes if module is None or name in module.probes]
    if not probes:
        return ""
    environment = installed(task)
    if environment is None:
        return "Its own answers are not shown: its environment is not built yet (`lockstep setup`)."
    rows: list[str] = []
    try:
        reference = start_reference(task, environment)
        try:
            for name in probes:
                inputs = {leaf: _rows(declared, leaf) for leaf, declared in task.probes[name].inputs.items()}
                outputs = reference.probe(name, inputs)
                for row in range(len(next(iter(inputs.values())))):
                    asked = leaves_text({path: array[row] for path, array in inputs.items()})
                    given_text = leaves_text({path: array[row] for path, array in outputs.items()})
                    rows.append(f"{name}: {asked} -> {given_text}"[:MAX_ROW])
        finally:
            reference.close()
    except LockstepError as error:
        return f"Its own answers are not shown: {error.what}."
    shown = as_data("\n".join(rows[:MAX_ROWS]))
    return f"What the reference itself answers, at the bounds of the inputs, in their middle and between:\n\n{shown}"


def _rows(leaf: Leaf, name: str) -> Array:
    """Values of shape `[3 + RANDOM_ROWS, *shape]`: lowest, highest, middle, then some that are the same each time."""
    dtype = np.dtype(leaf.dtype)
    if dtype.kind == "b":
        low, high = np.zeros(leaf.shape), np.ones(leaf.shape)
    else:
        low = np.broadcast_to(np.asarray(-1.0 if leaf.low is None else leaf.low, float), leaf.shape)
        high = np.broadcast_to(np.asarray(1.0 if leaf.high is None else leaf.high, float), leaf.shape)
        if dtype.kind == "u":
            low = np.maximum(low, 0.0)
        low, high = np.where(np.isfinite(low), low, -1.0), np.where(np.isfinite(high), high, 1.0)
    random = np.random.default_rng(list(name.encode()))
    between = low + random.random((RANDOM_ROWS, *leaf.shape)) * (high - low)
    values = np.stack([low, high, (low + high) / 2, *between])
    return values.astype(dtype) if dtype.kind == "f" else np.rint(values).astype(dtype)
