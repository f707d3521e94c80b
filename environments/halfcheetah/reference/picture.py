"""A picture of a cheetah from its side, drawn from where MuJoCo says that its capsules are.

MuJoCo's own renderer needs OpenGL, which a machine without a display may lack, so it cannot be called where references run.
Colours are those of its model. The camera follows the cheetah; stripes of half a metre on the ground show how far it ran.
"""

from __future__ import annotations

import numpy as np

WIDTH, HEIGHT = 480, 240
SCALE = 100.0
"""Pixels to a metre."""
GROUND = 200
"""The row of the ground."""
STRIPE = 0.5
SKY, EARTH, DARK_EARTH = (245, 247, 250), (204, 230, 204), (170, 200, 170)
EDGE = 0.55
"""A capsule's outline is so much darker than its inside."""
OUTLINE = 1.5
"""How wide it is, in pixels."""


def draw_capsules(ends: np.ndarray, radii: np.ndarray, colours: np.ndarray, middle: float) -> np.ndarray:
    """The picture of capsules in the plane: uint8 `[240, 480, 3]`. What lies outside of it is cut off.

    Args:
        ends: of the capsules' axes, `[capsules, 2, 2]`: x and z in metres.
        radii: in metres, `[capsules]`.
        colours: 0 to 1, `[capsules, 3]`; the first capsule is drawn first.
        middle: the x that is in the middle of the picture, in metres.
    """
    x = middle + (np.arange(WIDTH) + 0.5 - WIDTH / 2) / SCALE
    z = (GROUND - np.arange(HEIGHT) - 0.5) / SCALE
    picture = np.empty((HEIGHT, WIDTH, 3))
    picture[:GROUND] = SKY
    picture[GROUND:] = np.where((np.floor(x / STRIPE) % 2 == 0)[:, None], EARTH, DARK_EARTH)
    points = np.stack(np.broadcast_arrays(x[None, :], z[:, None]), axis=-1)
    for (begin, end), radius, colour in zip(ends, radii, colours, strict=True):
        inside = (radius - _distance(points, begin, end)) * SCALE
        _paint(picture, inside, EDGE * colour)
        _paint(picture, inside - OUTLINE, colour)
    return np.rint(picture).astype(np.uint8)


def _distance(points: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """How far points are from a line between two others, in metres."""
    along = end - begin
    share = np.clip((points - begin) @ along / (along @ along), 0.0, 1.0)
    return np.linalg.norm(points - begin - share[..., None] * along, axis=-1)


def _paint(picture: np.ndarray, inside: np.ndarray, colour: np.ndarray) -> None:
    """Lay a colour over all pixels that are inside, by part of a pixel at the edge.

    Args:
        inside: how far inside each pixel's middle is, in pixels.
    """
    covered = np.clip(inside + 0.5, 0.0, 1.0)[..., None]
    picture += covered * (255.0 * np.asarray(colour) - picture)
