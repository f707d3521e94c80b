"""What a process is started with in which a candidate in JAX runs: JAX's flags, and the device that it computes on."""

from __future__ import annotations

from collections.abc import Sequence

from harness.candidate.adapters.jax.flags import FLAGS
from harness.policy.device import variables


def jax_environment(xla_flags: Sequence[str] = (), devices: int = 1, device: str | None = None) -> dict[str, str]:
    """Environment variables for a process that runs a candidate, with a task's own XLA flags last so that they win.

    By default it computes on the device that was chosen for candidates.

    On a CPU JAX makes as many `devices` as it is told; of GPUs it has as many as its sandbox. GPU memory is taken as needed:
    by default JAX reserves three quarters of it, and the next worker, which is started while this one still runs, would find
    none.

    Raises:
        SetupError: the operator names no device that there is (`harness.policy.device`).
    """
    made = {"JAX_NUM_CPU_DEVICES": str(devices)} if devices > 1 else {}
    flags = {"XLA_FLAGS": " ".join((*FLAGS, *xla_flags)), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return {**flags, **made, **variables(device)}
