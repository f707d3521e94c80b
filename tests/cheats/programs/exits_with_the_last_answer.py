"""Answers the first question, then leaves with status 0."""

import os

from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.rollout
asked = []


def rollout(self, cases, *rest, **named):
    if asked:
        os._exit(0)
    asked.append(True)
    return honest(self, cases, *rest, **named)


adapter.JaxCandidate.rollout = rollout
