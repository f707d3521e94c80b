"""Which Rust compiles a candidate: this machine's, shown in the sandbox, or the one that a driver's image brings."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SetupError
from sandboxes import Driver, Mount, SandboxSpec

OLDEST = (1, 85)
SYSTEM = (Path("/usr"), Path("/bin"), Path("/lib"))
_IMAGES: dict[str, Toolchain] = {}
"""By digest: asking one takes a container, and each build asks."""
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
INSTALL = "install Rust 1.85 or newer (https://rustup.rs, or the packages `cargo` and `rustc`)"


@dataclass(frozen=True)
class Toolchain:
    """A compiler as a sandbox sees it.

    Attributes:
        version: what `rustc --version` says.
        path: directories for PATH, separated by colons.
        mounts: what shows it.
    """

    version: str
    path: str
    mounts: tuple[Mount, ...]


def toolchain(driver: Driver) -> Toolchain:
    """The compiler that candidates are built with in a driver's sandboxes.

    Raises:
        SetupError: there is none, or it is too old; the message says how to get one.
    """
    if driver.python is None:
        found = _of_this_machine()
    else:
        image = driver.describe().get("digest", "")
        found = _IMAGES[image] = _IMAGES.get(image) or _of_image(driver)
    if release(found.version) < OLDEST:
        raise SetupError(
            f"candidates in Rust need Rust {'.'.join(map(str, OLDEST))} or newer, and this is {found.version}",
            next_step=INSTALL,
        )
    return found


def release(said: str) -> tuple[int, ...]:
    """Major and minor number in what `rustc --version` says; `(0,)` where it says something else."""
    found = re.match(r"rustc (\d+)\.(\d+)", said)
    return tuple(map(int, found.groups())) if found else (0,)


@functools.cache
def _of_this_machine() -> Toolchain:
    compiler = _demand("rustc")
    root = Path(_said(compiler, "--print", "sysroot"))
    version = _said(compiler, "--version")
    if not (root / "bin" / "cargo").exists():
        root_of_cargo = _demand("cargo").resolve().parent.parent
        if root_of_cargo != root.resolve():
            raise SetupError(
                "cargo and rustc belong to different installations of Rust", where=f"{root_of_cargo}, {root}",
                next_step=INSTALL,
            )  # fmt: skip
    mounts = () if root.resolve() in SYSTEM else (Mount(root.resolve(), str(root)),)
    return Toolchain(version, f"{root}/bin:{SYSTEM_PATH}", mounts)


def _of_image(driver: Driver) -> Toolchain:
    with driver.open(SandboxSpec(purpose="looking for Rust")) as sandbox:
        finished = sandbox.run(["rustc", "--version"])
    if finished.exit_code != 0:
        raise SetupError(
            f"the image {driver.describe().get('image', '')} has no Rust",
            next_step="build it again: `lockstep images build`",
        )
    return Toolchain(finished.stdout.decode("utf-8", "replace").strip(), SYSTEM_PATH, ())


def cargo_here() -> Path:
    """This machine's cargo.

    Raises:
        SetupError: there is none.
    """
    return _demand("cargo")


def _demand(program: str) -> Path:
    found = shutil.which(program)
    if found is None:
        raise SetupError(f"a candidate in Rust needs {program}, which is not on PATH", next_step=INSTALL)
    return Path(found)


def _said(program: Path, *arguments: str) -> str:
    answer = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SetupError(
            f"{program.name} does not work (exit status {answer.returncode}): {answer.stderr.strip()[-500:]}",
            where=str(program),
            next_step=INSTALL,
        )
    return answer.stdout.strip()
