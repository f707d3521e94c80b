"""A right task.toml with a word on everything, and what becomes of it when it is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import TaskError
from harness.task.contract import Task
from harness.task.load import load_task

RIGHT = """\
name = "walk"
summary = "a walk in a corridor"
workflow = "translate"

[reference]
adapter = "reference/adapter.py:Walk"
python = ">=3.8,<4"
requirements = ["numpy==2.4.6"]
build = "reference/build.py"
timeout_s = 30
workers = 2

[reference.environment]
LD_PRELOAD = "{prefix}/lib/shim.so"

[reference.options]
frameskip = 4

[candidate]
kind = "jax"
entry = "candidate/env.py"
x64 = true
xla_flags = ["--xla_cpu_max_isa=AVX"]
packages = ["chex"]

[leaves]
"observation/view" = { dtype = "float32", shape = [2], low = [-1, "-inf"], high = [1.5, "inf"] }
"observation/near" = { dtype = "bool" }
action = { dtype = "int64", low = 0, high = 3 }
reward = { dtype = "float64" }
terminated = { dtype = "bool" }
truncated = { dtype = "bool" }
legal_actions = { dtype = "bool", shape = [4] }
"state/x" = { dtype = "float64", low = -2, high = 2 }
"state/n" = { dtype = "int32" }

[[modules]]
name = "moves"
summary = "how a step moves"
probes = ["move"]
leaves = ["state/x"]
source = ["walk/core.py:1-20"]

[[modules]]
name = "ends"
leaves = ["terminated"]

[probes.move]
inputs = { x = { dtype = "float64", low = -2, high = 2 }, action = { dtype = "int64", low = 0, high = 3 } }
outputs = { x = { dtype = "float64" } }

[randomness]
mode = "tape"

[randomness.draws.wind]
dtype = "float64"
shape = [2]
at = "step"
capacity = 3
law = { kind = "normal", mean = 0, std = 0.5 }

[tolerance]
"state/x" = { rtol = 1e-9, atol = 1e-12 }
"probe/move/x" = { atol = 1e-12 }

[budgets]
examples = 10
policies = ["random", "sticky", "forward"]

[transfer]
margin = 2.5
because = "a tenth of a good return"
steps = 5000
reference_steps = 1000
minimum_return = -3
seeds = [3, 5]
episodes = 8

[transfer.ppo]
num_envs = 16
network = "gru"

[profile]
batch_sizes = [1, 64]

[[peers]]
name = "quick walk"
requirements = ["quickwalk==1.0"]
adapter = "reference/peer.py:Quick"

[limits]
dollars = 0

[[require]]
end = "terminated"
times = 20

[[require]]
leaf = "state/x"
bound = "high"

[[require]]
action = 3
level = 2
"""


def directory_of(tmp_path: Path, document: str) -> Path:
    for name in ("adapter.py", "build.py", "peer.py"):
        file = tmp_path / "reference" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
    (tmp_path / "task.toml").write_text(document, encoding="utf-8")
    return tmp_path


def read(tmp_path: Path, document: str) -> Task:
    return load_task(directory_of(tmp_path, document))


def mistakes(tmp_path: Path, document: str) -> tuple[str, ...]:
    with pytest.raises(TaskError) as refused:
        read(tmp_path, document)
    return refused.value.mistakes


def changed(*edits: tuple[str, str]) -> str:
    document = RIGHT
    for old, new in edits:
        assert document.count(old) == 1, f"{old!r} is not once in the document"
        document = document.replace(old, new)
    return document


def assert_one_mistake(tmp_path: Path, old: str, new: str, key: str, said: str, begins: str) -> None:
    """Where `new` takes the place of `old`, one mistake is reported, at the line of `old`, or at the one that begins so."""
    document = changed((old, new))
    place = document.index(f"\n{begins}") + 1 if begins else RIGHT.index(old)
    [mistake] = mistakes(tmp_path, document)
    line = document.count("\n", 0, place) + 1
    assert mistake.startswith(f"task.toml:{line}: {key}: " if key else f"task.toml:{line}: ")
    assert said in mistake
