"""`auscult serve`: indexes over HTTP, with a page for people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.options import ServedArgument, pairs_of
from auscult.engines import named_indexes
from auscult_service.serving import serve as serve_until_stopped
from auscult_service.settings import Settings, default_processes, with_fields


def serve(
    indexes: ServedArgument,
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
