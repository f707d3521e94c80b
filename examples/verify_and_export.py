"""Verify CartPole, then export it as a package: `python verify_and_export.py DIRECTORY`, which must be new or empty."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import lockstep

LOCKSTEP = Path(sysconfig.get_path("scripts")) / "lockstep"


def main(destination: str) -> int:
    """Export only what passed. Returns the exit code."""
    verdict = lockstep.verify("cartpole", levels=(1,))
    print(verdict)
    if not verdict.passed:
        return 1
    return subprocess.run([LOCKSTEP, "export", "cartpole", destination], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
