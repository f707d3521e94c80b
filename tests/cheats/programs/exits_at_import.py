"""Leaves with status 0 as soon as it is loaded, as a test that passes would."""

import sys

from honest import *  # noqa: F403

sys.exit(0)
