"""`auscult explain`: how every sentence of a document answers, as curves in the terminal and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from auscult.cli.search import (
    AspectOption,
    EntityOption,
    IndexArgument,
    ModelOption,
    QuestionOption,
    check_asked,
    open_searcher,
    say,
    understand,
)
from auscult.search.explain import explain as explain_document
from auscult.search.figures import check_target, save_figure
from auscult.search.terminal import render_curves


def explain(
    index: IndexArgument,
    entity: EntityOption = "",
    aspect: AspectOption = None,
    question: QuestionOption = "",
    document: Annotated[
        str, typer.Option("--document", "-d", help="Id of the document; default: that of the best hit.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also draw a picture: a .png, .svg or .pdf file.")
    ] = None,
    model: ModelOption = "",
) -> None:
    """Draw entity, aspect and combined score over the sentences of one document."""
    check_asked(entity, aspect or (), question)
    if out is not None:
        check_target(out)
    searcher = open_searcher(index, model)
    understanding = understand(searcher, entity, aspect or (), question)
    curves = explain_document(searcher, understanding.query, document)
    if out is not None:
        save_figure(curves, out)
    say(understanding)
    console = Console(highlight=False)
    console.print(render_curves(curves, console.width))
    if out is not None:
        typer.echo(f"drawn to {out}", err=True)
