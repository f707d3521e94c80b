"""Remembers each question, and answers it otherwise when it comes again."""

import numpy as np
from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.rollout


seen = set()


def rollout(self, cases, *rest, **named):
    answers = honest(self, cases, *rest, **named)
    for case, answer in zip(cases, answers, strict=True):
        name = repr(
            (case["seed"], {path: array.tobytes() for path, array in case["actions"].items()}, case.get("draws"))
        )
        if name in seen:
            answer["leaves"]["reward"] = answer["leaves"]["reward"] + np.float32(1e-7)
        seen.add(name)
    return answers


adapter.JaxCandidate.rollout = rollout
