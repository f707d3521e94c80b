"""Faults that show only in states that play rarely comes to, and samplers that are wrong only where several things are seen
together.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.mutants.cartpole import STEP
from tests.mutants.plant import Mutant

CARTPOLE_PAID = '"reward": jnp.float64(1),'
CARTPOLE_RARE = {
    "fast to the right": "before.x_dot > 2.5",
    "fast to the left": "before.x_dot < -2.5",
    "very fast to the left": "before.x_dot < -2.8",
    "a pole that swings to the right": "before.theta_dot > 3.0",
    "a pole that swings further to the right": "before.theta_dot > 3.1",
    "a pole that swings to the left": "before.theta_dot < -3.0",
    "a late swing to the right": "(before.steps >= 300) & (before.theta_dot > 1.5)",
    "a late swing to the left": "(before.steps >= 250) & (before.theta_dot < -2.0)",
    "a late fall": "(state.steps >= 300) & (state.steps <= 480) & out_of_bounds(state.x, state.theta)",
    "late and fast": "(before.steps > 400) & (jnp.abs(before.x_dot) > 1.0)",
}
"""When the reward is one too much; each holds in fewer than one of a thousand steps of episodes."""


def of_cartpole(name: str, where: str) -> Mutant:
    edits = ((STEP, f"    before = state\n{STEP}"), (CARTPOLE_PAID, f"{CARTPOLE_PAID[:-1]} + ({where}),"))
    return Mutant(name, edits, 3, "reward")


CARTPOLE_START = '{"start": jax.random.uniform(key, (4,), jnp.float64, -0.05, 0.05)}'
CARTPOLE_LAWS = {
    "the fourth number is the sum of the others, modulo one": (
        "    u = jax.random.uniform(key, (4,), jnp.float64)\n"
        "    u = u.at[3].set(jnp.sum(u[:3]) % 1.0)\n"
        '    return {"start": 0.1 * u - 0.05}\n'
    ),
    "the third number is the sum of two, modulo one": (
        "    u = jax.random.uniform(key, (4,), jnp.float64)\n"
        "    u = u.at[2].set((u[0] + u[1]) % 1.0)\n"
        '    return {"start": 0.1 * u - 0.05}\n'
    ),
    "every start is one of 200": (
        "    number = jax.random.bits(key, dtype=jnp.uint32) % 200\n"
        '    return {"start": jax.random.uniform(jax.random.key(number), (4,), jnp.float64, -0.05, 0.05)}\n'
    ),
    "one of two keys is the mirror of another": (
        "    data = jax.random.key_data(key)\n"
        "    other = jax.random.wrap_key_data(data.at[1].set(data[1] & jnp.uint32(0xFFFFFFFE)))\n"
        "    start = jax.random.uniform(other, (4,), jnp.float64, -0.05, 0.05)\n"
        '    return {"start": jnp.where(data[1] % 2 == 1, -start, start)}\n'
    ),
    "the lower word of a key is ignored": (
        "    data = jax.random.key_data(key)\n"
        "    other = jax.random.wrap_key_data(data.at[1].set(jnp.uint32(7)))\n"
        '    return {"start": jax.random.uniform(other, (4,), jnp.float64, -0.05, 0.05)}\n'
    ),
    "signs that are drawn once for all": (
        "    u = jax.random.uniform(key, (4,), jnp.float64, 0.0, 0.05)\n"
        "    sign = jnp.where(jax.random.bits(key, dtype=jnp.uint32) % 2 == 0, 1.0, -1.0)\n"
        '    return {"start": sign * u}\n'
    ),
}


def sampled(name: str, body: str) -> Mutant:
    return Mutant(name, ((f"    return {CARTPOLE_START}\n", body),), 1, "draw/.*|reset draws", rule=".*")


CARTPOLE = (
    *(of_cartpole(name, where) for name, where in CARTPOLE_RARE.items()),
    *(sampled(name, body) for name, body in CARTPOLE_LAWS.items()),
)

PONG_RARE = {
    "a long rally": ("state.n_bounces > 20", "self.n_bounces > 20"),
    "a long round": ("state.tick > 300", "self.tick > 300"),
    "both at twenty": ("(state.score_l == 20) & (state.score_r == 20)", "self.score_l == 20 && self.score_r == 20"),
    "a ball as steep as can be": ("jnp.abs(state.ball_vy) >= 13", "self.ball_vy.abs() >= 13.0"),
    "a level ball in a rally": (
        "(state.ball_vy == 0) & (state.n_bounces > 6)",
        "self.ball_vy == 0.0 && self.n_bounces > 6",
    ),
    "paddles in opposite corners": (
        "(state.paddle_yl < -20) & (state.paddle_yr > 590)",
        "self.paddle_yl < -20.0 && self.paddle_yr > 590.0",
    ),
    "a ball beyond the wall at the agent's edge": (
        "(state.ball_y < 0) & (state.ball_x > 440)",
        "self.ball_y < 0.0 && self.ball_x > 440.0",
    ),
    "a close game, late": (
        "(state.score_l + state.score_r > 36) & (state.n_bounces > 4)",
        "self.score_l + self.score_r > 36 && self.n_bounces > 4",
    ),
}
"""When a step pays a tenth more: on the moved state, before a point is counted. In JAX, and in Rust where no point falls."""
PONG_PAID = "jnp.where(bounced, 0.1, 0.0))).astype(jnp.float32)"
RUST_PAID = (
    "        Step { reward: State::reward_of_rally(bounced), terminated: false, truncated: false }\n",
    "        let reward = State::reward_of_rally(bounced) + if state.is_rare() { 0.1 } else { 0.0 };\n"
    "        Step { reward, terminated: false, truncated: false }\n",
)
RUST_RULES = "impl State {\n    /// Before the first round.\n"
PONG_LAWS = {
    "a serve that is level while the agent leads": "jnp.where(state.score_r > state.score_l, drawn | 1, drawn)",
    "a serve that follows the last action": "jnp.where(action == 1, drawn | 1, drawn)",
    "a serve that is level where the agent's paddle is high": "jnp.where(state.paddle_yr > 400, drawn | 1, drawn)",
    "a serve by turns": "jnp.where((state.score_l + state.score_r) % 2 == 0, drawn | 1, drawn & 0x7FFFFFFE)",
}
SERVED = "def sample_step(key, state, action):\n    return sample_reset(key)\n"


def of_pong(name: str, where: str) -> Mutant:
    return Mutant(
        name, ((PONG_PAID, f"(jnp.where(bounced, 0.1, 0.0) + 0.1 * ({where})))).astype(jnp.float32)"),), 3, "reward"
    )


def served(name: str, serve: str) -> Mutant:
    text = f'    drawn = sample_reset(key)["serve"]\n    return {{"serve": {serve}}}\n'
    return Mutant(name, ((SERVED, SERVED.split("\n", maxsplit=1)[0] + "\n" + text),), 1, "draw/serve")


def of_crate(name: str, where: str) -> Mutant:
    rule = (
        f"impl State {{\n    pub fn is_rare(&self) -> bool {{\n        {where}\n    }}\n\n"
        + RUST_RULES.split("\n", 1)[1]
    )
    return Mutant(name, (RUST_PAID,), 3, "reward", others={"rust/src/rules.rs": ((RUST_RULES, rule),)})


def _pairs(both: Mapping[str, tuple[str, str]], side: int) -> Mapping[str, str]:
    return {name: predicates[side] for name, predicates in both.items()}


PONG = (
    *(of_pong(name, where) for name, where in _pairs(PONG_RARE, 0).items()),
    *(served(name, serve) for name, serve in PONG_LAWS.items()),
)
PONG_RUST = tuple(of_crate(name, where) for name, where in _pairs(PONG_RARE, 1).items())
