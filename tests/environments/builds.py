"""A machine as the build scripts of references find it, made up: whether it has a compiler and Python's header files."""

from __future__ import annotations

from pathlib import Path

ELSEWHERE = """
import sysconfig

real = sysconfig.get_path
sysconfig.get_path = lambda name, *rest, **more: {headers!r} if name == "include" else real(name, *rest, **more)
"""


def machine(directory: Path, *, headers: bool) -> dict[str, str]:
    """Variables under which a script finds a compiler that fails, and header files only if `headers`.

    Args:
        directory: for what is made up; a module there is found before all others.
    """
    program = directory / "bin" / "cc"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    include = directory / "include"
    include.mkdir()
    if headers:
        (include / "Python.h").touch()
    # Python runs a module of this name before a script.
    (directory / "sitecustomize.py").write_text(ELSEWHERE.format(headers=str(include)))
    return {"CC": str(program), "PYTHONPATH": str(directory)}
