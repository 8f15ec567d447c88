"""The words of the command line: few, each with few options, each with an example; old ones say what is theirs now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from auscult.cli.all_commands import app

WORDS = (
    *("demo", "data", "index", "search", "explain", "train", "evaluate", "compare", "try", "concepts"),
    *("add", "remove", "list", "show", "export", "info", "verify", "optimize", "backup", "publish"),
    *("serve", "mcp", "keys", "audit", "feedback"),
)
MOST_OPTIONS = 14


def commands() -> Iterator[tuple[str, Any]]:
    """All commands that are listed, and do something, by their names."""

    def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        for word, inner in command.commands.items():
            if hasattr(inner, "commands"):
                yield from walk(f"{name} {word}", inner)
            elif not inner.hidden:
                yield f"{name} {word}", inner

    yield from walk("auscult", typer.main.get_command(app))


def test_the_words_are_these() -> None:
    listed = [word for word, command in typer.main.get_command(app).commands.items() if not command.hidden]  # type: ignore[attr-defined]
    assert sorted(listed) == sorted(WORDS)


def test_a_command_takes_few_options() -> None:
    counted = {
        name: sum(param.param_type_name == "option" and param.name != "help" for param in command.params)
        for name, command in commands()
    }
    assert {name: number for name, number in counted.items() if number > MOST_OPTIONS} == {}


def test_help_teaches_by_an_example() -> None:
    assert not [name for name, command in commands() if f"`{name}" not in (command.help or "")]
