"""`lockstep new`: makes a task from an environment by building it, running it, and writing down what it did.

A Gymnasium environment, or a factory of one, gets the general adapter of `harness/authoring/templates`, and every finding
about it is tried before it is written: draws recorded and forced, states read and restored. A program that speaks the
protocol is asked for its spec. What could not be found out stands in QUIRKS.md of the new task, with what it costs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.authoring.local_code import take_module
from harness.authoring.scaffold_files import Findings, write_task
from harness.authoring.ways_on import ways_on
from harness.candidate.skeleton import write_skeleton
from harness.errors import SetupError
from harness.model import Case, Trajectory, is_reward
from harness.reference.install import Installed, Progress, setup
from harness.reference.sandbox import open_sandbox
from harness.reference.start import start_reference
from harness.support.foreign import json_of
from harness.task.contract import CANDIDATE_DIRECTORY, REFERENCE_DIRECTORY, Candidate, Reference, Task
from harness.task.kinds import PINNED, problem_with_requirement
from harness.task.load import load_task
from sandboxes.removal import scratch_directory

TEMPLATES = Path(__file__).parent / "templates"
GENERAL_FILES = {
    "gymnasium_adapter.py": "adapter.py",
    "gymnasium_chance.py": "gymnasium_chance.py",
    "gymnasium_state.py": "gymnasium_state.py",
    "gymnasium_things.py": "gymnasium_things.py",
}
"""The general adapter: its files among the templates, and what they are called in `reference/`."""
PLAYERS_FILE, SPIEL_FILE = "gymnasium_players.py", "gymnasium_spiel.py"
"""More of them: for environments of several players, and for games of OpenSpiel's."""
GENERAL = f"{REFERENCE_DIRECTORY}/adapter.py:Reference"
GYMNASIUM = ("gymnasium==1.4.0", "numpy==2.4.6")
PETTINGZOO = ("pettingzoo==1.27.0", "pygame-ce==2.5.8")
OPENSPIEL = ("open_spiel==2.0.2",)
GYMNASIUM_PYTHON = ">=3.11"
EPISODES = 20
SEEDS = 8
HORIZON = 1000
ENVIRONMENT = "environment.json"
"""In `reference/`: what the general adapter makes, and what was found out about it."""
MOST_BYTES = 64 << 20
"""Of what is found out about an environment."""
ENTRIES = {"jax": f"{CANDIDATE_DIRECTORY}/env.py", "rust": f"{CANDIDATE_DIRECTORY}/rust/src/lib.rs"}
"""Where the candidate of a new task begins."""


def new(
    name: str,
    directory: Path,
    *,
    gymnasium: str | None = None,
    factory: str | None = None,
    pettingzoo: str | None = None,
    openspiel: str | None = None,
    command: Sequence[str] | None = None,
    adapter: str | None = None,
    imports: Sequence[str] = (),
    requirements: Sequence[str] = (),
    candidate: str = "jax",
    progress: Progress = lambda line: None,
) -> Path:
    """Make a task in `directory` from one environment, and return the directory.

    Args:
        name: the task's name.
        directory: where to make it; it must not exist, or be empty.
        gymnasium: id of an environment in Gymnasium's registry (`CartPole-v1`).
        factory: `module:function`, or `path/to/file.py:function`, that returns a Gymnasium environment. A file, or a module
            that lies in the current directory, is copied into the task with what it imports from beside it.
        pettingzoo: `module` or `module:function` of an environment of PettingZoo's, by default `module:env`; it may lie in a
            file as that of a factory.
        openspiel: OpenSpiel's name of a game for two or more players (`connect_four`, `hex(board_size=5)`).
        command: a program that speaks the protocol. Arguments that are files here are copied into the task.
        adapter: `path/to/file.py:Class` of an adapter written by hand (docs/protocol.md, "Adapters in Python"); `Class` is
            `Reference` where it is left out. The file is copied as one of a factory is.
        imports: modules that register the id, or `module:function` for a function that does. Without them it is tried with
            modules named as the id's namespace, and with those of the requirements.
        requirements: pinned requirements of the environment; Gymnasium itself may be left out.
        candidate: what the candidate is to be written in, `jax` or `rust`.
        progress: called with what is being done.

    Raises:
        SetupError: the environment cannot be built or run, or cannot be a reference; the message says why.
        TaskError: what the program says of itself makes no task.
        EnvironmentFailure: the program does not speak the protocol.
    """
    if sum(given is not None for given in (gymnasium, factory, pettingzoo, openspiel, command, adapter)) != 1:
        expected = "one of `gymnasium`, `factory`, `pettingzoo`, `openspiel`, `command` and `adapter`"
        raise SetupError("a task is made from one environment", expected=expected)
    _check_arguments(name, requirements)
    directory = Path(directory).absolute()
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise SetupError(
            "there is something already",
            where=str(directory),
            expected="a directory that is empty, or does not exist",
            next_step="choose another one; nothing was changed",
        )
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{directory.name}-", dir=directory.parent) as unfinished:
        made = Path(unfinished) / directory.name
        (made / REFERENCE_DIRECTORY).mkdir(parents=True)
        if command is not None:
            reference = Reference(None, command=_take_files(command, made), requirements=tuple(requirements))
        elif adapter is not None:
            reference = _reference_by_hand(made, adapter, requirements)
        elif pettingzoo is not None:
            factory = pettingzoo if ":" in pettingzoo else f"{pettingzoo}:env"
            reference = _reference_of_players(made, factory, (*PETTINGZOO, *GYMNASIUM), requirements)
        elif openspiel is not None:
            text = (TEMPLATES / SPIEL_FILE).read_text(encoding="utf-8").replace('GAME = ""', f"GAME = {openspiel!r}", 1)
            (made / REFERENCE_DIRECTORY / SPIEL_FILE).write_text(text, encoding="utf-8")
            factory = f"{SPIEL_FILE.removesuffix('.py')}:make"
            reference = _reference_of_players(made, factory, (*OPENSPIEL, *GYMNASIUM), requirements)
        else:
            reference = _gymnasium_reference(made, gymnasium, factory, imports, requirements)
        task = _provisional(name, made, reference, candidate)
        environment = setup(task, progress)
        progress("running the environment to see what it offers")
        findings = inspect(task, environment)
        write_task(task, findings)
        # What was written must be right; a mistake in it is reported here and nothing is left.
        write_skeleton(load_task(made), made)
        # An empty directory is replaced by a full one in a single step.
        os.replace(made, directory)
    return directory


def _check_arguments(name: str, requirements: Sequence[str]) -> None:
    """What task.toml would refuse later, said before anything is built."""
    check_name(name)
    for problem in filter(None, map(problem_with_requirement, requirements)):
        raise SetupError(problem, where="requirements", expected=PINNED)


def check_name(name: str) -> None:
    """Refuse what no task can be called.

    Raises:
        SetupError: it is no name.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise SetupError(f"{name!r} is not a name for a task", expected="lower-case letters, digits, `_` and `-`")


def inspect(task: Task, environment: Installed) -> Findings:
    """Run a task's reference, whose adapter or program is in place, and say what was found.

    Raises:
        SetupError, EnvironmentFailure: as `new`.
    """
    facts: dict[str, Any] = {}
    if (task.directory / REFERENCE_DIRECTORY / ENVIRONMENT).exists():
        facts = _discover(task, environment)
    reference = start_reference(task, environment)
    try:
        spec = reference.spec
        for path, leaf in spec.actions.items():
            if leaf.dtype != "bool" and (leaf.low is None or leaf.high is None):
                raise SetupError(
                    f"the action leaf `{path}` has no bounds, so no policy can draw it at random",
                    where="the spec of the program",
                    expected="`low` and `high`",
                )
        if not facts:
            facts = _measure(reference)
    finally:
        reference.close()
    findings = Findings(spec=spec, **facts)
    if findings.mode == "law" and not findings.has_state:
        raise SetupError(
            "nobody could solve a task made of this: its chance cannot be recorded, and none of its state is seen",
            where=findings.what,
            expected="draws that can be recorded and forced, or state leaves",
            next_step=ways_on(findings.notes, task.reference.adapter == GENERAL),
        )
    return findings


def _gymnasium_reference(
    made: Path,
    gymnasium: str | None,
    factory: str | None,
    imports: Sequence[str],
    requirements: Sequence[str],
    players: dict[str, Any] | None = None,
) -> Reference:
    """Put the general adapter into a task, with the environment that it makes; `players` is None where one plays."""
    for template, name in GENERAL_FILES.items():
        shutil.copyfile(TEMPLATES / template, made / REFERENCE_DIRECTORY / name)
    if factory is not None:
        factory = take_module(factory, made / REFERENCE_DIRECTORY, "factory", "function")
    required = [Requirement(requirement).name for requirement in requirements]
    described = {
        "id": gymnasium,
        "factory": factory,
        "imports": list(imports),
        "required": required,
        "players": players,
    }
    (made / REFERENCE_DIRECTORY / ENVIRONMENT).write_text(json.dumps(described), encoding="utf-8")
    names = set(map(canonicalize_name, required))
    pins = (*requirements, *(() if "gymnasium" in names else GYMNASIUM[:1]), *(() if requirements else GYMNASIUM[1:]))
    python = None if requirements else GYMNASIUM_PYTHON
    return Reference(GENERAL, python=python, requirements=pins)


def _reference_of_players(made: Path, factory: str, pins: Sequence[str], requirements: Sequence[str]) -> Reference:
    """Put the general adapter into a task, around a game; it needs `pins`, but for those that are required otherwise."""
    named = {canonicalize_name(Requirement(requirement).name) for requirement in requirements}
    added = [pin for pin in pins if canonicalize_name(Requirement(pin).name) not in named]
    shutil.copyfile(TEMPLATES / PLAYERS_FILE, made / REFERENCE_DIRECTORY / PLAYERS_FILE)
    return _gymnasium_reference(made, None, factory, (), (*requirements, *added), players={})


def _reference_by_hand(made: Path, adapter: str, requirements: Sequence[str]) -> Reference:
    """Put an adapter that its author wrote into a task."""
    file, _, name = adapter.rpartition(":") if not adapter.endswith(".py") else (adapter, "", "Reference")
    module, _, name = take_module(f"{file}:{name}", made / REFERENCE_DIRECTORY, "adapter", "Class").partition(":")
    if not (made / REFERENCE_DIRECTORY / f"{module}.py").is_file():
        raise SetupError(
            f"`{adapter}` is no file", where="adapter", expected="`path/to/file.py` or `path/to/file.py:Class`"
        )
    python = None if requirements else GYMNASIUM_PYTHON
    return Reference(
        f"{REFERENCE_DIRECTORY}/{module}.py:{name}", python=python, requirements=(*requirements,) or GYMNASIUM
    )


def _take_files(command: Sequence[str], made: Path) -> tuple[str, ...]:
    """The command with its files copied into the task, where it will run."""

    def take(part: str) -> str:
        path = Path(part)
        if path.is_absolute() or not path.is_file():
            return part
        shutil.copy(path, made / REFERENCE_DIRECTORY / path.name)
        return f"{REFERENCE_DIRECTORY}/{path.name}"

    return tuple(map(take, command))


def _provisional(name: str, made: Path, reference: Reference, candidate: str) -> Task:
    """As much of the task as it takes to build and run its reference."""
    return Task(name, "", "translate", made, reference, Candidate(candidate, ENTRIES[candidate]), leaves={}, modules=())


def _discover(task: Task, environment: Installed) -> dict[str, Any]:
    """What `gymnasium_discover.py` finds out in the environment's own Python, in a sandbox in which it changes a copy."""
    reference = task.directory / REFERENCE_DIRECTORY
    with scratch_directory("lockstep-new-") as directory:
        answer, copy = directory / "facts.json", directory / REFERENCE_DIRECTORY
        shutil.copytree(reference, copy)
        script, options = str(TEMPLATES / "gymnasium_discover.py"), json.dumps(task.reference.options)
        command = [str(environment.python), "-B", "-W", "ignore", script, str(copy), str(answer), options]
        writable = directory
        with open_sandbox(task, environment, command, {}, "finding out", writable, shown=(TEMPLATES,)) as sandbox:
            finished = sandbox.run(command)
        facts = _written(answer)
        if facts is None:
            said = finished.stderr.decode("utf-8", "replace").strip()
            lines = "".join(f"\n    {line}" for line in said.splitlines()[-8:])
            raise SetupError(f"the environment cannot be run (exit status {finished.exit_code}):{lines}")
        if (described := _written(copy / ENVIRONMENT)) is not None:
            kept = json.dumps(described, indent=2, sort_keys=True) + "\n"
            (reference / ENVIRONMENT).write_text(kept, encoding="utf-8")
    if "error" in facts:
        raise SetupError(
            f"the environment cannot be a reference: {facts['error']}",
            next_step="correct its name or its requirements, or write an adapter for it (docs/protocol.md)",
        )
    facts["what"] = facts.pop("class")
    most = facts.get("max_episode_steps")
    if facts.get("mode") not in ("tape", "law", "none") or not (most is None or type(most) is int):
        raise SetupError("the environment cannot be a reference: what was found out about it is not what was asked")
    return facts


def _written(file: Path) -> dict[str, Any] | None:
    """The object in a file that the environment could write; None where something else is in its place."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            found = json_of(opened.read(MOST_BYTES))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _measure(reference: Any) -> dict[str, Any]:
    """What a program's random episodes are like, and how it makes chance comparable."""
    began = time.perf_counter()
    episodes = reference.drive("random", list(range(EPISODES)), HORIZON)
    lengths = [episode.steps for episode in episodes]
    rate = sum(lengths) / (time.perf_counter() - began)
    first, other = (reference.drive("random", [0], HORIZON)[0] for _ in range(2))
    notes = [] if first.digest == other.digest else ["the same seed does not give the same episode"]
    spec = reference.spec
    forced = {"draws", "force_draws"} <= spec.capabilities
    capacity: dict[str, int] = {}
    for episode in episodes:
        for timestep in episode.draws or ():
            for draw in timestep:
                count = sum(other.name == draw.name for other in timestep)
                capacity[draw.name] = max(capacity.get(draw.name, 1), count)
    if spec.draws and not forced:
        notes.append("it reports draws that it cannot be made to take, so they are not compared")
    if "restore" not in spec.capabilities:
        notes.append("it cannot restore a state")
    return {
        "what": "a program that speaks the protocol",
        "mode": "tape" if spec.draws and forced else "law" if _seeds_matter(reference, episodes) else "none",
        "capacity": capacity,
        "laws": {},
        "returns": [
            float(np.sum([array.sum() for path, array in episode.leaves.items() if is_reward(path)]))
            for episode in episodes
        ],
        "lengths": lengths,
        "steps_per_second": rate,
        "max_episode_steps": None,
        "source": [],
        "notes": notes,
    }


def _seeds_matter(reference: Any, episodes: Sequence[Trajectory]) -> bool:
    """Whether another seed gives another episode under the same actions."""
    same_actions = reference.rollout([Case(seed, episodes[0].case.actions) for seed in range(SEEDS)])
    paths = [path for path in same_actions[0].leaves if not path.startswith("action")]
    return any(
        other.steps != same_actions[0].steps
        or any(other.leaves[path].tobytes() != same_actions[0].leaves[path].tobytes() for path in paths)
        for other in same_actions[1:]
    )
