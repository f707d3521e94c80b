"""Leaves with status 0, while a child holds its pipes open and would answer in its place."""

import os

from honest import *  # noqa: F403

if os.fork():
    os._exit(0)
