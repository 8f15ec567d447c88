"""Words of an earlier release: each says what it is called now, for one release, and ends with exit code 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import typer

MOVED = {
    "adapt": "auscult train --notes",
    "bench": "auscult compare, and auscult bench init is auscult try",
    "compact": "auscult train MODEL --convert half",
    "evidence": "auscult explain",
    "graph": "auscult concepts graph",
    "interactions": "auscult explain",
    "results": "python -m study results",
}
"""What is typed now, by the word that was."""

MOVED_DATA = {"wikipedia-dump": "python -m study wikipedia-dump"}
"""The same, of `auscult data`."""


def pointers(moved: Mapping[str, str], before: str = "auscult") -> typer.Typer:
    """Commands that point to others: they are not listed, and whatever follows them is not read.

    Args:
        moved: What is typed now, by the word that was.
        before: What stood before that word.
    """
    group = typer.Typer()
    unread = {"ignore_unknown_options": True, "allow_extra_args": True}
    for old, now in moved.items():
        told = f"{before} {old} is now {now}"
        group.command(old, hidden=True, add_help_option=False, context_settings=unread, help=told)(_pointer(told))
    return group


def _pointer(told: str) -> Callable[[], None]:
    def point() -> None:
        typer.echo(told, err=True)
        raise typer.Exit(2)

    return point


__all__ = ["MOVED", "MOVED_DATA", "pointers"]
