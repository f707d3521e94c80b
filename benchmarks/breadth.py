"""How many environments `lockstep new` makes a task of, and what it finds: `python -m benchmarks.breadth`.

Each environment is made a task and its reference checked, as `lockstep new` and `lockstep check-reference` do. They all
run in one environment with the packages below, which is built once; `--prefix` takes one that is there already.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.common import failed, report
from harness.authoring import scaffold
from harness.authoring.conformance import check_reference
from harness.errors import LockstepError
from harness.reference.install import Installed
from harness.reference.install import setup as build
from harness.reference.start import start_reference
from harness.task.load import load_task

REQUIREMENTS = (
    "gymnasium==1.3.0", "numpy==2.4.6", "pygame-ce==2.5.8", "box2d==2.3.10", "mujoco==3.17.0", "minatar==1.0.15",
    "minigrid==3.2.0", "highway-env==1.12.1", "ale-py==0.12.1", "shimmy==2.0.1", "dm-control==1.0.50", "bsuite==0.3.6",
    "crafter==1.8.3", "pettingzoo==1.27.0", "jumanji==1.1.2", "gymnax==1.0.1",
)  # fmt: skip
FACTORIES = Path(__file__).with_name("breadth_factories.py")
GROUPS = {
    "classic control": "CartPole-v1 MountainCar-v0 MountainCarContinuous-v0 Acrobot-v1 Pendulum-v1",
    "toy text": "Blackjack-v1 Taxi-v4 FrozenLake-v1 FrozenLake8x8-v1 CliffWalking-v1",
    "Box2D": "LunarLander-v3 LunarLanderContinuous-v3 BipedalWalker-v3 BipedalWalkerHardcore-v3 CarRacing-v3",
    "MuJoCo": "HalfCheetah-v5 Hopper-v5 Walker2d-v5 Ant-v5 Humanoid-v5 HumanoidStandup-v5 Swimmer-v5 Reacher-v5 Pusher-v5 "
    "InvertedPendulum-v5 InvertedDoublePendulum-v5",
    "MinAtar": "MinAtar/Asterix-v1 MinAtar/Breakout-v1 MinAtar/Freeway-v1 MinAtar/Seaquest-v1 MinAtar/SpaceInvaders-v1",
    "MiniGrid": "MiniGrid-Empty-5x5-v0 MiniGrid-FourRooms-v0 MiniGrid-DoorKey-5x5-v0 MiniGrid-LavaCrossingS9N1-v0 "
    "MiniGrid-Dynamic-Obstacles-5x5-v0 MiniGrid-Unlock-v0 MiniGrid-MemoryS7-v0 MiniGrid-GoToDoor-5x5-v0 "
    "MiniGrid-Fetch-5x5-N2-v0 MiniGrid-KeyCorridorS3R1-v0",
    "ALE": "ALE/Pong-v5 ALE/Breakout-v5",
    "highway-env": "highway-v0 merge-v0 parking-v0",
    "dm_control": "dm_control/cartpole-swingup-v0 dm_control/cheetah-run-v0 dm_control/reacher-easy-v0 "
    "dm_control/pendulum-swingup-v0 dm_control/walker-walk-v0",
    "bsuite": "bsuite/catch-v0 bsuite/cartpole-v0 @deep_sea bsuite/mountain_car-v0",
    "spaces": "@Dictionary @Pair @Digits @Bits @Words",
    "Crafter": "@crafter",
    "PettingZoo": "@pettingzoo",
    "Jumanji": "@jumanji_snake @jumanji_game_2048",
    "gymnax": "@gymnax_cartpole @gymnax_breakout",
}
"""Ids, and with `@` functions of breadth_factories.py."""


def one(name: str, prefix: Path) -> dict[str, Any]:
    """Make a task of one environment and check its reference. What it answers is a row of the table."""
    installed, began = Installed(prefix, prefix / "bin" / "python"), time.perf_counter()
    scaffold.setup = lambda task, progress: installed
    row: dict[str, Any] = {
        "made": "no",
        "state": 0,
        "restores": "",
        "draws": "",
        "check": "",
        "seconds": 0.0,
        "said": "",
    }
    factory, gymnasium = (f"{FACTORIES}:{name[1:]}", None) if name.startswith("@") else (None, name)
    with tempfile.TemporaryDirectory(prefix="lockstep-breadth-") as directory:
        try:
            made = scaffold.new(
                "breadth", Path(directory) / "task", gymnasium=gymnasium, factory=factory, requirements=REQUIREMENTS
            )
            task = load_task(made)
            found = json.loads((made / "reference" / "environment.json").read_text())
            row.update(made="yes", state=len(task.state), restores="yes" if found["restore"] else "no")
            row["draws"] = {"tape": "all", "law": "no", "none": "no chance"}[str(task.mode)]
            checks = check_reference(lambda: start_reference(task, installed), task)
            wrong = [check.name for check in checks if failed(check)]
            row.update(check="no" if wrong else "passes", said=", ".join(wrong))
        except LockstepError as error:
            row["said"] = " ".join(str(error).split())[:300]
    row["seconds"] = round(time.perf_counter() - began, 1)
    return row


def apart(name: str, prefix: Path, seconds: float) -> dict[str, Any]:
    """The same in a process of its own, which is ended when it takes too long."""
    command = [sys.executable, "-m", "benchmarks.breadth", "--prefix", str(prefix), "--one", name]
    output = ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        output = done.stderr
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        said = f"not finished within {seconds:.0f} s"
    except (IndexError, ValueError):
        said = " ".join(output.split())[-200:]
    return {"made": "no", "state": 0, "restores": "", "draws": "", "check": "", "seconds": seconds, "said": said}


def told(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """The row, shown as soon as it is there."""
    print(name, *row.values(), file=sys.stderr, flush=True)
    return row


def names(groups: list[str]) -> Iterator[tuple[str, str]]:
    """Each environment with its group."""
    for group in groups or GROUPS:
        yield from ((group, name) for name in GROUPS[group].split())


def built() -> Path:
    """The environment of all packages."""
    with tempfile.TemporaryDirectory(prefix="lockstep-breadth-") as directory:
        made = scaffold.new("packages", Path(directory) / "task", gymnasium="CartPole-v1", requirements=REQUIREMENTS)
        return build(load_task(made)).prefix


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.breadth")
    parser.add_argument("--prefix", type=Path, help="an environment that has the packages")
    parser.add_argument("--group", action="append", default=[], choices=list(GROUPS), help="only these")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each environment, at most")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args([] if arguments is None else arguments)
    prefix = given.prefix or built()
    if given.one:
        print(json.dumps(one(given.one, prefix)))
        return
    listed = list(names(given.group))
    with ThreadPoolExecutor(given.processes) as pool:
        rows = list(pool.map(lambda each: told(each[1], apart(each[1], prefix, given.seconds)), listed))
    table = [{"group": group, "environment": name, **row} for (group, name), row in zip(listed, rows, strict=True)]
    counted = Counter(key for row in rows for key in counts(row))
    title = ", ".join(f"{counted[key]} {key}" for key in ("made", "restored with all chance found", "checked"))
    report("breadth", f"{title}, of {len(rows)} environments", table)


def counts(row: dict[str, Any]) -> Iterator[str]:
    """What a row counts as."""
    if row["made"] == "yes":
        yield "made"
        if row["restores"] == "yes" and row["draws"] != "no":
            yield "restored with all chance found"
        if row["check"] == "passes":
            yield "checked"


if __name__ == "__main__":
    main(sys.argv[1:])
