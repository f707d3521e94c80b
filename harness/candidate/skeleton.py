"""A candidate whose functions are yet to be written: what an agent begins with."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.candidate import skeleton_rust
from harness.candidate.faces.leaves import OBSERVED
from harness.model import STATE, Leaf
from harness.task.contract import CANDIDATE_DIRECTORY, Task


def causes_first(leaves: Mapping[str, Leaf]) -> list[tuple[str, Leaf]]:
    """State before what is observed of it, actions last."""
    rank = {"state": 0, "action": 2}
    return sorted(leaves.items(), key=lambda item: rank.get(item[0].split("/", maxsplit=1)[0], 1))


def write_skeleton(task: Task, directory: Path) -> None:
    """Replace the candidate in a copy of a task by one whose functions are yet to be written."""
    shutil.rmtree(directory / CANDIDATE_DIRECTORY, ignore_errors=True)
    entry = directory / task.candidate.entry
    entry.parent.mkdir(parents=True)
    if task.candidate.kind == "rust":
        entry.write_text(skeleton_rust.source(task), encoding="utf-8")
        (entry.parent.parent / "Cargo.toml").write_text(skeleton_rust.manifest(task.name), encoding="utf-8")
        return
    ats = {draw.name: draw.at for draw in task.draws.values()}
    entry.write_text(skeleton(task.name, task.leaves, ats, list(task.probes), str(task.mode)), encoding="utf-8")


def skeleton(name: str, leaves: Mapping[str, Leaf], ats: Mapping[str, str], probes: Sequence[str], mode: str) -> str:
    """The text of such a candidate.

    Args:
        name: the task's.
        leaves: all of them, by path.
        ats: when each draw occurs: `reset`, `step` or `both`.
        probes: their names.
        mode: how chance is made comparable; draws are handed over in `tape` alone.
    """
    draws = {at: [draw for draw, when in ats.items() if when in (at, "both")] for at in ("reset", "step")}
    if mode != "tape":
        draws = {"reset": [], "step": []}
    samplers = "" if mode == "none" else _SAMPLERS
    listed = "\n".join(f"    {path:<24} {leaf.dtype}{list(leaf.shape) or ''}" for path, leaf in causes_first(leaves))
    entries = "".join(f'    "{probe}": lambda inputs: _todo("probe {probe}"),\n' for probe in probes)
    table = f"{{\n{entries}}}" if entries else "{}"
    names = _output_names(leaves)
    observed = [output for output in names if output in OBSERVED]
    state = [path.removeprefix(STATE) for path in leaves if path.startswith(STATE)]
    return f'''\
"""The candidate for {name}: pure functions for one instance, in JAX.

Import jax, numpy and the standard library alone. `state` is any pytree; outputs are a dictionary of
{", ".join(f"`{output}`" for output in names)}. Leaves and their types:

{listed}
"""

from typing import Any, NoReturn


def reset(draws: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """State and outputs of a new episode: reward 0, not ended. Draws: {", ".join(draws["reset"]) or "none"}."""
    _todo("reset")


def step(state: Any, action: Any, draws: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """State and outputs after an action. Draws: {", ".join(draws["step"]) or "none"}."""
    _todo("step")

{samplers}
def encode(state: Any) -> dict[str, Any]:
    """The canonical state: {", ".join(state) or "no leaves"}."""
    _todo("encode")


def decode(leaves: dict[str, Any]) -> Any:
    """The inverse of `encode`."""
    _todo("decode")


def observe(state: Any) -> dict[str, Any]:
    """What is seen of a state, such as one that was restored: {", ".join(observed)}."""
    _todo("observe")


probes: dict[str, Any] = {table}


def _todo(what: str) -> NoReturn:
    raise NotImplementedError(f"the candidate has no {{what}} yet")
'''


_SAMPLERS = '''
def sample_reset(key: Any) -> dict[str, Any]:
    """The draws of a reset by the candidate's own law; `key` is a JAX random key."""
    _todo("sample_reset")


def sample_step(key: Any, state: Any, action: Any) -> dict[str, Any]:
    """The draws of a step by the candidate's own law."""
    _todo("sample_step")

'''


def _output_names(leaves: Mapping[str, Leaf]) -> list[str]:
    """The keys of the outputs: leaves below `observation/` come as one nested dictionary."""
    names = (path.split("/", maxsplit=1)[0] for path in leaves if not path.startswith(STATE))
    return list(dict.fromkeys(name for name in names if name != "action"))
