"""What every candidate in Rust is linked with: Lockstep's own crates and all that they need, as sources and compiled. Once.

The sources are one directory in which cargo finds every crate, Lockstep's like those of the registry. So a build in a
sandbox needs no network, and a candidate names `lockstep-env = "0.1"` and nothing else. They are compiled ahead around an
environment that does nothing; a candidate's build begins with a copy of that, and compiles the candidate. Nothing of a
candidate is ever kept for the next build: what is verified is compiled from its tree alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.candidate.crates.counted import counting_crates
from harness.candidate.crates.project import CRATES, write_project
from harness.candidate.crates.surroundings import CLOCK, HERE, Surroundings
from harness.candidate.crates.toolchain import Toolchain, cargo_here
from harness.errors import SetupError
from harness.support.embedded import rust_sources
from harness.support.home import KEY_DIGITS, locked, lockstep_home
from harness.task.contract import files_digest
from sandboxes import Driver, Finished, Limits, Mount, Sandbox, SandboxSpec
from sandboxes.removal import scratch_directory

VENDOR = "/lockstep/crates"
MODULE = "release/liblockstep_binding.so"
COMPILE_S = 1800.0
MEMORY_MB = 4096
OUTPUT_BYTES = 16 << 20

Progress = Callable[[str], None]


def silent(line: str) -> None:
    """A progress callback that does nothing."""


def sources(progress: Progress = silent) -> Path:
    """The directory of all crates, made when it is first needed; that takes a network or cargo's own cache.

    Raises:
        SetupError: cargo is missing, or cannot fetch the crates.
    """
    origin = rust_sources()
    location = lockstep_home() / "crates" / f"sources-{_digest(origin)[:KEY_DIGITS]}"
    telling = "fetching the crates that candidates in Rust are built with"
    return made(location, telling, lambda fresh: _vendor(origin, fresh), progress)


def compiled(driver: Driver, rust: Toolchain, progress: Progress = silent) -> Path:
    """A target directory in which everything but a candidate is compiled for a driver's sandboxes.

    Raises:
        SetupError: it cannot be compiled.
    """
    crates = sources(progress)
    about = json.dumps([crates.name, rust.version, driver.name, driver.describe().get("digest", "")])
    location = lockstep_home() / "crates" / f"compiled-{hashlib.sha256(about.encode()).hexdigest()[:KEY_DIGITS]}"
    telling = "compiling what candidates in Rust are linked with; this takes a minute or two, once"
    return made(location, telling, lambda fresh: _compile(driver, rust, crates, fresh, progress), progress)


def build_spec(
    rust: Toolchain, crates: Path, project: Path, target: Path, *, memory_mb: int, surroundings: Surroundings = HERE
) -> SandboxSpec:
    """The sandbox of a build: all crates, the project (beside whose manifest cargo writes its lock), a target directory to
    write, and nothing else of this machine.
    """
    return SandboxSpec(
        mounts=(
            Mount(crates, VENDOR),
            Mount(project, surroundings.project, writable=True),
            Mount(target, surroundings.target, writable=True),
            *rust.mounts,
        ),
        # The extension is built for every CPython from 3.11 on (PyO3's abi3), so no interpreter needs to be looked at.
        environment={"PATH": rust.path, "PYO3_NO_PYTHON": "1", "CARGO_INCREMENTAL": "0"},
        purpose="build of a candidate in Rust",
        limits=Limits(memory_bytes=memory_mb << 20, wall_seconds=COMPILE_S, output_bytes=OUTPUT_BYTES),
    )


def cargo_build(
    sandbox: Sandbox,
    surroundings: Surroundings = HERE,
    timeout: float | None = None,
    compiler_environment: Mapping[str, str] | None = None,
) -> Finished:
    """Build the project of an open sandbox; what cargo says on standard output is JSON, a line for each message.

    Args:
        compiler_environment: variables for the compiler.
    """
    jobs = () if surroundings.jobs is None else ("--jobs", str(surroundings.jobs))
    target = sandbox.inside(surroundings.target)
    arguments = ("build", "--release", "--message-format", "json", "--target-dir", target, *jobs)
    shifted = {"LD_PRELOAD": f"{target}/{CLOCK}", "CLOCK_SHIFT_S": str(surroundings.shift_s)}
    environment = {**(compiler_environment or {}), **(shifted if surroundings.shift_s else {})}
    return cargo(sandbox, *arguments, surroundings=surroundings, timeout=timeout, compiler_environment=environment)


def cargo(
    sandbox: Sandbox,
    *arguments: str,
    surroundings: Surroundings = HERE,
    timeout: float | None = None,
    compiler_environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run cargo on the project of an open sandbox, as `cargo_build` does; `arguments` are its command and options."""
    inside = sandbox.inside
    settings = f"{surroundings.cargo_home}/config.toml"
    sandbox.write_file(settings, cargo_settings(inside(VENDOR)).encode())
    command = [
        "cargo",
        "--config",
        inside(settings),
        *arguments,
        "--offline",
        "--manifest-path",
        f"{inside(surroundings.project)}/Cargo.toml",
    ]
    own = {**surroundings.variables, "CARGO_HOME": inside(surroundings.cargo_home)}
    return sandbox.run(command, timeout=timeout, environment={**own, **(compiler_environment or {})})


def cargo_settings(crates: str) -> str:
    """A configuration of cargo by which it finds every crate in the directory `crates`, and none elsewhere."""
    return (
        '[source.crates-io]\nreplace-with = "lockstep"\n'
        f"[source.lockstep]\ndirectory = {json.dumps(crates)}\n[net]\noffline = true\n"
    )


def _vendor(origin: Path, location: Path) -> None:
    command = [
        str(cargo_here()), "vendor", "--locked", "--quiet", "--versioned-dirs",
        "--manifest-path", str(origin / "Cargo.toml"), str(location),
    ]  # fmt: skip
    # Cargo writes beside the manifest, which may lie where this user cannot write.
    with scratch_directory("lockstep-crates-") as scratch:
        copy = scratch / "rust"
        shutil.copytree(origin, copy, ignore=shutil.ignore_patterns("target"))
        command[command.index(str(origin / "Cargo.toml"))] = str(copy / "Cargo.toml")
        answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch)
    if answer.returncode != 0:
        raise SetupError(
            f"the crates that candidates in Rust need cannot be fetched; cargo said last:\n{answer.stderr.strip()[-1500:]}",
            next_step="look at the network, or at cargo's own configuration of registries",
        )
    for name in CRATES:
        shutil.copytree(origin / name, location / f"lockstep-{name}", ignore=shutil.ignore_patterns("tests"))
        (location / f"lockstep-{name}" / ".cargo-checksum.json").write_text('{"files": {}, "package": null}\n')


def _compile(driver: Driver, rust: Toolchain, crates: Path, target: Path, progress: Progress) -> None:
    target.mkdir()
    with scratch_directory("lockstep-crates-") as scratch:
        project = scratch / "project"
        write_project(project, "blank", rust_sources() / "blank", "candidate", "lockstep-blank", None)
        shutil.copytree(rust_sources() / "clock", project / "clock")
        with driver.open(build_spec(rust, crates, project, target, memory_mb=MEMORY_MB)) as sandbox:
            with counting_crates(
                target, _needed(sandbox), "compiling what candidates in Rust are linked with", progress
            ):
                finished = cargo_build(sandbox)
            if finished.exit_code == 0:
                finished = _compile_clock(sandbox)
    if finished.exit_code != 0:
        said = finished.stderr.decode("utf-8", "replace").strip()[-2000:]
        raise SetupError(
            f"Lockstep's crates do not compile with {rust.version}; cargo said last:\n{said}",
            next_step="install another Rust, or report this",
        )


def _needed(sandbox: Sandbox) -> int:
    """How many crates the project of an open sandbox is built from, itself included."""
    listed = cargo(sandbox, "tree", "--prefix", "none", "--edges", "normal,build", "--no-dedupe")
    lines = listed.stdout.decode("utf-8", "replace").splitlines()
    return len({" ".join(line.split()[:2]) for line in lines if line.strip()})


def _compile_clock(sandbox: Sandbox) -> Finished:
    source = f"{sandbox.inside(HERE.project)}/clock/src/lib.rs"
    library = f"{sandbox.inside(HERE.target)}/{CLOCK}"
    return sandbox.run(["rustc", "--edition", "2024", "--crate-type", "cdylib", "-O", "-o", library, source])


def _digest(origin: Path) -> str:
    """SHA-256 over what decides which crates there are: the lock file, manifests, and Lockstep's own sources."""
    parts = [origin / part for part in ("Cargo.lock", "Cargo.toml", *CRATES, "binding", "blank", "clock")]
    return files_digest(origin, (path for part in parts for path in (part, *sorted(part.rglob("*")))))


def made(location: Path, telling: str, fill: Callable[[Path], None], progress: Progress) -> Path:
    """A directory that `fill` makes when it is first needed, beside its place: one that is there is whole.

    Args:
        telling: what is reported as progress then.
    """
    with locked(location, progress):
        if not location.exists():
            progress(telling)
            fresh = location.with_name(f"{location.name}.{os.getpid()}.new")
            shutil.rmtree(fresh, ignore_errors=True)
            try:
                fill(fresh)
                fresh.rename(location)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
    return location
