"""`auscult search`: ask an index, and read the answers or pipe them on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from auscult.cli.plugin import PluginOption, run_plugins
from auscult.cli.scoring import PrecisionOption
from auscult.errors import ConfigError, QueryError
from auscult.interfaces import Hit
from auscult.models import load_model, load_scorer
from auscult.queries import Query
from auscult.search import Pipeline, Searcher, Understanding
from auscult.search.explain import printable

#: Letters of a passage that are shown at least, and how many sentences of it are highlighted.
_LETTERS = 360
_HIGHLIGHTED = 2


class Group(StrEnum):
    """What a hit stands for."""

    passage = "passage"
    document = "document"


IndexArgument = Annotated[Path, typer.Argument(help="An index folder, made by `auscult index`.")]
EntityOption = Annotated[
    str,
    typer.Option("--entity", "-e", help="A disease or condition: its name, a synonym, or an identifier (DOID:2986)."),
]
AspectOption = Annotated[
    list[str] | None,
    typer.Option("--aspect", "-a", help="What to know about it: symptoms, treatment, ...; repeatable."),
]
QuestionOption = Annotated[
    str, typer.Option("--question", "-q", help="A question in words, in place of entity and aspect.")
]
ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="Where the index' own model is now; default: where it was.")
]


def search(
    index: IndexArgument,
    entity: EntityOption = "",
    aspect: AspectOption = None,
    question: QuestionOption = "",
    k: Annotated[int, typer.Option("-k", help="How many hits.")] = 10,
    group: Annotated[Group, typer.Option(help="A hit for every passage, or for every document.")] = Group.passage,
    source: Annotated[list[str] | None, typer.Option(help="Only documents of this source; repeatable.")] = None,
    model: ModelOption = "",
    rerank: Annotated[
        str, typer.Option("--rerank", help="A ranker, poly- or cross-encoder that orders the best candidates anew.")
    ] = "",
    candidates: Annotated[int, typer.Option(help="With --rerank: how many passages it reads.")] = 64,
    fuse: Annotated[
        bool, typer.Option("--fuse", help="With --rerank: order by its scores and the index' own together.")
    ] = False,
    precision: PrecisionOption = "float32",
    plugin: PluginOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One hit per line, as JSON with sentence scores.")] = False,
) -> None:
    """Find the passages that answer ⟨entity, aspect⟩ in an index."""
    check_asked(entity, aspect or (), question)
    if k < 1:
        raise QueryError("a number of hits (-k) of at least 1", str(k), "ask for more")
    for option, given in (("--precision", precision != "float32"), ("--fuse", fuse)):
        if given and not rerank:
            raise ConfigError("--rerank beside it", f"{option} without", f"leave {option} out")
    run_plugins(plugin)
    searcher = open_searcher(index, model)
    understanding = understand(searcher, entity, aspect or (), question)
    scorer = load_scorer(rerank, precision=precision) if rerank else None
    finder = Pipeline(searcher, scorer, candidates=candidates, fuse=fuse) if scorer else searcher
    hits = finder.search(understanding.query, k, group_by=group.value, sources=source or ())
    say(understanding)
    if as_json:
        for hit in hits:
            typer.echo(json.dumps(asdict(hit)))
        return
    console = Console(highlight=False)
    for hit in hits:
        print_hit(console, hit)


def check_asked(entity: str, aspects: Sequence[str], question: str) -> None:
    """Raise QueryError when nothing was asked, before anything is loaded."""
    if not (entity.strip() or question.strip() or any(aspect.strip() for aspect in aspects)):
        raise QueryError("--entity, --aspect or --question", "none of them", "say what to look for")


def open_searcher(index: Path, model: str) -> Searcher:
    """Open an index with its own model, from where it was or from where the user says it is."""
    return Searcher.open(index, load_model(model) if model else None)


def understand(searcher: Searcher, entity: str, aspects: Sequence[str], question: str) -> Understanding:
    """The query to answer; what is given as entity or aspect takes the place of what the question says."""
    given = tuple(aspect.strip() for aspect in aspects if aspect.strip())
    return searcher.understand(Query("", entity.strip(), given, text=question.strip()))


def say(understanding: Understanding) -> None:
    """Tell on stderr how the entity was understood."""
    if understanding.note:
        typer.echo(printable(understanding.note), err=True)
    if understanding.match and understanding.match.kind == "fuzzy" and understanding.alternatives:
        others = (f"{match.concept.name} ({match.concept.concept_id})" for match in understanding.alternatives)
        typer.echo(printable(f"or did you mean: {'; '.join(others)}"), err=True)


def print_hit(console: Console, hit: Hit) -> None:
    """Show one hit: heading, score and its halves, document, and the best sentences highlighted."""
    first = Text(f"{hit.rank:>2}  ", style="dim")
    first.append(printable(hit.heading) or "(no heading)", style="not dim bold")
    second = Text(f"{hit.score:.3f}", style="green")
    if hit.entity_score or hit.aspect_score:
        second.append(f" = entity {hit.entity_score:.3f} + aspect {hit.aspect_score:.3f}", style="dim")
    second.append(f"   {printable(hit.title)}", style="cyan")
    second.append(f"  {printable('  '.join(filter(None, (hit.source, hit.passage_id))))}", style="dim")
    console.print(first)
    _print_indented(console, second)
    if hit.url:
        console.print(Text(f"    {printable(hit.url)}", style="dim"), soft_wrap=True)
    _print_indented(console, _excerpt(hit, console.is_terminal))
    console.print()


def _print_indented(console: Console, text: Text) -> None:
    for line in text.wrap(console, max(20, console.width - 4)):
        line.rstrip()
        console.print(Text("    ").append_text(line), soft_wrap=True)


def _excerpt(hit: Hit, colours: bool) -> Text:
    """The best stretch of a passage's sentences, the best of them highlighted: by colour, or by **stars**."""
    words = [printable(" ".join(sentence.text.split())) for sentence in hit.sentences]
    scores = [sentence.score for sentence in hit.sentences]
    shown = _best_stretch(scores, [len(each) for each in words])
    best = sorted(shown, key=lambda n: -scores[n])[:_HIGHLIGHTED]
    text = Text("… " if shown.start else "")
    for n in shown:
        if n in best and colours:
            text.append(words[n], style="bold yellow")
        else:
            text.append(f"**{words[n]}**" if n in best else words[n])
        text.append(" ")
    text.append("…" if shown.stop < len(words) else "")
    return text


def _best_stretch(scores: Sequence[float], lengths: Sequence[int]) -> range:
    """Consecutive sentences from the best on, growing to the better side until there are enough letters."""
    first = max(range(len(scores)), key=lambda n: scores[n])
    last = first + 1
    while sum(lengths[first:last]) < _LETTERS and last - first < len(scores):
        if last == len(scores) or (first > 0 and scores[first - 1] > scores[last]):
            first -= 1
        else:
            last += 1
    return range(first, last)
