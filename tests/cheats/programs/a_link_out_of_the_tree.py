"""Links a directory of the host into its tree, to read there what it should answer."""

from honest import *  # noqa: F403
