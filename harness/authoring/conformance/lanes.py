"""Does the reference step many episodes beside each other as it plays them one by one?"""

from __future__ import annotations

import numpy as np

from harness.authoring.conformance.kit import Kit, Passed, Skipped
from harness.model import ENDINGS, Case, Leaves, Trajectory

LANES = 4
STEPS = 64


def keeps_lanes_apart(kit: Kit) -> Passed:
    """Episodes in lanes are those that a rollout plays, also where one begins anew while the others go on.

    Where draws are reported and can be forced, a rollout is given those of the lane: instances may share one source of
    chance. Elsewhere a lane's episode must be that of its seed.
    """
    if not kit.can("lanes"):
        raise Skipped("it steps one environment at a time, so training in it takes as many processes as environments")
    taped = kit.can("draws") and kit.can("force_draws")
    played = _play(kit)
    cases = [
        Case(episode.case.seed, episode.case.actions, draws=episode.draws if taped else None) for episode in played
    ]
    kit.demand_same(kit.environment.rollout(cases), played, "an episode in a lane is not what a rollout plays")
    if not any(episode.leaves[path][-1] for episode in played for path in ENDINGS):
        return Passed(len(played), f"no episode ended within {STEPS} steps, so none began anew")
    return Passed(len(played), f"{LANES} lanes, begun anew where an episode ended")


def _play(kit: Kit) -> list[Trajectory]:
    """What lanes play under recorded actions, cut into episodes."""
    seeds = list(range(1, LANES + 1))
    lanes = kit.environment.lanes(seeds, state=True)
    chosen = {path: np.concatenate([e.case.actions[path] for e in kit.episodes]) for path in kit.actions}
    length = len(next(iter(chosen.values())))
    if not length:
        raise Skipped("no episode has a step")
    if any(path.startswith("legal_actions") for path in kit.spec.leaves):
        raise Skipped("actions that were legal in one episode need not be so in another")
    rows: list[list[Leaves]] = [[_row(lanes.leaves, lane)] for lane in range(LANES)]
    tapes, actions, episodes = [[row] for row in lanes.draws], [[] for _ in seeds], []

    def finish(lane: int) -> None:
        leaves = {path: np.stack([row[path] for row in rows[lane]]) for path in rows[lane][0]}
        taken = {
            path: np.stack([a[path] for a in actions[lane]]) if actions[lane] else chosen[path][:0] for path in chosen
        }
        draws = tuple(tapes[lane]) if kit.can("draws") else None
        episodes.append(Trajectory(Case(seeds[lane], taken), leaves, draws))

    for step in range(STEPS):
        picked = {path: array[(np.arange(LANES) * 7 + step) % length] for path, array in chosen.items()}
        following = [1000 * (step + 1) + lane for lane in range(LANES)]
        now = lanes.advance(picked, following)
        final = {path: now.before_reset(path) for path in now.leaves}
        begun = iter(now.next_draws)
        for lane in range(LANES):
            rows[lane].append(_row(final, lane))
            tapes[lane].append(now.draws[lane])
            actions[lane].append({path: array[lane] for path, array in picked.items()})
            if now.ended[lane]:
                finish(lane)
                fresh = dict(_row(now.leaves, lane))
                fresh |= {path: np.zeros_like(fresh[path]) for path in ("reward", *ENDINGS)}
                seeds[lane] = following[lane]
                rows[lane], tapes[lane], actions[lane] = [fresh], [next(begun, ())], []
    for lane in range(LANES):
        finish(lane)
    return episodes


def _row(leaves: Leaves, lane: int) -> Leaves:
    return {path: array[lane] for path, array in leaves.items()}
