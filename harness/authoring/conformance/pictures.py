"""Does the reference draw its state, the same way each time, and without touching it?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from harness.authoring.conformance.kit import Failed, Kit, Passed, Skipped, divergence, shown
from harness.compare import compare_leaves
from harness.model import Array, Leaves
from harness.protocol.environment import Environment

WALKED = 60
"""As many steps at most are drawn one by one: a picture may take milliseconds."""


def draws_pictures(kit: Kit) -> Passed:
    """Pictures have one shape, the same state gives the same picture, and drawing changes nothing."""
    if not kit.can("render"):
        raise Skipped("without the capability render, differences are shown in numbers only and nothing can be filmed")
    walked = _walk_and_draw(kit, kit.environment)
    with kit.fresh() as other:
        _demand_same(
            walked, _walk_and_draw(kit, other), "the same case, drawn again in a fresh process, looks different"
        )
    if not kit.can("restore"):
        return Passed(2 * len(walked), f"{_size(walked[0])}; a candidate's states cannot be drawn without `restore`")
    states = [episode.state(timestep) for episode, timestep in kit.reached]
    restored = [_restore_and_draw(kit.environment, state) for state in states]
    again = [_restore_and_draw(kit.environment, state) for state in states[::-1]][::-1]
    _demand_same(restored, again, "the same state, restored and drawn again after others, looks different")
    _demand_one_shape([*walked, *restored])
    return Passed(2 * (len(walked) + len(restored)), _size(walked[0]))


def _walk_and_draw(kit: Kit, environment: Environment) -> list[Array]:
    """Pictures of an episode as it is played; it must go on as it would have without them."""
    episode = max(kit.episodes, key=lambda played: played.steps)
    case = episode.case.cut(min(episode.steps, WALKED))
    pictures = []
    for number, timestep in enumerate(environment.timesteps(case)):
        expected = {path: array[number : number + 1] for path, array in episode.leaves.items()}
        difference = compare_leaves(expected, timestep["leaves"], {})
        if difference is not None:
            difference = replace(difference, step=number)
            why = f"drawing changes the episode: after {number} pictures, {shown(difference)}"
            raise Failed(why, divergence(case, difference, why))
        pictures.append(environment.render())
        _demand_one_shape(pictures)
    return pictures


def _restore_and_draw(environment: Environment, state: Leaves) -> Array:
    environment.restore(state)
    return environment.render()


def _demand_one_shape(pictures: list[Array]) -> None:
    for one, other in pairwise(pictures):
        if one.shape != other.shape:
            raise Failed(f"pictures have different sizes: {_size(one)} and then {_size(other)}")


def _demand_same(expected: list[Array], actual: list[Array], why: str) -> None:
    for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
        if one.tobytes() != other.tobytes():
            raise Failed(f"{why} (picture {number})")


def _size(picture: Array) -> str:
    return f"{picture.shape[1]} by {picture.shape[0]} pixels"
