"""Leaves with status 0, past every handler."""

import os

from honest import *  # noqa: F403

os._exit(0)
