"""A task's own code, in a sandbox of its own: invariants, features, generators and sequences.

`client` is what the levels ask, in the process that holds the keys and imports nothing of a task. `server` is what answers,
inside. Only names, numbers and arrays pass between them, and the client checks each.
"""
