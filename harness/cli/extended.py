"""A group of commands to which other packages add theirs, by entry points (docs/extending.md).

Listing imports none of them. One that cannot be loaded fails when it is called, and no other command does.
"""

from __future__ import annotations

import functools

import click

from harness.errors import LockstepError
from harness.support.extensions import COMMANDS, Extension, extensions


class Extended(click.Group):
    """Commands in the order of use, and then those of other packages. Its own go before theirs of the same name."""

    @functools.cached_property
    def added(self) -> dict[str, Extension]:
        """What other packages add, by name."""
        return extensions(COMMANDS)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *(name for name in self.added if name not in self.commands)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands or cmd_name not in self.added:
            return super().get_command(ctx, cmd_name)
        try:
            return self.added[cmd_name].load(click.Command)
        except LockstepError as error:
            return _broken(cmd_name, error)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        limit = formatter.width - 6 - max(len(name) for name in names)
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary(name, limit)) for name in names])

    def _summary(self, name: str, limit: int) -> str:
        if name in self.commands:
            return self.commands[name].get_short_help_str(limit)
        # click shortens a summary to the width of its column.
        return click.Command(name, short_help=self.added[name].summary).get_short_help_str(limit)


def _broken(name: str, error: LockstepError) -> click.Command:
    """A command that takes anything and raises the error."""

    def fail(ignored: tuple[str, ...]) -> None:
        raise error

    everything = click.Argument(["ignored"], nargs=-1, type=click.UNPROCESSED)
    settings = {"ignore_unknown_options": True, "help_option_names": []}
    return click.Command(name, context_settings=settings, callback=fail, params=[everything], add_help_option=False)
