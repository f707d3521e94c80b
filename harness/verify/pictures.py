"""Pictures of both sides of a difference, drawn by the trusted reference from canonical states.

A candidate never draws: it could show anything. Its canonical state is put into the reference, and the reference draws what
that state looks like. Nothing here can change a verdict: where a picture cannot be made, there is none.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import EnvironmentFailure
from harness.model import Array, Case, Leaves, Trajectory
from harness.protocol.environment import Environment
from harness.verdict import Verdict
from harness.verify.pair import Pair

if TYPE_CHECKING:
    from PIL.Image import Image

SHOWN = 4
"""So many divergences of a verdict get pictures."""
PNG_BYTES = 25_000
"""A picture is made smaller until it takes no more than this: eight of them stay under 200 KB."""
PNG_SIDE = 640

EXPECTED, ACTUAL = "expected", "actual"


def can_draw(environment: Environment) -> bool:
    """Whether a worker draws its state."""
    return "render" in environment.spec.capabilities


def can_restore(environment: Environment) -> bool:
    """Whether a worker takes a canonical state, so that states of either side can be drawn."""
    return "restore" in environment.spec.capabilities


def draw(renderer: Environment, state: Leaves) -> Array | None:
    """What a canonical state looks like, uint8 `[height, width, 3]`; None where the reference refuses it.

    Args:
        renderer: a worker of the reference with the capabilities `render` and `restore`.
        state: leaves with their `state/` prefix.
    """
    with suppress(EnvironmentFailure):
        renderer.restore(state)
        return renderer.render()
    return None


def draw_walk(renderer: Environment, case: Case) -> Iterator[Array]:
    """Pictures of every timestep of a case, played by single steps: all that a reference without `restore` can do.

    Raises:
        EnvironmentFailure: it does not answer.
    """
    for _ in renderer.timesteps(case):
        yield renderer.render()


def of_divergences(pair: Pair, verdict: Verdict, start: Callable[[], Environment]) -> dict[str, Array]:
    """Pictures for the first divergences of a verdict, as far as playing their cases shows them again.

    Args:
        pair: both sides; they are asked to play the cases once more.
        verdict: which has failed.
        start: starts a reference to draw with. It is ended here: a state that a candidate made up reaches no worker that
            judges anything.

    Returns:
        By `<index>-expected` and `<index>-actual`, where the index counts all divergences of the verdict from 0. Either may
        be missing, and both are where the difference does not show when the case is simply played.
    """
    pictures: dict[str, Array] = {}
    with suppress(Exception):  # whatever goes wrong here, or is made to go wrong: the verdict stands without pictures
        if not (parting := _parting(pair, verdict)):
            return {}
        with _started(start) as renderer:
            for index, expected, actual, timestep in parting:
                for side, trajectory in ((EXPECTED, expected), (ACTUAL, actual)):
                    picture = _picture(renderer, trajectory, timestep, side)
                    pictures |= {} if picture is None else {f"{index}-{side}": picture}
    return pictures


def _parting(pair: Pair, verdict: Verdict) -> list[tuple[int, Trajectory, Trajectory, int]]:
    """The index, both sides' trajectories, and the timestep in which they part, of divergences that show when they are
    played.
    """
    if not pair.paired or not can_draw(pair.reference.first):
        return []
    chosen = [
        (i, found) for i, found in enumerate(verdict.divergences) if found.case is not None and found.probe is None
    ]
    chosen = chosen[:SHOWN]
    expected = pair.reference.rollout([found.case for _, found in chosen if found.case is not None])
    actual = pair.follow(expected)
    differences = pair.differences(expected, actual)
    return [
        (index, one, other, found.step)
        for (index, found), one, other, difference in zip(chosen, expected, actual, differences, strict=True)
        if difference is not None and difference.step == found.step
    ]


def _picture(renderer: Environment, trajectory: Trajectory, timestep: int, side: str) -> Array | None:
    """A timestep of a trajectory: drawn from its state or, where that cannot be restored, by playing the reference up to
    it.
    """
    if timestep >= trajectory.timesteps:
        return None
    if can_restore(renderer):
        return draw(renderer, trajectory.state(timestep))
    return list(draw_walk(renderer, trajectory.case.cut(timestep)))[-1] if side == EXPECTED else None


@contextmanager
def _started(start: Callable[[], Environment]) -> Iterator[Environment]:
    renderer = start()
    try:
        yield renderer
    finally:
        renderer.close()


def attachments(pictures: Mapping[str, Array]) -> dict[str, bytes]:
    """Pictures as the files of an event: `frames/<name>.png`."""
    return {f"frames/{name}.png": png(picture) for name, picture in pictures.items()}


def png(picture: Array) -> bytes:
    """A picture as a PNG of at most `PNG_BYTES`, made smaller where it would be larger."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(picture))
    image.thumbnail((PNG_SIDE, PNG_SIDE))
    while len(content := _encoded(image)) > PNG_BYTES and max(image.size) > 1:
        image = image.resize((max(1, image.width * 2 // 3), max(1, image.height * 2 // 3)))
    return content


def _encoded(image: Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return stream.getvalue()
