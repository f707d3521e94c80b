"""Never comes to an end."""

import signal

from honest import *  # noqa: F403

signal.pause()
