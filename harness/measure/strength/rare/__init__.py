"""The detection curve: which faults in rare states a verification finds, by how rare the states are.

`numbers` takes numbers out of steps, `predicates` says what holds of them, `play` plays at random, `drawing` draws
predicates from random play, `counting` counts how often they hold, `watching` sees which of them a verification meets,
`planting` makes real mutants of some, `curve` is the result, and `run` does all of it.
"""
