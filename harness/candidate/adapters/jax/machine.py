"""What the machine itself can do through XLA: the bounds that no honest run can beat. No candidate is near."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import Any

import jax
import jax.numpy as jnp

Answer = dict[str, Any]
KINDS = ("operations", "bytes")


class Machine:
    """Answers the calls of a measured run with kernels of which the work is known.

    `operations`: the product of two square matrices of `batch` rows, 2 `batch`³ operations. `bytes`: `batch` float32
    numbers, each read once and written once, 8 `batch` bytes.
    """

    answers_batches = True

    def __init__(self) -> None:
        self._prepared: dict[tuple[str, int], Any] = {}

    def open(self, options: Mapping[str, Any]) -> Answer:
        """What JAX runs on."""
        device = jax.devices()[0]
        return {
            "kinds": list(KINDS),
            "platform": device.platform,
            "device": device.device_kind,
            "devices": len(jax.devices()),
            "jax": jax.__version__,
            "jaxlib": metadata.version("jaxlib"),
        }

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Compile a kernel and make what it works on."""
        if kind == "operations":
            matrix = jnp.ones((batch, batch), jnp.float32)
            kernel = jax.jit(jnp.matmul)
            self._prepared[kind, batch] = kernel.lower(matrix, matrix).compile(), (matrix, matrix)
        else:
            numbers = jnp.ones(batch, jnp.float32)
            self._prepared[kind, batch] = jax.jit(lambda x: x + 1).lower(numbers).compile(), (numbers,)
        return {}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Run a kernel `length * repeats` times."""
        kernel, arguments = self._prepared[kind, batch]
        for _ in range(length * repeats):
            result = kernel(*arguments)
            jax.block_until_ready(result)
        return {}

    def close(self) -> None:
        """Forget what was prepared."""
        self._prepared.clear()
