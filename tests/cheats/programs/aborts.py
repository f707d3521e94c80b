"""Crashes in native code."""

import os

from honest import *  # noqa: F403

os.abort()
