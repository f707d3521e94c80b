"""Audit a record that somebody else sent: `python audit_bundle.py BUNDLE [PUBLIC_KEY]`.

Without a key that you got from its owner in another way, the record is only checked against itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

LOCKSTEP = Path(sysconfig.get_path("scripts")) / "lockstep"


def main(bundle: str, key: str | None = None) -> int:
    """Print what the audit found. Returns the exit code of `lockstep audit`: 0 if the record is sound."""
    command = [str(LOCKSTEP), "audit", "--json", bundle, *(["--key", key] if key else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    if "rows" not in report:
        print(done.stdout + done.stderr, file=sys.stderr)
        return done.returncode
    for row in report["rows"]:
        print(f"{row['commit'][:12]}  level {row['level']}  {row['module'] or 'all modules':12}  {row['message']}")
    for problem in report["problems"]:
        print(f"problem: {problem}")
    print("the record is sound" if report["ok"] else "the record is NOT sound", end="")
    print(", and your key vouches for it" if report["pinned"] else "; no key of yours was compared")
    return done.returncode


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
