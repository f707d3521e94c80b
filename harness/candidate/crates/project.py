"""The cargo project around a candidate's crate. There is one: what is verified is compiled from what users get.

All its paths are relative, and cargo names what lies below a project by where it lies there. So the same files give the same
module wherever the project stands.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tomllib
from pathlib import Path

from harness.support.embedded import rust_sources
from harness.task.contract import CANDIDATE_DIRECTORY, Task, caches

CRATES = ("env", "batch", "python")
"""Lockstep's own, in the order in which they depend on each other."""
DATA = "data"
_OLD = 946_684_800
"""When the runtime's sources were last changed, as cargo is told: before anything was compiled of them."""


def package_name(task: Task) -> str:
    """The name under which users import a task's candidate."""
    return re.sub(r"\W+", "_", task.name).strip("_").lower()


def write_project(destination: Path, package: str, source: Path, crate: str, name: str, data: Path | None) -> None:
    """Write the project to a directory: the candidate's files unchanged, the crates that it is linked with, the manifest.

    Args:
        package: of the Python package that brings the module (`package_name`).
        source: the candidate's directory.
        crate, name: of the candidate's crate: its directory in the project, and its name.
        data: the files that the task prepares for it, if any.
    """
    origin = rust_sources()
    destination.mkdir(parents=True, exist_ok=True)
    _copy(source, destination / CANDIDATE_DIRECTORY)
    for own in CRATES:
        copied = destination / "lockstep" / own
        shutil.copytree(origin / own, copied, ignore=shutil.ignore_patterns("tests"))
        for path in copied.rglob("*"):
            os.utime(path, (_OLD, _OLD))
    shutil.copytree(origin / "binding" / "src", destination / "binding")
    # Cargo adds what is new and drops what is not here; the versions of all others stay those of the verification.
    shutil.copyfile(origin / "Cargo.lock", destination / "Cargo.lock")
    if data is not None:
        _copy(data, destination / DATA)
    (destination / "Cargo.toml").write_text(_manifest(package, crate, name), encoding="utf-8")


def _copy(source: Path, destination: Path) -> None:
    """Copy files with the modes that a checkout gives them, whatever those of an export are; links stay links."""
    shutil.copytree(source, destination, ignore=caches, symlinks=True, copy_function=shutil.copyfile)
    for folder, _, files in os.walk(destination):
        os.chmod(folder, 0o755)
        for name in files:
            path = Path(folder) / name
            if not path.is_symlink():
                origin = source / path.relative_to(destination)
                path.chmod(0o755 if origin.stat().st_mode & stat.S_IXUSR else 0o644)


def _manifest(package: str, crate: str, name: str) -> str:
    own = tomllib.loads((rust_sources() / "binding" / "Cargo.toml").read_text(encoding="utf-8"))
    pyo3 = own["dependencies"]["pyo3"]
    patches = "\n".join(f'lockstep-{each} = {{ path = "lockstep/{each}" }}' for each in CRATES)
    return f"""\
[package]
name = {json.dumps(re.sub("_", "-", package) + "-binding")}
version = "0.1.0"
edition = {json.dumps(own["package"]["edition"])}
rust-version = {json.dumps(own["package"]["rust-version"])}

[lib]
name = "lockstep_binding"
path = "binding/lib.rs"
crate-type = ["cdylib"]

[dependencies]
candidate = {{ package = {json.dumps(name)}, path = {json.dumps(crate)} }}
lockstep-python = {json.dumps(own["dependencies"]["lockstep-python"])}
pyo3 = {{ version = {json.dumps(pyo3["version"])}, features = {json.dumps(pyo3["features"])} }}

[workspace]

[patch.crates-io]
{patches}
"""
