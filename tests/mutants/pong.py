"""Faults in the Pong candidate, from gross to subtle."""

from __future__ import annotations

from tests.mutants.plant import Mutant

MUTANTS = (
    Mutant(
        "a paddle 3% faster",
        (("PADDLE_SPEED, BALL_SPEED = 8.0, 10.0", "PADDLE_SPEED, BALL_SPEED = 8.24, 10.0"),),
        1,
        "probe/paddles/.*",
        "probe paddles.*",
        "paddles",
    ),
    Mutant(
        "up and down exchanged",
        (("(action == 1).astype(jnp.float32) - (action == 2)", "(action == 2).astype(jnp.float32) - (action == 1)"),),
        1,
        "probe/paddles/paddle_yr",
        "probe paddles.*",
        "paddles",
    ),
    Mutant(
        "the opponent chases the ball where it will be",
        (
            (
                "moved, passed = meet_opponent(move_ball(move_paddles(state)))",
                "moved, passed = meet_opponent(move_paddles(move_ball(state)))",
            ),
        ),
        1,
        "state/.*",
        "single steps",
    ),
    Mutant(
        "a wall that puts the ball back",
        (
            (
                "return state._replace(ball_x=x, ball_y=y, ball_vy=",
                "return state._replace(ball_x=x, ball_y=jnp.clip(y, 0.0, HEIGHT - BALL), ball_vy=",
            ),
        ),
        1,
        "probe/ball/ball_y",
        "probe ball.*",
        "ball",
    ),
    Mutant(
        "`<=` for `<` at the lower wall",
        (("(y < 0) |", "(y <= 0) |"),),
        1,
        "probe/ball/ball_vy",
        "probe ball.*",
        "ball",
    ),
    Mutant(
        "a paddle one pixel too long",
        (("(ball_y < paddle_y + PADDLE)", "(ball_y < paddle_y + PADDLE + 1)"),),
        1,
        "probe/(opponent|agent)/.*",
        "probe (opponent|agent).*",
    ),
    Mutant(
        "C's double 0.01 read as a float",
        (("jnp.abs(vy) <= 0.01", "jnp.abs(vy) < 0.01"),),
        1,
        "probe/agent/ball_vy",
        "probe agent.*|known cases",
        "agent",
    ),
    Mutant(
        "the opponent's paddle changes vy too",
        (
            (
                "    return bounce(state, hit), there & ~hit\n",
                "    return bounce(state, hit)._replace(ball_vy=jnp.where(hit, jnp.clip(state.ball_vy + VY_STEP, -MAX_VY, MAX_VY), state.ball_vy)), there & ~hit\n",
            ),
        ),
        1,
        "probe/opponent/ball_vy",
        "probe opponent.*",
        "opponent",
    ),
    Mutant(
        "a serve that can go up",
        (("(serve % 2 - 1)", "(serve % 3 - 1)"),),
        1,
        "probe/serve/ball_vy",
        "probe serve.*",
        "start",
    ),
    Mutant(
        "a game one point too long",
        (("MAX_SCORE = 21", "MAX_SCORE = 22"),),
        1,
        "probe/(scoring/terminated|observation/observation)",
        "probe .*",
    ),
    Mutant(
        "the observation of the new round on a point",
        (
            (
                'return state, observe(state) | {\n        "reward": reward',
                'return state, observe(look(state)) | {\n        "reward": reward',
            ),
        ),
        1,
        "observation",
        "single steps",
    ),
    Mutant(
        "the draw of a point not reported",
        (
            (
                '"draws_used": {"serve": (lost | won).astype(jnp.int32)}',
                '"draws_used": {"serve": won.astype(jnp.int32)}',
            ),
        ),
        1,
        "draw/serve|invariant/.*",
        rule="draws|invariant:.*",
    ),
    Mutant(
        "the tick goes on in the next round",
        (("        tick=jnp.int32(0),\n", ""),),
        1,
        "state/tick|probe/.*",
        ".*",
        steps=(0, 1),
    ),
    Mutant("seven sub-frames", (("FRAMES = 8", "FRAMES = 7"),), 1, "state/.*|observation", "single steps"),
    Mutant(
        "division by a reciprocal",
        ((" / scales\n", " * (jnp.float32(1) / scales)\n"),),
        1,
        "probe/observation/observation",
        "probe observation.*",
        "start",
    ),
    Mutant(
        "a sampler of even numbers only",
        (
            (
                "(jax.random.bits(key, dtype=jnp.uint32) >> 1)",
                "(jax.random.bits(key, dtype=jnp.uint32) >> 1 << 1 & 0x7FFFFFFF)",
            ),
        ),
        1,
        "draw/serve",
        "law of serve.*",
        rule="law",
    ),
)
