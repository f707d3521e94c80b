"""Where a crate is compiled, and all else by which code that runs then could tell one compilation from another.

A crate is compiled twice, here and elsewhere, and must come out as the same module: what depends on a path, a user, the
clock or chance while it is compiled would be another program on the machine of whoever builds the package.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

CLOCK = "liblockstep_clock.so"
"""In every target directory: the library of `rust/clock`."""
_YEARS = 10
_DAY_S = 86_400


@dataclass(frozen=True)
class Surroundings:
    """What is drawn anew for a second compilation.

    Attributes:
        project, target, cargo_home: the directories of the project, of what is compiled, and of cargo's own files.
        jobs: how many compilers run at once; None leaves it to cargo.
        shift_s: by how many seconds the wall clock is wrong.
        variables: of the environment.
    """

    project: str
    target: str
    cargo_home: str
    jobs: int | None = None
    shift_s: int = 0
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


HERE = Surroundings("/lockstep/project", "/lockstep/target", "/tmp/cargo")


def elsewhere() -> Surroundings:
    """Other surroundings, each time."""
    user = f"u{secrets.token_hex(3)}"
    home = f"/home/{user}"
    shift_s = (30 + secrets.randbelow(365 * _YEARS)) * _DAY_S + secrets.randbelow(_DAY_S)
    return Surroundings(
        project=f"{home}/{secrets.token_hex(4)}/{secrets.token_hex(2)}",
        target=f"/srv/{secrets.token_hex(8)}",
        cargo_home=f"/tmp/{secrets.token_hex(5)}",
        jobs=1,
        shift_s=shift_s if secrets.randbelow(2) else -shift_s,
        variables={
            "HOME": home,
            "USER": user,
            "LOGNAME": user,
            "HOSTNAME": secrets.token_hex(4),
            "LANG": secrets.choice(("C", "C.UTF-8", "POSIX")),
            "TZ": secrets.choice(("UTC", "UTC+11", "UTC-9")),
            "TERM": secrets.choice(("dumb", "xterm")),
            "CI": secrets.choice(("true", "")),
        },
    )
