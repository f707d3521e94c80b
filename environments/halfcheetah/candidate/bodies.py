"""Motions and forces of bodies, and how they go along the legs.

All are taken about the hinge of the torso: a body's motion is what the point of it that is there does along x, along z, and
how it turns, and a body's force pushes it there along x and z, and turns it. Lists go by parts, which are the torso, the
thighs, the shins and the feet of both legs. Vectors of the degrees of freedom are lists, too: x, z, pitch, then hips, knees
and ankles.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from model import LEGS, LINKS
from settled import settled


class Planar(NamedTuple):
    """A motion or a force."""

    x: jax.Array
    z: jax.Array
    turn: jax.Array


class Weight(NamedTuple):
    """What makes a force of a motion: a symmetric matrix of along x, along z and turning (t)."""

    xx: jax.Array
    xz: jax.Array
    zz: jax.Array
    xt: jax.Array
    zt: jax.Array
    tt: jax.Array

    def times(self, motion: Planar) -> Planar:
        x, z, turn = motion
        return Planar(
            self.xx * x + self.xz * z + self.xt * turn,
            self.xz * x + self.zz * z + self.zt * turn,
            self.xt * x + self.zt * z + self.tt * turn,
        )


# --- vectors ----------------------------------------------------------------------------------------------------------


def split(vector):
    """A list of degrees of freedom, of those in the order of the model `[9, ...]`."""
    return [vector[0], vector[1], vector[2], *(vector[3 + link :: LINKS] for link in range(LINKS))]


def whole(parts):
    """Degrees of freedom in the order of the model, of a list."""
    return jnp.stack([*parts[:3], *(parts[3 + link][leg] for leg in range(LEGS) for link in range(LINKS))])


def plus(one, factor, other):
    return [a + factor * b for a, b in zip(one, other, strict=True)]


def dot(one, other):
    products = [a * b for a, b in zip(one, other, strict=True)]
    return sum(products[:3]) + added(sum(products[3:]))


def added(numbers):
    """The sum over the first axis."""
    # A loop that reads one array in several places at once does not become one of vectors.
    numbers = settled(numbers)
    return sum(numbers[index] for index in range(len(numbers)))


def total(arrays):
    """The sum of all numbers of each cheetah; arrays of one shape are added first."""
    sums = {}
    for array in arrays:
        sums[array.shape] = sums.get(array.shape, 0.0) + array
    while len(sums) > 1 or any(len(shape) > 1 for shape in sums):
        longest = max(sums, key=len)
        array = added(sums.pop(longest))
        sums[array.shape] = sums.get(array.shape, 0.0) + array
    return next(iter(sums.values()))


def joined(one, other):
    """Two motions, forces or weights as one."""
    return type(one)(*(a + b for a, b in zip(one, other, strict=True)))


def both(legs):
    """A force or a weight of both legs as one."""
    return type(legs)(*map(added, legs))


# --- along the legs ---------------------------------------------------------------------------------------------------

UPWARDS = range(LINKS, 0, -1)


def carried(hinges, vector):
    """How parts move when the degrees of freedom move so."""
    motions = [Planar(*vector[:3])]
    for (x, z), turn in zip(hinges[1:], vector[3:], strict=True):
        motions.append(joined(motions[-1], Planar(-z * turn, x * turn, turn)))
    return settled(motions)


def gathered(hinges, forces):
    """What forces on parts are along the degrees of freedom."""
    held, along = Planar(0.0, 0.0, 0.0), []
    for part in UPWARDS:
        (x, z), held = hinges[part], joined(forces[part], held)
        held = settled(held)
        along.insert(0, held.turn - z * held.x + x * held.z)
    return [*joined(forces[0], both(held)), *along]


def trace(hinges, weights, stiff):
    """The sum of the diagonal of the matrix of inertia of bodies that weigh so, on hinges that resist `stiff` besides."""
    held, diagonal = Weight(*[0.0] * 6), 0.0
    for part in UPWARDS:
        (x, z), held = hinges[part], joined(weights[part], held)
        diagonal += _turned(held, x, z)[1] + stiff[part - 1]
    held = joined(weights[0], both(held))
    return held.xx + held.zz + held.tt + added(diagonal)


def divided(hinges, weights, stiff, vector):
    """The inverse of that matrix times a vector.

    From the feet upwards, a body becomes one with what hangs on it and gives way; then motions go back downwards.
    """
    held, pull, kept = Weight(*[0.0] * 6), Planar(0.0, 0.0, 0.0), []
    for part in UPWARDS:
        (x, z), held = hinges[part], joined(weights[part], held)
        held, pull = settled((held, pull))
        force, own = settled(_turned(held, x, z))
        inverse = settled(1 / (own + stiff[part - 1]))
        alone = (vector[2 + part] - (pull.turn - z * pull.x + x * pull.z)) * inverse
        given = Planar(*(number * inverse for number in force))
        held = Weight(
            held.xx - force.x * given.x,
            held.xz - force.x * given.z,
            held.zz - force.z * given.z,
            held.xt - force.x * given.turn,
            held.zt - force.z * given.turn,
            held.tt - force.turn * given.turn,
        )
        pull = Planar(*(a + b * alone for a, b in zip(pull, force, strict=True)))
        kept.insert(0, (x, z, alone, given))
    held, pull = settled((both(held), both(pull)))
    motion = _of_torso(joined(weights[0], held), [a - b for a, b in zip(vector[:3], pull, strict=True)])
    found = [*motion]
    for x, z, alone, given in kept:
        turn = alone - given.x * motion.x - given.z * motion.z - given.turn * motion.turn
        motion = settled(joined(motion, Planar(-z * turn, x * turn, turn)))
        found.append(turn)
    return found


def _turned(weight: Weight, x, z):
    """The force that turning about a hinge there takes, and how much of it is along that hinge."""
    force = Planar(
        weight.xt - z * weight.xx + x * weight.xz,
        weight.zt - z * weight.xz + x * weight.zz,
        weight.tt - z * weight.xt + x * weight.zt,
    )
    return force, force.turn - z * force.x + x * force.z


def _of_torso(weight: Weight, force) -> Planar:
    """The motion of a body that a force gives, by a triangle, a diagonal, and the triangle again."""
    first = 1 / weight.xx
    xz, xt = weight.xz * first, weight.xt * first
    second = 1 / (weight.zz - xz * weight.xz)
    rest = weight.zt - xt * weight.xz
    zt = rest * second
    third = 1 / (weight.tt - xt * weight.xt - zt * rest)
    z = force[1] - xz * force[0]
    turn = (force[2] - xt * force[0] - zt * z) * third
    z = z * second - zt * turn
    return settled(Planar(force[0] * first - xz * z - xt * turn, z, turn))
