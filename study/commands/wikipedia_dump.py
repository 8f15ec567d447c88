"""`wikipedia-dump`: extract listed articles from a dump, as JSON lines."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal

from study.wikipedia.dump import Progress, convert_dump, read_list


def wikipedia_dump(
    dump: Annotated[Path, typer.Argument(help="pages-articles of a Wikipedia, as .xml, .xml.bz2 or .xml.gz.")],
    titles: Annotated[
        Path,
        typer.Option(
            help="Which articles: a title, page id or address a line; behind a tab, an identifier it shall carry."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The JSON lines file to write.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Take the listed articles out of a dump as JSON lines with headings and links; go on with what was broken off."""
    articles = read_list(titles)
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    with console.status("reading") if console.is_terminal else nullcontext() as status:

        def report(progress: Progress) -> None:
            if status is not None:
                status.update(f"{decimal(progress.offset)}, {progress.pages:,} pages, {progress.written:,} articles")

        progress = convert_dump(dump, articles, out, report=report)
    missing = sorted({*articles.titles, *articles.page_ids}.difference(progress.found, progress.redirects))
    if as_json:
        summary = {"path": str(out), "pages": progress.pages, "articles": progress.written}
        typer.echo(json.dumps(summary | {"redirects": progress.redirects, "missing": missing}, ensure_ascii=False))
        return
    typer.echo(str(out))
    console.print(f"{progress.written:,} of {progress.wanted:,} listed articles, from {progress.pages:,} pages")
    for name, target in sorted(progress.redirects.items()):
        console.print(f"only forwarded: {name} -> {target}")
    for name in missing:
        console.print(f"not in the dump: {name}")
