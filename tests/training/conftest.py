from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.candidate.jax_process import jax_environment

# Read when JAX starts. Most of the time of these tests goes into compiling, and none of them measures speed.
os.environ.update(jax_environment(("--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true")))

import jax

from harness.candidate.adapters.jax.candidate import JaxCandidate
from harness.candidate.faces.jax_env import JaxEnv
from harness.protocol.environment import Environment
from harness.protocol.worker import decode, encode
from tests.candidate.adapters.contracts import leaf

CANDIDATES = Path(__file__).parent / "candidates"


def cue(*shown: str, masked: bool = True) -> dict[str, Any]:
    """The contract of candidates/cue.py with some of its observations."""
    observations = {
        "observation/shown": leaf("float32", 4),
        "observation/once": leaf("float32", 4),
        "observation/picture": leaf("uint8", 4, 4, 1),
    }
    return {
        "entry": str(CANDIDATES / ("_".join(shown) + ("" if masked else "_unmasked") + ".py")),
        "x64": False,
        "mode": "tape",
        "leaves": {f"observation/{name}": observations[f"observation/{name}"] for name in shown}
        | {
            "action/name": leaf("int64", low=0, high=3),
            "action/aim": leaf("float32", 1, low=-1.0, high=1.0),
            "reward": leaf("float32"),
            "terminated": leaf("bool"),
            "truncated": leaf("bool"),
            "state/cue": leaf("int32"),
            "state/steps": leaf("int32"),
        }
        | ({"legal_actions/name": leaf("bool", 4)} if masked else {}),
        "draws": {"cue": {"dtype": "int32", "shape": [], "at": "reset", "capacity": 1}},
        "probes": {},
    }


class Direct:
    """A candidate in this process where a channel would be: what passes is encoded and decoded as on the wire."""

    def __init__(self, candidate: JaxCandidate) -> None:
        self._candidate = candidate

    def ask(self, call: str, *, timeout: float | None = None, **arguments: Any) -> Any:
        return decode(encode(getattr(self._candidate, call)(**decode(encode(arguments)))))

    def kill(self) -> None:
        raise AssertionError("it was to open")


def opened(contract: Mapping[str, Any]) -> Environment:
    """A candidate of this process behind the harness's own client."""
    return Environment(Direct(JaxCandidate()), contract)  # type: ignore[arg-type]


def jax_env(contract: Mapping[str, Any]) -> JaxEnv:
    return JaxEnv(contract["entry"], contract)


@pytest.fixture(autouse=True)
def as_strict_as_can_be() -> Iterator[None]:
    jax.config.update("jax_enable_x64", False)
    with jax.numpy_dtype_promotion("strict"):
        yield
    jax.config.update("jax_enable_x64", False)
