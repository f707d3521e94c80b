"""Answers with arrays that say that they equal everything."""

import numpy as np
from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter


class Agreeable(np.ndarray):
    """An array without an opinion of its own."""

    def __eq__(self, other):
        return np.ones(self.shape, bool)

    def __ne__(self, other):
        return np.zeros(self.shape, bool)

    __hash__ = None


honest = adapter.JaxCandidate.rollout


def rollout(self, *given, **named):
    answers = honest(self, *given, **named)
    for answer in answers:
        answer["leaves"] = {path: (leaf + leaf).view(Agreeable) for path, leaf in answer["leaves"].items()}
    return answers


adapter.JaxCandidate.rollout = rollout
