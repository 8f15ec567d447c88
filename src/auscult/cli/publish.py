"""`auscult publish`: an index' passages on a server, where searches then look for them."""

from __future__ import annotations

from typing import Annotated

import typer

from auscult.cli.index import showing_progress
from auscult.cli.options import IndexArgument
from auscult.engines import publish as publish_index
from auscult.engines import withdraw as withdraw_index
from auscult.errors import ConfigError


def publish(
    index: IndexArgument,
    url: Annotated[
        str,
        typer.Argument(
            metavar="[URL]",
            help="`postgresql://USER@HOST/DATABASE`, `milvus://HOST:PORT`, or `milvus:FILE.db`; with `#NAME` behind it "
            "another collection than `auscult`. A password comes from PGPASSWORD, or AUSCULT_MILVUS_TOKEN.",
        ),
    ] = "",
    approximate: Annotated[
        bool, typer.Option("--approximate", help="Look for vectors in a graph, which pays from a million passages on.")
    ] = False,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Remove the index from its server, and search without one.")
    ] = False,
) -> None:
    """Keep an index' passages on a server too: it finds candidates, and answers are those of the index.

    Publish again whenever the index has changed: only what is new is written.

    Example: `auscult publish my-index postgresql://localhost/notes`
    """
    if bool(url) == withdraw:
        found = "both" if url else "neither"
        raise ConfigError("the address of a server, or --withdraw", found, "give one of them")
    if withdraw:
        name = withdraw_index(index)
        typer.echo(f"withdrawn from {name}: {index}" if name else f"published nowhere: {index}")
        return
    with showing_progress() as (bar, task):
        report = publish_index(
            index,
            url,
            approximate=approximate,
            progress=lambda done, of: bar.update(task, description=f"{done:,} of {of:,} documents"),
        )
    typer.echo(
        f"written: {report.written:,} documents, removed: {report.removed:,}; "
        f"{report.passages:,} passages of {index} are on {report.engine}"
    )
