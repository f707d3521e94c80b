"""How long something takes or took, in words that a person reads at a glance."""

from __future__ import annotations

MINUTE, HOUR = 60, 3600


def in_words(seconds: float) -> str:
    """A duration to about one digit more than its unit: `40 seconds`, `9 minutes`, `1 hour 20 minutes`."""
    whole = max(0, round(seconds))
    if whole < 2 * MINUTE:
        return _counted(whole, "second")
    minutes = round(whole / MINUTE)
    if minutes < HOUR // MINUTE:
        return _counted(minutes, "minute")
    hours, minutes = divmod(minutes, MINUTE)
    return _counted(hours, "hour") + (f" {_counted(minutes, 'minute')}" if minutes and hours < 10 else "")


def left(seconds: float, done: int, total: int) -> str:
    """What remains of work that goes on as it went, as `, about 9 minutes left`; empty before the first part is done."""
    return f", about {in_words(seconds / done * (total - done))} left" if 0 < done < total else ""


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
