"""Writes a candidate as an installable Python package that needs no Lockstep to run.

The package holds the candidate's files unchanged, the very face modules that the verifier ran, and the attestation. One in
JAX depends on JAX and numpy, with Gymnasium as an extra; one in Rust on numpy, and on Rust where it is built.
"""

from __future__ import annotations

import json
from glob import escape
from importlib import metadata
from pathlib import Path

from harness import __version__
from harness.candidate.crates.project import package_name
from harness.candidate.export_rust import GYMNASIUM, PETTINGZOO, pettingzoo_line, write_wheel_project
from harness.candidate.package import ATTESTATION, ATTESTED, write_package
from harness.errors import LockstepError, TaskError
from harness.task.contract import Task
from harness.task.players import Order


def export(task: Task, destination: Path, attestation: bytes | None, attested: bytes = b"") -> Path:
    """Write the task's candidate as a package below `destination`, which must be missing or empty.

    Args:
        attestation: the signed record of the verification of exactly these files, or None.
        attested: the list of the files that it is about (`harness.record.snapshot.listing`), whose SHA-256 it names: that
            binds it to the candidate's files.

    Returns:
        The package's directory, ready for `pip install`.

    Raises:
        TaskError: the candidate's entry is missing.
        LockstepError: something is at the destination already.
    """
    entry = task.directory / task.candidate.entry
    if not entry.is_file():
        raise TaskError(
            f"there is no candidate at {task.candidate.entry}",
            where=str(task.directory),
            next_step="export a task or session whose candidate is written",
        )
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise LockstepError(
            "there is something at the destination already",
            where=str(destination),
            expected="a new or an empty directory",
            next_step="choose another destination, or remove what is there",
        )
    name = package_name(task)
    package = destination / "src" / name
    write_package(task, task.directory, package)
    if attestation is not None:
        (package / ATTESTATION).write_bytes(attestation)
        (package / ATTESTED).write_bytes(attested)
    if task.candidate.kind == "rust":
        write_wheel_project(task, destination, attested=attestation is not None)
        return destination
    (destination / "pyproject.toml").write_text(_pyproject(task, name, _hidden(package)), encoding="utf-8")
    (destination / "README.md").write_text(_readme(task, name, attestation is not None), encoding="utf-8")
    return destination


def _hidden(package: Path) -> list[str]:
    """Patterns of the files of a package that setuptools would leave out of a wheel, and that a program would miss there."""
    found = (path.relative_to(package) for path in sorted(package.rglob("*")) if path.is_file())
    return [escape(path.as_posix()) for path in found if any(part.startswith(".") for part in path.parts)]


def _pyproject(task: Task, name: str, hidden: list[str]) -> str:
    # Older versions of JAX may compile the same functions to other roundings than those that were verified.
    dependencies = [f"jax>={metadata.version('jax')}", "numpy", *task.candidate.packages]
    return f"""\
[build-system]
requires = ["setuptools>=62.3"]
build-backend = "setuptools.build_meta"

[project]
name = {_quoted(name)}
version = "0.1.0"
description = {_quoted(task.summary)}
readme = "README.md"
requires-python = ">=3.11"
dependencies = {_quoted(dependencies)}

[project.optional-dependencies]
gymnasium = [{_quoted(GYMNASIUM)}]
pettingzoo = [{_quoted(PETTINGZOO)}]

[tool.setuptools.packages.find]
where = ["src"]

[tool.setuptools.package-data]
{_quoted(name)} = {_quoted(["**/*", *hidden])}
"""


def _quoted(value: str | list[str]) -> str:
    """A text or a list of texts as TOML: its basic strings are JSON's, but for DEL, which has no place in either here."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "")


def _of_players(task: Task, name: str) -> str:
    """The lines about the interfaces that several players have."""
    if not task.players:
        return ""
    in_turns = task.players.order is Order.TURNS
    pgx = f"pgx_style = {name}.make_pgx()  # init(key), step(state, action, key)\n" if in_turns else ""
    return f"""\
{pgx}jaxmarl_style = {name}.make_jaxmarl()  # reset(key), step(key, state, actions), dicts by agent
{pettingzoo_line(task, name)}"""


def _readme(task: Task, name: str, attested: bool) -> str:
    flags = " ".join(task.candidate.xla_flags)
    notes = []
    if task.candidate.x64:
        notes.append(
            "It computes in 64 bits, as its reference does. Switch JAX's 64-bit types on before anything else uses JAX, as\n"
            "above or with `JAX_ENABLE_X64=1`; without them `make()` refuses."
        )
    if flags:
        notes.append(
            f'It was compared under `XLA_FLAGS="{flags}"`. Without these flags it runs, perhaps faster, and may differ\n'
            "from its reference in the last bits."
        )
    notes.append(
        "`attestation.json` in the package is the signed record of what was compared; `attestation()` reads it.\n"
        "`lockstep export --check DIRECTORY --key FILE` says whether the candidate's files are those that it is about."
        if attested
        else "**Nothing vouches for this package: it was exported without a record of its verification.**"
    )
    x64 = 'jax.config.update("jax_enable_x64", True)\n' if task.candidate.x64 else ""
    said = "\n\n".join(notes)
    return f"""\
# {name}

{task.summary}

Translated to JAX and exported by Lockstep {__version__}. `pip install .` installs it, `pip install .[gymnasium]` with the
Gymnasium face.

```python
import jax
{x64}import {name}

env = {name}.make()
keys = jax.random.split(jax.random.key(0), 1024)
states, outputs = jax.jit(jax.vmap(env.reset))(keys)
step = jax.jit(jax.vmap(env.step_autoreset))  # (keys, states, actions) -> (states, outputs), with final_observation
gymnax_style = {name}.make_gymnax()  # reset(key, params), step(key, state, action, params)
envs = {name}.make_vector(64, "SameStep")  # a Gymnasium VectorEnv
{_of_players(task, name)}```

{said}
"""
