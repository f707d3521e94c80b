"""Builds PufferLib 3.0.0's Pong, and nothing else of PufferLib, into an environment that pip has prepared.

    ENVPYTHON reference/build.py PREFIX

A plain `pip install pufferlib==3.0.0` downloads PyTorch to build with, fetches archives from hosts of their own, and
compiles some thirty environments. Here pip only downloads the source (from whatever index it is configured for, checked
against its SHA-256); from it, Pong alone is compiled, by the package's own setup.py and so with its own flags. Running
it again does nothing, and goes on where an interrupted run stopped. Standard library only.

Where the variable LOCKSTEP_COVERAGE is 1, Pong is compiled without optimisation and so that it counts its lines and
branches; what the compiler notes of them (.gcno) is kept. That environment judges nobody.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

VERSION = "3.0.0"
SHA256 = "7df3a3e3f5f894d78d2a1f5374097890aec01473183e748abefe4f3faa10eaa9"
NAME = "pufferlib-" + VERSION
RAYLIB = "raylib-5.5_linux_amd64"
FILES = (
    "LICENSE",
    "MANIFEST.in",
    "README.md",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "pufferlib/__init__.py",
    "pufferlib/emulation.py",
    "pufferlib/environments/__init__.py",
    "pufferlib/ocean/__init__.py",
    "pufferlib/ocean/env_binding.h",
    "pufferlib/ocean/environment.py",
    "pufferlib/pufferlib.py",
    "pufferlib/spaces.py",
)
FOLDERS = ("pufferlib/ocean/pong/", "pufferlib/extensions/", RAYLIB + "/")
# Whoever sets these would get another reference: other flags, other floats.
FLAGS = ("CFLAGS", "CPPFLAGS", "LDFLAGS", "DEBUG", "NO_OCEAN")
COVERAGE = os.environ.get("LOCKSTEP_COVERAGE") == "1"
OPTIMISED = "'-O2',\n        '-flto',"
COUNTING = "'-O0',\n        '--coverage', '-fprofile-update=atomic',"
SHOWN_LINES = 15

HERE = Path(__file__).resolve().parent
CHECK = """
import os, sys
os.chdir(sys.argv[1])
from pufferlib.ocean.pong.pong import Pong
environment = Pong(frameskip=8)
environment.reset(0)
environment.close()
"""


class BuildError(Exception):
    """The build cannot go on; the message says why, and what to do."""


def main(prefix: Path) -> None:
    """Bring `prefix` to the point where Pong and the tape are installed in it.

    Raises:
        BuildError: the machine lacks something, or a step failed.
    """
    check_platform()
    compiler = find_compiler()
    work = prefix / "build" / "pong"
    work.mkdir(parents=True, exist_ok=True)
    stamp = work / "done"
    if stamp.is_file() and stamp.read_text() == fingerprint():
        say("Pong is built")
        return
    source = unpack(fetch(work), work)
    if COVERAGE:
        count_lines(source / "setup.py")
    say("compiling Pong" + (" so that it counts its lines" if COVERAGE else ""))
    pip(["install", "--no-cache-dir", "--no-deps", "--no-build-isolation", "--force-reinstall", str(source)], compiler)
    say("compiling the tape")
    (prefix / "lib").mkdir(exist_ok=True)
    library = prefix / "lib" / "librand_tape.so"
    run([*compiler, "-O2", "-Wall", "-shared", "-fPIC", "-o", str(library), str(HERE / "rand_tape.c"), "-ldl"])
    run([sys.executable, "-c", CHECK, str(work)])
    for folder in [source / RAYLIB] if COVERAGE else [source]:
        shutil.rmtree(folder)
    for leftover in [work / "resources", *work.glob("*.tar.gz")]:
        leftover.unlink()
    stamp.write_text(fingerprint())
    say("Pong is built")


def check_platform() -> None:
    """Refuse machines for which the package carries no raylib."""
    machine = "{} {}".format(sys.platform, os.uname().machine)
    if machine != "linux x86_64":
        raise BuildError("PufferLib's source carries raylib for Linux on x86-64 only, this is {}".format(machine))


def find_compiler() -> list[str]:
    """The command of the C compiler that setuptools will use, and the headers that it will need.

    Raises:
        BuildError: there is no compiler, or no Python.h.
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


def fetch(work: Path) -> Path:
    """The source archive, downloaded by pip unless it is there already, its SHA-256 checked either way."""
    archive = work / (NAME + ".tar.gz")
    if not (archive.is_file() and digest(archive) == SHA256):
        say("downloading PufferLib's source (58 MB)")
        download = work / "download"
        shutil.rmtree(download, ignore_errors=True)
        download.mkdir()
        requirement = download / "requirements.txt"
        requirement.write_text("pufferlib=={} --hash=sha256:{}\n".format(VERSION, SHA256))
        pip(
            ["download", "--no-deps", "--no-binary", "pufferlib", "--no-build-isolation", "--require-hashes",
             "--dest", str(download), "--requirement", str(requirement)]
        )  # fmt: skip
        os.replace(download / archive.name, archive)
        shutil.rmtree(download)
    if digest(archive) != SHA256:
        raise BuildError("{} is not PufferLib {}: its SHA-256 is {}".format(archive.name, VERSION, digest(archive)))
    return archive


def unpack(archive: Path, work: Path) -> Path:
    """The source tree reduced to what Pong needs, so that setup.py finds no other environment to compile."""
    source = work / NAME
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name[len(NAME) + 1 :]
            if member.isfile() and ".." not in path and (path in FILES or path.startswith(FOLDERS)):
                target = source / path
                target.parent.mkdir(parents=True, exist_ok=True)
                content = tar.extractfile(member)
                assert content is not None
                target.write_bytes(content.read())
    missing = [path for path in FILES if not (source / path).is_file()]
    if missing:
        raise BuildError("{} lacks {}".format(archive.name, ", ".join(missing)))
    return source


def count_lines(script: Path) -> None:
    """Exchange the flags in the package's setup.py for those of coverage: the later ones count, so none can be added before.

    Raises:
        BuildError: it has other flags than expected.
    """
    text = script.read_text()
    if text.count(OPTIMISED) != 1:
        raise BuildError("setup.py does not have the flags that are to be exchanged for coverage")
    script.write_text(text.replace(OPTIMISED, COUNTING))


def pip(arguments: list[str], compiler: list[str] | None = None) -> None:
    """Run this environment's pip with the stand-in for PyTorch on the path of the package's setup.py."""
    environment = {name: value for name, value in os.environ.items() if name not in FLAGS}
    environment.update(NO_TRAIN="1", PYTHONPATH=str(HERE / "stand_in"), PYTHONDONTWRITEBYTECODE="1")
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    if COVERAGE:
        environment["LDFLAGS"] = "--coverage"
    if compiler:
        environment["CC"] = shlex.join(compiler)
    run([sys.executable, "-m", "pip", *arguments], environment)


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command; if it fails, raise with the last lines that it wrote."""
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.strip().splitlines()[-SHOWN_LINES:])
        raise BuildError("`{}` failed:\n{}".format(shlex.join(command[:4]), tail))


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fingerprint() -> str:
    """What a finished build was made from."""
    sources = [digest(HERE / name) for name in ("build.py", "rand_tape.c")]
    return "\n".join([sys.version, SHA256, *sources, *(["coverage"] if COVERAGE else [])])


def say(line: str) -> None:
    """One line of progress."""
    print(line, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python build.py PREFIX")
    try:
        main(Path(sys.argv[1]).resolve())
    except BuildError as error:
        sys.exit("Pong cannot be built: {}".format(error))
