"""`auscult evidence`: where a ranker with attention looked in a passage: in the terminal, as JSON, as a picture."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from auscult.cli.search import AspectOption, QuestionOption, check_asked
from auscult.corpora import open_corpus
from auscult.documents import Document, Passage, Section, build_document
from auscult.errors import ConfigError, DataError, ModelError, naming_extra
from auscult.evaluation.evidence_figure import check_evidence_figure, draw_evidence
from auscult.models import is_ranker, load_ranker
from auscult.queries import Query
from auscult.search.explain import printable

if TYPE_CHECKING:
    from auscult.models.rankers.evidence import Evidence

_BAR = 10
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def evidence(
    ranker: Annotated[Path, typer.Argument(help="A trained ranker's model folder: HAR or HAR-WCA.")],
    entity: Annotated[
        str, typer.Option("--entity", "-e", help="A disease or condition, in the words the ranker reads.")
    ] = "",
    aspect: AspectOption = None,
    question: QuestionOption = "",
    corpus: Annotated[str, typer.Option("--corpus", "-c", help="The corpus that holds the passage.")] = "",
    passage: Annotated[str, typer.Option("--passage", "-p", help="The passage's id in the corpus.")] = "",
    text: Annotated[
        Path | None, typer.Option("--text", "-t", help="A text file to read, in place of a corpus' passage.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", "-f", help="Also draw a picture: a .png or .svg file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with the words of each sentence.")] = False,
) -> None:
    """Show where a ranker looked: its attention over a passage's sentences and over the query's words.

    Entity and aspects are read as one query, as in training; a question is read where there are none.
    """
    check_asked(entity, aspect or (), question)
    if bool(passage) == (text is not None) or bool(passage) != bool(corpus):
        got = ", ".join(
            name
            for name, given in (("--corpus", corpus), ("--passage", passage), ("--text", text is not None))
            if given
        )
        raise ConfigError("--corpus with --passage, or --text alone", got or "none of them", "name one passage")
    if figure is not None:
        check_evidence_figure(figure)
    if not is_ranker(str(ranker)):
        raise ModelError("a ranker's folder", f"{ranker}, which is an encoder's", "ask its index: auscult explain")
    with naming_extra("neural", "torch", "safetensors"):
        from auscult.models.rankers.evidence import find_evidence
    scorer = load_ranker(str(ranker))
    document, chosen = _read(text) if text is not None else _find(corpus, passage)
    query = Query("", entity.strip(), tuple(filter(None, map(str.strip, aspect or ()))), text=question.strip())
    found = find_evidence(scorer, query, document, chosen)
    where = printable(", ".join(filter(None, (document.title, chosen.heading, chosen.passage_id))))
    if figure is not None:
        _draw(figure, found, f"{scorer.name}: {where}")
    if as_json:
        typer.echo(json.dumps({"model": scorer.name, "passage": chosen.passage_id, **asdict(found)}))
    else:
        _print(found, scorer.name, where)
    if figure is not None:
        typer.echo(f"drawn to {figure}", err=True)


def _find(corpus: str, passage_id: str) -> tuple[Document, Passage]:
    for document in open_corpus(corpus).documents():
        for passage in document.passages:
            if passage.passage_id == passage_id:
                return document, passage
    raise DataError(f"a passage id of {corpus}", f"'{passage_id}'", "take one from a run or from 'auscult search'")


def _read(file: Path) -> tuple[Document, Passage]:
    """A file as a document of one passage."""
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("a readable text file in UTF-8", f"{file} ({error})", "correct the path") from error
    document = build_document(doc_id=file.name, title="", sections=[Section("", content, file.name)])
    return document, document.passages[0]


def _draw(figure: Path, found: Evidence, title: str) -> None:
    read = [(_line(each.text), each.weight) for each in found.sentences if each.weight is not None]
    left = len(found.sentences) - len(read)
    note = f"{left} of {len(found.sentences)} sentences not read" if left else ""
    draw_evidence(figure, found.query, read, title=title, note=note)


def _print(found: Evidence, name: str, where: str) -> None:
    console = Console(highlight=False)
    head = Text(f"{printable(name)}  {found.score:.3f}", style="bold")
    head.append(f"   {where}", style="not bold cyan")
    console.print(head)
    console.print(_table([(word, weight) for word, weight in found.query], "query word"))
    console.print()
    console.print(_table([(_line(each.text), each.weight) for each in found.sentences], "sentence"))


def _table(rows: list[tuple[str, float | None]], what: str) -> Table:
    """Weights as percent and as bars; the heaviest has the longest bar, and is bold."""
    heaviest = max(weight or 0.0 for _, weight in rows) or 1.0
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("", width=_BAR, no_wrap=True, style="blue" if what == "query word" else "red")
    table.add_column(what)
    for text, weight in rows:
        share = "not read" if weight is None else f"{100 * weight:.1f} %"
        style = "dim" if weight is None else "bold" if math.isclose(weight, heaviest) else ""
        table.add_row(share, Text(_bar((weight or 0.0) / heaviest)), Text(printable(text), style=style))
    return table


def _bar(share: float) -> str:
    eighths = round(share * 8 * _BAR)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _line(text: str) -> str:
    return printable(" ".join(text.split()))
