"""The `auscult` command: one command a file; only the command that is run is imported.

Commands of extensions are entry points of the group `auscult.commands`, and the lab's are among them.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from auscult import __version__, telemetry
from auscult.cli.options import run_plugins
from auscult.errors import AuscultError
from auscult.extensions import entries, load

_INTERRUPTED, _TERMINATED = 130, 143
_WITH = "--with"
COMMANDS: Mapping[str, tuple[str, str]] = {
    "index": ("index", "index"),
    "add": ("add", "add"),
    "remove": ("add", "remove"),
    "search": ("search", "search"),
    "explain": ("explain", "explain"),
    "serve": ("serve", "serve"),
    "feedback": ("feedback", "feedback"),
    "mcp": ("mcp", "mcp"),
    "info": ("upkeep", "info"),
    "verify": ("upkeep", "verify"),
    "optimize": ("upkeep", "optimize"),
    "backup": ("upkeep", "backup"),
    "publish": ("publish", "publish"),
    "keys": ("keys", "app"),
    "audit": ("audit", "app"),
    "concepts": ("concepts", "app"),
}
"""Each built-in command's file, and its name there: a command, or a group of commands."""
_GROUP: Final = "auscult.commands"
_ORDER: Final = ("demo", "data", *COMMANDS, "train", "evaluate", "compare", "try")
"""The order of the help; commands of other extensions follow."""


def application(names: Iterable[str] | None = None) -> typer.Typer:
    """Return the command line with these commands, or with all; only they are imported.

    Raises:
        ConfigError: A command of an extension cannot be imported.
    """
    app = typer.Typer(
        name="auscult",
        help="Find the passages that answer a health question inside long documents.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_root)
    for name in _known() if names is None else names:
        command = _command(name)
        for below in (each for each in entries(_GROUP) if each.startswith(f"{name}.")):
            _add(command, below.removeprefix(f"{name}."), load(_GROUP, below))
        _add(app, name, command)
    return app


def _known() -> list[str]:
    """Return the names of all commands, in the order of the help."""
    there = {*COMMANDS, *(name for name in entries(_GROUP) if "." not in name)}
    return [*(name for name in _ORDER if name in there), *sorted(there - {*_ORDER})]


def _command(name: str) -> Any:
    if name not in COMMANDS:
        return load(_GROUP, name)
    file, attribute = COMMANDS[name]
    return getattr(import_module(f"auscult.cli.{file}"), attribute)


def _add(app: typer.Typer, name: str, command: Any) -> None:
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


def _named(arguments: Sequence[str]) -> Iterable[str] | None:
    """Return the command that the arguments name; None where they name none that is known."""
    words = iter(arguments)
    for word in words:
        if word == _WITH:
            next(words, None)
        elif not word.startswith("-"):
            return [word] if word in COMMANDS or word in entries(_GROUP) else None
    return None


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
        application(_named(sys.argv[1:] if arguments is None else arguments))(args=arguments)
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
