"""What a session's events tell, read once and kept up as the log grows."""

from __future__ import annotations

from harness.errors import RecordError
from harness.record.event import Event
from harness.record.log import verified
from harness.session import recipe
from harness.session.recipe import Plan


class History:
    """The events of a session and where the recipe stands after them.

    Attributes:
        events: oldest first; the very list of an `EventLog` where there is one, so that it grows with the log.
        state: where the recipe stands after every event that `advance` was given.

    Raises:
        RecordError: the log does not begin with the start of a session, or an event holds what none does.
    """

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        plan = _plan_of(events)
        try:
            self.state = recipe.fold(plan, events)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise RecordError(
                f"the log does not tell a session: {type(error).__name__}: {error}",
                expected="arguments and details as Lockstep writes them",
                next_step="run the audit to see which event is wrong",
            ) from error
        self._applied = len(events)

    @property
    def not_applied(self) -> list[Event]:
        """What the log has gained and `state` does not know yet."""
        return self.events[self._applied :]

    @property
    def plan(self) -> Plan:
        """What the session has to go through, as the task in force has it."""
        return self.state.plan

    @property
    def head(self) -> Event | None:
        """The event that made the newest verified commit."""
        done = verified(self.events)
        return done[-1] if done else None

    def advance(self, event: Event) -> None:
        """Take the first of `not_applied` into the state."""
        self.state = recipe.advance(self.state, event)
        self._applied += 1


def _plan_of(events: list[Event]) -> Plan:
    """The plan that a session's first event states.

    Raises:
        RecordError: the log does not begin with the start of a session.
    """
    try:
        return Plan.from_json(events[0].detail["plan"])
    except (IndexError, KeyError, TypeError) as error:
        raise RecordError(
            "the log does not begin with the start of a session", expected="a plan in its first event"
        ) from error
