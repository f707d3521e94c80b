"""Does the reference declare what its task states?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from harness.authoring.conformance.kit import Failed, Kit, Passed
from harness.model import Leaf
from harness.protocol.spec import CAPABILITIES
from harness.task.contract import STANDARD_POLICIES, Mode


def opens(kit: Kit) -> Passed:
    """It starts, and describes itself in a way that can be read."""
    capabilities = ", ".join(sorted(kit.spec.capabilities)) or "none"
    return Passed(1, f"{len(kit.spec.leaves)} leaves; capabilities: {capabilities}")


def agrees_with_its_task(kit: Kit) -> Passed:
    """Its spec and the task agree, leaf by leaf, probe by probe, draw by draw."""
    wrong = [*_leaves(kit), *_probes(kit), *_draws(kit)]
    for policy in sorted(set(kit.task.budgets.policies) - {*STANDARD_POLICIES, *kit.spec.policies}):
        wrong.append(f"policy {policy}: {kit.contract} names it, the adapter does not have it")
    for name in sorted(kit.spec.capabilities - set(CAPABILITIES)):
        wrong.append(f"capability {name}: there is none of this name, only {', '.join(CAPABILITIES)}")
    if wrong:
        raise Failed("\n".join(wrong))
    return Passed(len(kit.spec.leaves))


def _leaves(kit: Kit) -> Iterator[str]:
    yield from _mistakes(kit, "leaf", kit.task.leaves, kit.spec.leaves)
    for path, leaf in kit.actions.items():
        found = kit.spec.leaves[path]
        if found.shape == leaf.shape and _bounds(found) != _bounds(leaf):
            yield (
                f"leaf {path}: the adapter's bounds are {found.low} to {found.high}, "
                f"{kit.contract} says {leaf.low} to {leaf.high}"
            )


def _probes(kit: Kit) -> Iterator[str]:
    for name, probe in kit.task.probes.items() if kit.can("probe") else ():
        found = kit.spec.probes.get(name)
        if found is None:
            yield f"probe {name}: only {kit.contract} declares it"
        else:
            yield from _mistakes(kit, f"probe {name}, input", probe.inputs, found.inputs)
            yield from _mistakes(kit, f"probe {name}, output", probe.outputs, found.outputs)


def _draws(kit: Kit) -> Iterator[str]:
    if kit.task.mode is not Mode.TAPE:
        return
    if not kit.can("draws"):
        yield "mode tape needs the capability draws: the adapter has to report its chance events"
        return
    for name in sorted(kit.task.draws.keys() | kit.spec.draws.keys()):
        wanted, found = kit.task.draws.get(name), kit.spec.draws.get(name)
        if wanted is None or found is None:
            yield f"draw {name}: only {kit.contract if found is None else 'the adapter'} declares it"
        elif (wanted.dtype, wanted.shape, wanted.at) != (found.dtype, found.shape, found.at):
            forms = [f"{draw.dtype} {list(draw.shape)} at {draw.at}" for draw in (found, wanted)]
            yield f"draw {name}: the adapter says {forms[0]}, {kit.contract} says {forms[1]}"


def _mistakes(kit: Kit, what: str, wanted: Mapping[str, Leaf], found: Mapping[str, Leaf]) -> Iterator[str]:
    for path in dict.fromkeys([*wanted, *found]):
        if path not in found or path not in wanted:
            yield f"{what} {path}: only {kit.contract if path not in found else 'the adapter'} declares it"
        elif (wanted[path].dtype, wanted[path].shape) != (found[path].dtype, found[path].shape):
            forms = [f"{leaf.dtype} {list(leaf.shape)}" for leaf in (found[path], wanted[path])]
            yield f"{what} {path}: the adapter says {forms[0]}, {kit.contract} says {forms[1]}"


def _bounds(leaf: Leaf) -> list[list[float] | None]:
    """Bounds element by element, so that a number and an array of it are the same."""
    return [
        None if bound is None else np.broadcast_to(np.asarray(bound, np.float64), leaf.shape).ravel().tolist()
        for bound in (leaf.low, leaf.high)
    ]
