"""`auscult mcp`: answers for language models, over the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from auscult.cli.options import IndexModelOption
from auscult.encoders import load_model
from auscult.errors import ConfigError, naming_extra
from auscult.mcp.library import Library
from auscult.service.settings import named_folders


def mcp(
    indexes: Annotated[
        list[str],
        typer.Argument(metavar="INDEX...", help="Index folders, made by `auscult index`; `NAME=FOLDER` names one."),
    ],
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="Answer as to somebody of this group: of the documents whose field `access` names groups, only those "
            "of this one are seen; repeatable. Default: all documents."
        ),
    ] = None,
    open_only: Annotated[
        bool, typer.Option("--open-only", help="Answer as to somebody of no group: no document with that field.")
    ] = False,
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            metavar="PORT",
            min=1,
            max=65535,
            help="Answer over HTTP, at http://127.0.0.1:PORT/mcp, to programs of this machine; default: on standard "
            "input and output, as a client starts it.",
        ),
    ] = None,
    model: IndexModelOption = "",
) -> None:
    """Let a language model search indexes, and cite sentences that exist and no others.

    Example: `auscult mcp my-index`, as the command of a server in a client's settings, or
    `auscult mcp notes=/data/notes leaflets=/data/leaflets --http 8471`
    """
    if group and open_only:
        raise ConfigError("--group, or --open-only", "both", "give one of them")
    with naming_extra("mcp", "mcp", "mcp.server"):
        from auscult.mcp.server import serve
    groups = [] if open_only else group
    library = Library(named_folders(indexes), groups, load_model(model) if model else None)
    # What cannot be opened is told now, and not to the first who asks.
    library.searchers()
    if http is not None:
        typer.echo(f"answering at http://127.0.0.1:{http}/mcp", err=True)
    serve(library, http)
