"""Has names in other scripts, and some that others would avoid."""

from honest import *  # noqa: F403
from honest import step as honest_step


def _schritt__(zustand, aktion, ziehungen):
    lambda_ = honest_step
    self, __class__ = zustand, aktion
    return lambda_(self, __class__, ziehungen)


globals()["schritt f\u00fcr schritt"] = _schritt__
step = globals()["schritt f\u00fcr schritt"]
