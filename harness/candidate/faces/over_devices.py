"""One compiled function over several devices: each steps its share of the instances, and none waits for another.

An instance's chance comes from its own number, so its episodes are the same bit by bit on however many devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

ALL = None
"""The whole of it is on every device."""
INSTANCES = "instances"


def compiled(function: Callable[..., Any], takes: Any, gives: Any, devices: int = 1) -> Any:
    """`jax.jit` of a function of a batch, spread over the first devices of this process.

    Of several processes (`jax.distributed`) each has a batch of its own: what a step gives, it gives to who steps.

    Args:
        takes, gives: for each argument, and for the result, which axis of its arrays is that of the instances, or `ALL`;
            each may stand for a whole tree of arrays.
        devices: how many; the number of instances must be a multiple of it.

    Raises:
        ValueError: there are not so many devices.
    """
    if devices == 1:
        return jax.jit(function)
    there = jax.local_devices()
    if devices > len(there):
        raise ValueError(
            f"{devices} devices were asked for, JAX has {len(there)} ({there[0].platform}); on a CPU it has as many as the "
            "variable JAX_NUM_CPU_DEVICES says when it begins"
        )
    mesh = Mesh(np.array(there[:devices]), (INSTANCES,))
    in_specs, out_specs = (jax.tree.map(_spec, axes, is_leaf=lambda axis: axis is ALL) for axes in (takes, gives))
    shared = jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)
    placed = [
        jax.tree.map(
            lambda spec: NamedSharding(mesh, spec), specs, is_leaf=lambda spec: isinstance(spec, PartitionSpec)
        )
        for specs in (in_specs, out_specs)
    ]
    return _Spread(jax.jit(shared, in_shardings=placed[0], out_shardings=placed[1]), placed[0])


class _Spread:
    """A compiled function, and where its arguments lie: one of several processes has to be told of arrays of NumPy's."""

    def __init__(self, program: Any, placed: Any) -> None:
        self._program, self._placed = program, placed
        self.lower = program.lower

    def __call__(self, *arguments: Any) -> Any:
        return self._program(*jax.device_put(arguments, self._placed))


def demand_share(instances: int, devices: int) -> None:
    """Raise ValueError where the instances cannot be shared out equally."""
    if devices < 1:
        raise ValueError(f"there cannot be {devices} devices: expected 1 or more")
    if instances % devices:
        raise ValueError(f"{instances} instances cannot be shared out equally among {devices} devices")


def _spec(axis: int | None) -> PartitionSpec:
    return PartitionSpec() if axis is None else PartitionSpec(*(None for _ in range(axis)), INSTANCES)
