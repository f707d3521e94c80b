"""The files of a new task, written from what was found out about its environment."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.candidate.skeleton import causes_first
from harness.model import STATE, Leaf
from harness.protocol.spec import Spec
from harness.task.contract import (
    CASES_DIRECTORY,
    INTERACTIONS_FILE,
    LAW_EPISODES,
    PROPERTIES_FILE,
    STANDARD_POLICIES,
    TASK_FILE,
    Candidate,
    Reference,
    Task,
    Transfer,
)
from harness.task.training import PpoConfig

TEMPLATES = Path(__file__).parent / "templates"
LEVEL_3_SECONDS = 60.0
FEWEST_EPISODES, MOST_EPISODES = 16, 256
EXPLORED_SECONDS = 5.0
"""Of one worker, where it is fast: short episodes would have level 3 explore for a moment only."""
FEWEST_EXPLORED, MOST_EXPLORED = 1 << 14, 1 << 16
TRAINING_STEPS = 200_000
WIDE = ("int64", "uint64", "float64")


@dataclass(frozen=True)
class Findings:
    """What was found out about an environment by running it.

    Attributes:
        spec: what its worker declares.
        what: the class or the program.
        mode: `tape`, `law` or `none`, as far as it could be shown.
        capacity: for each draw, how often it occurred in one timestep at most.
        laws: for a draw, the law that it always followed, as a table of task.toml.
        returns, lengths: of random episodes; `steps_per_second` the speed of one worker in them.
        max_episode_steps: its time limit, or None where it states none.
        source: where its rules are written, `path:first-last`.
        notes: what could not be done, and why.
        picture: height and width of its pictures in pixels, where it draws.
        players: `names` and `order` of its players, where it has several.
    """

    spec: Spec
    what: str
    mode: str
    capacity: Mapping[str, int]
    laws: Mapping[str, Mapping[str, Any]]
    returns: Sequence[float]
    lengths: Sequence[int]
    steps_per_second: float
    max_episode_steps: int | None
    source: Sequence[str]
    notes: Sequence[str]
    picture: Sequence[int] | None = None
    players: Mapping[str, Any] | None = None

    @property
    def can_restore(self) -> bool:
        """Whether states can be restored."""
        return "restore" in self.spec.capabilities

    @property
    def has_state(self) -> bool:
        """Whether any state is exported."""
        return any(path.startswith(STATE) for path in self.spec.leaves)


def write_task(task: Task, findings: Findings) -> None:
    """Write every file of a task beside its `reference/`, which is there, but its candidate's."""
    directory = task.directory
    files = {
        TASK_FILE: _task_toml(task, findings),
        "README.md": _readme(task, findings),
        "QUIRKS.md": _quirks(task, findings),
        f"{CASES_DIRECTORY}/.gitkeep": "",
    }
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    for name in (PROPERTIES_FILE, INTERACTIONS_FILE):
        shutil.copyfile(TEMPLATES / name, directory / name)


# --- task.toml --------------------------------------------------------------------------------------------------------


def _task_toml(task: Task, findings: Findings) -> str:
    spec = findings.spec
    outputs = [_toml(path) for path in spec.outputs]
    probes = "".join(_probe(name, probe.inputs, probe.outputs) for name, probe in spec.probes.items())
    source = "".join(f"    {_toml(location)},\n" for location in findings.source)
    return f"""\
name = {_toml(task.name)}
summary = {_toml(task.summary or f"{findings.what}, as `lockstep new` found it")}
workflow = {_toml(task.workflow)}

{_reference(task.reference)}
{_candidate(task.candidate, spec)}
{_players(findings)}\
# A difference is reported at the first of these leaves that shows it. Give a state leaf `low` and `high` if tests may start
# from any value between them; without bounds they start only from values that episodes reach.
[leaves]
{"".join(f"{_toml_key(path)} = {_leaf(leaf)}" + chr(10) for path, leaf in causes_first(spec.leaves))}
# Divide this module into the parts that you would translate one by one, in the order in which they need each other. Give
# each the leaves that it writes, and a probe where the reference can answer for that part alone.
[[modules]]
name = "everything"
summary = "all rules in one"
probes = [{", ".join(_toml(name) for name in spec.probes)}]
leaves = [{", ".join(outputs)}]
source = [
{source}]
{probes}
[randomness]
mode = "{findings.mode}"
{_draws(findings)}
# Floats are compared bit for bit unless a table [tolerance] says otherwise: "state/x" = {{ rtol = 1e-9, atol = 1e-12 }}

[budgets]
episodes = {_episodes(findings)}
horizon = {_horizon(findings)}{"" if findings.max_episode_steps is None else "  # past the time limit"}
policies = [{", ".join(_toml(name) for name in (*STANDARD_POLICIES, *spec.policies))}]
{_exploration(findings)}\
{_transfer(findings) if findings.players is None else ""}"""


def _players(findings: Findings) -> str:
    if findings.players is None:
        return ""
    stated = "".join(f"{key} = {_toml(findings.players[key])}\n" for key in ("names", "order"))
    return f"[players]\n{stated}\n"


def _reference(reference: Reference) -> str:
    lines = ["[reference]"]
    if reference.adapter is not None:
        lines.append(f"adapter = {_toml(reference.adapter)}")
    else:
        lines.append(f"command = {_toml(list(reference.command))}")
    if reference.python is not None:
        lines.append(f"python = {_toml(reference.python)}")
    if reference.requirements:
        lines.append(f"requirements = {_toml(list(reference.requirements))}")
    return "\n".join(lines) + "\n"


def _candidate(candidate: Candidate, spec: Spec) -> str:
    text = f"[candidate]\nkind = {_toml(candidate.kind)}\nentry = {_toml(candidate.entry)}\n"
    if candidate.kind != "jax":
        return text
    wide = any(each.dtype in WIDE for each in (*spec.leaves.values(), *spec.draws.values()))
    return f"{text}x64 = {_toml(wide)}\n"


def _probe(name: str, inputs: Mapping[str, Leaf], outputs: Mapping[str, Leaf]) -> str:
    sides = {"inputs": inputs, "outputs": outputs}
    return f"\n[probes.{_toml_key(name)}]\n" + "".join(
        f"{side} = {{ {', '.join(f'{_toml_key(path)} = {_leaf(leaf)}' for path, leaf in leaves.items())} }}\n"
        for side, leaves in sides.items()
    )


def _draws(findings: Findings) -> str:
    if findings.mode != "tape":
        return ""
    text = ""
    for name, draw in findings.spec.draws.items():
        most = findings.capacity.get(name, 1)
        text += f'\n[randomness.draws.{_toml_key(name)}]\ndtype = "{draw.dtype}"\n'
        text += f"shape = {_toml(list(draw.shape))}\n" if draw.shape else ""
        text += f'at = "{draw.at}"\n'
        if most > 1:
            text += f"capacity = {2 * most}  # twice the most that was seen in one timestep\n"
        if name in findings.laws:
            law = ", ".join(f"{key} = {_toml(value)}" for key, value in findings.laws[name].items())
            text += f"law = {{ {law} }}\n"
        else:
            text += "# No law was found: samples of the reference stand for it. State it if it is known.\n"
    return text


def _exploration(findings: Findings) -> str:
    steps = int(min(findings.steps_per_second * EXPLORED_SECONDS, MOST_EXPLORED))
    if findings.mode == "law" or steps <= FEWEST_EXPLORED:
        return ""
    return f"exploration = {steps}  # steps; the more, the rarer is what level 3 finds\n"


def _episodes(findings: Findings) -> int:
    steps = findings.steps_per_second * LEVEL_3_SECONDS
    fewest = LAW_EPISODES if findings.mode == "law" else FEWEST_EPISODES
    return int(np.clip(steps / max(1.0, float(np.mean(findings.lengths))), fewest, MOST_EPISODES))


def _horizon(findings: Findings) -> int:
    if findings.max_episode_steps is not None:
        return findings.max_episode_steps + 10
    return max(100, min(1000, 2 * max(findings.lengths)))


def _transfer(findings: Findings) -> str:
    """A first margin, and how level 4 is asked for: nobody but the task's author knows what is worth learning."""
    mean, margin = float(np.mean(findings.returns)), _margin(findings)
    return f"""
# How far mean returns may lie apart at level 4: a first guess, to be replaced by what you know before anything is trained.
[transfer]
margin = {margin!r}
because = "the standard deviation of the returns of {len(findings.returns)} random episodes (mean {_mean(findings)})"
# There is a level 4 once these lines say how long to train. A policy has learned something if it earns well more than random
# episodes; `lockstep train . --in reference` shows after how many steps it does.
# steps = {TRAINING_STEPS}  # of each training; {_duration(findings)}
# minimum_return = {float(f"{mean + 5 * margin:.3g}")!r}  # policies that earn less prove nothing
# seeds = {_toml(list(Transfer.seeds))}  # trainings in each backend at each look; the last number is the budget
# episodes = {Transfer.episodes}  # of each policy in each backend
#
# [transfer.ppo]  # where the trainer's own hyper-parameters do not serve (docs/task.md lists them)
# learning_rate = {PpoConfig.learning_rate!r}
"""


def _duration(findings: Findings) -> str:
    seconds = TRAINING_STEPS / findings.steps_per_second
    said = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"one worker of the reference takes {said} for so many"


def _margin(findings: Findings) -> float:
    """Two significant digits of the spread; a hundredth of the mean where random episodes all return the same."""
    margin = float(np.std(findings.returns)) or abs(float(np.mean(findings.returns))) / 100 or 1.0
    return float(f"{margin:.2g}")


def _leaf(leaf: Leaf) -> str:
    parts = [f'dtype = "{leaf.dtype}"']
    if leaf.shape:
        parts.append(f"shape = {_toml(list(leaf.shape))}")
    if leaf.dtype != "bool":
        bounds = (("low", leaf.low), ("high", leaf.high))
        parts += [f"{end} = {_toml(_plain(bound))}" for end, bound in bounds if bound is not None]
    return f"{{ {', '.join(parts)} }}"


def _plain(bound: Any) -> Any:
    return bound.tolist() if isinstance(bound, (np.ndarray, np.generic)) else bound


def _toml(value: Any) -> str:
    """A plain value as TOML; the infinities as the strings that a task file spells them with."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float) and math.isinf(value):
        return '"inf"' if value > 0 else '"-inf"'
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _toml_key(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)


# --- prose ------------------------------------------------------------------------------------------------------------

_MODES = {
    "tape": "The reference reports every chance event as a named draw and takes draws in its place, so a candidate is given "
    "the very same ones: single trajectories are compared. That was tried with whole episodes.",
    "law": "Draws of the reference cannot be handed to a candidate, so only distributions are compared. This is weaker: an "
    "error that shows in few episodes can pass, and a verdict says so. Where the reference's chance can be recorded and "
    'forced by a better adapter, change the mode to "tape".',
    "none": "Different seeds gave the same episodes under the same actions, so the environment is taken as deterministic.",
}


def _readme(task: Task, findings: Findings) -> str:
    rows = "".join(
        f"| `{path}` | {leaf.dtype}{list(leaf.shape) if leaf.shape else ''} | |\n"
        for path, leaf in causes_first(findings.spec.leaves)
    )
    limit = (
        "no time limit" if findings.max_episode_steps is None else f"a time limit of {findings.max_episode_steps} steps"
    )
    return f"""\
# {task.name}

The reference is {findings.what}, with {limit}.
`lockstep new` wrote this page: say what each leaf means, and what is not covered.

| leaf | type | meaning |
|---|---|---|
{rows}
**Chance.** {_MODES[findings.mode]}

**Random episodes.** {len(findings.lengths)} of them took {min(findings.lengths)} to {max(findings.lengths)} steps.
They returned {_mean(findings)} on average, with a standard deviation of {float(np.std(findings.returns)):.4g}.
{_pictures(findings)}
**Next.** `lockstep check-reference .`, then divide the one module of `task.toml` and write `{task.candidate.entry}`.
"""


def _pictures(findings: Findings) -> str:
    if findings.picture is None:
        return ""
    height, width = findings.picture
    return f"\n**Pictures.** {height} by {width} pixels (height by width).\n"


def _mean(findings: Findings) -> str:
    return f"{float(np.mean(findings.returns)):.4g}"


def _quirks(task: Task, findings: Findings) -> str:
    lines = [*findings.notes]
    if not findings.has_state:
        lines.append("It exports no state: a hidden difference is seen only once it reaches an output.")
    if not findings.can_restore:
        lines.append("Its states cannot be restored: levels 1 and 2 replay prefixes instead of starting anywhere.")
    if findings.mode == "law":
        lines.append("Single trajectories are not compared, only their distributions.")
    if findings.max_episode_steps is None and max(findings.lengths) >= 1000:
        lines.append(
            "Random episodes did not end within 1000 steps; level 3 cuts them at the horizon; its exploration goes on."
        )
    found = "".join(f"- {line[0].upper()}{line[1:]}{'' if line.endswith('.') else '.'}\n" for line in lines)
    return f"""\
# Quirks of {task.name}

What `lockstep new` could not do or found odd, and what it costs:

{found or "- Nothing so far." + chr(10)}
Add each oddity of the reference here, with the decision: reproduce it, or declare it out of scope.

| | quirk | decision |
|---|---|---|
"""
