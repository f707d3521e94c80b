"""Pokémon's candidate in Rust beside other battle engines: random steps a second, each on one core and one thread.

    python -m benchmarks.battle_engines

Beside Showdown, by whose rules the candidate plays, and poke-engine (crates.io), which is made for searching and knows the
first generation: it works out all that can come of a pair of choices and how likely each is, of which one is taken here.
Both show no observations. All fight with teams that the task draws and take turns on one processor, whose times are told;
choosing the candidate's actions is not counted. It needs cargo, and a registry of crates.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import sandboxes
from benchmarks.common import ENVIRONMENTS, report, spread, took
from harness.candidate.adapters.bench_random import random_legal
from harness.candidate.crates.build import build
from harness.candidate.crates.toolchain import cargo_here
from harness.candidate.faces.leaves import mask_of
from harness.candidate.faces.rust_batch import SAME_STEP, RustBatch, load_module
from harness.measure.profile.contenders import Contender as Asked
from harness.measure.profile.peers import started_peer
from harness.reference.install import setup
from harness.task.contract import Task
from harness.task.load import load_task

BATTLES, TEAMS = 256, 256
ROUNDS, STEPS = 7, 200
CRATE = Path(__file__).parent / "poke_engine"
NUMBERS = Path(__file__).parents[1] / "examples" / "showdown" / "numbers.mjs"
TELL = """
const { Dex } = require("@pkmn/sim");
import(process.argv[1]).then(({ numbers }) => console.log(JSON.stringify(numbers(Dex.forGen(1)))));
"""
STATE_LEAVES = ("species", "level", "max_hp", "stats", "moves", "pp")


@dataclass(frozen=True)
class Run:
    """`STEPS` steps in `BATTLES` battles: seconds of the processor, and how many battles ended, where that is told."""

    seconds: float
    ended: int | None = None


@dataclass(frozen=True)
class _Ids:
    """Showdown's ids of species and moves in capitals, as poke-engine has them, and the types of species, by number."""

    species: dict[int, str]
    types: dict[int, list[str]]
    moves: dict[int, str]


Contender = Callable[[int], Run]
"""Makes a run by a seed."""


def main() -> None:
    """Measure and report."""
    task = load_task(ENVIRONMENTS / "pokemon").with_candidate("rust")
    module = load_module(build(task, sandboxes.choose(None), task.directory))
    teams = _teams(task, module)
    allowed = os.sched_getaffinity(0)
    with ExitStack() as stack:
        program = _compiled(stack)
        stack.callback(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, {min(allowed)})
        peer = stack.enter_context(started_peer(task, task.peers[0]))
        contenders = {
            "Showdown": _showdown(peer),
            "poke-engine 0.0.48, gen1": _poke_engine(stack, program, teams),
            "the candidate, and what players see": _candidate(module),
        }
        rounds = [{name: run(seed) for name, run in contenders.items()} for seed in range(1 + ROUNDS)]
    report("battle_engines", f"{BATTLES} battles on one core: steps per second", _rows(rounds[1:]))


def _rows(rounds: list[dict[str, Run]]) -> list[dict[str, Any]]:
    first = next(iter(rounds[0]))
    return [
        {
            "engine": name,
            "steps per second": BATTLES * STEPS / statistics.median(each[name].seconds for each in rounds),
            "times": spread([each[first].seconds / each[name].seconds for each in rounds]),
            "steps of a battle": ""
            if rounds[0][name].ended is None
            else f"{BATTLES * STEPS * len(rounds) / sum(each[name].ended or 0 for each in rounds):.1f}",
        }
        for name in rounds[0]
    ]


def _showdown(peer: Asked) -> Contender:
    named = {"kind": "step", "batch": BATTLES, "length": STEPS}
    peer.asked.ask("bench_prepare", **named)
    begun = psutil.Process(peer.pid)

    def run(seed: int) -> Run:
        # The worker, and Node below it, are below the process that keeps its sandbox.
        workers = [begun, *begun.children(recursive=True)]
        return Run(took(lambda: peer.asked.ask("bench_run", **named, seed=seed, repeats=1), lambda: _cpu(workers)))

    return run


def _poke_engine(stack: ExitStack, program: Path, teams: list[str]) -> Contender:
    engine = stack.enter_context(subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    given, told = engine.stdin, engine.stdout
    assert given is not None and told is not None
    stack.callback(given.close)
    print(len(teams), *teams, sep="\n", file=given)
    process = psutil.Process(engine.pid)

    def run(seed: int) -> Run:
        def made() -> str:
            print(seed, BATTLES, STEPS, file=given, flush=True)
            return told.readline()

        answers: list[str] = []
        seconds = took(lambda: answers.append(made()), lambda: _cpu([process]))
        if not answers[0].startswith("made "):
            raise RuntimeError(f"poke-engine has ended with status {engine.wait()}")
        return Run(seconds, int(answers[0].split()[1]))

    return run


def _candidate(module: Any) -> Contender:
    battles = RustBatch(module, BATTLES, SAME_STEP, threads=1)
    battles.reset(range(BATTLES))

    def run(seed: int) -> Run:
        bits = np.random.default_rng(seed).integers(0, 1 << 32, (STEPS, BATTLES, 2), np.uint32)
        seconds, ended = 0.0, 0
        for row in bits:
            actions = _chosen(battles, row)
            seconds += took(partial(battles.step, actions), time.process_time)
            ended += int(battles.outcome["terminated"].sum())
        return Run(seconds, ended)

    return run


def _chosen(battles: RustBatch, bits: np.ndarray) -> dict[str, np.ndarray]:
    """Legal actions at random."""
    paths = ("action/p1", "action/p2")
    return {
        path: random_legal(np, {"low": 0}, bits[:, at], battles.seen[mask_of(path)]) for at, path in enumerate(paths)
    }


def _cpu(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _compiled(stack: ExitStack) -> Path:
    target = stack.enter_context(tempfile.TemporaryDirectory())
    variables = os.environ | {"CARGO_TARGET_DIR": target}
    subprocess.run([cargo_here(), "build", "--release", "--locked", "--quiet"], cwd=CRATE, env=variables, check=True)
    return Path(target) / "release" / "random-battles"


def _teams(task: Task, module: Any) -> list[str]:
    """Teams as resets draw them, in poke-engine's words."""
    battles = RustBatch(module, TEAMS // 2, threads=1)
    battles.reset(range(TEAMS // 2))
    ids = _ids(task)
    teams = []
    for battle in range(TEAMS // 2):
        state = dict(zip(battles.state_paths, battles.vector.state(battle), strict=True))
        for side in range(2):
            teams.append(
                "|".join(_pokemon(ids, *(state[name][side, place] for name in STATE_LEAVES)) for place in range(6))
            )
    return teams


def _pokemon(ids: _Ids, species: int, level: int, hp: int, stats: Any, moves: Any, pp: Any) -> str:
    types = [*ids.types[species], "TYPELESS"][:2]
    attack, defence, speed, special = stats
    named = [f"{ids.moves[move]};false;{points}" for move, points in zip(moves, pp, strict=True)]
    whole = [ids.species[species], level, *types, *types, hp, hp, "NONE", "NONE", "NONE", "SERIOUS", ""]
    whole += [attack, defence, special, special, speed, "NONE", 0, 0, 1, *named, "false", "false", "NORMAL"]
    return ",".join(map(str, whole))


def _ids(task: Task) -> _Ids:
    prefix = setup(task).python.parents[1]
    variables = os.environ | {"NODE_PATH": str(prefix / "npm" / "node_modules")}
    command = [prefix / "bin" / "node", "-e", TELL, NUMBERS]
    told = json.loads(subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout)
    return _Ids(
        species={one["number"]: name.upper() for name, one in told["species"].items()},
        types={one["number"]: [kind.upper() for kind in one["types"]] for one in told["species"].values()},
        moves={0: "NONE"} | {one["number"]: name.upper() for name, one in told["moves"].items()},
    )


if __name__ == "__main__":
    main()
