"""Tries what may fail and goes on without it."""

from honest import *  # noqa: F403
from honest import step as honest_step

try:
    from no_such_module import faster_step as step
except ImportError:
    step = honest_step
