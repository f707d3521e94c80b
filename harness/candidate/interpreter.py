"""The Python that runs a candidate: an interpreter, and exactly the distributions that it may import.

The harness's own environment, which may well hold the reference, is not visible inside. Where the driver brings an
interpreter of its own, with JAX (an image's), that one is used: this machine's need not fit its C library.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from harness.calls import ShellCalls
from harness.errors import SetupError
from sandboxes import Driver, Mount, gpus

BASE_PACKAGES = ("msgpack", "numpy")
"""What every worker imports."""
SITE = "/lockstep/site"
"""Where the distributions lie inside."""


@dataclass(frozen=True)
class PythonRuntime:
    """How a sandbox comes by Python: the command that starts it, what to mount, and what to mask."""

    python: tuple[str, ...]
    mounts: tuple[Mount, ...]
    masked: tuple[Path, ...]


def python_runtime(driver: Driver, site: Path, packages: Iterable[str]) -> PythonRuntime:
    """Python inside, with these distributions: this interpreter and, at `SITE`, exactly they with all that they require;
    or the driver's own interpreter with its own (`SITE` is then empty).

    Raises:
        SetupError: a distribution is not installed; here, or in the driver's image.
    """
    if driver.python is None:
        python = (str(Path(sys.executable).resolve()), "-I", "-S", "-B")
        return PythonRuntime(python, python_mounts(site, packages, isolated=driver.isolated), other_packages())
    about = driver.describe()
    held = {_normal(line.partition("==")[0]) for line in about.get("packages", "").split()}
    for name in sorted(packages):
        if held and _normal(name) not in held:
            raise SetupError(
                f"the candidate needs the distribution `{name}`, which the image {about.get('image')} has not",
                where="task.toml, candidate.packages",
                next_step=f"run `{ShellCalls.build_image(name)}`",
            )
    site.mkdir()
    return PythonRuntime((driver.python, "-I", "-B"), (Mount(site, SITE),), ())


def python_mounts(site: Path, packages: Iterable[str], *, isolated: bool) -> tuple[Mount, ...]:
    """What shows this interpreter, and at `SITE` exactly these distributions with all that they require.

    Args:
        site: the directory to make, which is shown at `SITE`.
        isolated: each file is mounted at its name in `site`, so that no path inside tells where this machine keeps it. Where
            a mount is its source's own path, `site` links to the files.

    Raises:
        SetupError: a distribution is not installed.
    """
    site.mkdir()
    files = _installed_files(frozenset(packages), _installations())
    for name, source in files.items():
        if not isolated:
            (site / name).symlink_to(source)
        elif source.is_dir():
            (site / name).mkdir()
        else:
            (site / name).touch()
    inner = (Mount(source, f"{SITE}/{name}" if isolated else str(source)) for name, source in files.items())
    return (Mount(site, SITE), *_interpreter_mounts(), *inner)


def _installations() -> tuple[tuple[str, int], ...]:
    """Where distributions are installed, and when one last was."""
    return tuple((place, os.stat(place).st_mtime_ns) for place in sys.path if os.path.isdir(place))


@lru_cache(maxsize=16)
def _installed_files(packages: frozenset[str], installations: tuple[tuple[str, int], ...]) -> dict[str, Path]:
    """The installed files and directories of distributions and of all that they require, by their names among the packages.

    Each worker needs them, and finding them takes a tenth of a second; `installations` tells when to find them anew.

    Raises:
        SetupError: a distribution is not installed.
    """
    files: dict[str, Path] = {}
    for name in _closure(packages):
        distribution = metadata.distribution(name)
        tops = {
            Path(file).parts[0] for file in distribution.files or () if Path(file).parts[0] not in ("..", "__pycache__")
        }
        for top in sorted(tops - files.keys()):
            source = Path(str(distribution.locate_file(top))).resolve()
            if source.exists():
                files[top] = source
    return files


def _closure(packages: Iterable[str]) -> list[str]:
    from packaging.requirements import Requirement

    seen: dict[str, None] = {}
    waiting = list(packages)
    while waiting:
        name = _normal(waiting.pop())
        if name in seen:
            continue
        try:
            requires = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            raise SetupError(
                f"the candidate needs the distribution `{name}`, which is not installed",
                where="task.toml, candidate.packages",
                next_step=f"run `pip install {name}` in the environment of the harness",
            ) from None
        seen[name] = None
        requirements = [Requirement(line) for line in requires]
        waiting.extend(r.name for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""}))
        waiting.extend(_installed_plugins(name))
    return sorted(seen)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed_plugins(name: str) -> list[str]:
    """JAX's accelerator plug-ins are extras: where one is installed, the candidate gets it too."""
    if name != "jax":
        return []
    return [d.name for d in metadata.distributions() if re.match(r"jax[-_]cuda\d+[-_](plugin|pjrt)|nvidia[-_]", d.name)]


def demand_gpu_plugin(driver: Driver) -> None:
    """Check that JAX can use a GPU in a sandbox that has one; an image has a JAX of its own.

    Raises:
        SandboxUnavailable: there is no GPU.
        SetupError: what JAX needs for one is not installed.
    """
    if driver.python is None and not _installed_plugins("jax"):
        gpus.nodes()  # where there is no GPU, nobody has to install anything for one
        raise SetupError(
            "JAX is installed without what it needs for a GPU",
            where="--device gpu",
            next_step='run `pip install "jax[cuda12]"` in the environment of the harness, or use `--device cpu`',
        )


def _interpreter_mounts() -> tuple[Mount, ...]:
    base = Path(sys.base_prefix).resolve()
    system = (Path("/usr"), Path("/bin"), Path("/lib"))
    return () if base in system else (Mount(base, str(base)),)


def other_packages() -> tuple[Path, ...]:
    """Site directories of the interpreter's own installation: whatever lies there is none of the candidate's business."""
    base = Path(sys.base_prefix).resolve()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    locations = {
        base / "lib" / version / "site-packages",
        Path("/usr/lib/python3/dist-packages"),
        Path("/usr/local/lib") / version / "dist-packages",
        Path("/usr/local/lib") / version / "site-packages",
    }
    inside_venv = Path(sysconfig.get_paths()["purelib"]).resolve()
    return tuple(sorted(location for location in locations if location.is_dir() and location != inside_venv))
