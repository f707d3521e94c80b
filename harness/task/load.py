"""Reads `task.toml` and the `Task` that it states.

A wrong file gets every mistake reported at once, each with its line and what would be right. `_schema` is the list of
what may be written; `harness.task.agreement` checks what no table can know alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.model import STATE
from harness.task import kinds
from harness.task.agreement import LEAF_TREES, SINGLE_LEAVES, check_agreement
from harness.task.contract import (
    CANDIDATE_DIRECTORY,
    REFERENCE_DIRECTORY,
    TASK_FILE,
    Budgets,
    Candidate,
    Limits,
    Mode,
    Module,
    Peer,
    Reference,
    Task,
    TaskProbe,
    Transfer,
)
from harness.task.players import Order, Players, players
from harness.task.require import built, requirement
from harness.task.schema import (
    Kind,
    Location,
    Required,
    anything,
    array_of,
    flag,
    number,
    one_of,
    table,
    table_of,
    text,
    whole,
)
from harness.task.toml_file import read_toml

CANDIDATE_KINDS = ("jax", "rust")
PRECISIONS = ("float32", "float64")
WORKFLOWS = ("translate", "parity", "create")
PLACEHOLDERS = ("prefix", "task")
_LEAF_PATH = re.compile(
    r"(observation|action|legal_actions)(/\w+)*|reward(/\w+)?|to_move(/\w+)?|alive/\w+|terminated|truncated|state(/\w+)+"
)


def load_task(directory: Path) -> Task:
    """The task that `directory/task.toml` states.

    Raises:
        TaskError: the file is missing, is not TOML, or is wrong; `mistakes` then holds all of them as
            `task.toml:LINE: key: what is wrong; expected ...; did you mean ...`, in the order of the file.
    """
    directory = Path(directory).resolve()
    read = read_toml(
        directory / TASK_FILE,
        "the task file",
        _schema(directory),
        check_agreement,
        next_step="name the directory of a task; `lockstep new` makes one",
    )
    return _build(read, directory)


def without_training(text: str) -> str:
    """The text of a task file without `[transfer]`: a session on it has no level 4, and takes seconds where others train."""
    import tomlkit

    document = tomlkit.parse(text)
    document.pop("transfer", None)
    return tomlkit.dumps(document)


def with_candidate(text: str, name: str) -> str:
    """The text of a task file that has its candidate of a name and no other.

    Raises:
        KeyError: it has none of that name.
    """
    import tomlkit

    document = tomlkit.parse(text)
    own = document["candidate"].unwrap()
    chosen = {one.get("name", one["kind"]): one for one in (*own.pop("also", ()), own)}[name]
    document["candidate"] = tomlkit.item(chosen)
    return tomlkit.dumps(document)


# --- what may be written ----------------------------------------------------------------------------------------------


def leaf_path(path: Any, location: Location) -> Any:
    """The path of a leaf that an environment may have."""
    if _LEAF_PATH.fullmatch(path):
        return path
    choices = (*LEAF_TREES, *SINGLE_LEAVES)
    below = ", ".join(f"`{tree}/`" for tree in LEAF_TREES)
    expected = f"one of {', '.join(choices)}, or a name below {below} or `{STATE}`"
    return location.wrong("this is not a leaf", expected, given=path, choices=choices)


CONTRACT: Mapping[str, Kind | Required] = {
    "leaves": Required(table_of(kinds.leaf, leaf_path)),
    "players": players,
    "randomness": Required(table({"mode": Required(one_of(*Mode)), "draws": table_of(kinds.draw, kinds.identifier)})),
    "tolerance": table_of(kinds.tolerance, anything),
    "budgets": table(
        {
            "examples": whole(1),
            "exhaustive": whole(1),
            "sequences": whole(1),
            "sequence_length": whole(1),
            "episodes": whole(1),
            "horizon": whole(1),
            "policies": array_of(kinds.identifier, at_least=1, unique=True),
            "samples": whole(1),
            "exploration": whole(0),
        }
    ),
}
"""What an environment shows, how its chance is made comparable, and how much is compared: tables that the state sheet of a
specification has too."""


def _schema(directory: Path) -> Kind:
    requirements = array_of(kinds.requirement, unique=True)
    leaves = table_of(kinds.leaf, kinds.identifier)
    texts = array_of(text(), unique=True)
    candidate: dict[str, Kind | Required] = {
        "name": kinds.name,
        "kind": Required(one_of(*CANDIDATE_KINDS)),
        "entry": Required(kinds.file_in(directory, below=CANDIDATE_DIRECTORY, exists=False)),
        "data": kinds.file_in(directory, below=REFERENCE_DIRECTORY, suffix=".py"),
        "x64": flag,
        "xla_flags": array_of(text("a flag that begins with `--`", r"--\S+"), unique=True),
        "packages": array_of(kinds.distribution, unique=True),
        "timeout_s": kinds.positive,
        "memory_mb": whole(1),
        "precision": one_of(*PRECISIONS),
        "tolerance": CONTRACT["tolerance"],
    }
    return table(
        {
            "name": Required(kinds.name),
            "summary": Required(text()),
            "workflow": Required(one_of(*WORKFLOWS)),
            "reference": Required(
                table(
                    {
                        "adapter": kinds.adapter_in(directory),
                        "command": array_of(text(), at_least=1),
                        "python": kinds.interpreter,
                        "requirements": requirements,
                        "npm": kinds.file_in(directory, below=REFERENCE_DIRECTORY, suffix="/package.json"),
                        "build": kinds.file_in(directory, below=REFERENCE_DIRECTORY, suffix=".py"),
                        "environment": table_of(_variable, kinds.identifier),
                        "options": table_of(anything, kinds.identifier),
                        "timeout_s": kinds.positive,
                        "workers": whole(0),
                    }
                )
            ),
            "candidate": Required(table({**candidate, "also": array_of(table(candidate), at_least=1)})),
            **CONTRACT,
            "modules": Required(
                array_of(
                    table(
                        {
                            "name": Required(kinds.name),
                            "summary": text(),
                            "probes": texts,
                            "leaves": texts,
                            "source": array_of(kinds.source),
                        }
                    ),
                    at_least=1,
                )
            ),
            "probes": table_of(
                table({"inputs": Required(leaves), "outputs": Required(leaves), "examples": whole(1)}), kinds.identifier
            ),
            "transfer": table(
                {
                    "margin": Required(kinds.positive),
                    "because": Required(text("the reason for it")),
                    "steps": whole(1),
                    "reference_steps": whole(1),
                    "minimum_return": number(),
                    "seeds": kinds.looks,
                    "episodes": whole(2),
                    "draws": table_of(kinds.drawn_number, kinds.identifier),
                    "opponents": array_of(kinds.opponent_in(directory), at_least=1, unique=True),
                    "ppo": kinds.hyper_parameters,
                }
            ),
            "profile": table({"batch_sizes": Required(array_of(whole(1), at_least=1, unique=True))}),
            "peers": array_of(
                table(
                    {
                        "name": Required(text()),
                        "adapter": Required(kinds.adapter_in(directory)),
                        "requirements": requirements,
                        "python": kinds.interpreter,
                    }
                )
            ),
            "limits": table(
                {"iterations": whole(1), "seconds": kinds.positive, "dollars": kinds.not_negative},
            ),
            "require": array_of(requirement, unique=True),
        }
    )


def _variable(value: Any, location: Location) -> Any:
    """The value of an environment variable, with no placeholder but those that `reference_command` fills in."""
    expected = " and ".join(f"`{{{name}}}`" for name in PLACEHOLDERS)
    if not isinstance(value, str):
        return location.wrong("it is not a string", f"a string, which may hold {expected}")
    for unknown in set(re.findall(r"\{(\w*)\}", value)) - set(PLACEHOLDERS):
        location.wrong(f"unknown placeholder `{{{unknown}}}`", expected, given=unknown, choices=PLACEHOLDERS)
    return value


# --- the task itself --------------------------------------------------------------------------------------------------


def _build(read: dict[str, Any], directory: Path) -> Task:
    """The task of a document without mistakes; what it leaves out takes the defaults of `harness.task.contract`."""
    randomness = read["randomness"]
    candidate, *others = (
        Candidate(**({"name": one["kind"]} | one)) for one in (read["candidate"], *read["candidate"].pop("also", ()))
    )
    tolerances = read.get("tolerance", {})
    return Task(
        name=read["name"],
        summary=read["summary"],
        workflow=read["workflow"],
        directory=directory,
        reference=Reference(**({"adapter": None} | read["reference"])),
        candidate=candidate,
        others=tuple(others),
        leaves=read["leaves"],
        players=Players(read["players"]["names"], Order(read["players"]["order"])) if "players" in read else None,
        modules=tuple(Module(**module) for module in read["modules"]),
        probes={name: TaskProbe(name, **probe) for name, probe in read.get("probes", {}).items()},
        mode=Mode(randomness["mode"]),
        draws=randomness.get("draws", {}),
        tolerances={**tolerances, **candidate.tolerance},
        common=tolerances,
        budgets=Budgets(**read.get("budgets", {})),
        transfer=Transfer(**read["transfer"]) if "transfer" in read else None,
        peers=tuple(Peer(**({"requirements": ()} | peer)) for peer in read.get("peers", ())),
        limits=Limits(**read.get("limits", {})),
        required=tuple(built(each) for each in read.get("require", ())),
        **read.get("profile", {}),
    )
