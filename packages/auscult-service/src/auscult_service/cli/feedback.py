"""`auscult feedback`: what people said of hits, as queries and judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.options import IndexArgument
from auscult.index.reader import open_current
from auscult_service.feedback import export, read
from auscult_service.settings import Settings


def feedback(
    index: IndexArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write, in BEIR's layout.")],
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the feedback; default: that of `serve`, `INDEX.service/feedback`."),
    ] = None,
) -> None:
    """Export people's judgements of hits as queries and judgements, for `auscult evaluate` and `auscult try`.

    Example: `auscult feedback my-index --out judged`, then `auscult evaluate judged --model fast`
    """
    folder = data or Settings(indexes={"index": index}).feedback_folder
    done = export(read(folder), open_current(index), out)
    gone = f"; of passages that are gone: {done.gone:,}" if done.gone else ""
    typer.echo(f"{done.queries:,} questions, {done.judgements:,} judgements{gone}: {out}")
