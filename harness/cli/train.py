"""`lockstep train`: train policies in a task's candidate or in its reference, and see what they earn in the reference."""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.frame import EXIT_OK, Output, command
from harness.cli.verify import candidate_option, chosen_candidate, sandbox_option

if TYPE_CHECKING:
    from harness.protocol.environment import Environment, Pool
    from harness.task.contract import Task
    from harness.task.training import PpoConfig
    from harness.training.trained import Trained

DEFAULT_STEPS = 200_000


@command("train", "train policies in a candidate or in the reference")
@click.argument("directory", default=".")
@click.option(
    "--in", "backend", type=click.Choice(["candidate", "reference"]), default="candidate", show_default=True,
    help="Where to train.",
)  # fmt: skip
@click.option("--steps", type=click.IntRange(1), help="Environment steps for each policy; default: the task's.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="How many policies.")
@click.option("--seed", type=click.IntRange(0, 1 << 62), default=0, show_default=True, help="Seed of the first one.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A hyper-parameter; default: the task's.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default="policies", show_default=True,
    help="Where policies and the checkpoint go.",
)  # fmt: skip
@click.option("--log", type=click.Path(file_okay=False, path_type=Path), help="Where TensorBoard's event files go.")
@click.option("--episodes", type=click.IntRange(0), default=32, show_default=True, help="To be played afterwards.")
@candidate_option
@sandbox_option
def train(
    output: Output,
    directory: str,
    backend: str,
    steps: int | None,
    seeds: int,
    seed: int,
    settings: tuple[str, ...],
    out: Path,
    log: Path | None,
    episodes: int,
    candidate: str | None,
    sandbox: str | None,
) -> int:
    """Train policies with PPO in a task's candidate or reference, and play them in the reference.

    The same command goes on where an interrupted one stopped.
    """
    from harness.candidate.start import CandidateWorker
    from harness.cli import show
    from harness.reference.install import setup
    from harness.reference.start import start_references
    from harness.support.embedded import find_task
    from harness.task.load import load_task
    from harness.training.remote import train_candidate
    from sandboxes import choose

    task = chosen_candidate(load_task(find_task(directory)), candidate)
    config = _config(task, settings)
    budget = steps or (task.transfer.steps if task.transfer and task.transfer.steps else DEFAULT_STEPS)
    numbers = list(range(seed, seed + seeds))
    output.kept = f"finished segments are kept in {out}; the same command goes on from there"
    identity = {"task": task.digest}
    with ExitStack() as stack, output.progress() as progress:
        built = setup(task, lambda line: progress(line, 0, 1))
        pool = start_references(task, built)
        stack.callback(pool.close)
        if backend == "candidate":
            worker = CandidateWorker(task, choose(sandbox), training=True)
            stack.callback(worker.close)
            environment = worker.open(task.directory)
            if task.candidate.kind == "jax":
                policies = train_candidate(
                    environment, task.leaves, config, budget, numbers,
                    progress=progress, checkpoint=out / "checkpoint.npz", identity=identity, log=log,
                )  # fmt: skip
            else:
                policies = _from_outside(
                    environment, backend, task, config, budget, numbers, progress, out, identity, log
                )
            worker.close()
        else:
            policies = _from_outside(pool, backend, task, config, budget, numbers, progress, out, identity, log)
        earned = [_earned(pool, task, policy, episodes, progress) for policy in policies]
    rows = []
    for policy, returns in zip(policies, earned, strict=True):
        path = out / f"{backend}-{policy.seed}.npz"
        policy.save(path)
        mean = sum(returns) / len(returns) if returns else None
        rows.append({"seed": policy.seed, "file": str(path), "digest": policy.digest, "return": mean})
        rows[-1] |= {"steps": policy.steps, "curve": list(policy.curve)}
    for leftover in out.glob("checkpoint*.npz"):
        leftover.unlink()
    document = {"task": task.name, "backend": backend, "config": config.to_json(), "policies": rows}
    table = show.grid("right", "right", "left")
    table.add_row("seed", "mean return", "policy")
    for row in rows:
        table.add_row(str(row["seed"]), "" if row["return"] is None else f"{row['return']:.4g}", row["file"])
    output.emit(document, table)
    return EXIT_OK


def _config(task: Task, settings: tuple[str, ...]) -> PpoConfig:
    from harness.task.training import PpoConfig

    chosen: dict[str, Any] = dict(task.transfer.ppo) if task.transfer else {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--set {setting}: expected NAME=VALUE")
        try:
            chosen[name] = json.loads(value)
        except ValueError:
            chosen[name] = value
    try:
        return PpoConfig.from_json(chosen)
    except (ValueError, TypeError) as error:
        raise click.UsageError(f"--set: {error}") from error


def _from_outside(
    where: Environment | Pool, backend: str, task: Task, config: PpoConfig, steps: int, seeds: list[int], progress: Any,
    out: Path, identity: Any, log: Path | None,
) -> list[Trained]:  # fmt: skip
    """One training after the other, stepped from here: in the reference, or in a candidate without JAX."""
    from harness.training.host import train_host

    fixed = task.transfer.draws if task.transfer else {}
    return [
        train_host(
            partial(where.lanes, fixed=fixed), task.leaves, config, steps, seed, backend=backend,
            progress=progress, checkpoint=out / f"checkpoint-{seed}.npz", identity=identity, log=log,
        )
        for seed in seeds
    ]  # fmt: skip


def _earned(pool: Pool, task: Task, policy: Trained, episodes: int, progress: Any) -> list[float]:
    """Returns of a policy's most probable actions in the reference."""
    from harness.training.evaluate import evaluate
    from harness.training.policy import Policy

    progress(f"playing policy {policy.seed} in the reference", 0, 1)
    [played] = evaluate(
        pool, Policy(task.leaves, policy.config), [policy.learner], [range(episodes)],
        horizon=task.budgets.horizon, fixed=task.transfer.draws if task.transfer else {}, state=False,
    )  # fmt: skip
    return [float(episode.leaves["reward"].sum()) for episode in played]
