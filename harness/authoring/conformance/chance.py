"""Is all chance of the reference on its tape, and does it insist on the tape that it is given?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.authoring.conformance.kit import Kit, Passed, Skipped
from harness.model import Case, Draw, Trajectory
from harness.task.contract import Mode


def replays_its_tape(kit: Kit) -> Passed:
    """Its own draws, forced on another seed, give the same trajectory."""
    _demand_tape(kit)
    forced = [replace(episode.case, seed=episode.case.seed + 1000, draws=episode.draws) for episode in kit.episodes]
    why = "its own tape on another seed gives another trajectory: some chance is not on the tape, or it is ignored"
    kit.demand_same(kit.episodes, kit.environment.rollout(forced), why)
    drawn = sum(len(timestep) for episode in kit.episodes for timestep in episode.draws or ())
    return Passed(len(forced), f"{drawn} draws")


def refuses_wrong_tapes(kit: Kit) -> Passed:
    """A draw that is left over, missing or out of order raises."""
    _demand_tape(kit)
    wrong = {name: case for episode in kit.episodes for name, case in _wrong_tapes(episode)}
    if not wrong:
        raise Skipped("no episode has a draw")
    for name, case in wrong.items():
        kit.demand_refused(case, f"a tape with {name}")
    return Passed(len(wrong), "; ".join(wrong))


def _demand_tape(kit: Kit) -> None:
    if kit.task.mode is not Mode.TAPE:
        raise Skipped(f"mode {kit.task.mode} has no tape")
    if not kit.can("force_draws") or not kit.can("draws"):
        raise Skipped(
            "without the capabilities draws and force_draws, that all chance is on the tape is not proven, and what a "
            "candidate drew by itself is not played again by the reference"
        )


def _wrong_tapes(episode: Trajectory) -> Iterator[tuple[str, Case]]:
    """Cases whose last timestep has a wrong tape, each with the name of what is wrong with it."""
    tape = episode.draws or ()
    some = next((draw for timestep in tape for draw in timestep), None)
    for timestep, draws in enumerate(tape):
        where = "at the reset" if timestep == 0 else "at a step"
        if some is not None:
            yield f"a draw left over {where}", _with_timestep(episode, timestep, (*draws, draws[-1] if draws else some))
        if draws:
            yield f"a draw missing {where}", _with_timestep(episode, timestep, draws[:-1])
        if len({draw.name for draw in draws}) > 1:
            yield f"draws out of order {where}", _with_timestep(episode, timestep, draws[::-1])


def _with_timestep(episode: Trajectory, timestep: int, draws: tuple[Draw, ...]) -> Case:
    return replace(episode.case.cut(timestep), draws=(*(episode.draws or ())[:timestep], draws))
