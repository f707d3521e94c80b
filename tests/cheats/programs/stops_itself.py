"""Stops its own process, so that it neither answers nor ends."""

import os
import signal

from honest import *  # noqa: F403

os.kill(os.getpid(), signal.SIGSTOP)
