"""`auscult feedback`: what people said of hits, as a collection that models are measured and trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.options import IndexArgument
from auscult.index.reader import open_current
from auscult.service.feedback import export, read
from auscult.service.settings import Settings


def feedback(
    index: IndexArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write, in BEIR's layout.")],
    data: Annotated[
        Path | None,
        typer.Option(help="The folder of feedback; default: `INDEX.service/feedback`, where `serve` keeps it."),
    ] = None,
) -> None:
    """Write what people said of hits as queries and judgements, for `auscult evaluate` and `auscult try`.

    Example: `auscult feedback my-index --out judged`, then `auscult evaluate judged --model fast`
    """
    folder = data or Settings(indexes={"index": index}).feedback_folder
    done = export(read(folder), open_current(index), out)
    gone = f"; of passages that are gone: {done.gone:,}" if done.gone else ""
    typer.echo(f"{done.queries:,} questions, {done.judgements:,} judgements{gone}: {out}")
