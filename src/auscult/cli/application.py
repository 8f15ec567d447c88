"""The commands of `auscult`. The file of a command is imported only when that command runs.

Commands of extensions, those of the lab and of the service among them, are entry points of the group
`auscult.commands`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from auscult.errors import ConfigError
from auscult.extensions import entries, load, load_from
from auscult.version import __version__

_WITH = "--with"
COMMANDS: Mapping[str, tuple[str, str]] = {
    "index": ("index", "index"),
    "add": ("add", "add"),
    "remove": ("add", "remove"),
    "list": ("documents", "list_documents"),
    "show": ("documents", "show"),
    "export": ("documents", "export"),
    "search": ("search", "search"),
    "explain": ("explain", "explain"),
    "mcp": ("mcp", "mcp"),
    "info": ("upkeep", "info"),
    "verify": ("upkeep", "verify"),
    "optimize": ("upkeep", "optimize"),
    "backup": ("upkeep", "backup"),
    "publish": ("upkeep", "publish"),
    "concepts": ("concepts", "app"),
}
"""Each built-in command's file, and its name there: a command, or a group of commands."""
PACKAGE: Final = "auscult-service"
SERVICE: Final = ("serve", "feedback", "keys", "audit")
"""Commands of `PACKAGE`."""
_GROUP: Final = "auscult.commands"
_ORDER: Final = (
    *("demo", "data", "index", "add", "remove", "list", "show", "export", "search", "explain", "serve", "feedback"),
    *("mcp", "info", "verify", "optimize", "backup", "publish", "keys", "audit", "concepts"),
    *("train", "evaluate", "compare", "try"),
)
"""Order of the commands in the help. Commands of other extensions follow."""


def application(names: Iterable[str] | None = None) -> typer.Typer:
    """Import commands, all by default, and return the command line with them.

    Raises:
        ConfigError: A command of an extension cannot be imported, or its package is not installed.
    """
    app = typer.Typer(
        name="auscult",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_root)
    if names is None:
        there = {*COMMANDS, *(name for name in entries(_GROUP) if "." not in name)}
        names = [*(name for name in _ORDER if name in there), *sorted(there - {*_ORDER})]
    for name in names:
        if name in COMMANDS:
            file, attribute = COMMANDS[name]
            command = getattr(import_module(f"auscult.cli.{file}"), attribute)
        elif name in SERVICE:
            command = load_from(PACKAGE, _GROUP, name, f"`auscult {name}` is added")
        else:
            command = load(_GROUP, name)
        for below in (each for each in entries(_GROUP) if each.startswith(f"{name}.")):
            _add(command, below.removeprefix(f"{name}."), load(_GROUP, below))
        _add(app, name, command)
    return app


def _add(app: typer.Typer, name: str, command: Any) -> None:
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


def named_command(arguments: Sequence[str]) -> Iterable[str] | None:
    """Return the command that the arguments name; None where they name no known command."""
    words = iter(arguments)
    for word in words:
        if word == _WITH:
            next(words, None)
        elif not word.startswith("-"):
            return [word] if word in (*COMMANDS, *SERVICE, *entries(_GROUP)) else None
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
        typer.Option(_WITH, help="Before the command: a Python file that registers a ranker of yours. Repeatable."),
    ] = None,
) -> None:
    """Find the passages that answer a health question inside long documents.

    Example: `auscult demo`, or `auscult index documents.jsonl --out my-index`
    """
    for file in plugin or ():
        spec = spec_from_file_location(file.stem, file) if file.is_file() else None
        if spec is None or spec.loader is None:
            raise ConfigError("a Python file for --with", f"{file}, which is none", "correct the path")
        module = module_from_spec(spec)
        # Dataclasses look up their module by name.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
