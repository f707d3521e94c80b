"""Gives some of its names only when they are asked for."""

import honest


def __getattr__(name):
    return getattr(honest, name)
