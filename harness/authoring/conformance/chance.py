"""Is all chance of the reference on its tape, and does it insist on the tape that it is given?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.authoring.conformance.kit import Failed, Kit, Passed, Skipped
from harness.errors import Raised
from harness.model import Case, Draw, Trajectory
from harness.task.contract import Mode


def replays_its_tape(kit: Kit) -> Passed:
    """Its own draws, forced on another seed, give the same trajectory."""
    _demand_tape(kit)
    for episode in kit.episodes:
        for timestep, draws in enumerate(episode.draws or ()):
            _demand_declared(kit, episode, timestep, draws)
    forced = [replace(episode.case, seed=episode.case.seed + 1000, draws=episode.draws) for episode in kit.episodes]
    why = "its own tape on another seed gives another trajectory: some chance is not on the tape, or it is ignored"
    kit.demand_same(kit.episodes, kit.environment.rollout(forced), why)
    _demand_the_tasks_order(kit)
    drawn = sum(len(timestep) for episode in kit.episodes for timestep in episode.draws or ())
    return Passed(len(forced), f"{drawn} draws")


def refuses_wrong_tapes(kit: Kit) -> Passed:
    """A draw that is left over or missing raises; draws of several names in another order raise, or change nothing."""
    _demand_tape(kit)
    reordered = {name: cases for episode in kit.episodes for name, cases in _reordered(episode)}
    for name, (right, other) in reordered.items():
        [played] = kit.answers([other])
        if not isinstance(played, Raised):
            kit.demand_same(kit.environment.rollout([right]), [played], f"a tape with {name} is taken as it comes")
    wrong = {name: case for episode in kit.episodes for name, case in _wrong_tapes(episode)}
    if not wrong:
        raise Skipped("no episode has a draw")
    for name, case in wrong.items():
        kit.demand_refused(case, f"a tape with {name}")
    return Passed(len(wrong) + len(reordered), "; ".join((*wrong, *reordered)))


def _demand_tape(kit: Kit) -> None:
    if kit.task.mode is not Mode.TAPE:
        raise Skipped(f"mode {kit.task.mode} has no tape")
    if not kit.can("force_draws") or not kit.can("draws"):
        raise Skipped(
            "without the capabilities draws and force_draws, that all chance is on the tape is not proven, and what a "
            "candidate drew by itself is not played again by the reference"
        )


def _demand_declared(kit: Kit, episode: Trajectory, timestep: int, draws: tuple[Draw, ...]) -> None:
    """Each draw at a moment that the task says, and no more often in one timestep."""
    moment = "reset" if timestep == 0 else "step"
    for name, count in Counter(draw.name for draw in draws).items():
        declared = kit.task.draws[name]
        where = f"seed {episode.case.seed}, timestep {timestep}"
        if not declared.occurs_at(moment):
            raise Failed(
                f"the draw {name} occurs at a {moment} ({where}); task.toml says that it occurs at the {declared.at} alone"
            )
        if count > declared.capacity:
            raise Failed(f"the draw {name} occurs {count} times ({where}); task.toml says {declared.capacity} at most")


def _demand_the_tasks_order(kit: Kit) -> None:
    """A candidate in JAX does not tell in which order it drew, so the reference gets its draws in that of task.toml."""
    names = list(kit.task.draws)
    for episode in kit.episodes:
        tape = tuple(_by_name(draws, names) for draws in episode.draws or ())
        if [_names(draws) for draws in tape] == [_names(draws) for draws in episode.draws or ()]:
            continue
        why = (
            "it does not take draws in the order in which task.toml names them: take the next draw of the name that is due, "
            "or name them in the order in which they happen"
        )
        [played] = kit.answers([replace(episode.case, draws=tape)])
        if isinstance(played, Raised):
            raise Failed(f"{why}: {played}")
        kit.demand_same([episode], [played], why)


def _wrong_tapes(episode: Trajectory) -> Iterator[tuple[str, Case]]:
    """Cases whose last timestep has a wrong tape, each with the name of what is wrong with it."""
    tape = episode.draws or ()
    some = next((draw for timestep in tape for draw in timestep), None)
    for timestep, draws in enumerate(tape):
        where = _where(timestep)
        if some is not None:
            yield f"a draw left over {where}", _with_timestep(episode, timestep, (*draws, draws[-1] if draws else some))
        if draws:
            yield f"a draw missing {where}", _with_timestep(episode, timestep, draws[:-1])


def _reordered(episode: Trajectory) -> Iterator[tuple[str, tuple[Case, Case]]]:
    """Cases as they are, and with the names of the last timestep in another order."""
    for timestep, draws in enumerate(episode.draws or ()):
        names = list(dict.fromkeys(_names(draws)))
        if len(names) > 1:
            right, other = (_with_timestep(episode, timestep, each) for each in (draws, _by_name(draws, names[::-1])))
            yield f"draws out of order {_where(timestep)}", (right, other)


def _where(timestep: int) -> str:
    return "at the reset" if timestep == 0 else "at a step"


def _names(draws: Sequence[Draw]) -> list[str]:
    return [draw.name for draw in draws]


def _by_name(draws: Sequence[Draw], names: Sequence[str]) -> tuple[Draw, ...]:
    """Draws in the order of these names; those of one name stay in theirs."""
    return tuple(sorted(draws, key=lambda draw: names.index(draw.name)))


def _with_timestep(episode: Trajectory, timestep: int, draws: tuple[Draw, ...]) -> Case:
    return replace(episode.case.cut(timestep), draws=(*(episode.draws or ())[:timestep], draws))
