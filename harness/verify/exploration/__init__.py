"""Exploration of the reference: states are kept by how rare they are, and played on from.

In the manner of Go-Explore and of coverage-guided fuzzing. `classes` turns numbers into small classes, `cells` turns
timesteps into cells, `archive` counts cells and keeps the states that were in rare ones, `declared` those in which features
of the task show, `actions` says how to play on, and `explorer` does it.
"""
