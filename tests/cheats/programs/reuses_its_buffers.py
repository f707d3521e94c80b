"""Answers every case of a call with the buffer of the last one."""

import numpy as np
from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.rollout


def rollout(self, cases, *rest, **named):
    answers = honest(self, cases, *rest, **named)
    for answer in answers:
        rows = len(answer["leaves"]["reward"])
        for path, leaf in answers[-1]["leaves"].items():
            answer["leaves"][path] = np.resize(leaf, (rows, *leaf.shape[1:]))
    return answers


adapter.JaxCandidate.rollout = rollout
