"""Kills its parent, then every process that it may."""

import os
import signal

from honest import *  # noqa: F403

os.kill(os.getppid(), signal.SIGKILL)
