"""The package `lockstep_gameboy`, compiled from the sources that come with Lockstep and kept in its home.

It is Lockstep's own code and no candidate, so it is compiled without a sandbox, by this machine's cargo.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from harness.candidate.crates.runtime import Progress, made, silent
from harness.candidate.crates.toolchain import cargo_here
from harness.errors import SetupError
from harness.support.embedded import embedded_tasks, rust_sources
from harness.support.home import KEY_DIGITS, lockstep_home
from harness.task.contract import COMPILED, caches, files_digest

PACKAGE = "lockstep_gameboy"
CORE = "environments/gameboy/candidate/core"
"""Where the emulator lies, seen from the directory that holds `rust/gameboy`, whose manifest names it."""
CRATES = ("batch", "env", "gameboy", "python")
"""What of the Rust workspace it is compiled from."""
TOOLS = "tools"
"""The folder of this package beside the crate: no part of what is compiled."""
COMPILE_S = 1800.0


def gameboy(progress: Progress = silent) -> ModuleType:
    """The module `lockstep_gameboy`, compiled when it is first needed.

    Raises:
        SetupError: there is no Rust here, or it does not compile.
    """
    place = str(built(progress))
    if place not in sys.path:
        sys.path.insert(0, place)
    return importlib.import_module(PACKAGE)


def built(progress: Progress = silent) -> Path:
    """A directory in which Python finds the compiled package.

    Raises:
        SetupError: there is no Rust here, or it does not compile.
    """
    runtime = rust_sources()
    parts = {f"rust/{name}": runtime / name for name in CRATES}
    parts[CORE] = embedded_tasks()["gameboy"] / "candidate" / "core"
    place = lockstep_home() / "crates" / f"gameboy-{_digest(*parts.values())[:KEY_DIGITS]}"
    telling = "compiling the Game Boy; this takes a minute, once"
    return made(place, telling, lambda fresh: _compile(_cargo(), parts, fresh), progress)


def _cargo() -> Path:
    try:
        return cargo_here()
    except SetupError as error:
        raise SetupError(
            "the Game Boy is compiled by cargo, which is not on PATH", next_step=error.next_step
        ) from error


def _compile(cargo: Path, parts: Mapping[str, Path], package: Path) -> None:
    """Write the package, compiled from copies: cargo writes beside its sources."""
    with tempfile.TemporaryDirectory(prefix="lockstep-build-") as scratch:
        _compile_in(Path(scratch), cargo, parts, package)


def _compile_in(scratch: Path, cargo: Path, parts: Mapping[str, Path], package: Path) -> None:
    crate = scratch / "rust" / "gameboy"
    for place, source in parts.items():
        shutil.copytree(source, scratch / place, ignore=lambda at, names: {*caches(at, names), TOOLS} & set(names))
    command = [str(cargo), "build", "--release", "--locked", "--quiet", "--target-dir", str(scratch / "target")]
    environment = os.environ | {"PYO3_NO_PYTHON": "1"}
    try:
        answer = subprocess.run(
            command, cwd=crate, env=environment, capture_output=True, text=True, check=False, timeout=COMPILE_S
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"the Game Boy was not compiled within {COMPILE_S:g} s") from error
    if answer.returncode != 0:
        raise SetupError(
            f"the Game Boy does not compile; cargo said last:\n{answer.stderr.strip()[-1500:]}",
            next_step="look at the network, or install a newer Rust",
        )
    shutil.copytree(crate / "python", package)
    shutil.copyfile(scratch / "target" / "release" / "lib_native.so", package / PACKAGE / "_native.abi3.so")


def _digest(*roots: Path) -> str:
    """SHA-256 over the sources."""
    left_out = {"target", COMPILED, TOOLS}
    digests = [
        files_digest(
            root, (path for path in sorted(root.rglob("*")) if not left_out & set(path.relative_to(root).parts))
        )
        for root in roots
    ]
    return hashlib.sha256("".join(digests).encode()).hexdigest()
