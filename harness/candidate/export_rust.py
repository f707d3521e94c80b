"""What makes an exported candidate in Rust a project that maturin builds wheels of."""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness import __version__
from harness.candidate.crates.build import crate_name
from harness.candidate.crates.data import VARIABLE, prepared
from harness.candidate.crates.project import DATA, package_name, write_project
from harness.task.contract import CANDIDATE_DIRECTORY, Task
from harness.task.players import Order

MATURIN = "maturin>=1.9,<2"
GYMNASIUM = "gymnasium>=1.1"
PETTINGZOO = "pettingzoo>=1.25"


def write_wheel_project(task: Task, destination: Path, *, attested: bool) -> None:
    """Write all but the Python package, which lies in `src/`: the cargo project, and what maturin and readers need."""
    name, crate, data = package_name(task), Path(task.candidate.entry).parent.parent, prepared(task)
    source, at = task.directory / CANDIDATE_DIRECTORY, os.path.normpath(crate.as_posix())
    write_project(destination, name, source, at, crate_name(task.directory / crate), data)
    if data is not None:
        (destination / ".cargo").mkdir()
        settings = f'[env]\n{VARIABLE} = {{ value = "{DATA}", relative = true }}\n'
        (destination / ".cargo" / "config.toml").write_text(settings, encoding="utf-8")
    (destination / "pyproject.toml").write_text(_pyproject(task, name), encoding="utf-8")
    (destination / "README.md").write_text(_readme(task, name, attested), encoding="utf-8")


def _pyproject(task: Task, name: str) -> str:
    return f"""\
[build-system]
requires = [{json.dumps(MATURIN)}]
build-backend = "maturin"

[project]
name = {json.dumps(name)}
version = "0.1.0"
description = {json.dumps(task.summary, ensure_ascii=False)}
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["numpy"]

[project.optional-dependencies]
gymnasium = [{json.dumps(GYMNASIUM)}]
pettingzoo = [{json.dumps(PETTINGZOO)}]

[tool.maturin]
python-source = "src"
module-name = {json.dumps(f"{name}.lockstep_binding")}
"""


def pettingzoo_line(task: Task, name: str) -> str:
    """How several players are had as PettingZoo has them."""
    in_turns = task.players is not None and task.players.order is Order.TURNS
    call = "make_aec()  # PettingZoo's AECEnv" if in_turns else "make_parallel()  # PettingZoo's ParallelEnv"
    return f"env = {name}.{call}, with the extra `pettingzoo`\n"


def _readme(task: Task, name: str, attested: bool) -> str:
    vouched = (
        "`attestation.json` in the package is the signed record of what was compared; `attestation()` reads it.\n"
        "`lockstep export --check DIRECTORY --key FILE` says whether the candidate's files are those that it is about."
        if attested
        else "**Nothing vouches for this package: it was exported without a record of its verification.**"
    )
    pool = f"pool = {name}.make_pool(64, seed=0)  # EnvPool's reset(env_id) and step(action)\n"
    return f"""\
# {name}

{task.summary}

Translated to Rust and exported by Lockstep {__version__}. `pip install .` compiles and installs it, `pip install
.[gymnasium]` with the Gymnasium face; `maturin build --release` makes a wheel. All need Rust 1.85 or newer.

```python
import {name}

batch = {name}.make_batch(1024)  # auto-reset in the same step, on all processors
batch.reset(range(1024))  # a seed for each
batch.step({{"action": actions}})  # batch.seen, batch.reward, batch.terminated, batch.truncated, batch.last
envs = {name}.make_vector(64, "SameStep")  # a Gymnasium VectorEnv
{pettingzoo_line(task, name) if task.players else pool}```

{vouched}
"""
