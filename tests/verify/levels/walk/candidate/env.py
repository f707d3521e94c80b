import jax
import jax.numpy as jnp


def sample_reset(key):
    return {}


def sample_step(key, state, action):
    return {"gust": jax.random.normal(key, dtype=jnp.float64)}


def reset(draws):
    state = {"place": jnp.float64(0), "steps": jnp.int32(0)}
    return state, outputs(state, jnp.float32(0)) | {"draws_used": {}}


def step(state, action, draws):
    windy = action == 2
    move = jnp.where(windy, draws["gust"], jnp.where(action == 1, 1.0, -1.0))
    after = {"place": state["place"] + move, "steps": state["steps"] + 1}
    reward = (jnp.abs(after["place"]) - jnp.abs(state["place"])).astype(jnp.float32)
    return after, outputs(after, reward) | {"draws_used": {"gust": windy.astype(jnp.int32)}}


def observe(state):
    return {"observation": jnp.stack([state["place"], state["steps"]]).astype(jnp.float32)}


def outputs(state, reward):
    return observe(state) | {
        "reward": reward,
        "terminated": jnp.abs(state["place"]) > 5.0,
        "truncated": state["steps"] >= 40,
    }


def encode(state):
    return state


def decode(leaves):
    return leaves


def ending(inputs):
    return {"over": (jnp.abs(inputs["place"]) > 5.0) | (inputs["steps"] >= 40)}


probes = {"ending": ending}
