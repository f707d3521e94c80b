"""Prints, logs and warns when it is loaded."""

import logging
import sys

from honest import *  # noqa: F403

print("loading the walk")
print("to standard error", file=sys.stderr)
logging.basicConfig(level=logging.DEBUG)
logging.getLogger(__name__).warning("the walk is loaded")
