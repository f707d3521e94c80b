"""Compiles `access.pyx`, which reads and writes PyBoy's attributes, into an environment that pip has prepared.

    ENVPYTHON reference/build.py PREFIX

PyBoy's wheel brings the declarations of its compiled classes (.pxd). Cython turns the module into C against them, and
the C compiler does the rest; nothing is downloaded. Standard library only.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "access.pyx"
CHECK = "import pyboy.pyboy, access; access.Access"
INCLUDE = "import numpy; print(numpy.get_include())"
SHOWN_LINES = 15


class BuildError(Exception):
    """The build cannot go on; the message says why, and what to do."""


def main() -> None:
    """Put the compiled module beside this environment's packages.

    Raises:
        BuildError: the machine lacks something, or a step failed.
    """
    compiler = find_compiler()
    target = Path(sysconfig.get_path("platlib")) / ("access" + sysconfig.get_config_var("EXT_SUFFIX"))
    print("compiling access.pyx", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        code, made = Path(folder, "access.c"), Path(folder, target.name)
        run([sys.executable, "-m", "cython", "-3", str(SOURCE), "-o", str(code)])
        places = [sysconfig.get_path("include"), run([sys.executable, "-c", INCLUDE]).strip().splitlines()[-1]]
        headers = ["-I" + place for place in places]
        run([*compiler, "-O2", "-shared", "-fPIC", *headers, "-o", str(made), str(code)])
        shutil.copyfile(made, target)
    run([sys.executable, "-c", CHECK])


def find_compiler() -> list[str]:
    """The command of a C compiler.

    Raises:
        BuildError: there is none, or no Python.h.
    """
    for command in (os.environ.get("CC"), sysconfig.get_config_var("CC"), "gcc", "cc"):
        words = shlex.split(command or "")
        if words and shutil.which(words[0]):
            break
    else:
        raise BuildError(
            "no C compiler: install one, for example with `apt install gcc libc6-dev` or `dnf install gcc`"
        )
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        version = "{}.{}".format(*sys.version_info)
        raise BuildError(
            "Python {0} has no header files: install them, for example with `apt install python{0}-dev` or "
            "`dnf install python{0}-devel`".format(version)
        )
    return words


def run(command: list[str]) -> str:
    """Run a command and return its standard output; if it fails, raise with the last lines that it wrote."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-SHOWN_LINES:])
        raise BuildError("`{}` failed:\n{}".format(shlex.join(command[:4]), tail))
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python build.py PREFIX")
    try:
        main()
    except BuildError as error:
        sys.exit("the access to PyBoy cannot be built: {}".format(error))
