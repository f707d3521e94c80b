"""MuJoCo's solver: Newton's method, with its line search, and the three rules by which it ends."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from model import JOINTS, SMALLEST
from physics import Rows

MOST_ITERATIONS, TOLERANCE = 100, 1e-8
MOST_SEARCHES, SEARCH_TOLERANCE = 50, 0.01
TIMES = np.array([1.0] * JOINTS + [1.0, 1.0, 2.0] * 16)
"""How often each row counts: friction sideways moves nothing in the plane, so both of its edges are the ground alone."""


class Point(NamedTuple):
    """A place on a line: how far along, the cost there, its slope and its curvature."""

    along: jax.Array
    cost: jax.Array
    slope: jax.Array
    curve: jax.Array


class _Newton(NamedTuple):
    qacc: jax.Array
    moved: jax.Array
    slack: jax.Array
    cost: jax.Array
    pushed: jax.Array
    search: jax.Array
    iterations: jax.Array
    done: jax.Array


def solve(inertia, smooth_force, smooth, rows: Rows, warmstart):
    """Accelerations that meet the constraints at least cost, by Newton's method, and the forces of the constraints `[9]`."""
    strength = rows.strength * TIMES
    scale = 1 / jnp.trace(inertia)

    def judged(qacc, moved, slack):
        pressed = jnp.where(slack < 0, strength, 0.0)
        cost = 0.5 * jnp.sum(pressed * slack * slack) + 0.5 * jnp.dot(moved - smooth_force, qacc - smooth)
        pushed = rows.jacobian.T @ (-pressed * slack)
        gradient = moved - smooth_force - pushed
        hessian = inertia + rows.jacobian.T @ (pressed[:, None] * rows.jacobian)
        return cost, pushed, gradient, -divided(hessian, gradient)

    def from_start(qacc):
        moved, slack = inertia @ qacc, rows.jacobian @ qacc - rows.wanted
        return moved, slack, judged(qacc, moved, slack)

    warm, cold = from_start(warmstart), from_start(smooth)
    better = warm[2][0] <= cold[2][0]
    qacc = jnp.where(better, warmstart, smooth)
    moved, slack, (cost, pushed, gradient, search) = jax.tree.map(lambda w, c: jnp.where(better, w, c), warm, cold)
    lowest = scale * jnp.linalg.norm(gradient) < TOLERANCE
    begun = _Newton(qacc, moved, slack, cost, pushed, search, jnp.int32(0), lowest)

    def improve(at: _Newton) -> _Newton:
        length = jnp.linalg.norm(at.search)
        moving, slackening = inertia @ at.search, rows.jacobian @ at.search
        along = (
            0.5 * jnp.dot(at.moved - smooth_force, at.qacc - smooth),
            jnp.dot(at.search, at.moved - smooth_force),
            0.5 * jnp.dot(at.search, moving),
        )

        def at_place(far) -> Point:
            pressed = jnp.where(at.slack + far * slackening < 0, strength, 0.0)
            constant = along[0] + 0.5 * jnp.sum(pressed * at.slack * at.slack)
            linear = along[1] + jnp.sum(pressed * at.slack * slackening)
            square = along[2] + 0.5 * jnp.sum(pressed * slackening * slackening)
            return Point(far, constant + far * linear + far * far * square, linear + 2 * far * square, 2 * square)

        far = jnp.where(length < SMALLEST, 0.0, line_search(at_place, TOLERANCE * SEARCH_TOLERANCE * length / scale))
        qacc, moved, slack = at.qacc + far * at.search, at.moved + far * moving, at.slack + far * slackening
        cost, pushed, gradient, search = judged(qacc, moved, slack)
        # Half of this product is what the next step would win, if no row came or went on its way.
        won, to_win = at.cost - cost, -0.5 * jnp.dot(gradient, search)
        done = (scale * won < TOLERANCE) | (scale * to_win < TOLERANCE) | (far == 0)
        return _Newton(qacc, moved, slack, cost, pushed, search, at.iterations + 1, done)

    found = jax.lax.while_loop(lambda at: ~at.done & (at.iterations < MOST_ITERATIONS), improve, begun)
    return found.qacc, found.pushed


def line_search(at_place, tolerance):
    """How far to go along a line of convex cost: Newton's steps, then between two places where the slope changes sign."""
    start = at_place(jnp.float64(0))
    first = _newton(at_place, start)
    first = _chosen(start.cost < first.cost, start, first)
    side = jnp.where(first.slope < 0, 1.0, -1.0)

    def further(carry):
        point, _, count = carry
        return _newton(at_place, point), point, count + 1

    near, past, count = jax.lax.while_loop(
        lambda carry: (carry[0].slope * side <= -tolerance) & (carry[2] < MOST_SEARCHES), further, (first, first, 0)
    )
    ended = (jnp.abs(near.slope) < tolerance) | (count >= MOST_SEARCHES) | (count == 0)

    def narrowed(carry):
        near, next_near, far, next_far, count, _, _ = carry
        middle = at_place(0.5 * (near.along + far.along))
        found = jax.tree.map(lambda *parts: jnp.stack(parts), next_near, next_far, middle)
        flat = jnp.abs(found.slope) < tolerance
        best = jnp.argmin(jnp.where(flat, found.cost, jnp.inf))
        near, next_near, moved = _nearer(at_place, near, found, next_near)
        far, next_far, moved_far = _nearer(at_place, far, found, next_far)
        stuck = ~(moved | moved_far)
        answer = jnp.where(jnp.any(flat), found.along[best], middle.along)
        return near, next_near, far, next_far, count + 1, answer, jnp.any(flat) | stuck

    begun = (near, _newton(at_place, near), past, near, count, near.along, ended)
    near_end, _, far_end, _, _, answer, done = jax.lax.while_loop(
        lambda carry: ~carry[6] & (carry[4] < MOST_SEARCHES), narrowed, begun
    )
    lower = _chosen(near_end.cost <= far_end.cost, near_end, far_end)
    left = jnp.where(lower.cost < start.cost, lower.along, 0.0)
    return jnp.where(done, answer, left)


def _newton(at_place, point: Point) -> Point:
    return at_place(point.along - point.slope / point.curve)


def _chosen(first, one, other):
    return jax.tree.map(lambda a, b: jnp.where(first, a, b), one, other)


def _nearer(at_place, point: Point, found: Point, following: Point):
    """The point moved to those found that lie on its side of the lowest place and are nearer to it."""
    moved = jnp.bool(False)
    for index in range(3):
        other = Point(*(part[index] for part in found))
        closer = ((point.slope < 0) & (other.slope < 0) & (point.slope < other.slope)) | (
            (point.slope > 0) & (other.slope > 0) & (point.slope > other.slope)
        )
        point, moved = _chosen(closer, other, point), moved | closer
    return point, _chosen(moved, _newton(at_place, point), following), moved


def divided(matrix, vector):
    """A symmetric positive matrix's inverse times a vector."""
    factor = jax.scipy.linalg.cho_factor(matrix, lower=True)
    return jax.scipy.linalg.cho_solve(factor, vector)
