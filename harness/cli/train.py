"""`lockstep train`: train policies in a task's candidate or in its reference, and see what they earn in the reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from harness.cli import completion
from harness.cli.frame import EXIT_OK, Output, command
from harness.cli.verify import candidate_option, chosen_candidate, device_option, sandbox_option


@command(
    "train",
    "train policies in a candidate or in the reference",
    "lockstep train cartpole --seeds 4",
    "lockstep train pong --in reference --steps 200000",
    "lockstep train connect_four --against random --against rival",
)
@click.argument("directory", default=".", shell_complete=completion.tasks)
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
@click.option(
    "--against", multiple=True, metavar="NAME",
    help="Of several players, whom to meet then: random, a scripted policy, a file *.npz; default: the task's.",
)  # fmt: skip
@candidate_option
@sandbox_option
@device_option
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
    against: tuple[str, ...],
    candidate: str | None,
    sandbox: str | None,
) -> int:
    """Train policies with PPO in a task's candidate or reference, and play them in the reference.

    The same command goes on where an interrupted one stopped.
    """
    from harness.cli import show
    from harness.errors import TrainingError
    from harness.operations.training import configured, drop_checkpoints
    from harness.operations.training import train as train_policies
    from harness.policy.floor import permitted
    from harness.support.embedded import find_task
    from harness.task.load import load_task

    task = chosen_candidate(load_task(find_task(directory)), candidate)
    try:
        config = configured(task, _chosen(settings))
    except TrainingError as error:
        raise click.UsageError(f"--set: {error.what}") from error
    if against and not task.players:
        raise click.UsageError(f"--against: {task.name} has one player; leave it out")
    # A task names files of its own; here they are named from where the command runs.
    named = (str(Path(name).absolute()) if name.endswith(".npz") else name for name in against)
    against = tuple(dict.fromkeys(named))
    output.kept = f"finished segments are kept in {out}; the same command goes on from there"
    with output.progress() as progress:
        policies, played = train_policies(
            task, permitted(sandbox), backend=backend, config=config, steps=steps, seeds=range(seed, seed + seeds),
            episodes=episodes, against=against, checkpoints=out, log=log, progress=progress,
        )  # fmt: skip
    rows = []
    for policy, own in zip(policies, played, strict=True):
        path = out / f"{backend}-{policy.seed}.npz"
        policy.save(path)
        mean = sum(own.returns) / len(own.returns) if own.returns else None
        rows.append({"seed": policy.seed, "file": str(path), "digest": policy.digest, "return": mean})
        rows[-1] |= {"steps": policy.steps, "curve": list(policy.curve)}
        rows[-1] |= {"results": own.results} if own.results else {}
    drop_checkpoints(out)
    document = {"task": task.name, "backend": backend, "config": config.to_json(), "policies": rows}
    table = show.grid("right", "right", "left")
    table.add_row("seed", "mean return", "policy")
    for row in rows:
        table.add_row(str(row["seed"]), "" if row["return"] is None else f"{row['return']:.4g}", row["file"])
    output.emit(
        document, table, *([show.results(each for own in played for each in own.results)] if task.players else [])
    )
    return EXIT_OK


def _chosen(settings: tuple[str, ...]) -> dict[str, Any]:
    """The values of `--set`; what is not JSON is text."""
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--set {setting}: expected NAME=VALUE")
        try:
            chosen[name] = json.loads(value)
        except ValueError:
            chosen[name] = value
    return chosen
