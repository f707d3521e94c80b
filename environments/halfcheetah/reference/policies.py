"""Scripted policies, which bring the cheetah where random torques seldom do."""

from __future__ import annotations

from typing import Any

import numpy as np


def gallop(row: dict[str, Any], rng: np.random.RandomState) -> np.ndarray:
    """Swing both legs to and fro, each joint a little later than the one above it."""
    phase = 0.9 * row["state/steps"]
    swing = np.sin(phase + np.array([0.0, 0.8, 1.6, np.pi, np.pi + 0.8, np.pi + 1.6]))
    return np.clip(swing + 0.3 * rng.standard_normal(6), -1.0, 1.0).astype(np.float32)


def tumble(row: dict[str, Any], rng: np.random.RandomState) -> np.ndarray:
    """Push off with the back leg again and again, until it lies on its head or its back."""
    push = 1.0 if row["state/steps"] % 20 < 12 else -1.0
    legs = np.array([push, push, push, -push, -push, 0.0])
    return np.clip(legs + 0.2 * rng.standard_normal(6), -1.0, 1.0).astype(np.float32)


def rest(row: dict[str, Any], rng: np.random.RandomState) -> np.ndarray:
    """Stand, after a push now and then."""
    if row["state/steps"] % 50 < 2:
        return rng.uniform(-1.0, 1.0, 6).astype(np.float32)
    return np.zeros(6, np.float32)


POLICIES = {"gallop": gallop, "tumble": tumble, "rest": rest}
