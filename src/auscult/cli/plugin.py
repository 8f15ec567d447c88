"""`--with`: files of the user's that register rankers of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated

import typer

from auscult.errors import ConfigError

PluginOption = Annotated[
    list[Path] | None,
    typer.Option("--with", help="Python file that registers a ranker of your own; repeatable."),
]


def run_plugins(files: Iterable[Path] | None) -> None:
    """Run files that register rankers.

    Raises:
        ConfigError: One is no Python file.
    """
    for file in files or ():
        spec = spec_from_file_location(file.stem, file) if file.is_file() else None
        if spec is None or spec.loader is None:
            raise ConfigError("a Python file for --with", f"{file}, which is none", "correct the path")
        module = module_from_spec(spec)
        # Dataclasses look their module up by name.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)


__all__ = ["PluginOption", "run_plugins"]
