"""Throughput: how fast a candidate is beside its reference and its peers, and that what is fast is what was verified.

`run.profile` measures in one run, with the clock on this side of the pipes, and has the reference play again what was timed.
docs/profiling.md says how each figure comes about.
"""
