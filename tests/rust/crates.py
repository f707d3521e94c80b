"""Format, lints and own tests of every crate in environments/: `python -m tests.rust.crates`, which `make test-rust` calls.

A crate is compiled as a sandbox would compile it, with the files that its task prepares for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness.candidate.crates.data import VARIABLE, prepared
from harness.task.load import load_task
from tests.paths import ROOT

PATCH = f'patch.crates-io.lockstep-env.path="{ROOT / "rust" / "env"}"'


def main() -> int:
    """0 if nothing is to be said of any crate, 1 otherwise; cargo says what it is."""
    good = True
    for description in sorted(ROOT.glob("environments/*/task.toml")):
        task = load_task(description.parent)
        data = prepared(task, lambda line: print(line, file=sys.stderr))
        report = {} if data is None else {VARIABLE: str(data)}
        for manifest in sorted((task.directory / "candidate").rglob("Cargo.toml")):
            print(f"{manifest.relative_to(ROOT)}:", flush=True)
            good &= _checked(manifest, os.environ | report)
    return 0 if good else 1


def _checked(manifest: Path, environment: dict[str, str]) -> bool:
    at = ["--manifest-path", str(manifest)]
    on = [*at, "--target-dir", str(ROOT / "rust" / "target"), "--config", PATCH]
    commands = (
        ["fmt", *at, "--", "--check", "--config-path", str(ROOT / "rust")],
        ["clippy", "--quiet", *on, "--all-targets", "--", "-D", "warnings"],
        ["test", "--quiet", *on],
    )
    return all(
        subprocess.run(["cargo", *command], env=environment, check=False).returncode == 0 for command in commands
    )


if __name__ == "__main__":
    sys.exit(main())
