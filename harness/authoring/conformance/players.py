"""Do several players act in the order that the task states?"""

from __future__ import annotations

import numpy as np

from harness.authoring.conformance.kit import Failed, Kit, Passed, Skipped
from harness.candidate.faces.leaves import mask_of
from harness.model import ENDINGS, Array, Case, Trajectory
from harness.task.leaf_values import anywhere
from harness.task.players import ALIVE, TO_MOVE, Order, Players

TRIES = 24
"""So many steps are taken again with other actions of those who are not to move."""


def keeps_its_order(kit: Kit) -> Passed:
    """While an episode goes on somebody is to move who is alive and has a legal action; what others do changes nothing."""
    players = kit.task.players
    if players is None:
        raise Skipped("the task has one player")
    for episode in kit.episodes:
        _demand_mover(episode, players)
    tried = _demand_no_effect(kit, players)
    moved = dict.fromkeys(players.names, 0)
    for episode in kit.episodes:
        acting = acting_in(episode, players)[: episode.steps]
        for place, name in enumerate(players.names):
            moved[name] += int(acting[:, place].sum())
    idle = [name for name, count in moved.items() if not count]
    if idle:
        raise Failed(f"in {len(kit.episodes)} episodes {', '.join(idle)} never had a move")
    told = ", ".join(f"{name} {count}" for name, count in moved.items())
    return Passed(len(kit.episodes) + tried, f"moves: {told}")


def acting_in(episode: Trajectory, players: Players) -> Array:
    """Whose actions the step after a timestep takes, `[timesteps, players]` bools."""
    leaves, count = episode.leaves, len(players.names)
    if players.order is Order.TURNS:
        return np.asarray(leaves[TO_MOVE])[:, None] == np.arange(count)
    tree = TO_MOVE if players.order is Order.ANY else ALIVE
    flags = [leaves.get(f"{tree}/{name}") for name in players.names]
    return np.stack([np.ones(episode.timesteps, bool) if flag is None else flag for flag in flags], axis=1)


def _demand_mover(episode: Trajectory, players: Players) -> None:
    acting = acting_in(episode, players)
    ended = any(episode.leaves[end][-1] for end in ENDINGS)
    for timestep in range(episode.steps if ended else episode.timesteps):
        where = f"seed {episode.case.seed}, timestep {timestep}"
        movers = [name for name, acts in zip(players.names, acting[timestep], strict=True) if acts]
        if not movers:
            raise Failed(f"{where}: nobody is to move, and the episode goes on")
        for name in movers:
            if not episode.leaves.get(f"{ALIVE}/{name}", np.ones(timestep + 1, bool))[timestep]:
                raise Failed(f"{where}: {name} is to move, and {ALIVE}/{name} is false")
            for path in episode.case.actions:
                mask = episode.leaves.get(mask_of(path))
                if players.of(path) == name and mask is not None and not mask[timestep].any():
                    raise Failed(f"{where}: {name} is to move, and {mask_of(path)} allows nothing")


def _demand_no_effect(kit: Kit, players: Players) -> int:
    """Step again with other actions of those who are not to move: everything stays the same. How many were tried."""
    rng = np.random.default_rng(0)
    cases: list[Case] = []
    expected: list[Trajectory] = []
    for episode, timestep in kit.reached[:TRIES]:
        acting = acting_in(episode, players)[timestep]
        idle = [name for name, acts in zip(players.names, acting, strict=True) if not acts]
        others = {path: leaf for path, leaf in kit.actions.items() if players.of(path) in idle}
        if not others:
            continue
        case = episode.case.cut(timestep + 1)
        changed = {path: np.array(array) for path, array in case.actions.items()}
        for path, leaf in others.items():
            changed[path][timestep] = anywhere(leaf, rng, 1)[0]
        cases.append(Case(case.seed, changed, draws=case.draws))
        expected.append(episode.cut(timestep + 1))
    if cases:
        kit.demand_same(
            expected, kit.environment.rollout(cases), "what a player does who is not to move changes something"
        )
    return len(cases)
