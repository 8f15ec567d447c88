"""`auscult serve` and `auscult mcp`: indexes over HTTP with a page for people, and for language models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.options import IndexModelOption, pairs_of
from auscult.encoders import load_model
from auscult.errors import ConfigError
from auscult.mcp.library import Library
from auscult.service.serving import serve as serve_until_stopped
from auscult.service.settings import Settings, default_processes, named_indexes, with_fields
from auscult.telemetry import naming_extra


def serve(
    indexes: Annotated[
        list[str],
        typer.Argument(
            metavar="INDEX...",
            help="Index folders, or addresses of published indexes; `NAME=INDEX` names one.",
        ),
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen at. One that other machines reach needs --keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8470,
    keys: Annotated[
        Path | None,
        typer.Option(help="File of the keys that may use the service (`auscult keys`); default: no key is needed."),
    ] = None,
    audit: Annotated[
        Path | None, typer.Option(help="Log in this file who asked what, and which documents were sent.")
    ] = None,
    witness: Annotated[
        str,
        typer.Option(
            metavar="FILE|COMMAND",
            help="Copy the audit log's head, every minute and at the end, to a file on another disk or a command's "
            "standard input (`'| COMMAND'`).",
        ),
    ] = "",
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of uploads, jobs and feedback; default: `INDEX.service` of the first index."),
    ] = None,
    page: Annotated[bool, typer.Option(help="Also serve the page for people.")] = True,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Let nobody add or remove documents. Always so for addresses.")
    ] = False,
    processes: Annotated[
        int,
        typer.Option(
            min=0,
            help="Processes that search: 1 for the server's own; 0 for one per core, at most 8 and one per free "
            "gigabyte.",
        ),
    ] = 0,
    certificate: Annotated[Path | None, typer.Option(help="Use TLS, with this certificate (and its chain).")] = None,
    certificate_key: Annotated[Path | None, typer.Option(help="The certificate's key.")] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="A limit or detail of access: `limits.per_minute=120`, `access.issuer=https://...`. Repeatable.",
        ),
    ] = None,
) -> None:
    """Serve indexes over HTTP, with a page for people. SIGTERM or Ctrl-C ends it after running requests.

    Example: `auscult serve my-index`, or
    `auscult serve notes=/data/notes leaflets=/data/leaflets --host 0.0.0.0 --keys keys.json --audit audit.jsonl`
    """
    paths = named_indexes(indexes)
    changes = not read_only and not any(isinstance(index, str) for index in paths.values())
    base = with_fields(Settings(indexes=paths, changes=changes), pairs_of("--set", fields))
    settings = replace(
        base,
        host=host,
        port=port,
        data=data,
        keys=keys,
        audit=audit,
        page=page,
        processes=processes or default_processes(),
        access=replace(
            base.access,
            certificate=certificate,
            certificate_key=certificate_key,
            witness=witness or base.access.witness,
        ),
    )
    serve_until_stopped(settings, typer.echo)


def mcp(
    indexes: Annotated[
        list[str],
        typer.Argument(
            metavar="INDEX...",
            help="Index folders, or addresses of published indexes; `NAME=INDEX` names one.",
        ),
    ],
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
