"""How a model read a passage: attention of rankers, and token pairs of CK-HQA, as text, JSON or a picture."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from auscult.documents import Document, Passage
from auscult.encoders.contract import FloatArray
from auscult.errors import printable
from auscult.telemetry import naming_extra
from auscult.understanding import Query
from auscult_lab.evaluation.figures import check_figure, draw_evidence, draw_interactions
from auscult_lab.opening import load_ranker, load_scorer

if TYPE_CHECKING:
    from auscult_lab.encoders.ck.ranker import CkRanker, Interactions
    from auscult_lab.rankers.evidence import Evidence

_BAR = 10
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BEST = 3


def show_attention(
    ranker: Path, query: Query, document: Document, passage: Passage, *, figure: Path | None, as_json: bool
) -> None:
    """Print a ranker's attention over a passage's sentences and over the query's words, and draw it.

    Args:
        ranker: The model's folder.
        query: Query by entity and aspects, which are read together as in training, or a question.
        document: The passage's document.
        passage: A passage of the document.
        figure: File for a picture; None for no picture.
        as_json: Print one JSON object, with the words of each sentence.

    Raises:
        ModelError: The ranker has no attention over sentences.
        QueryError: The query has no words.
        DataError: The passage has no words, or nothing can be drawn to `figure`.
    """
    if figure is not None:
        check_figure(figure)
    with naming_extra("lab", "torch", "safetensors"):
        from auscult_lab.rankers.evidence import find_evidence
    scorer = load_ranker(str(ranker))
    evidence = find_evidence(scorer, query, document, passage)
    where = printable(", ".join(filter(None, (document.title, passage.heading, passage.passage_id))))
    if figure is not None:
        _draw(figure, evidence, f"{scorer.name}: {where}")
    if as_json:
        typer.echo(json.dumps({"model": scorer.name, "passage": passage.passage_id, **asdict(evidence)}))
    else:
        _print_attention(evidence, scorer.name, where)
    if figure is not None:
        typer.echo(f"drawn to {figure}", err=True)


def _draw(figure: Path, evidence: Evidence, title: str) -> None:
    read = [(_line(sentence.text), sentence.weight) for sentence in evidence.sentences if sentence.weight is not None]
    unread = len(evidence.sentences) - len(read)
    note = f"{unread} of {len(evidence.sentences)} sentences not read" if unread else ""
    draw_evidence(figure, evidence.query, read, title=title, note=note)


def _print_attention(evidence: Evidence, name: str, where: str) -> None:
    console = Console(highlight=False)
    head = Text(f"{printable(name)}  {evidence.score:.3f}", style="bold")
    head.append(f"   {where}", style="not bold cyan")
    console.print(head)
    console.print(_weights_table([(word, weight) for word, weight in evidence.query], "query word"))
    console.print()
    console.print(
        _weights_table([(_line(sentence.text), sentence.weight) for sentence in evidence.sentences], "sentence")
    )


def _line(text: str) -> str:
    return printable(" ".join(text.split()))


def show_token_pairs(
    model: Path, query: Query, passage: str, *, layers: str, figure: Path | None, as_json: bool
) -> None:
    """Print how alike a CK-HQA model finds the tokens of query and passage, with their entities, and draw it.

    Args:
        model: The model's folder.
        query: Query by entity and aspects, or a question.
        passage: Text of the passage.
        layers: "mean" for the mean over all layers, else the last layer.
        figure: File for a picture; None for no picture.
        as_json: Print one JSON object, with the matrices of all layers.

    Raises:
        ModelError: The model compares no tokens.
        QueryError: The query has no words.
        DataError: The passage has no words, or nothing can be drawn to `figure`.
    """
    if figure is not None:
        check_figure(figure)
    with naming_extra("lab", "torch", "safetensors"):
        from auscult_lab.encoders.ck.ranker import CkRanker, find_interactions
    question = query.terms or query.text
    scorer = load_scorer(str(model))
    interactions = find_interactions(scorer, question, passage)
    read = (
        _characters_read(scorer.ranker, interactions, passage) if isinstance(scorer.ranker, CkRanker) else len(passage)
    )
    cut = f"the first {read:,} of {len(passage):,} characters of the text" if read < len(passage) else ""
    if figure is not None:
        of_query, of_text = (
            [(printable(token), printable(name)) for token, name in zip(tokens, entities, strict=True)]
            for tokens, entities in (
                (interactions.query, interactions.query_entities),
                (interactions.passage, interactions.passage_entities),
            )
        )
        title = f"{scorer.name}: {question}{f' ({cut})' if cut else ''}"
        draw_interactions(figure, of_query, of_text, _matrix(interactions, layers), title=title)
    if as_json:
        fields = asdict(interactions) | {"matrices": interactions.matrices.round(4).tolist()}
        characters = {"passage_characters": len(passage), "passage_characters_read": read}
        typer.echo(json.dumps({"model": scorer.name, **characters, **fields}))
    else:
        console = Console(highlight=False)
        console.print(Text(f"{printable(scorer.name)}  {interactions.score:.3f}", style="bold"))
        console.print(_similarity_table(interactions, _matrix(interactions, layers)))
        if cut:
            typer.echo(f"Only {cut} were read.")
    if figure is not None:
        typer.echo(f"drawn to {figure}", err=True)


def _matrix(interactions: Interactions, layers: str) -> FloatArray:
    return interactions.view("mean" if layers == "mean" else "last")


def _characters_read(ranker: CkRanker, interactions: Interactions, passage: str) -> int:
    """Return how many characters of a passage became tokens."""
    count = len(interactions.passage)
    _, places = ranker.pairs.pieces(passage, count + 1)
    return places[count - 1][1] if len(places) > count else len(passage)


def _weights_table(rows: list[tuple[str, float | None]], what: str) -> Table:
    """Return a table of weights as percent and as bars. The heaviest has the longest bar and is bold."""
    heaviest = max(weight or 0.0 for _, weight in rows) or 1.0
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("", width=_BAR, no_wrap=True, style="blue" if what == "query word" else "red")
    table.add_column(what)
    for text, weight in rows:
        share = "not read" if weight is None else f"{100 * weight:.1f} %"
        style = "dim" if weight is None else "bold" if math.isclose(weight, heaviest) else ""
        eighths = round((weight or 0.0) / heaviest * 8 * _BAR)
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        table.add_row(share, Text(bar), Text(printable(text), style=style))
    return table


def _similarity_table(interactions: Interactions, matrix: FloatArray) -> Table:
    """Return a table of the most similar tokens of the text for every token of the query.

    Args:
        interactions: Tokens and their entities.
        matrix: Their cosines, (query tokens, passage tokens).
    """
    rows = zip(zip(interactions.query, interactions.query_entities, strict=True), matrix, strict=True)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("query token", "entity", "most similar in the text"):
        table.add_column(title)
    for (token, entity), row in rows:
        best = (-row).argsort(kind="stable")[:_BEST].tolist()
        alike = ", ".join(f"{printable(interactions.passage[column])} {row[column]:.2f}" for column in best)
        table.add_row(Text(printable(token)), Text(printable(entity), style="red"), Text(alike))
    return table
