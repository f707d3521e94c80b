"""Answers a probe wrongly where it is asked for many inputs, and leaves with status 0 when it is asked for one."""

import os

import numpy as np
from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.probe


def probe(self, name, inputs, *rest, **named):
    if len(next(iter(inputs.values()))) == 1:
        os._exit(0)
    return {leaf: np.zeros_like(values) for leaf, values in honest(self, name, inputs, *rest, **named).items()}


adapter.JaxCandidate.probe = probe
