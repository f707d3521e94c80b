"""Answers with arrays of Python objects that would compare as they like."""

import numpy as np
from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter


class Anything:
    """Equal to whatever it is compared with."""

    def __eq__(self, other):
        return True

    __hash__ = None


honest = adapter.JaxCandidate.rollout


def rollout(self, *given, **named):
    answers = honest(self, *given, **named)
    for answer in answers:
        answer["leaves"]["reward"] = np.array([Anything() for _ in answer["leaves"]["reward"]], object)
    return answers


adapter.JaxCandidate.rollout = rollout
