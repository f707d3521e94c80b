"""Runs a worker under coverage.py, in the environment of the reference. It needs Python 3.8+ and coverage, nothing else.

    python tracer.py OUT FILE... -- WORKER.py ARGUMENT...

Only the named files are watched. When the worker has ended, OUT is written: JSON, for each file that coverage.py could
read its lines and branches, executed and missing.
"""

from __future__ import annotations  # Python 3.8 does not know `list[str]`

import json
import os
import runpy
import sys
from typing import Any

import coverage

NAMES = ("executed_lines", "missing_lines", "executed_branches", "missing_branches")


def main(arguments: list[str]) -> None:
    """Run what stands behind `--`, and write what it reached."""
    split = arguments.index("--")
    out, files, command = arguments[0], arguments[1:split], arguments[split + 1 :]
    here = os.getcwd()  # coverage.py names files as seen from here
    watch = coverage.Coverage(data_file=None, branch=True, include=files, config_file=False, messages=False)
    # A comment that excuses a line from its author's own coverage does not excuse it from ours.
    watch.set_option("report:exclude_lines", [])
    watch.start()
    try:
        sys.argv = command
        runpy.run_path(command[0], run_name="__main__")
    finally:
        watch.stop()
        write(watch, files, out, here)


def write(watch: Any, files: list[str], out: str, here: str) -> None:
    """Write the lines and branches of each file, in one step, so that what lies there is whole."""
    watch.get_data().add_arcs({})  # branches count also where nothing at all was reached
    watch.json_report(morfs=files, outfile=out + ".new", ignore_errors=True)
    with open(out + ".new") as file:
        report = json.load(file)["files"]
    reported: dict[str, Any] = {
        os.path.join(here, name): {key: each[key] for key in NAMES if key in each} for name, each in report.items()
    }
    with open(out + ".new", "w") as file:
        json.dump(reported, file)
    os.replace(out + ".new", out)


if __name__ == "__main__":
    main(sys.argv[1:])
