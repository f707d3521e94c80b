"""Leaves a daemon behind that keeps all pipes; else it is honest."""

import os
import signal

from honest import *  # noqa: F403

if os.fork() == 0:
    os.setsid()
    signal.pause()
