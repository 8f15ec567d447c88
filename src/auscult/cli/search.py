"""`auscult search`: search an index and print the hits, for people or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from auscult.cli.options import IndexModelOption, PrecisionOption, SearchedArgument, WhereOption, conditions
from auscult.encoders import RERANKER, kind_of, load_model, load_reranker, load_scorer
from auscult.encoders.contract import languages_of
from auscult.encoders.reranker import Reranker
from auscult.errors import ConfigError, QueryError, printable
from auscult.search import Pipeline, Searcher, SearchOptions
from auscult.search.certainty import nothing_here
from auscult.search.hits import Hit
from auscult.search.languages import note_languages
from auscult.search.partial import ask_what_is_there
from auscult.search.siblings import sibling_note
from auscult.search.terminal import print_hit
from auscult.understanding import Query
from auscult.understanding.understand import Understanding


class Said(StrEnum):
    """What a hit may say of the entity (`schema.Assertion`)."""

    affirmed = "affirmed"
    negated = "negated"
    family = "family"
    historical = "historical"
    hypothetical = "hypothetical"


class Score(StrEnum):
    """What passages are ranked by."""

    fused = "fused"
    model = "model"


EntityOption = Annotated[
    str,
    typer.Option("--entity", "-e", help="A disease or condition: name, synonym or identifier (DOID:2986)."),
]
AspectOption = Annotated[
    list[str] | None,
    typer.Option("--aspect", "-a", help="What to know about it, such as symptoms or treatment. Repeatable."),
]
QuestionOption = Annotated[
    str, typer.Option("--question", "-q", help="A question in words, instead of entity and aspect.")
]


def search(
    index: SearchedArgument,
    question: Annotated[
        str,
        typer.Argument(metavar="[QUESTION]", help="A question in words.", show_default=False),
    ] = "",
    entity: EntityOption = "",
    aspect: AspectOption = None,
    k: Annotated[int, typer.Option("-k", help="Number of hits.")] = 10,
    group: Annotated[str, typer.Option(help="One hit per `passage`, `document`, or value of this field.")] = "passage",
    where: WhereOption = None,
    conversation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION",
            help="An earlier question, to supply what this one lacks. Repeatable, oldest first.",
        ),
    ] = None,
    assertion: Annotated[
        list[Said] | None,
        typer.Option(help="Leave out hits that mention the entity but say none of these of it. Repeatable."),
    ] = None,
    model: IndexModelOption = "",
    score: Annotated[
        Score, typer.Option(help="Rank by all evidence (`fused`), or by the `model` alone.")
    ] = Score.fused,
    rerank: Annotated[
        int | None,
        typer.Option(help="Number of first hits to re-rank, such as 8; 0 for none."),
    ] = None,
    reranker: Annotated[
        str,
        typer.Option(help="The re-ranker, ranker, poly- or cross-encoder of --rerank."),
    ] = RERANKER,
    fuse: Annotated[
        bool,
        typer.Option("--fuse", help="With a ranker, poly- or cross-encoder: add its scores to the index's."),
    ] = False,
    precision: PrecisionOption = "float32",
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print a JSON object per hit, with sentence scores; `note` names a similar disease.",
        ),
    ] = False,
) -> None:
    """Find the passages that answer a question, or ⟨entity, aspect⟩, in an index.

    Example: `auscult search my-index "How is gout treated?"`, or
    `auscult search my-index --entity gout --aspect treatment -k 5`
    """
    check_asked(entity, aspect or (), question)
    if k < 1:
        raise QueryError("a number of hits (-k) of at least 1", str(k), "choose a larger one")
    if rerank is not None and rerank < 0:
        raise QueryError("a number of hits to re-rank", str(rerank), "name one from 0 on, or leave --rerank out")
    for option, is_set in (
        ("--reranker", reranker != RERANKER),
        ("--precision", precision != "float32"),
        ("--fuse", fuse),
    ):
        if is_set and not rerank:
            raise ConfigError("--rerank beside it", f"{option} without", f"leave {option} out")
    shipped = load_reranker(reranker) if rerank and kind_of(reranker).name == RERANKER else None
    scorer = load_scorer(reranker, precision=precision) if rerank and shipped is None else None
    searcher = open_searcher(index, model, shipped)
    options = SearchOptions(
        group_by=group,
        where=conditions(where),
        scoring=score.value,
        rerank=0 if scorer else rerank,
        assertions=[assertion_name.value for assertion_name in assertion or ()],
    )

    def ask(available: Searcher) -> tuple[Understanding, list[Hit], list[str]]:
        understanding = understand(available, entity, aspect or (), question, conversation or ())
        engine = Pipeline(available, scorer, candidates=rerank or 0, fuse=fuse) if scorer else available
        answers = engine.search(understanding.query, k, options)
        return (
            understanding,
            answers,
            [sibling_note(understanding.query, hit.title, available.knowledge_base) for hit in answers],
        )

    (understanding, hits, notes), left_out = ask_what_is_there(searcher, ask)
    say(understanding)
    if left_out is not None:
        typer.echo(left_out.sentence, err=True)
    elif nothing := note_languages(understanding.language, languages_of(searcher.encoder), hits) or nothing_here(
        [hit.probability for hit in hits]
    ):
        typer.echo(nothing, err=True)
    if as_json:
        for hit, note in zip(hits, notes, strict=True):
            typer.echo(json.dumps({**asdict(hit), "note": note}))
        return
    console = Console(highlight=False)
    for hit, note in zip(hits, notes, strict=True):
        print_hit(console, hit, note)


def check_asked(entity: str, aspects: Sequence[str], question: str) -> None:
    """Check that the query is not empty, before anything is loaded.

    Raises:
        QueryError: It has no question, entity or aspect.
    """
    if not (entity.strip() or question.strip() or any(aspect.strip() for aspect in aspects)):
        raise QueryError("a question, an entity or an aspect", "none of them", "say what to look for")


def open_searcher(index: str | Path, model: str, reranker: Reranker | None = None) -> Searcher:
    """Open an index with its own model, loaded from the path that the index names or the user gives."""
    return Searcher.open(index, load_model(model) if model else None, reranker)


def understand(
    searcher: Searcher, entity: str, aspects: Sequence[str], question: str, conversation: Sequence[str] = ()
) -> Understanding:
    """Understand the query. A given entity or aspect replaces that of the question."""
    named_aspects = tuple(aspect.strip() for aspect in aspects if aspect.strip())
    return searcher.understand(Query("", entity.strip(), named_aspects, text=question.strip()), conversation)


def say(understanding: Understanding) -> None:
    """Print on stderr how the entity was understood."""
    if understanding.note:
        typer.echo(printable(understanding.note), err=True)
    if understanding.match and understanding.match.kind == "fuzzy" and understanding.alternatives:
        others = (f"{match.concept.name} ({match.concept.concept_id})" for match in understanding.alternatives)
        typer.echo(printable(f"or did you mean: {'; '.join(others)}"), err=True)
