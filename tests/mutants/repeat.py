"""How often planted faults are found, from fresh seeds: the share of verifications that fail, and by which check.

    python -m tests.mutants.repeat [GROUP]... [--fault WORDS] [--runs 20] [--seed N] [--exploring 1] [--trace] [--out FILE]

A verification of levels 1 to 3 fails where one of them does, and each level alone asks what it asks beside the others. So the
levels run one by one, first the one that a fault is for, up to the first failure. With `--trace` what was found is shrunk and
traced to a module, as for a user; that takes longer. Each fault is a line of FILE, so a run that was interrupted goes on with the
next one. What was measured is kept in `found.jsonl`, beside this file: take out the lines of
what is to be measured anew. The exit status is 1 where a fault passed once.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import sandboxes
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants import board, connect_four, halfcheetah, limits, pokemon, rare, tcg
from tests.mutants.plant import Mutant, plant
from tests.paths import ENVIRONMENTS, FOUR

LEVELS = (1, 2, 3)
GROUPS: Mapping[str, tuple[Path, Sequence[Mutant], str]] = {
    "board": (FOUR, board.MUTANTS, "jax"),
    "cartpole-limits": (ENVIRONMENTS / "cartpole", limits.CARTPOLE, "jax"),
    "cartpole-rare": (ENVIRONMENTS / "cartpole", rare.CARTPOLE, "jax"),
    "connect-four": (ENVIRONMENTS / "connect_four", connect_four.JAX, "jax"),
    "connect-four-rust": (ENVIRONMENTS / "connect_four", connect_four.RUST, "rust"),
    "halfcheetah": (ENVIRONMENTS / "halfcheetah", halfcheetah.MUTANTS, "jax"),
    "pokemon": (ENVIRONMENTS / "pokemon", pokemon.MUTANTS, "rust"),
    "pong-limits": (ENVIRONMENTS / "pong", limits.PONG, "jax"),
    "pong-rare": (ENVIRONMENTS / "pong", rare.PONG, "jax"),
    "pong-rust": (ENVIRONMENTS / "pong", rare.PONG_RUST, "rust"),
    "tcg": (ENVIRONMENTS / "tcg", tcg.MUTANTS, "rust"),
    "tcg-rare": (ENVIRONMENTS / "tcg", tcg.RARE, "rust"),
}


def judged(
    group: str, runs: int, seed: int, out: Path, *, words: str = "", exploring: int = 1, trace: bool = False
) -> dict[str, dict[str, int]]:
    """By fault whose name has these words, how often which check found it; `passed` where none did."""
    directory, mutants, kind = GROUPS[group]
    known = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    counts: dict[str, dict[str, int]] = {}
    task = load_task(directory).with_candidate(kind)
    with Verifier(task, sandboxes.choose(None), prepare=True) as verifier:
        for mutant in (one for one in mutants if words in one.name):
            asked = {"group": group, "fault": mutant.name, "runs": runs, "seed": seed, "exploring": exploring}
            asked |= {"traced": True} if trace else {}
            done = next((line["found"] for line in known if line | asked == line), None)
            if done is None:
                done = _repeated(verifier, mutant, range(seed, seed + runs), exploring, trace)
                with out.open("a") as journal:
                    journal.write(json.dumps(asked | {"found": done}) + "\n")
            counts[mutant.name] = done
            shares = ", ".join(f"{count} {found}" for found, count in done.items())
            first = f" (level {mutant.level} was asked first)" if mutant.level > LEVELS[0] else ""
            print(f"{group}: {mutant.name}: {shares}{first}", flush=True)
    return counts


def _repeated(verifier: Verifier, mutant: Mutant, seeds: Sequence[int], exploring: int, trace: bool) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="lockstep-repeat-") as scratch:
        plant(verifier.task, mutant, Path(scratch))
        found = Counter(_found(verifier, Path(scratch), seed, mutant.level, exploring, trace) for seed in seeds)
    return dict(found.most_common())


def _found(verifier: Verifier, tree: Path, seed: int, likely: int, exploring: int, trace: bool) -> str:
    for level in sorted(LEVELS, key=lambda level: level != likely):
        verdict = verifier.verify(tree, LevelsRequest((level,), seed, stop_at_failure=not trace, exploring=exploring))
        if verdict.outcome is Outcome.FAIL:
            first = verdict.reports[-1].divergences[0]
            return f"level {level}, {first.check}" + (f", in {first.module or 'no module'}" if trace else "")
        if verdict.outcome is not Outcome.PASS:
            return f"{verdict.outcome}: {verdict.reason}"
    return "passed"


def main(given: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants.repeat", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"default: all ({', '.join(GROUPS)})")
    parser.add_argument("--fault", metavar="WORDS", default="", help="only faults whose names have these words")
    parser.add_argument("--exploring", type=int, default=1, help="explore so many times as long; `certify` takes 10")
    parser.add_argument("--trace", action="store_true", help="say to which module each was traced")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="the first of the seeds")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("found.jsonl"))
    asked = parser.parse_args(given)
    faults = missed = 0
    for group in asked.groups or GROUPS:
        for counts in judged(
            group, asked.runs, asked.seed, asked.out, words=asked.fault, exploring=asked.exploring, trace=asked.trace
        ).values():
            faults += 1
            missed += any(not found.startswith("level") for found in counts)
    print(f"{faults} faults, {asked.runs} runs each: {faults - missed} were found in every run")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
