"""Verification: one exported tree in, one verdict out; and from a difference to its cause."""
