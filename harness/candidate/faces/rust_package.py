"""An environment in Rust, translated from a reference and compared with it by Lockstep.

`make_batch(n)` gives instances that step together into arrays that are allocated once, `make_vector(n)` a Gymnasium vector
environment, `make_pool(n)` what code written for EnvPool knows. Of several players there are PettingZoo's `make_aec()` and
`make_parallel()`. `contract()` says what the environment's leaves are;
`attestation()` holds the signed record of what was compared. README.md shows how to begin.
"""
# The `__init__.py` of an exported package (harness/candidate/export.py); the files that it reads lie beside it there.

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import lockstep_binding  # pyright: ignore[reportMissingModuleSource]  # compiled for each package
from .rust_batch import DISABLED, NEXT_STEP, SAME_STEP, RustBatch
from .rust_pool import SEED, RustPool

if TYPE_CHECKING:
    from .rust_vector import RustVectorEnv
    from .zoo_env import AtOnceEnv, TurnsEnv

__all__ = [
    "DISABLED",
    "NEXT_STEP",
    "SAME_STEP",
    "RustBatch",
    "RustPool",
    "attestation",
    "contract",
    "make_aec",
    "make_batch",
    "make_parallel",
    "make_pool",
    "make_vector",
]

_HERE = Path(__file__).parent


def make_batch(count: int, mode: str = SAME_STEP, threads: int = 0) -> RustBatch:
    """So many instances that step together; see `RustBatch`."""
    return RustBatch(lockstep_binding, count, mode, threads, contract()["leaves"])


def make_vector(num_envs: int, autoreset_mode: str = "NextStep", threads: int = 0, copy: bool = True) -> RustVectorEnv:
    """`num_envs` instances as a Gymnasium vector environment; needs the extra `gymnasium`.

    Args:
        autoreset_mode: `NextStep`, `SameStep` or `Disabled`, or a member of `gymnasium.vector.AutoresetMode`.
        threads, copy: see `RustVectorEnv`.
    """
    from .rust_vector import RustVectorEnv

    return RustVectorEnv(lockstep_binding, contract()["leaves"], num_envs, autoreset_mode, threads, copy)


def make_pool(num_envs: int, seed: int | Sequence[int] = SEED, num_threads: int = 0) -> RustPool:
    """`num_envs` instances with EnvPool's `reset(env_id)` and `step(action)`; see `RustPool`."""
    return RustPool(lockstep_binding, contract()["leaves"], num_envs, seed, num_threads)


def make_aec() -> TurnsEnv:
    """One game of turns as PettingZoo's `AECEnv`; needs the extra `pettingzoo`.

    Raises:
        TypeError: its players do not act in turns.
    """
    from .zoo_env import Game, TurnsEnv

    return TurnsEnv(Game(contract(), make_vector(1, "Disabled", threads=1)))


def make_parallel() -> AtOnceEnv:
    """One instance whose players act at the same time as PettingZoo's `ParallelEnv`; needs the extra `pettingzoo`.

    Raises:
        TypeError: its players act in turns.
    """
    from .zoo_env import AtOnceEnv, Game

    return AtOnceEnv(Game(contract(), make_vector(1, "Disabled", threads=1)))


def contract() -> dict[str, Any]:
    """What the environment's leaves, draws and probes are."""
    return json.loads((_HERE / "contract.json").read_text(encoding="utf-8"))


def attestation() -> dict[str, Any] | None:
    """The signed record of what was verified, a DSSE envelope; None if the package was exported without one."""
    file = _HERE / "attestation.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
