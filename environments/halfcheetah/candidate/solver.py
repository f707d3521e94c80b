"""MuJoCo's solver: Newton's method, and the three rules by which it ends."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from bodies import divided, dot, plus, total, trace
from constraints import Along, Rows
from model import SMALLEST
from physics import Mass
from search import Line, line_search
from settled import settled

MOST_ITERATIONS, TOLERANCE = 100, 1e-8
SEARCH_TOLERANCE = 0.01


class Problem(NamedTuple):
    """What is to be solved: accelerations at least cost, the cost being how far they are from those without constraints, and
    how far rows are from what they want.
    """

    mass: Mass
    force: list
    smooth: list
    rows: Rows


class Place(NamedTuple):
    """Accelerations, what they are through the matrix of inertia, how much more each constraint has than it wants, and the
    cost.
    """

    qacc: list
    moved: list
    slack: Along
    cost: jax.Array


def solve(asked: Problem, warmstart):
    """The accelerations, the forces of the constraints, and how many steps it took."""
    scale = 1 / trace(*asked.mass)
    warm, cold = _place(asked, warmstart), _place(asked, asked.smooth)
    better = settled(warm.cost <= cold.cost)
    begun = settled(jax.tree.map(lambda w, c: jnp.where(better, w, c), warm, cold))
    gradient, search = _judged(asked, begun)
    done = scale * jnp.sqrt(dot(gradient, gradient)) < TOLERANCE

    def going(held):
        _, _, done, count = held
        return jnp.any(~done) & (count < MOST_ITERATIONS)

    def improve(held):
        at, search, done, count = held
        search = settled(search)
        length, moving = jnp.sqrt(dot(search, search)), asked.mass.times(search)
        pull, slackening = plus(at.moved, -1.0, asked.force), asked.rows.along(search)
        line = settled(
            Line(
                0.5 * dot(pull, plus(at.qacc, -1.0, asked.smooth)),
                dot(search, pull),
                0.5 * dot(search, moving),
                at.slack.rows(),
                slackening.rows(),
                asked.rows.strength,
            )
        )
        still = done | (length < SMALLEST)
        far = line_search(line, TOLERANCE * SEARCH_TOLERANCE * length / scale, still)
        slack = settled(jax.tree.map(lambda a, b: a + far * b, at.slack, slackening))
        after = _at(asked, plus(at.qacc, far, search), plus(at.moved, far, moving), slack)
        gradient, search = _judged(asked, after)
        # Half of this product is what the next step would win, if no row came or went on its way.
        won, to_win = at.cost - after.cost, -0.5 * dot(gradient, search)
        done = done | (scale * won < TOLERANCE) | (scale * to_win < TOLERANCE) | (far == 0)
        return after, search, done, count + 1

    found, _, _, _ = jax.lax.while_loop(going, improve, (begun, search, done, jnp.int32(0)))
    return found.qacc, _pushed(asked.rows, found.slack)


def _place(asked: Problem, qacc) -> Place:
    slack = settled(jax.tree.map(jnp.subtract, asked.rows.along(qacc), asked.rows.wanted))
    return _at(asked, qacc, asked.mass.times(qacc), slack)


def _at(asked: Problem, qacc, moved, slack) -> Place:
    rows = slack.rows()
    pressed = total(press * row * row for press, row in zip(_pressed(asked.rows, rows), rows, strict=True))
    cost = 0.5 * pressed + 0.5 * dot(plus(moved, -1.0, asked.force), plus(qacc, -1.0, asked.smooth))
    return settled(Place(qacc, moved, slack, cost))


def _pressed(rows: Rows, slacks):
    """How strongly rows push; those that have more than they want do not."""
    return [jnp.where(slack < 0, strength, 0.0) for slack, strength in zip(slacks, rows.strength, strict=True)]


def _pushed(rows: Rows, slack: Along):
    slacks = slack.rows()
    return rows.pushed([-press * slack for press, slack in zip(_pressed(rows, slacks), slacks, strict=True)])


def _judged(asked: Problem, at: Place):
    """The gradient of the cost, and the step that would end it."""
    gradient = plus(plus(at.moved, -1.0, asked.force), -1.0, _pushed(asked.rows, at.slack))
    hessian = asked.rows.added(asked.mass.weights, asked.mass.stiff, _pressed(asked.rows, at.slack.rows()))
    gradient, hessian = settled((gradient, hessian))
    return gradient, [-part for part in divided(asked.mass.hinge, *hessian, gradient)]
