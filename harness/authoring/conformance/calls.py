"""The reference's other calls: policies, refused actions, the end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.authoring.conformance.kit import EPISODES, Failed, Kit, Passed, Skipped, outside
from harness.errors import Crashed, EnvironmentFailure
from harness.model import Leaf
from harness.task.contract import STANDARD_POLICIES

CLOSE_SECONDS = 10.0


def follows_policies(kit: Kit) -> Passed:
    """Each scripted policy plays episodes within the action space, which can be played again from their actions."""
    own = [policy for policy in kit.spec.policies if policy not in STANDARD_POLICIES]
    for policy in own:
        driven = kit.environment.drive(policy, range(1, EPISODES + 1), kit.horizon)
        for episode in driven:
            for path, leaf in kit.actions.items():
                actions = episode.case.actions[path]
                if (wrong := outside(leaf, actions)).any():
                    raise Failed(f"policy {policy} chose {path} {actions[wrong][0]}, outside its bounds in task.toml")
        replayed = kit.environment.rollout([episode.case for episode in driven])
        kit.demand_same(driven, replayed, f"an episode of policy {policy}, played again from its actions, differs")
    if "after" in kit.spec.capabilities:
        _goes_on_from_cases(kit, own)
    return Passed(len(own) * EPISODES, ", ".join(own) or "none but random and sticky")


def _goes_on_from_cases(kit: Kit, own: Sequence[str]) -> None:
    for policy in ("random", *own):
        begun = [(number, case.cut(case.length // 2)) for number, case in enumerate(kit.cases)]
        driven = kit.environment.drive_after(begun, policy, kit.horizon)
        replayed = kit.environment.rollout([episode.case for episode in driven])
        kit.demand_same(
            driven, replayed, f"what policy {policy} does after a case, played again from its actions, differs"
        )


def refuses_wrong_actions(kit: Kit) -> Passed:
    """An action just outside its bounds is refused, and the process goes on."""
    tried = 0
    for path, leaf in kit.actions.items():
        for value in _beyond(leaf):
            case = next((case.cut(1) for case in kit.cases if case.length), None)
            if case is None:
                raise Skipped("no episode has a step")
            actions = {**case.actions, path: np.full_like(case.actions[path], value)}
            kit.demand_refused(replace(case, actions=actions), f"{path} {value}, outside its bounds,")
            tried += 1
    if not tried:
        raise Skipped("no action leaf has bounds that its dtype could leave")
    return Passed(tried)


def closes(kit: Kit) -> Passed:
    """After `close` the process ends by itself, with status 0."""
    environment = kit.environment
    environment.ask("close", timeout=CLOSE_SECONDS)
    try:
        environment.ask("spec", timeout=CLOSE_SECONDS)
    except Crashed as ended:
        if ended.status != 0:
            raise Failed(f"after `close`, {ended.what}") from ended
        return Passed(1)
    except EnvironmentFailure:
        pass
    raise Failed("it goes on running after `close`")


def _beyond(leaf: Leaf) -> list[int | float]:
    """Values just outside a leaf's bounds that its dtype can hold."""
    dtype = np.dtype(leaf.dtype)
    if dtype.kind == "b":
        return []
    whole = dtype.kind in "iu"
    ends: list[int | float] = []
    for bound, side in ((leaf.high, 1), (leaf.low, -1)):
        if bound is not None and np.isfinite(bound).all():
            end = max(np.ravel(bound).tolist(), key=lambda value, side=side: side * value)
            ends.append(int(end) + side if whole else float(end) + side * (abs(end) + 1))
    if whole:
        return [end for end in ends if np.iinfo(dtype).min <= end <= np.iinfo(dtype).max]
    return [*ends, math.nan]
