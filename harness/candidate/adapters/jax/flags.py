"""Runtime flags of JAX for whoever starts a process in which a candidate runs. Importing this module does not import JAX.

`--xla_cpu_enable_concurrency_optimized_scheduler=false`: jaxlib 0.10.2 can deadlock on the CPU, idle for ever, in some
    `lax.scan` programs over a large batch; without the concurrency-optimised scheduler it does not.
`--xla_gpu_deterministic_ops=true`: on a GPU, reductions and scatters otherwise add in an order that changes from run to
    run, and a candidate could then differ from itself.

Flags that trade speed for a result nearer to a reference's belong to a task (`candidate.xla_flags`), which can judge the
price: `--xla_disable_hlo_passes=algsimp` keeps `x / constant` a division instead of a multiplication by the reciprocal,
and `--xla_cpu_max_isa=AVX` rules out fused multiply-add.
"""

from __future__ import annotations

import os

FLAGS = ("--xla_cpu_enable_concurrency_optimized_scheduler=false", "--xla_gpu_deterministic_ops=true")


def prepare_process() -> None:
    """Have JAX run in this process as it does in a candidate's. It reads its flags when it begins, so call this before.

    Where nobody says which platform, it is the CPU: what comes of a training is not to depend on what a machine has beside.
    """
    present = os.environ.get("XLA_FLAGS", "")
    lacking = [flag for flag in FLAGS if flag.partition("=")[0] not in present]
    os.environ["XLA_FLAGS"] = " ".join([*lacking, present]).strip()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if not os.environ.get("JAX_PLATFORMS"):
        import jax

        jax.config.update("jax_platforms", "cpu")  # it has read that variable already
