"""PufferLib 3.0.0's Pong at frameskip 8, for one instance, equal to the C code bit for bit.

A step runs sub-frames until one of them ends the rally. That one counts only for the point: the observation stays that
of the last whole sub-frame, and the state becomes a new round, which one raw `rand()` value serves.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

FRAMES = 8
WIDTH, HEIGHT = 500.0, 640.0
PADDLE, BALL = 70.0, 32.0
PADDLE_SPEED, BALL_SPEED = 8.0, 10.0
MAX_VY, VY_STEP = 13.0, 3.0
LOWEST, HIGHEST = -PADDLE / 2, HEIGHT - PADDLE / 2
MAX_SCORE = 21
SCALES = (HIGHEST - LOWEST, HIGHEST - LOWEST, WIDTH, HEIGHT, 2 * BALL_SPEED, 2 * MAX_VY)


class State(NamedTuple):
    """The C structure's fields, in pixels, y upwards: `_yl` and `_l` are the opponent's, `_yr` and `_r` the agent's.

    The observation is one of them: after a point it is not that of the state.
    """

    paddle_yl: jax.Array
    paddle_yr: jax.Array
    ball_x: jax.Array
    ball_y: jax.Array
    ball_vx: jax.Array
    ball_vy: jax.Array
    score_l: jax.Array
    score_r: jax.Array
    paddle_dir: jax.Array
    tick: jax.Array
    n_bounces: jax.Array
    win: jax.Array
    observation: jax.Array


def sample_reset(key):
    return {"serve": (jax.random.bits(key, dtype=jnp.uint32) >> 1).astype(jnp.int32)}


def sample_step(key, state, action):
    return sample_reset(key)


def reset(draws):
    zero, none, nil, unseen = jnp.float32(0), jnp.int32(0), jnp.uint32(0), jnp.zeros(8, jnp.float32)
    blank = State(zero, zero, zero, zero, zero, zero, nil, nil, zero, none, none, none, unseen)
    state = look(new_round(blank, draws["serve"]))
    return state, observe(state) | {"reward": zero, "terminated": jnp.bool(False), "truncated": jnp.bool(False)}


def step(state, action, draws):
    state = state._replace(paddle_dir=direction(action), tick=state.tick + 1)
    nothing = jnp.bool(False)
    state, whole, bounced, lost, won = jax.lax.fori_loop(
        0, FRAMES, next_frame, (state, nothing, nothing, nothing, nothing)
    )
    state = select(whole, look(state), state)
    state, reward, terminated = settle(state, bounced, lost, won, draws["serve"])
    return state, observe(state) | {
        "reward": reward,
        "terminated": terminated,
        "truncated": jnp.bool(False),
        "draws_used": {"serve": (lost | won).astype(jnp.int32)},
    }


def direction(action):
    return (action == 1).astype(jnp.float32) - (action == 2).astype(jnp.float32)


def next_frame(_, rally):
    """One sub-frame. Held where its rally ends, a state meets that same end again in every frame that follows."""
    state, whole, bounced, lost, won = rally
    moved, passed = meet_opponent(move_ball(move_paddles(state)))
    moved, hit, missed = meet_agent(moved)
    lost, won = lost | missed, won | passed
    over = lost | won
    return select(over, state, moved), whole | ~over, bounced | hit, lost, won


def move_paddles(state):
    """The agent's paddle moves by its direction, the opponent's after the ball, where that is before it moves."""
    chase = jnp.clip(state.ball_y - (state.paddle_yl + PADDLE / 2), -PADDLE_SPEED, PADDLE_SPEED)
    return state._replace(
        paddle_yl=jnp.clip(state.paddle_yl + chase, LOWEST, HIGHEST),
        paddle_yr=jnp.clip(state.paddle_yr + PADDLE_SPEED * state.paddle_dir, LOWEST, HIGHEST),
    )


def move_ball(state):
    """A wall turns the ball around, but does not put it back inside."""
    x, y = state.ball_x + state.ball_vx, state.ball_y + state.ball_vy
    outside = (y < 0) | (y + BALL > HEIGHT)
    return state._replace(ball_x=x, ball_y=y, ball_vy=jnp.where(outside, -state.ball_vy, state.ball_vy))


def meet_opponent(state):
    """The left edge: the opponent returns the ball as it came, or it passes."""
    there = state.ball_x < 0
    hit = there & beside(state.ball_y, state.paddle_yl)
    return bounce(state, hit), there & ~hit


def meet_agent(state):
    """The right edge: only here does a moving paddle change vy, and only here is the ball put back into the field."""
    there = state.ball_x + BALL > WIDTH
    hit = there & beside(state.ball_y, state.paddle_yr)
    vy = jnp.clip(state.ball_vy + VY_STEP * state.paddle_dir, -MAX_VY, MAX_VY)
    returned = bounce(state, hit)._replace(
        ball_x=jnp.clip(state.ball_x, 0.0, WIDTH - BALL),
        ball_y=jnp.clip(state.ball_y, 0.0, HEIGHT - BALL),
        # C compares with the double 0.01, and the float32 nearest to it is less than that.
        ball_vy=jnp.where(jnp.abs(vy) <= 0.01, VY_STEP, vy),
    )
    return select(hit, returned, state), hit, there & ~hit


def beside(ball_y, paddle_y):
    return (ball_y + BALL > paddle_y) & (ball_y < paddle_y + PADDLE)


def bounce(state, hit):
    return state._replace(ball_vx=jnp.where(hit, -state.ball_vx, state.ball_vx), n_bounces=state.n_bounces + hit)


def settle(state, bounced, lost, won, serve):
    """What a step comes to: the state with the point counted and the next round served, reward, end of the game."""
    point = lost | won
    scored = state._replace(
        score_l=state.score_l + lost,
        score_r=state.score_r + won,
        win=jnp.where(point, won, state.win).astype(jnp.int32),
    )
    terminated = (lost & (scored.score_l == MAX_SCORE)) | (won & (scored.score_r == MAX_SCORE))
    reward = jnp.where(won, 1.0, jnp.where(lost, -1.0, jnp.where(bounced, 0.1, 0.0))).astype(jnp.float32)
    return select(point, new_round(scored, serve), state), reward, terminated


def new_round(state, serve):
    """Paddles and ball in place. An even `rand()` serves downwards, an odd one straight, none upwards."""
    middle = jnp.float32((HEIGHT - PADDLE) / 2)
    return state._replace(
        paddle_yl=middle,
        paddle_yr=middle,
        ball_x=jnp.float32(WIDTH / 5),
        ball_y=jnp.float32((HEIGHT - BALL) / 2),
        ball_vx=jnp.float32(BALL_SPEED),
        ball_vy=(serve % 2 - 1).astype(jnp.float32),
        tick=jnp.int32(0),
        n_bounces=jnp.int32(0),
    )


def look(state):
    """The state with its observation brought up to date."""
    yl, yr, x, y, vx, vy, *points = state[:8]
    # XLA replaces division by a constant with its reciprocal, which rounds differently. These depend on a variable.
    scales = jnp.array(SCALES, jnp.float32) + 0.0 * vy
    scaled = jnp.stack([yl - LOWEST, yr - LOWEST, x, y, vx + BALL_SPEED, vy + MAX_VY]) / scales
    return state._replace(observation=jnp.append(scaled, jnp.stack(points) // MAX_SCORE))


def observe(state):
    return {"observation": state.observation}


def select(condition, if_true, if_false):
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), if_true, if_false)


def encode(state):
    return state._asdict()


def decode(leaves):
    return State(**leaves)


# --- probes: one rule each, asked from a state that is otherwise at rest ----------------------------------------------

BALL_FIELDS = ("ball_x", "ball_y", "ball_vx", "ball_vy")


def rest(inputs, **changes):
    """A quiet state with those inputs that are fields of it, and with what the probe is about."""
    state, _ = reset({"serve": jnp.int32(1)})
    given = {name: value for name, value in inputs.items() if name in State._fields}
    return state._replace(ball_x=jnp.float32(WIDTH / 2), ball_vx=jnp.float32(0))._replace(**given, **changes)


def chosen(state, *names):
    return {name: getattr(state, name) for name in names}


def probe_serve(inputs):
    return chosen(new_round(rest(inputs), inputs["serve"]), "paddle_yl", "paddle_yr", *BALL_FIELDS)


def probe_paddles(inputs):
    state = rest(inputs, paddle_dir=direction(inputs["action"]))
    return chosen(move_paddles(state), "paddle_yl", "paddle_yr")


def probe_opponent(inputs):
    state, passed = meet_opponent(move_ball(rest(inputs, ball_vx=jnp.float32(-BALL_SPEED))))
    state, reward, _ = settle(state, jnp.bool(False), jnp.bool(False), passed, inputs["serve"])
    return chosen(state, *BALL_FIELDS, "n_bounces") | {"reward": reward}


def probe_agent(inputs):
    state = rest(inputs, ball_vx=jnp.float32(BALL_SPEED), paddle_dir=direction(inputs["action"]))
    state, hit, missed = meet_agent(move_ball(state))
    state, reward, _ = settle(state, hit, missed, jnp.bool(False), inputs["serve"])
    return chosen(state, *BALL_FIELDS, "n_bounces") | {"reward": reward}


def probe_scoring(inputs):
    won = inputs["agent_scores"]
    state, reward, terminated = settle(rest(inputs), jnp.bool(False), ~won, won, jnp.int32(0))
    return chosen(state, "score_l", "score_r", "win") | {"reward": reward, "terminated": terminated}


probes = {
    "observation": lambda inputs: observe(look(rest(inputs))),
    "serve": probe_serve,
    "paddles": probe_paddles,
    "ball": lambda inputs: chosen(move_ball(rest(inputs)), *BALL_FIELDS),
    "opponent": probe_opponent,
    "agent": probe_agent,
    "scoring": probe_scoring,
}
