"""Commands for an index that is there: `info`, `verify`, `optimize`, `backup` and `publish`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.options import IndexArgument
from auscult.cli.reading import ids_in_brackets, show_progress
from auscult.engines import publish as publish_index
from auscult.engines import withdraw as withdraw_index
from auscult.errors import printable
from auscult.index import PassageIndex
from auscult.index import backup as copy_index
from auscult.index import optimize as compact
from auscult.index import repair as derive
from auscult.readers.elsewhere import load_task

#: Values of a field that are told with all else.
_SHOWN = 3


def info(
    index: IndexArgument,
    field: Annotated[str, typer.Option("--field", help="Count documents by this field.")] = "",
) -> None:
    """Show what an index contains, which model made it, and its size on disk.

    Example: `auscult info my-index`, or `auscult info my-index --field source`
    """
    opened = PassageIndex.open(index)
    manifest, reader = opened.manifest, opened.reader
    if field:
        for value, count in opened.counts(field).items():
            typer.echo(f"{printable(value)}\t{count}")
        return
    size = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
    knowledge = reader.store.knowledge()
    removed = f", {len(manifest.removed):,} removed (auscult optimize frees them)" if manifest.removed else ""
    lines = {
        "corpus": manifest.corpus,
        "model": f"{manifest.model.name} ({manifest.model.dim} dimensions), {manifest.model.path}",
        "holds": manifest.counts.in_words(),
        "knowledge base": "none" if knowledge is None else f"{len(knowledge) / 1e6:,.1f} MB",
        "generation": f"{manifest.generation}, of {manifest.created}, by auscult {manifest.auscult_version}",
        "on disk": f"{size / 1e6:,.1f} MB, segments: {len(manifest.segments)}{removed}",
    }
    for name in reader.fields:
        counts = opened.counts(name)
        first = ", ".join(f"{value} {count:,}" for value, count in list(counts.items())[:_SHOWN])
        lines[name] = first + (f", and {len(counts) - _SHOWN:,} more values" if len(counts) > _SHOWN else "")
    for name, line in lines.items():
        typer.echo(printable(f"{name}: {line}"))


def verify(
    index: IndexArgument,
    mend: Annotated[
        bool, typer.Option("--repair", help="Rebuild what can be derived: everything but texts and vectors.")
    ] = False,
    sources: Annotated[
        bool,
        typer.Option(
            "--sources",
            help="Also compare the files, as other programs show them, with the passages: list what is missing or read "
            "otherwise. Exit code 1 if the report does not name it.",
        ),
    ] = False,
) -> None:
    """Check all bytes of an index that answers depend on against their checksums.

    Example: `auscult verify my-index`, `auscult verify my-index --repair`, or `auscult verify my-index --sources`
    """
    begun = time.perf_counter()
    for name in derive(index) if mend else ():
        typer.echo(f"derived again: {name}")
    opened = PassageIndex.open(index)
    opened.verify()
    typer.echo(f"whole: {opened.manifest.counts.in_words()}, in {time.perf_counter() - begun:.1f} s: {index}")
    if sources:
        count_faults: Callable[[PassageIndex, Callable[[str], object]], int]
        count_faults = load_task("check-sources", "sources are checked")
        if count_faults(opened, typer.echo):
            raise typer.Exit(1)


def optimize(index: IndexArgument) -> None:
    """Rewrite an index without removed documents. Their bytes are gone afterwards; searches continue meanwhile.

    Example: `auscult optimize my-index`
    """
    manifest = compact(index)
    typer.echo(f"{manifest.counts.in_words()} in {len(manifest.segments)} segment: {index}")


def backup(
    index: IndexArgument,
    target: Annotated[Path, typer.Argument(help="Folder of the copy: new, or of an earlier copy.")],
) -> None:
    """Copy an index while it may be searched and written. To restore it, copy the folder back.

    Example: `auscult backup my-index my-index-monday`
    """
    manifest = copy_index(index, target)
    typer.echo(f"{manifest.counts.in_words()}: {target}")


def publish(
    index: IndexArgument,
    address: Annotated[
        str,
        typer.Argument(
            help="`postgresql://USER@HOST/DATABASE#NAME`; NAME is the collection, by default `auscult`. Several "
            "servers, separated by commas, share the documents. The password is in PGPASSWORD.",
        ),
    ],
    approximate: Annotated[
        bool,
        typer.Option(
            "--approximate",
            help="Let the servers propose passages by graphs of vectors: faster, but some may be missed.",
        ),
    ] = False,
    candidates: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Let Milvus propose passages: `milvus://HOST:PORT#NAME` or `milvus:FILE.db`. The token is in "
            "AUSCULT_MILVUS_TOKEN.",
        ),
    ] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Remove the index from the address.")] = False,
) -> None:
    """Put an index into PostgreSQL: `search`, `serve` and `mcp` take the address in place of a folder, on any machine.

    Publish again when the index has changed; only what is new is written.

    Example: `auscult publish my-index postgresql://localhost/notes`, and on another machine
    `auscult serve postgresql://localhost/notes`
    """
    if withdraw:
        name = withdraw_index(address)
        typer.echo(f"withdrawn from {name}: {index}" if name else f"published nowhere: {index}")
        return
    with show_progress() as (bar, task):
        report = publish_index(
            index,
            address,
            approximate=approximate,
            candidates=candidates,
            progress=lambda done, of: bar.update(task, description=f"{done:,} of {of:,} documents"),
        )
    typer.echo(
        f"written: {report.written:,} documents, removed: {report.removed:,}"
        f"{ids_in_brackets(report.removed_ids, report.removed)}; "
        f"{report.passages:,} passages of {index} are on {report.engine}"
    )
