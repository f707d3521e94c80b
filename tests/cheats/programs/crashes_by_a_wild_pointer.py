"""Reads memory that is not there."""

import ctypes

from honest import *  # noqa: F403

ctypes.string_at(0)
