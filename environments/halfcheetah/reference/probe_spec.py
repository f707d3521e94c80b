"""The inputs and outputs of the probes, as the protocol says them."""

from __future__ import annotations

from typing import Any

DOFS, BODIES, JOINTS, CAPSULES = 9, 7, 6, 8
ENDS = 2 * CAPSULES
EDGES = 3
ROWS = JOINTS + EDGES * ENDS


def number(*shape: int) -> dict[str, Any]:
    """A leaf of float64."""
    return {"dtype": "float64", "shape": list(shape)}


_QPOS, _QVEL = {"qpos": number(DOFS)}, {"qvel": number(DOFS)}
_ACTION = {"action": {"dtype": "float32", "shape": [JOINTS], "low": -1.0, "high": 1.0}}
_ALL = {**_QPOS, **_QVEL, **_ACTION, "warmstart": number(DOFS)}
_FORCE = {"force": number(DOFS)}

PROBES: dict[str, Any] = {
    "kinematics": {
        "inputs": _QPOS,
        "outputs": {
            "cos": number(BODIES),
            "sin": number(BODIES),
            "hinge": number(BODIES, 2),
            "center": number(BODIES, 2),
            "end": number(ENDS, 2),
        },
    },
    "mass_matrix": {"inputs": _QPOS, "outputs": {"matrix": number(DOFS, DOFS)}},
    "bias": {"inputs": {**_QPOS, **_QVEL}, "outputs": _FORCE},
    "passive": {"inputs": {**_QPOS, **_QVEL}, "outputs": _FORCE},
    "actuation": {"inputs": _ACTION, "outputs": _FORCE},
    "limits": {"inputs": _QPOS, "outputs": {"distance": number(JOINTS), "towards": number(JOINTS)}},
    "contacts": {
        "inputs": _QPOS,
        "outputs": {"touches": {"dtype": "bool", "shape": [ENDS]}, "distance": number(ENDS), "x": number(ENDS)},
    },
    "constraints": {
        "inputs": {**_QPOS, **_QVEL},
        "outputs": {"jacobian": number(ROWS, DOFS), "wanted": number(ROWS), "strength": number(ROWS)},
    },
    "solver": {"inputs": _ALL, "outputs": {"qacc": number(DOFS), "force": number(DOFS)}},
    "advance": {
        "inputs": _ALL,
        "outputs": {"qpos": number(DOFS), "qvel": number(DOFS), "warmstart": number(DOFS)},
    },
    "reward": {"inputs": {"x_velocity": number(), **_ACTION}, "outputs": {"reward": number()}},
}
