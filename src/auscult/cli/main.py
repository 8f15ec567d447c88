"""The `auscult` command: one command a file, and the one that is asked for is all that is imported."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from auscult import __version__, telemetry
from auscult.cli.moved import MOVED, pointers
from auscult.cli.options import run_plugins
from auscult.errors import AuscultError

_INTERRUPTED, _TERMINATED = 130, 143
_WITH = "--with"
COMMANDS: Mapping[str, tuple[str, str]] = {
    "demo": ("demo", "demo"),
    "data": ("data", "app"),
    "index": ("index", "index"),
    "add": ("add", "add"),
    "remove": ("add", "remove"),
    "search": ("search", "search"),
    "explain": ("explain", "explain"),
    "serve": ("serve", "serve"),
    "feedback": ("feedback", "feedback"),
    "mcp": ("mcp", "mcp"),
    "evaluate": ("evaluate", "evaluate"),
    "train": ("train", "train"),
    "compare": ("compare", "compare"),
    "try": ("trying", "try_models"),
    "info": ("upkeep", "info"),
    "verify": ("upkeep", "verify"),
    "optimize": ("upkeep", "optimize"),
    "backup": ("upkeep", "backup"),
    "publish": ("publish", "publish"),
    "keys": ("keys", "app"),
    "audit": ("audit", "app"),
    "concepts": ("concepts", "app"),
}
"""Each command's file, and what it is called there: the command, or a group of commands."""


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands, of which it imports what they need."""
    app = typer.Typer(
        name="auscult",
        help="Find the passages that answer a health question inside long documents.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_root)
    for name in names:
        file, attribute = COMMANDS[name]
        found = getattr(import_module(f"auscult.cli.{file}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
    app.add_typer(pointers(MOVED))
    return app


def _asked(arguments: Sequence[str]) -> Iterable[str]:
    """The command that is asked for, all where none is, or an unknown one."""
    words = iter(arguments)
    for word in words:
        if word == _WITH:
            next(words, None)
        elif not word.startswith("-"):
            return [word] if word in COMMANDS else COMMANDS
    return COMMANDS


def _version(value: bool) -> None:
    if value:
        typer.echo(f"auscult {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(_WITH, help="Before the command: a Python file that registers a ranker of yours; repeatable."),
    ] = None,
) -> None:
    """Find the passages that answer a health question inside long documents.

    Example: `auscult demo`, or `auscult index documents.jsonl --out my-index`
    """
    run_plugins(plugin)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an `AuscultError` becomes one sentence on stderr and exit code 2.

    An interrupt ends it with 130. A wish to end (SIGTERM) is an interrupt, too, that ends it with 143: what is half
    done is cleared away.
    """
    # Before a plugin imports anything.
    telemetry.switch_off()
    terminated = _interrupted_by(signal.SIGTERM)
    try:
        application(_asked(sys.argv[1:] if arguments is None else arguments))(args=arguments)
    except AuscultError as error:
        _say(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        # Before the command line's library runs the command: while its modules load.
        _stop(terminated)
    except SystemExit as end:
        # The command line's library makes such an exit of an interrupt.
        if end.code == _INTERRUPTED:
            _stop(terminated)
        raise
    except MemoryError:
        _say("expected memory enough, got the end of it; close other programs, or choose a smaller --batch-size")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of a pipe (head, less) has seen enough; that is no error.
        sys.stderr.close()
        sys.exit(0)


def _interrupted_by(number: int) -> list[int]:
    """Make a signal an interrupt; the list holds its number once it has come."""
    came: list[int] = []

    def interrupt(*_: object) -> NoReturn:
        came.append(number)
        raise KeyboardInterrupt

    # Elsewhere Python lets nobody say what a signal does.
    if threading.current_thread() is threading.main_thread():
        signal.signal(number, interrupt)
    return came


def _stop(terminated: Sequence[int]) -> NoReturn:
    _say("stopped before the end; the same command can be given again")
    sys.exit(_TERMINATED if terminated else _INTERRUPTED)


def _say(sentence: str) -> None:
    # Only here: commands that need nothing of a search should not load it.
    from auscult.search.explain import printable

    Console(stderr=True, soft_wrap=True).print(f"[bold red]auscult:[/] {escape(printable(sentence))}", highlight=False)


if __name__ == "__main__":
    main()
