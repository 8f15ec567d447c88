"""The `auscult` command: registers one command a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from auscult import __version__
from auscult.cli import concepts, data
from auscult.cli.add import add, remove
from auscult.cli.compare import compare
from auscult.cli.demo import demo
from auscult.cli.evaluate import evaluate
from auscult.cli.explain import explain
from auscult.cli.index import index
from auscult.cli.moved import MOVED, pointers
from auscult.cli.options import run_plugins
from auscult.cli.search import search
from auscult.cli.train import train
from auscult.cli.trying import try_models
from auscult.cli.upkeep import backup, info, optimize, verify
from auscult.errors import AuscultError
from auscult.search.explain import printable

_INTERRUPTED = 130
app = typer.Typer(
    name="auscult",
    help="Find the passages that answer a health question inside long documents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command()(demo)
app.add_typer(data.app, name="data")
app.command()(index)
app.command()(add)
app.command()(remove)
app.command()(search)
app.command()(explain)
app.command()(evaluate)
app.command()(train)
app.command()(compare)
app.command("try")(try_models)
app.command()(info)
app.command()(verify)
app.command()(optimize)
app.command()(backup)
app.add_typer(concepts.app, name="concepts")
app.add_typer(pointers(MOVED))


def _version(value: bool) -> None:
    if value:
        typer.echo(f"auscult {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option("--with", help="Before the command: a Python file that registers a ranker of yours; repeatable."),
    ] = None,
) -> None:
    """Find the passages that answer a health question inside long documents.

    Example: `auscult demo`, or `auscult index documents.jsonl --out my-index`
    """
    run_plugins(plugin)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an `AuscultError` becomes one sentence on stderr and exit code 2, an interrupt 130."""
    try:
        app(args=arguments)
    except AuscultError as error:
        _say(str(error))
        sys.exit(2)
    except SystemExit as end:
        # The command line's library makes such an exit of an interrupt.
        if end.code == _INTERRUPTED:
            _say("stopped before the end; the same command can be given again")
        raise
    except BrokenPipeError:
        # The reader of a pipe (head, less) has seen enough; that is no error.
        sys.stderr.close()
        sys.exit(0)


def _say(sentence: str) -> None:
    Console(stderr=True, soft_wrap=True).print(f"[bold red]auscult:[/] {escape(printable(sentence))}", highlight=False)


if __name__ == "__main__":
    main()
