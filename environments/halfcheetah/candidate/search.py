"""The line search of MuJoCo's solver, on many lines at once."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from bodies import total
from model import FLOAT
from settled import settled

MOST_SEARCHES = 50
ROUNDING = 0.0 if jnp.finfo(FLOAT).bits == 64 else 1e-6
"""A slope so small beside what it sums counts as 0. The tolerance is MuJoCo's, which in float32 no sum can reach."""


class Line(NamedTuple):
    """Where a line leads: half of a quadratic cost, and rows that cost besides where they have less than nothing."""

    constant: jax.Array
    linear: jax.Array
    square: jax.Array
    slack: list
    slackening: list
    strength: list

    def at(self, far):
        """The place so far along."""
        constant, linear, square = [], [], []
        for slack, slackening, strength in zip(self.slack, self.slackening, self.strength, strict=True):
            pressed = jnp.where(slack + far * slackening < 0, strength, 0.0)
            constant.append(pressed * slack * slack)
            linear.append(pressed * slack * slackening)
            square.append(pressed * slackening * slackening)
        rows = total(linear)
        constant, linear = self.constant + 0.5 * total(constant), self.linear + rows
        square = self.square + 0.5 * total(square)
        constant, linear, square = settled((constant, linear, square))
        slope = linear + 2 * far * square
        if ROUNDING:
            slope = jnp.where(
                jnp.abs(slope) < ROUNDING * (jnp.abs(self.linear) + jnp.abs(rows) + jnp.abs(far) * square), 0.0, slope
            )
        return settled(Point(far, constant + far * linear + far * far * square, slope, 2 * square))

    def newton(self, point):
        """The place where the slope would be 0, if no row came or went on the way."""
        return self.at(point.along - point.slope / point.curve)


class Point(NamedTuple):
    """A place on a line: how far along, the cost there, its slope and its curvature."""

    along: jax.Array
    cost: jax.Array
    slope: jax.Array
    curve: jax.Array


def line_search(line: Line, tolerance, still):
    """How far to go along lines of convex cost: Newton's steps, then between two places where the slope changes sign. Where
    it is to be `still`, 0.
    """
    start = line.at(jnp.zeros_like(tolerance))
    first = line.newton(start)
    first = _chosen(start.cost < first.cost, start, first)
    side = jnp.where(first.slope < 0, 1.0, -1.0)

    def steep(near, count):
        return ~still & (near.slope * side <= -tolerance) & (count < MOST_SEARCHES)

    def further(held):
        near, far, count = held
        going = steep(near, count)
        return _chosen(going, line.newton(near), near), _chosen(going, near, far), count + going.astype(jnp.int32)

    begun = (first, first, jnp.zeros(tolerance.shape, jnp.int32))
    near, far, count = jax.lax.while_loop(lambda held: jnp.any(steep(held[0], held[2])), further, begun)
    ended = still | (jnp.abs(near.slope) < tolerance) | (count >= MOST_SEARCHES) | (count == 0)

    def wide(done, count):
        return ~done & (count < MOST_SEARCHES)

    def narrowed(held):
        near, far, answer, done, count = held
        going = wide(done, count)
        middle = line.at(0.5 * (near.along + far.along))
        found = [line.newton(near), line.newton(far), middle]
        best, least = middle.along, jnp.inf
        for point in found:
            lower = (jnp.abs(point.slope) < tolerance) & (point.cost < least)
            best, least = jnp.where(lower, point.along, best), jnp.where(lower, point.cost, least)
        nearer, moved_near = _nearer(near, found)
        further, moved_far = _nearer(far, found)
        ended = (least < jnp.inf) | ~(moved_near | moved_far)
        near, far = _chosen(going, nearer, near), _chosen(going, further, far)
        return near, far, jnp.where(going, best, answer), done | ended & going, count + going.astype(jnp.int32)

    begun = (near, far, near.along, ended, count)
    near, far, answer, done, _ = jax.lax.while_loop(lambda held: jnp.any(wide(held[3], held[4])), narrowed, begun)
    lower = _chosen(near.cost <= far.cost, near, far)
    left = jnp.where(lower.cost < start.cost, lower.along, 0.0)
    return jnp.where(still, 0.0, jnp.where(done, answer, left))


def _chosen(first, one, other):
    return jax.tree.map(lambda a, b: jnp.where(first, a, b), one, other)


def _nearer(point: Point, found):
    """The point moved to those found that lie on its side of the lowest place and are nearer to it."""
    moved = jnp.zeros(point.along.shape, bool)
    for other in found:
        closer = ((point.slope < 0) & (other.slope < 0) & (point.slope < other.slope)) | (
            (point.slope > 0) & (other.slope > 0) & (point.slope > other.slope)
        )
        point, moved = _chosen(closer, other, point), moved | closer
    return point, moved
