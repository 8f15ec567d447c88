"""`auscult mcp`: indexes for language models."""

from __future__ import annotations

from typing import Annotated

import typer

from auscult.cli.options import IndexModelOption, ServedArgument
from auscult.encoders import load_model
from auscult.engines import named_indexes
from auscult.errors import ConfigError
from auscult.mcp.library import Library
from auscult.telemetry import naming_extra


def mcp(
    indexes: ServedArgument,
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="Search open documents, and those whose field `access` names this group. Repeatable. Default: all."
        ),
    ] = None,
    open_only: Annotated[bool, typer.Option("--open-only", help="Search only open documents.")] = False,
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            metavar="PORT",
            min=1,
            max=65535,
            help="Answer at http://127.0.0.1:PORT/mcp, for programs on this machine, not on standard input and output.",
        ),
    ] = None,
    model: IndexModelOption = "",
) -> None:
    """Let a language model search indexes. It can cite only sentences that exist.

    Example: `auscult mcp my-index`, as the command of a server in a client's settings, or
    `auscult mcp notes=/data/notes leaflets=/data/leaflets --http 8471`
    """
    if group and open_only:
        raise ConfigError("--group, or --open-only", "both", "give one of them")
    with naming_extra("mcp", "mcp", "mcp.server"):
        from auscult.mcp.server import serve
    groups = [] if open_only else group
    library = Library(named_indexes(indexes), groups, load_model(model) if model else None)
    # Report an index that cannot be opened now, and not to the first client.
    library.searchers()
    if http is not None:
        typer.echo(f"answering at http://127.0.0.1:{http}/mcp", err=True)
    serve(library, http)
