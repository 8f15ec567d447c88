"""In a terminal: a hit with its marked sentences highlighted, and score curves as three rows of block characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from auscult.errors import printable
from auscult.search.assertions import assertion_label
from auscult.search.certainty import label
from auscult.search.explain import ScoreCurves
from auscult.search.hits import Hit, display_name
from auscult.search.marks import excerpt
from auscult.understanding.query import describe

_BLOCKS = " ▁▂▃▄▅▆▇█"
_ROWS = 3
_LABEL = 9


def render_curves(curves: ScoreCurves, width: int = 80) -> RenderableType:
    """Draw the curves, the passages below them, and a table of the passages' scores.

    Negative scores are drawn as nothing; all three curves have one scale. Where a document has more sentences
    than there are columns, a column shows the mean of its sentences.

    Args:
        curves: What to draw.
        width: Columns of the terminal.
    """
    columns = _columns(len(curves.combined), max(20, width - _LABEL - 2))
    top = max((*curves.entity, *curves.aspect, *curves.combined), default=0.0) or 1.0
    span = None if curves.best is None else curves.passages[curves.best]
    best = [span is not None and span.first < column.stop and column.start < span.last for column in columns]
    document = curves.document
    headline = Text(printable(describe(curves.query)), style="bold")
    name = display_name(document.title, document.doc_id, document.metadata.get("file", ""))
    headline.append(f"\nin {printable(name)}", style="default not bold")
    details = "  ".join(filter(None, (document.source, document.doc_id, document.url)))
    headline.append(f"  {printable(details)}", style="not bold dim")
    parts: list[RenderableType] = [headline]
    drawn = [
        ("entity", curves.entity, "blue"),
        ("aspect", curves.aspect, "yellow"),
        ("combined", curves.combined, "green"),
    ]
    for name, scores, colour in drawn:
        parts += [Text(), *_bars(name, scores, colour, columns, top, best)]
    parts += [_ruler(curves, columns), Text(), _table(curves)]
    return Group(*parts)


def _columns(sentences: int, width: int) -> list[range]:
    """Return the sentences that each column shows: one or more columns a sentence, or several sentences a column."""
    if not sentences:
        return []
    if sentences <= width:
        repeat = min(3, width // sentences)
        return [range(n, n + 1) for n in range(sentences) for _ in range(repeat)]
    edges = np.linspace(0, sentences, width + 1).astype(int).tolist()
    return [range(first, last) for first, last in pairwise(edges)]


def _bars(
    name: str, scores: Sequence[float], colour: str, columns: Sequence[range], top: float, best: Sequence[bool]
) -> list[Text]:
    means = [max(0.0, sum(scores[n] for n in column) / len(column)) for column in columns]
    heights = [round(mean / top * 8 * _ROWS) for mean in means]
    lines = []
    for level in reversed(range(_ROWS)):
        label = f"{top:.2f}" if level == _ROWS - 1 else name if level == 0 else ""
        line = Text(f"{label:>{_LABEL}} ")
        line.stylize("dim")
        blocks = [_BLOCKS[min(8, max(0, height - 8 * level))] for height in heights]
        for is_best, run in groupby(zip(best, blocks, strict=True), key=lambda pair: pair[0]):
            line.append("".join(block for _, block in run), style=f"{colour} on grey23" if is_best else colour)
        lines.append(line)
    return lines


def _ruler(curves: ScoreCurves, columns: Sequence[range]) -> Text:
    """Return the line of passage numbers, below the columns where passages begin."""
    line = [" "] * (len(columns) + 4)
    free = 0
    for number, span in enumerate(curves.passages, start=1):
        at = next((c for c, column in enumerate(columns) if span.first in column), None)
        label = f"╵{number}"
        if at is not None and span.last > span.first and at >= free:
            line[at : at + len(label)] = label
            free = at + len(label)
    return Text(" " * (_LABEL + 1) + "".join(line).rstrip(), style="dim")


def _table(curves: ScoreCurves) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("passage", "sentences", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("heading")
    for number, span in enumerate(curves.passages):
        best = number == curves.best
        worded = span.last > span.first
        table.add_row(
            str(number + 1),
            f"{span.first + 1}-{span.last}" if worded else "none",
            f"{span.score:.3f}" if worded else "",
            Text(f"{printable(span.heading) or '(no heading)'}{'  ← best' if best else ''}"),
            style="bold" if best else "",
        )
    return table


def print_hit(console: Console, hit: Hit, note: str = "") -> None:
    """Print one hit: heading, score and its parts, verdict, document, file and place, a note, and marked sentences."""
    first = Text(f"{hit.rank:>2}  ", style="dim")
    path = " › ".join(hit.headings)
    first.append(printable(path) or "(no heading)", style="not dim bold")
    second = Text(f"{hit.score:.2f}", style="green")
    if hit.probability is not None:
        second.append(f"  {label(hit.probability)}", style="not dim green")
    # The title of an article is among the headings above.
    second.append(f"   {printable(hit.name)}", style="cyan")
    where = " ".join(filter(None, (hit.file, hit.place and f"({hit.place})")))
    second.append(f"  {printable('  '.join(filter(None, (hit.source, where, hit.passage_id))))}", style="dim")
    second.append(_made_of(hit), style="dim")
    console.print(first)
    _print_indented(console, second)
    if note:
        _print_indented(console, Text(printable(note), style="magenta"))
    if hit.url:
        console.print(Text(f"    {printable(hit.url)}", style="dim"), soft_wrap=True)
    _print_indented(console, _excerpt(hit, console.is_terminal))
    console.print()


def _made_of(hit: Hit) -> str:
    """Return the sum that a score is made of: entity, aspect and question, each by words and vectors; re-ranker."""
    shares = {"entity": hit.entity_score, "aspect": hit.aspect_score}
    if hit.evidence:
        shares = {
            kind: sum(share for name, share in hit.evidence.items() if name.partition("_")[0] == kind)
            for kind in ("entity", "aspect", "question", "reranker")
        }
    sum_of = " + ".join(f"{kind} {share:.2f}" for kind, share in shares.items() if share)
    return f"  {sum_of}" if sum_of else ""


def _print_indented(console: Console, text: Text) -> None:
    for line in text.wrap(console, max(20, console.width - 4)):
        line.rstrip()
        console.print(Text("    ").append_text(line), soft_wrap=True)


def _excerpt(hit: Hit, colours: bool) -> Text:
    """Return the excerpt of a passage that answers, its marked sentences highlighted by colour or by **stars**."""
    text = Text()
    if not hit.sentences:
        return text
    numbers = excerpt(hit.sentences)
    text.append("… " if numbers.start else "")
    end = -1
    for sentence in hit.sentences[numbers.start : numbers.stop]:
        # A list item gets its own line: inside a line its bullet would not be one.
        if end >= 0:
            text.append("\n" if "\n" in hit.text[end - hit.start : sentence.start - hit.start] else " ")
        end = sentence.end
        words = printable(" ".join(sentence.text.split()))
        if sentence.marked and colours:
            text.append(words, style="bold yellow")
        else:
            text.append(f"**{words}**" if sentence.marked else words)
        if sentence.marked and (label := assertion_label(sentence.assertions)):
            text.append(f" [{label}]", style="magenta")
    text.append(" …" if numbers.stop < len(hit.sentences) else "")
    return text
