"""Records the sessions that the tests replay: `python -m tests.assurance.replay.record cartpole|pong FILE [--levels 3]`.

A session on the shipped task as it is: a verified candidate with planted faults, which a script takes out one by one as the
verifier finds them, and everything verified up to level 4. To be run again when the harness judges otherwise on purpose.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.session.session import Session
from harness.support.embedded import find_task
from harness.task.load import load_task
from harness.verdict import Outcome
from tests.mutants import cartpole, pong
from tests.mutants.plant import Mutant

FAULTS = {
    "cartpole": (
        cartpole.MUTANTS,
        ("semi-implicit Euler", "a sampler 2% too narrow", "hidden state, from step 300 on"),
    ),
    "pong": (pong.MUTANTS, ("a paddle 3% faster", "a game one point too long", "a sampler of even numbers only")),
}


def record(name: str, bundle: Path, levels: tuple[int, ...] | None) -> None:
    """Play a session with planted faults and write its whole record into one file."""
    known, chosen = FAULTS[name]
    faults = [mutant for mutant in known if mutant.name in chosen]
    assert len(faults) == len(chosen), f"{name} has the mutants {[mutant.name for mutant in known]}"
    task = load_task(find_task(name))
    verified = (task.directory / task.candidate.entry).read_text()
    with tempfile.TemporaryDirectory(prefix="lockstep-record-") as scratch:
        place = Path(scratch)
        with Session.start(task.directory, place / "workspace", place / "home", levels=levels) as session:
            entry = session.workspace / task.candidate.entry
            entry.write_text(with_faults(verified, faults))
            message = "A first translation"
            while (step := session.status()["next"]) is not None:
                done = session.verify(step["level"], step["module"], message)
                print(f"{done.step}: {done.verdict.outcome}", file=sys.stderr, flush=True)
                message = f"Pass {done.next}"
                if done.verdict.outcome is Outcome.FAIL:
                    gone = faults.pop(0)  # in the order of the mutants: the earliest level first
                    entry.write_text(with_faults(verified, faults))
                    message = f"Repair: {gone.name}"
                elif done.verdict.outcome is not Outcome.PASS:
                    raise SystemExit(f"{done.step} is {done.verdict.outcome}: {done.verdict.error}")
            session.bundle(bundle)


def with_faults(source: str, faults: Sequence[Mutant]) -> str:
    """A candidate's source with these faults in it."""
    for mutant in faults:
        for old, new in mutant.edits:
            assert source.count(old) == 1, f"{mutant.name}: {old!r}"
            source = source.replace(old, new)
    return source


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=FAULTS)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--levels", type=int, default=None, help="Record only up to this level.")
    given = parser.parse_args()
    record(given.task, given.bundle, None if given.levels is None else tuple(range(1, given.levels + 1)))
