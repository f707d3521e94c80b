"""`python -m harness.host SESSION --home HOME`: becomes the host of a session; see `harness.host.client`.

One line of JSON on standard output says that a host is ready, this one or another, or why none can be.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any


def main() -> int:
    """Become the host; the first process ends at once, so that it is nobody's child."""
    parser = argparse.ArgumentParser(prog="python -m harness.host")
    parser.add_argument("session")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--idle", type=float, metavar="SECONDS")
    arguments = parser.parse_args()
    # Before anything is imported that starts threads.
    if os.fork():
        os._exit(0)
    from harness.support.text import guarded

    with guarded():  # standard error is the log
        return _serve(arguments.session, arguments.home, {} if arguments.idle is None else {"idle_s": arguments.idle})


def _serve(session: str, home: Path, options: dict[str, Any]) -> int:
    from harness.errors import LockstepError
    from harness.host.protocol import described
    from harness.host.server import Host
    from sandboxes import SandboxError

    try:
        host = Host(session, home, **options)
        began = host.begin()
    except (LockstepError, SandboxError) as error:
        _say({"error": described(error)})
        return 1
    _say({"ready": began})
    if began:
        host.serve()
    else:
        host.close()
    return 0


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.close(nothing)


if __name__ == "__main__":
    sys.exit(main())
