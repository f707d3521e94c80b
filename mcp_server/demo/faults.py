"""The faults of the demo: what a translation of CartPole gets wrong, as substitutions in the verified one.

Two of them carry a value in the candidate's state that the canonical state does not have. Single steps from a restored
state are then right, and only longer sequences or whole episodes can tell.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.errors import LockstepError


@dataclass(frozen=True)
class Hidden:
    """A value that a candidate carries beside its canonical state: how it begins, goes on, and is restored."""

    name: str
    reset: str
    step: str
    decode: str


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        kind: what sort of mistake it is; the scripted agent's diagnoses name kinds.
        title: the mistake, in a few words.
        edits: pairs of a text that stands once in the verified candidate, and the faulty one in its place.
        hidden: what the faulty candidate carries from step to step unseen.
        repair: what the agent says when it has repaired it.
    """

    kind: str
    title: str
    edits: tuple[tuple[str, str], ...]
    repair: str
    hidden: tuple[Hidden, ...] = ()


CONSTANT = "constant"
LIMIT = "limit"
SAMPLER = "sampler"
ORDER = "order"
COUNTDOWN = "countdown"

_CONSTANTS = (
    Fault(
        CONSTANT,
        "the pole's length taken for its half",
        (("HALF_LENGTH = 0.5", "HALF_LENGTH = 1.0"),),
        "Take half the pole's length in the moment",
    ),
    Fault(CONSTANT, "gravity of 9.81", (("GRAVITY = 9.8", "GRAVITY = 9.81"),), "Take gravity as the reference has it"),
    Fault(
        CONSTANT,
        "a pole twice as heavy",
        (("POLE_MASS = 0.1", "POLE_MASS = 0.2"),),
        "Take the pole's mass as the reference has it",
    ),
)
_LIMITS = (
    Fault(
        LIMIT,
        "`<=` for `<` at the field's left edge",
        (("(x < -X_LIMIT)", "(x <= -X_LIMIT)"),),
        "Let the edge itself belong to the field",
    ),
    Fault(
        LIMIT,
        "`>=` for `>` at the angle's limit",
        (("(theta > THETA_LIMIT)", "(theta >= THETA_LIMIT)"),),
        "Let the pole stand at its very limit",
    ),
    Fault(
        LIMIT,
        "the angle's limit rounded",
        (("THETA_LIMIT = 12 * 2 * math.pi / 360", "THETA_LIMIT = 0.2094"),),
        "Compute the angle's limit instead of rounding it",
    ),
)
_SAMPLERS = (
    Fault(
        SAMPLER,
        "starts drawn from too narrow a range",
        (("jnp.float64, -0.05, 0.05)", "jnp.float64, -0.048, 0.048)"),),
        "Draw starts from the reference's whole range",
    ),
    Fault(
        SAMPLER,
        "one number drawn for all four",
        (
            (
                "jax.random.uniform(key, (4,), jnp.float64, -0.05, 0.05)",
                "jnp.tile(jax.random.uniform(key, (), jnp.float64, -0.05, 0.05), 4)",
            ),
        ),
        "Draw a number for each part of the start",
    ),
)
_ORDERS = (
    Fault(
        ORDER,
        "sine and cosine carried on before the angle has moved",
        (
            (
                "def dynamics(x, x_dot, theta, theta_dot, action):",
                "def dynamics(x, x_dot, theta, theta_dot, action, carried=None):",
            ),
            (
                "cos, sin = jnp.cos(theta), jnp.sin(theta)",
                "cos, sin = carried if carried else (jnp.cos(theta), jnp.sin(theta))",
            ),
            ("*dynamics(*state[:4], action)", "*dynamics(*state[:4], action, (state.cos, state.sin))"),
        ),
        "Compute sine and cosine in the step, of the angle that it starts from",
        (
            Hidden("cos", 'jnp.cos(draws["start"][2])', "jnp.cos(state.theta)", 'jnp.cos(leaves["theta"])'),
            Hidden("sin", 'jnp.sin(draws["start"][2])', "jnp.sin(state.theta)", 'jnp.sin(leaves["theta"])'),
        ),
    ),
)
_COUNTDOWNS = (
    Fault(
        COUNTDOWN,
        "a countdown to the time limit that begins one too low",
        (('"truncated": out_of_time(state.steps)', '"truncated": state.left <= 0'),),
        "Ask the step count for the time limit; drop the countdown",
        (Hidden("left", "jnp.int32(STEP_LIMIT - 1)", "state.left - 1", 'STEP_LIMIT - leaves["steps"]'),),
    ),
)
KINDS = (_CONSTANTS, _LIMITS, _SAMPLERS, _ORDERS, _COUNTDOWNS)
"""The variants of each kind of fault."""

_FIELDS = "    steps: jax.Array\n"
_RESET = "steps=jnp.int32(0)"
_STEP = "steps=state.steps + 1"
_ENCODE = "return state._asdict()"
_DECODE = "State(**leaves)"


def chosen(seed: int) -> tuple[Fault, ...]:
    """One fault of each kind; the seed decides which, and 0 takes the first of each."""
    if seed == 0:
        return tuple(variants[0] for variants in KINDS)
    rng = random.Random(seed)
    return tuple(rng.choice(variants) for variants in KINDS)


def faulty(verified: str, faults: Collection[Fault]) -> str:
    """The verified candidate's source with these faults put in.

    Raises:
        LockstepError: the verified candidate has changed and a fault no longer fits into it.
    """
    source = verified
    for fault in faults:
        for right, wrong in fault.edits:
            source = _replaced(source, right, wrong)
    hidden = [value for fault in faults for value in fault.hidden]
    return _carrying(source, hidden) if hidden else source


def _carrying(source: str, hidden: Sequence[Hidden]) -> str:
    """A source whose state carries more than `encode` shows."""

    def arguments(moment: str) -> str:
        return "".join(f", {value.name}={getattr(value, moment)}" for value in hidden)

    names = ", ".join(f'"{value.name}"' for value in hidden)
    shown = f"return {{name: leaf for name, leaf in state._asdict().items() if name not in ({names},)}}"
    source = _replaced(source, _FIELDS, _FIELDS + "".join(f"    {value.name}: jax.Array\n" for value in hidden))
    source = _replaced(source, _RESET, _RESET + arguments("reset"))
    source = _replaced(source, _STEP, _STEP + arguments("step"))
    source = _replaced(source, _ENCODE, shown)
    return _replaced(source, _DECODE, f"State(**leaves{arguments('decode')})")


def _replaced(source: str, old: str, new: str) -> str:
    if source.count(old) != 1:
        raise LockstepError(
            f"the demo's fault does not fit: {old!r} stands {source.count(old)} times in the verified candidate",
            where="mcp_server/demo/faults.py",
            expected="exactly once",
            next_step="change the fault along with environments/cartpole/candidate",
        )
    return source.replace(old, new)
