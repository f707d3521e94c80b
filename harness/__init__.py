"""Lockstep: proves, commit by commit, that a fast translation of an RL environment equals its slow reference."""

__version__ = "0.1.0"
