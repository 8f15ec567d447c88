"""`auscult explain`: how the sentences of a document answer, or where in a passage a ranker looked."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from auscult.cli.options import IndexModelOption, as_document, check_named, find_passage, read_words
from auscult.cli.search import AspectOption, EntityOption, QuestionOption, check_asked, open_searcher, say, understand
from auscult.drawing import check_target
from auscult.encoders import kind_of
from auscult.errors import ConfigError, DataError, ModelError
from auscult.files.writing import check_file
from auscult.search.explain import curves_to_json
from auscult.search.explain import explain as explain_document
from auscult.search.figures import save_figure
from auscult.search.terminal import render_curves
from auscult.understanding import Query


class Layers(StrEnum):
    """Layers whose cosines of CK-HQA are shown."""

    LAST = "last"
    MEAN = "mean"


def explain(
    place: Annotated[
        Path,
        typer.Argument(
            metavar="INDEX|MODEL",
            help="Folder of an index, or of a HAR, HAR-WCA or CK-HQA model.",
        ),
    ],
    entity: EntityOption = "",
    aspect: AspectOption = None,
    question: QuestionOption = "",
    document: Annotated[
        str,
        typer.Option("--document", "-d", help="For an index: a document id; default: that of the best hit."),
    ] = "",
    model: IndexModelOption = "",
    text: Annotated[
        str, typer.Option("--text", "-t", help="For a model: the text, a file of it, or - for standard input.")
    ] = "",
    corpus: Annotated[str, typer.Option("--corpus", "-c", help="For a model: the corpus of --passage.")] = "",
    passage: Annotated[str, typer.Option("--passage", "-p", help="For a model: a passage id of --corpus.")] = "",
    layers: Annotated[
        Layers | None, typer.Option(help="For CK-HQA: the `last` layer (default), or the `mean` of all.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Also draw a picture: .png, .svg, for an index .pdf."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show why a passage was found.

    For an index: entity, aspect and combined score of each sentence of a document. For HAR and HAR-WCA: attention
    weights of a passage's sentences and of the query's words. For CK-HQA: similarity of the tokens of query and
    passage, and the entities that they name.

    Example: `auscult explain my-index -e gout -a treatment --out gout.svg`, or
    `auscult explain runs/har/model -q "What helps against gout?" -t leaflet.txt`
    """
    check_asked(entity, aspect or (), question)
    if out is not None:
        check_file(out)
    if not place.is_dir():
        raise DataError("the folder of an index or of a model", f"'{place}', which is no folder", "correct the path")
    if not (place / "model.json").is_file():
        _refuse("an index", {"--text": text, "--corpus": corpus, "--passage": passage, "--layers": layers})
        if out is not None:
            check_target(out)
        searcher = open_searcher(place, model)
        understanding = understand(searcher, entity, aspect or (), question)
        curves = explain_document(searcher, understanding.query, document)
        if out is not None:
            save_figure(curves, out)
        say(understanding)
        if as_json:
            typer.echo(json.dumps(curves_to_json(curves)))
        else:
            console = Console(highlight=False)
            console.print(render_curves(curves, console.width))
        if out is not None:
            typer.echo(f"drawn to {out}", err=True)
        return
    _refuse("a model", {"--document": document, "--model": model})
    kind = kind_of(str(place))
    if kind.view is None:
        remedy = "explain its index instead: auscult explain INDEX"
        raise ModelError("a model that shows how it reads", f"{place}, of kind '{kind.name}'", remedy)
    check_named(text, corpus, passage)
    query = Query("", entity.strip(), tuple(filter(None, map(str.strip, aspect or ()))), text=question.strip())
    document_and_passage = as_document(read_words(text), Path(text).name) if text else find_passage(corpus, passage)
    kind.view(place, query, *document_and_passage, layers=layers or "", figure=out, as_json=as_json)


def _refuse(what: str, given: dict[str, object]) -> None:
    """Check that no option is given that would change nothing.

    Raises:
        ConfigError: One is given.
    """
    for option, value in given.items():
        if value:
            raise ConfigError(f"options that say something of {what}", option, f"leave {option} out")
