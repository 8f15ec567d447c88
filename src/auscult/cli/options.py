"""Options that several commands share, and reading an option of the form NAME=VALUE."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated

import typer

from auscult.errors import ConfigError
from auscult.interfaces import Precision

IndexArgument = Annotated[Path, typer.Argument(help="An index folder, made by `auscult index`.")]
IndexModelOption = Annotated[
    str, typer.Option("--model", "-m", help="Where the index' own model is now; default: where it was.")
]
PrecisionOption = Annotated[
    Precision,
    typer.Option(
        help="What transformers compute in. `bf16` is about twice as fast on processors that have instructions for it."
    ),
]


def pairs_of(option: str, given: Sequence[str] | None) -> list[tuple[str, str]]:
    """Names and values of a repeatable option `NAME=VALUE`.

    Raises:
        ConfigError: One is not of that form.
    """
    pairs = []
    for each in given or ():
        key, found, value = each.partition("=")
        if not (found and key.strip() and value.strip()):
            raise ConfigError(f"{option} KEY=VALUE", repr(each), "put the value behind an equals sign")
        pairs.append((key.strip(), value.strip()))
    return pairs


def run_plugins(files: Sequence[Path] | None) -> None:
    """Run files of the user's that register rankers.

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
