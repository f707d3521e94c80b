"""What makes an exported candidate in Rust a project that maturin builds wheels of."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

from harness import __version__
from harness.candidate.crates.build import crate_name
from harness.candidate.crates.data import VARIABLE, prepared
from harness.candidate.crates.runtime import CRATES
from harness.support.embedded import rust_sources
from harness.task.contract import CANDIDATE_DIRECTORY, Task, caches

MATURIN = "maturin>=1.9,<2"
GYMNASIUM = "gymnasium>=1.1"


def write_project(task: Task, name: str, destination: Path, *, attested: bool) -> None:
    """Write all but the Python package: the candidate's files unchanged, the crates that it was verified with, manifests.

    Args:
        name: of the package, which lies in `src/`.
    """
    origin = rust_sources()
    shutil.copytree(task.directory / CANDIDATE_DIRECTORY, destination / CANDIDATE_DIRECTORY, ignore=caches)
    for crate in CRATES:
        shutil.copytree(origin / crate, destination / "lockstep" / crate, ignore=shutil.ignore_patterns("tests"))
    shutil.copytree(origin / "binding" / "src", destination / "binding")
    # Cargo adds what is new and drops what is not here; the versions of all others stay those of the verification.
    shutil.copyfile(origin / "Cargo.lock", destination / "Cargo.lock")
    data = prepared(task)
    if data is not None:
        shutil.copytree(data, destination / "data")
        (destination / ".cargo").mkdir()
        settings = f'[env]\n{VARIABLE} = {{ value = "data", relative = true }}\n'
        (destination / ".cargo" / "config.toml").write_text(settings, encoding="utf-8")
    crate = Path(task.candidate.entry).parent.parent
    (destination / "Cargo.toml").write_text(_manifest(task, name, crate), encoding="utf-8")
    (destination / "pyproject.toml").write_text(_pyproject(task, name), encoding="utf-8")
    (destination / "README.md").write_text(_readme(task, name, attested), encoding="utf-8")


def _manifest(task: Task, name: str, crate: Path) -> str:
    own = tomllib.loads((rust_sources() / "binding" / "Cargo.toml").read_text(encoding="utf-8"))
    candidate = crate_name(task.directory / crate)
    pyo3 = own["dependencies"]["pyo3"]
    patches = "\n".join(f'lockstep-{each} = {{ path = "lockstep/{each}" }}' for each in CRATES)
    return f"""\
[package]
name = {json.dumps(re.sub("_", "-", name) + "-binding")}
version = "0.1.0"
edition = {json.dumps(own["package"]["edition"])}
rust-version = {json.dumps(own["package"]["rust-version"])}

[lib]
name = "lockstep_binding"
path = "binding/lib.rs"
crate-type = ["cdylib"]

[dependencies]
candidate = {{ package = {json.dumps(candidate)}, path = {json.dumps(crate.as_posix())} }}
lockstep-python = {json.dumps(own["dependencies"]["lockstep-python"])}
pyo3 = {{ version = {json.dumps(pyo3["version"])}, features = {json.dumps(pyo3["features"])} }}

[workspace]

[patch.crates-io]
{patches}
"""


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

[tool.maturin]
python-source = "src"
module-name = {json.dumps(f"{name}.lockstep_binding")}
"""


def _readme(task: Task, name: str, attested: bool) -> str:
    vouched = (
        "`attestation.json` in the package is the signed record of what was compared; `attestation()` reads it."
        if attested
        else "**Nothing vouches for this package: it was exported without a record of its verification.**"
    )
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
pool = {name}.make_pool(64, seed=0)  # EnvPool's reset(env_id) and step(action)
```

{vouched}
"""
