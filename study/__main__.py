"""`python -m study`, from the root of a checkout: registers one command a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.markup import escape

from auscult.errors import AuscultError
from study.commands.errors import errors
from study.commands.figures import figures
from study.commands.mark import mark
from study.commands.results import results
from study.commands.tables import tables
from study.commands.wikipedia_dump import wikipedia_dump

app = typer.Typer(
    name="study",
    help="Pages, tables and figures of this project's results, from records and runs of `auscult evaluate --json`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command()(results)
app.command()(tables)
app.command()(mark)
app.command()(figures)
app.command()(errors)
app.command("wikipedia-dump")(wikipedia_dump)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; an `AuscultError` becomes one sentence on stderr and exit code 2."""
    try:
        app(args=arguments)
    except AuscultError as error:
        Console(stderr=True, soft_wrap=True).print(f"[bold red]study:[/] {escape(str(error))}", highlight=False)
        sys.exit(2)


if __name__ == "__main__":
    main()
