"""Is spread over a package and a module beside it."""

from honest import *  # noqa: F403
from parts.moving import step

__all__ = ["step"]
