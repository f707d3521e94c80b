"""An environment in JAX, translated from a reference and compared with it by Lockstep.

`make()` gives pure functions, `make_gymnax()` the same in gymnax's shape, `make_vector(n)` a Gymnasium vector environment.
Of several players there are `make_pgx()`, `make_jaxmarl()`, and PettingZoo's `make_aec()` and `make_parallel()`.
`contract()` says what the environment's leaves are and how it was run when it was verified; `attestation()` holds the
signed record of that. README.md shows how to begin.
"""
# The `__init__.py` of an exported package (harness/candidate/export.py); the files that it reads lie beside it there.

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .jax_env import JaxEnv
from .jax_gymnax import GymnaxEnv

if TYPE_CHECKING:
    from .jax_marl import MarlEnv
    from .jax_pgx import PgxEnv
    from .jax_vector import JaxVectorEnv
    from .zoo_env import AtOnceEnv, TurnsEnv

__all__ = [
    "GymnaxEnv",
    "JaxEnv",
    "attestation",
    "contract",
    "make",
    "make_aec",
    "make_gymnax",
    "make_jaxmarl",
    "make_parallel",
    "make_pgx",
    "make_vector",
]

_HERE = Path(__file__).parent


def make() -> JaxEnv:
    """The environment as pure functions of one instance, to be vmapped, jitted and scanned.

    Raises:
        RuntimeError: it needs JAX's 64-bit types and they are off; the message says how to switch them on.
    """
    described = contract()
    return JaxEnv(_HERE / described["entry"], described)


def make_gymnax() -> GymnaxEnv:
    """The environment with gymnax 1.x's `reset(key, params)` and `step(key, state, action, params)`."""
    return GymnaxEnv(make())


def make_vector(num_envs: int, autoreset_mode: str = "NextStep", devices: int = 1) -> JaxVectorEnv:
    """`num_envs` instances as a Gymnasium vector environment; needs the extra `gymnasium`.

    Args:
        autoreset_mode: `NextStep`, `SameStep` or `Disabled`, or a member of `gymnasium.vector.AutoresetMode`.
        devices: over how many devices of this process the instances are spread equally; their episodes are the same.
    """
    from .jax_vector import JaxVectorEnv

    return JaxVectorEnv(make(), num_envs, autoreset_mode, devices)


def make_pgx() -> PgxEnv:
    """A game of turns with pgx's `init(key)` and `step(state, action, key)`.

    Raises:
        TypeError: it is no game that pgx's interface has room for; the message says why.
    """
    from .jax_pgx import PgxEnv

    return PgxEnv(make())


def make_jaxmarl() -> MarlEnv:
    """The environment of several players with JaxMARL's dicts by agent.

    Raises:
        TypeError: one agent plays.
    """
    from .jax_marl import MarlEnv

    return MarlEnv(make())


def make_aec() -> TurnsEnv:
    """One game of turns as PettingZoo's `AECEnv`; needs the extra `pettingzoo`.

    Raises:
        TypeError: its players do not act in turns.
    """
    from .zoo_env import Game, TurnsEnv

    return TurnsEnv(Game(contract(), make_vector(1, "Disabled")))


def make_parallel() -> AtOnceEnv:
    """One instance whose players act at the same time as PettingZoo's `ParallelEnv`; needs the extra `pettingzoo`.

    Raises:
        TypeError: its players act in turns.
    """
    from .zoo_env import AtOnceEnv, Game

    return AtOnceEnv(Game(contract(), make_vector(1, "Disabled")))


def contract() -> dict[str, Any]:
    """What the environment's leaves, draws and probes are, and the XLA flags under which it was compared."""
    return json.loads((_HERE / "contract.json").read_text(encoding="utf-8"))


def attestation() -> dict[str, Any] | None:
    """The signed record of what was verified, a DSSE envelope; None if the package was exported without one."""
    file = _HERE / "attestation.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
