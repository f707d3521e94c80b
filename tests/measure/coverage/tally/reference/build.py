"""Compiles tally.c into an environment: python build.py PREFIX."""

import os
import subprocess
import sys
from pathlib import Path

prefix, here = Path(sys.argv[1]), Path(__file__).resolve().parent
counting = ["--coverage", "-O0"] if os.environ.get("LOCKSTEP_COVERAGE") == "1" else ["-O2"]
folder = prefix / "lib"
command = ["gcc", *counting, "-c", "-fPIC", str(here / "tally.c"), "-o", str(folder / "tally.o")]
subprocess.run(command, check=True)
link = ["gcc", *counting, "-shared", str(folder / "tally.o"), "-o", str(folder / "tally.so")]
subprocess.run(link, check=True)
