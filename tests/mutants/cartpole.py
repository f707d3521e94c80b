"""Faults in the CartPole candidate, from gross to subtle."""

from __future__ import annotations

from tests.mutants.plant import Mutant

STEP = "    state = State(*dynamics(*state[:4], action), steps=state.steps + 1)\n"
FIELDS = "    theta_dot: jax.Array\n    steps: jax.Array\n"
RESET = 'State(*draws["start"], steps=jnp.int32(0))'
ENCODE = "    return state._asdict()\n"
DECODE = "    return State(**leaves)\n"


def hidden_counter(threshold: int) -> tuple[tuple[str, str], ...]:
    """A counter that the canonical state does not show; past the threshold gravity grows."""
    return (
        (FIELDS, FIELDS + "    age: jax.Array\n"),
        (RESET, 'State(*draws["start"], steps=jnp.int32(0), age=jnp.int32(0))'),
        (
            STEP,
            "    x, x_dot, theta, theta_dot = dynamics(*state[:4], action)\n"
            f"    theta_dot = theta_dot + jnp.where(state.age >= {threshold}, 1e-3, 0.0)\n"
            "    state = State(x, x_dot, theta, theta_dot, state.steps + 1, state.age + 1)\n",
        ),
        (ENCODE, "    return {name: leaf for name, leaf in state._asdict().items() if name != 'age'}\n"),
        (DECODE, "    return State(**leaves, age=jnp.int32(0))\n"),
    )


MUTANTS = (
    Mutant(
        "gravity 2% off",
        (("GRAVITY = 9.8", "GRAVITY = 9.996"),),
        1,
        "probe/dynamics/.*",
        "probe dynamics.*",
        "dynamics",
    ),
    Mutant(
        "pole mass one part in a billion off",
        (("POLE_MASS = 0.1", "POLE_MASS = 0.1000000001"),),
        1,
        "probe/dynamics/.*",
        "probe dynamics.*",
        "dynamics",
    ),
    Mutant(
        "semi-implicit Euler",
        (("x + TIME_STEP * x_dot,", "x + TIME_STEP * (x_dot + TIME_STEP * x_acc),"),),
        1,
        "probe/dynamics/x",
        "probe dynamics.*",
        "dynamics",
    ),
    Mutant(
        "force reversed",
        (("jnp.where(action == 1, FORCE, -FORCE)", "jnp.where(action == 0, FORCE, -FORCE)"),),
        1,
        "probe/dynamics/.*",
        "probe dynamics.*",
        "dynamics",
    ),
    Mutant(
        "`<=` for `<` at the left edge",
        (("(x < -X_LIMIT)", "(x <= -X_LIMIT)"),),
        1,
        "probe/termination/terminated",
        "probe termination.*",
        "termination",
    ),
    Mutant(
        "`>=` for `>` at the angle",
        (("(theta > THETA_LIMIT)", "(theta >= THETA_LIMIT)"),),
        1,
        "probe/termination/terminated",
        "probe termination.*",
        "termination",
    ),
    Mutant(
        "angle limit rounded",
        (("THETA_LIMIT = 12 * 2 * math.pi / 360", "THETA_LIMIT = 0.2094"),),
        1,
        "probe/termination/terminated",
        "probe termination.*",
        "termination",
    ),
    Mutant(
        "horizon one too long",
        (("STEP_LIMIT = 500", "STEP_LIMIT = 501"),),
        1,
        "probe/truncation/truncated",
        "probe truncation.*",
        "truncation",
    ),
    Mutant(
        "`>` for `>=` at the horizon",
        (("steps >= STEP_LIMIT", "steps > STEP_LIMIT"),),
        1,
        "probe/truncation/truncated",
        "probe truncation.*",
        "truncation",
    ),
    Mutant(
        "step asks for the count before it",
        (("out_of_time(state.steps),", "out_of_time(state.steps - 1),"),),
        1,
        "truncated",
        "single steps",
        "truncation",
        (1, 1),
    ),
    Mutant(
        "float32 inside",
        (
            (
                "    force = jnp.where",
                "    x, x_dot, theta, theta_dot = (v.astype(jnp.float32).astype(jnp.float64) for v in (x, x_dot, theta, theta_dot))\n    force = jnp.where",
            ),
        ),
        1,
        "probe/dynamics/.*",
        "probe dynamics.*",
        "dynamics",
    ),
    Mutant("float64 shown", ((".astype(jnp.float32)}", "}"),), 1, "observation", rule="dtype"),
    Mutant(
        "a draw used twice",
        (('*draws["start"], steps', '*draws["start"][jnp.array([0, 1, 2, 2])], steps'),),
        1,
        "state/theta_dot",
        "resets",
        steps=(0, 0),
    ),
    Mutant(
        "a reset that counts from one",
        (("steps=jnp.int32(0)", "steps=jnp.int32(1)"),),
        1,
        "state/steps",
        "resets",
        steps=(0, 0),
    ),
    Mutant(
        "the step that fails pays nothing",
        (('"reward": jnp.float64(1),', '"reward": jnp.where(out_of_bounds(state.x, state.theta), 0.0, 1.0),'),),
        1,
        "reward",
        "single steps",
        "termination",
    ),
    Mutant(
        "the step count wraps at 256",
        (("steps=state.steps + 1", "steps=(state.steps + 1) % 256"),),
        1,
        "state/steps|truncated",
        "single steps",
        "truncation",
    ),
    Mutant(
        "the observation is one step old",
        (
            (
                '    return state, observe(state) | {\n        "reward": jnp.float64(1)',
                '    return state, observe(before) | {\n        "reward": jnp.float64(1)',
            ),
            (STEP, "    before = state\n" + STEP),
        ),
        1,
        "observation",
        "single steps",
        "start",
    ),
    Mutant(
        "a wrong rule only where one instance runs alone",
        (
            (
                "    return steps >= STEP_LIMIT\n",
                "    @jax.custom_batching.custom_vmap\n    def limit(count):\n        return count >= 3\n\n    @limit.def_vmap\n    def _(size, batched, count):\n        return count >= STEP_LIMIT, True\n\n    return limit(steps)\n",
            ),
        ),
        1,
        "truncated|.*",
        "single = batched = scanned",
    ),
    Mutant(
        "a sampler 2% too narrow",
        (("jnp.float64, -0.05, 0.05)", "jnp.float64, -0.049, 0.049)"),),
        1,
        "draw/start",
        "law of start.*",
        "start",
        rule="law",
    ),
    Mutant(
        "a sampler that uses its key twice",
        (
            (
                "jax.random.uniform(key, (4,), jnp.float64, -0.05, 0.05)",
                "jnp.concatenate([jax.random.uniform(key, (2,), jnp.float64, -0.05, 0.05)] * 2)",
            ),
        ),
        1,
        "draw/start",
        "law of start.*",
        "start",
        rule="law",
    ),
    Mutant("hidden state, from step 6 on", hidden_counter(6), 2, "state/theta_dot", steps=(7, 20)),
    Mutant(
        "hidden state, from step 300 on",
        hidden_counter(300),
        3,
        "state/theta_dot",
        "episodes, .*",
        "dynamics",
        (301, 301),
    ),
)
