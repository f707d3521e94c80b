"""What may have been asked of a reference before an episode begins, and must not show in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.authoring.conformance.kit import Kit
from harness.authoring.conformance.probes import sample_inputs
from harness.errors import Raised
from harness.model import ENDINGS, Array, Case, Leaf, Trajectory
from harness.task.contract import STANDARD_POLICIES

Predecessor = tuple[str, Callable[[int, Case], Case]]
"""Its kind in words, and what makes one, from a number that varies it and the case that will follow it."""
MOST_WHOLE = 500
"""An episode that has no end after so many steps is taken without one."""
FEW = 64
OTHER_SEEDS = 1000


def episodes_before(kit: Kit) -> list[Predecessor]:
    """Each kind of episode that may come before another one."""
    cases, whole = kit.cases, _whole(kit)
    kinds: list[Predecessor] = [
        (whole[0], lambda number, _: whole[1][number % len(whole[1])]),
        ("an episode that was left in its middle", lambda number, _: _half(cases[number % len(cases)])),
        ("a reset alone", lambda number, _: Case(OTHER_SEEDS + number, kit.environment.no_actions())),
        ("the same episode", lambda _, following: following),
    ]
    if not any(path.startswith("legal_actions") for path in kit.spec.leaves):
        kinds.append(("one action again and again", lambda number, _: _steady(kit, number)))
    states = [_onwards(*reached) for reached in kit.reached] if kit.can("restore") else []
    tapes = [replace(episode.case, draws=episode.draws) for episode in kit.episodes] if kit.can("force_draws") else []
    for kind, made in (("a restored state", states), ("an episode with a tape", tapes)):
        # Those that it refuses are for the checks of states and tapes.
        played = [case for case, answer in zip(made, kit.answers(made), strict=True) if not isinstance(answer, Raised)]
        if played:
            kinds.append((kind, lambda number, _, played=played: played[number % len(played)]))
    return kinds


def calls_before(kit: Kit) -> list[tuple[str, Callable[[], object]]]:
    """Calls that are no episode, each with its name."""
    calls: list[tuple[str, Callable[[], object]]] = []
    names = [name for name in kit.task.probes if name in kit.spec.probes] if kit.can("probe") else []
    for name in names:
        calls.append((f"the probe {name}", lambda name=name: kit.environment.probe(name, sample_inputs(kit, name))))
    if kit.can("vector"):
        calls.append(
            ("a vector environment", lambda: kit.environment.vector(list(range(OTHER_SEEDS, OTHER_SEEDS + 4))))
        )
    return calls


def _whole(kit: Kit) -> tuple[str, list[Case]]:
    """Episodes that came to an end, the shortest first, as far as some did."""
    played = kit.episodes
    if not any(_ended(episode) for episode in played):
        horizon = min(kit.task.budgets.horizon, MOST_WHOLE)
        for policy in (*STANDARD_POLICIES, *kit.spec.policies):
            played = kit.environment.drive(policy, [OTHER_SEEDS], horizon)
            if _ended(played[0]):
                break
    ended = sorted((episode for episode in played if _ended(episode)), key=lambda episode: episode.steps)
    if ended:
        return "a whole episode", [episode.case for episode in ended]
    longest = max(played, key=lambda episode: episode.steps)
    return f"an episode of {longest.steps} steps, which had no end yet", [longest.case]


def _ended(episode: Trajectory) -> bool:
    return any(bool(episode.leaves[path][-1]) for path in ENDINGS)


def _half(case: Case) -> Case:
    return case.cut(case.length // 2)


def _onwards(episode: Trajectory, timestep: int) -> Case:
    actions = {path: array[timestep : timestep + 2] for path, array in episode.case.actions.items()}
    return Case(0, actions, start=episode.state(timestep))


def _steady(kit: Kit, number: int) -> Case:
    """One to three times the same action; which one, the number says."""
    length = 1 + number % 3
    return Case(
        OTHER_SEEDS + number,
        {path: np.repeat(_action(leaf, number)[None], length, axis=0) for path, leaf in kit.actions.items()},
    )


def _action(leaf: Leaf, number: int) -> Array:
    """Each value in turn where there are few, else the bounds in turn."""
    low, high = (0, 1) if leaf.dtype == "bool" else (leaf.low, leaf.high)
    bounds = [np.broadcast_to(np.asarray(bound, leaf.dtype), leaf.shape) for bound in (low, high)]
    if np.dtype(leaf.dtype).kind in "iu" and not leaf.shape and int(high) - int(low) < FEW:
        return np.asarray(int(low) + number % (int(high) - int(low) + 1), leaf.dtype)
    return bounds[number % 2]
