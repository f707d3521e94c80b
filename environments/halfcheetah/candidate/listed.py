"""Numbers by parts in the order of the reference: the torso, then the back leg, then the front one."""

import jax.numpy as jnp
from constraints import TIMES, Rows
from model import LEGS, LINKS

_LINKS = [(leg, link) for leg in range(LEGS) for link in range(LINKS)]
_EDGES = len(TIMES)


def joints(links):
    return jnp.stack([links[link][leg] for leg, link in _LINKS])


def bodies(parts):
    return jnp.concatenate([parts[0][None], joints(parts[1:])])


def ends(parts):
    return jnp.concatenate([parts[0], *(parts[1 + link][:, leg] for leg, link in _LINKS)])


def rows(numbers):
    """Six limits, then the edges of each end: forwards, backwards and sideways."""
    edges = [ends(numbers[LINKS + edge :: _EDGES]) for edge in range(_EDGES)]
    edges = jnp.stack(edges, axis=1)
    return jnp.concatenate([joints(numbers[:LINKS]), edges.reshape(-1, *edges.shape[2:])])


def strengths(found: Rows):
    """How strongly each row resists, once."""
    edges = found.strength[LINKS:]
    return rows(found.strength[:LINKS] + [edge / TIMES[number % _EDGES] for number, edge in enumerate(edges)])
