"""Faults in limits that a step compares with: so small that only states on the limit itself show them.

The probes of the candidates stay honest: what they are asked is not what a step does.
"""

from __future__ import annotations

from tests.mutants.plant import Mutant

NAME = "boundaries"
JUDGED = "out_of_bounds(state.x, state.theta)"


def edges(
    left: str = "state.x < -X_LIMIT",
    right: str = "state.x > X_LIMIT",
    back: str = "state.theta < -THETA_LIMIT",
    ahead: str = "state.theta > THETA_LIMIT",
) -> tuple[tuple[str, str], ...]:
    """CartPole's step with a rule of its own for one of the four limits."""
    return ((JUDGED, f"({left}) | ({right}) | ({back}) | ({ahead})"),)


def of_cartpole(name: str, **wrong: str) -> Mutant:
    return Mutant(name, edges(**wrong), 2, "terminated", NAME, None, (1, 1))


CARTPOLE = (
    of_cartpole("the right edge 1e-9 too far", right="state.x > X_LIMIT + 1e-9"),
    of_cartpole("the right edge one bit too far", right="state.x > math.nextafter(X_LIMIT, 3.0)"),
    of_cartpole("the left edge one bit too near", left="state.x < -math.nextafter(X_LIMIT, 2.0)"),
    of_cartpole("`>=` for `>` at the right edge", right="state.x >= X_LIMIT"),
    of_cartpole("`<=` for `<` at the angle to the left", back="state.theta <= -THETA_LIMIT"),
    of_cartpole("an edge in float32", right="state.x.astype(jnp.float32) > jnp.float32(X_LIMIT)"),
    of_cartpole("an angle in float32", ahead="state.theta.astype(jnp.float32) > jnp.float32(THETA_LIMIT)"),
    of_cartpole("twelve degrees made radians in another order", ahead="state.theta > math.radians(12)"),
    of_cartpole(
        "an angle in degrees, in float32",
        ahead="jnp.degrees(state.theta.astype(jnp.float32)) > 12",
        back="jnp.degrees(state.theta.astype(jnp.float32)) < -12",
    ),
    of_cartpole(
        "cosines of angle and limit", ahead="(state.theta > 0) & (jnp.cos(state.theta) < math.cos(THETA_LIMIT))"
    ),
    of_cartpole(
        "what is close to the edge is not beyond", right="(state.x > X_LIMIT) & ~jnp.isclose(state.x, X_LIMIT)"
    ),
    of_cartpole(
        "an edge a part in a trillion too near while the pole leans back",
        left="state.x < -X_LIMIT * jnp.where(state.theta > 0, 1 - 1e-12, 1.0)",
    ),
    of_cartpole(
        "an edge 1e-12 too far while the pole swings to the left",
        right="state.x > X_LIMIT + jnp.where(state.theta_dot < 0, 1e-12, 0.0)",
    ),
    of_cartpole(
        "an angle 1e-10 too small on the left half of the field",
        ahead="state.theta > THETA_LIMIT - jnp.where(state.x < 0, 1e-10, 0.0)",
    ),
)


def of_pong(name: str, rule: str, wrong: str, path: str = "state/.*|reward|draw/serve") -> Mutant:
    """Pong with a rule that is another in a step. No time has passed where a probe asks for it, in a step some has.

    Games are played in whole pixels, on which the wrong limit must not show: it is beside them.
    """
    return Mutant(name, ((rule, f"jnp.where(state.tick > 0, {wrong}, {rule})"),), 2, path, NAME, None, (1, 1))


OPPONENT = "beside(state.ball_y, state.paddle_yl)"
AGENT = "beside(state.ball_y, state.paddle_yr)"

PONG = (
    of_pong("the lower wall 1e-5 too low", "(y < 0)", "y < -1e-5"),
    of_pong("the upper wall one bit too high", "(y + BALL > HEIGHT)", "y + BALL > HEIGHT + 7e-5"),
    of_pong("the left edge 1e-6 too far", "state.ball_x < 0", "state.ball_x < -1e-6"),
    of_pong("the right edge one bit too far", "state.ball_x + BALL > WIDTH", "state.ball_x + BALL > WIDTH + 4e-5"),
    of_pong(
        "the agent's paddle 1e-4 too short above",
        AGENT,
        "(state.ball_y + BALL > state.paddle_yr) & (state.ball_y < state.paddle_yr + PADDLE - 1e-4)",
    ),
    of_pong(
        "the agent's paddle 1e-4 too short below",
        AGENT,
        "(state.ball_y + BALL > state.paddle_yr + 1e-4) & (state.ball_y < state.paddle_yr + PADDLE)",
    ),
    of_pong(
        "the opponent's paddle 1e-4 too short above",
        OPPONENT,
        "(state.ball_y + BALL > state.paddle_yl) & (state.ball_y < state.paddle_yl + PADDLE - 1e-4)",
    ),
    of_pong(
        "the opponent's paddle is missed where its edge is close",
        OPPONENT,
        f"{OPPONENT} & ~jnp.isclose(state.ball_y, state.paddle_yl + PADDLE, rtol=1e-6)",
    ),
    of_pong(
        "the agent's paddle 1e-4 too short while it moves down",
        AGENT,
        "(state.ball_y + BALL > state.paddle_yr + jnp.where(state.paddle_dir < 0, 1e-4, 0.0))"
        " & (state.ball_y < state.paddle_yr + PADDLE)",
    ),
)
