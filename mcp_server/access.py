"""Which sessions a caller reaches: the one place where that is decided.

Handlers have no way to the home directory but through `Access.reach`, which takes the session that they want to look at and
whose answer is the same for a session that does not exist and for one that belongs to somebody else. Over HTTP a client
reaches the sessions that its token began, and those that the operator shared; the operator's token reaches all. On stdio
the caller was started by the person who owns the home, and reaches all.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token

from harness import operations
from harness.errors import NoSuchSession, SessionError
from harness.policy.budgets import demand_budget
from harness.policy.owners import NOBODY, owner_of
from harness.policy.spent import LOCAL
from harness.record import directory as directories
from harness.record.specification import split

OPERATOR = "operator"
"""The scope of a token that sees every session."""


@dataclass(frozen=True)
class Caller:
    """Who calls: the name of its token, None on stdio; and whether it sees all sessions."""

    token: str | None
    is_operator: bool

    @property
    def spends_as(self) -> str:
        """The client whose budget this caller spends."""
        return LOCAL if self.token is None else self.token

    @property
    def corner(self) -> str:
        """The directory below the workspace root in which its workspaces lie; empty for that root itself."""
        return "" if self.is_operator else str(self.token)


@dataclass(frozen=True)
class Access:
    """What the callers of one server reach.

    Attributes:
        needs_token: whether callers come over HTTP; one without a token then reaches nothing.
        shared: sessions that every client of this server may use.
    """

    _home: Path = field(repr=False)
    needs_token: bool = False
    shared: Collection[str] = ()

    def caller(self) -> Caller:
        """Who made the request that is being answered."""
        if not self.needs_token:
            return Caller(None, is_operator=True)
        token = get_access_token()
        if token is None:
            return Caller(NOBODY, is_operator=False)
        return Caller(token.client_id, OPERATOR in token.scopes)

    def sees(self, session: str) -> bool:
        """Whether the caller may know of a session, or of one reading of it; it need not exist."""
        caller = self.caller()
        if caller.is_operator:
            return True
        whole, _ = split(session)
        owner = owner_of(self._home, whole)
        shared = session in self.shared or whole in self.shared
        return shared or (owner not in (None, NOBODY) and owner == caller.token)

    def reach(self, session: str) -> Path:
        """The home in which a session may be looked up under this name, or the one of whose readings this is the name.

        Raises:
            NoSuchSession: there is none that the caller may know of.
        """
        whole, _ = split(session)
        if self.caller().is_operator:
            with suppress(NoSuchSession):
                directories.find(self._home, whole)  # also by its workspace
                return self._home
        elif self.sees(session) and (self._home / directories.SESSIONS / whole).is_dir():
            return self._home
        known = ", ".join(row["session"] for row in self.sessions()) or "none"
        raise NoSuchSession(
            f"there is no session {session!r}",
            expected=f"the id of a session that you may use; there are: {known}",
            next_step="begin one with start_session, or ask the operator to share one (`lockstep serve --share SESSION`)",
        )

    def sessions(self) -> list[dict[str, Any]]:
        """A row for each session that the caller may know of."""
        return operations.sessions(self._home, seen=self.sees)

    def start(self, task: Path, workspace: Path, **chosen: Any) -> dict[str, Any]:
        """Begin a session, which then belongs to the caller.

        Raises:
            SessionError: the caller has no name; and what `operations.start` raises.
        """
        if self.caller().token == NOBODY:
            raise SessionError("nobody may begin a session without a token")
        return operations.start(str(task), workspace, self._home, owner=self.caller().token, **chosen)

    def start_specification(self, name: str, directory: Path, rules: str) -> dict[str, Any]:
        """Begin a session on rules in words, which then belongs to the caller.

        Raises:
            SessionError: the caller has no name; and what `operations.specification.begin` raises.
        """
        from harness.operations import specification  # with it comes all that judges

        if self.caller().token == NOBODY:
            raise SessionError("nobody may begin a session without a token")
        return specification.begin(name, directory, rules, home=self._home, owner=self.caller().token)

    def demand_budget(self, session: str) -> None:
        """Refuse a caller whose own budget is used up, in a session whose spending counts for somebody else.

        Raises:
            SessionError: it is.
        """
        spends_as = self.caller().spends_as
        if (owner_of(self._home, split(session)[0]) or LOCAL) != spends_as:
            demand_budget(self._home, spends_as)
