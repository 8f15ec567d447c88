"""A group of commands one of which needs no name: what follows the group's name is its arguments."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

DEFAULT = "run"
"""Name of the command that is meant where none is named."""


class DefaultGroup(TyperGroup):
    """Takes the command `run` where the first argument is neither a command's name nor a call for help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command's name in front where it is meant."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


def default_group(help_text: str) -> typer.Typer:
    """An empty group of that kind.

    Args:
        help_text: What `--help` says of it.
    """
    return typer.Typer(cls=DefaultGroup, help=help_text, rich_markup_mode="markdown")


__all__ = ["DEFAULT", "default_group"]
