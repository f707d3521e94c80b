"""Uses cond, while_loop, scan and switch."""

import jax
import jax.numpy as jnp
from honest import *  # noqa: F403
from honest import step as honest_step


def step(state, action, draws):
    _after, outputs = honest_step(state, action, draws)
    moves = (lambda gust: jnp.float64(-1), lambda gust: jnp.float64(1), lambda gust: gust)
    move = jax.lax.switch(action, moves, draws["gust"])
    place = jax.lax.cond(move > 0, lambda p: p + move, lambda p: p + move, state["place"])
    steps = jax.lax.while_loop(lambda s: s <= state["steps"], lambda s: s + 1, state["steps"])
    zero = jax.lax.scan(lambda carry, one: (carry, one), jnp.float64(0), jnp.zeros(3))[0]
    return {"place": place + zero * 0, "steps": steps}, outputs
