"""`auscult evaluate`: rank a corpus's queries, measure, and print measured beside published figures."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from auscult.cli.options import PrecisionOption
from auscult.encoders.contract import Precision
from auscult.errors import ConfigError, DataError
from auscult.files.writing import check_folder
from auscult_lab.cli.options import (
    FuseOption,
    JsonRecordsOption,
    SeedOption,
    note_reading,
    progress_bars,
    query_bars,
)
from auscult_lab.corpora.note_labels import NoteLabeller
from auscult_lab.corpora.opening import makes_queries, open_corpus, open_with_parents, searches_all
from auscult_lab.evaluation.comparing import Entry, compare_models, open_entries, write_runs
from auscult_lab.evaluation.comparison import Comparison
from auscult_lab.evaluation.contenders import is_untrained
from auscult_lab.evaluation.ensembles import ensembles_of
from auscult_lab.evaluation.records import check_records, write_records
from auscult_lab.evaluation.tables import group_table, match_table, result_tables
from auscult_lab.evaluation.task import Protocol, Task, build_task
from auscult_lab.evaluation.trec import run_table

_DEPTH = 100


class Grouping(StrEnum):
    """What results are broken down by."""

    source = "source"
    aspect = "aspect"
    question_type = "question-type"
    length = "length"


class TrackName(StrEnum):
    """What a model was trained on."""

    zero_shot = "zero-shot"
    adapted = "adapted"


def evaluate(
    context: typer.Context,
    corpus: Annotated[
        str,
        typer.Argument(metavar="CORPUS|RUN", help="A corpus with queries and judgements; or a TREC run, with QRELS."),
    ],
    qrels: Annotated[Path | None, typer.Argument(help="The judgements for RUN.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="`bm25`, `tfidf`, `ql`, `cdv`, a model folder, or `cosine:VECTORS` (`cosine-idf:`, `cosine-q:`) "
            "with a file of word vectors. Repeatable. MODEL:parts also ranks by the entity half and by the "
            "aspect half; MODEL:fused by all evidence but titles and headings.",
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="`rerank` ranks given candidates; `end-to-end` ranks all passages and keeps 100, `end-to-end:N` "
            "keeps N. Default: `rerank` if the corpus has candidates, else `end-to-end`."
        ),
    ] = "",
    split: Annotated[str, typer.Option(help="The split whose queries are ranked.")] = "test",
    queries: Annotated[
        str,
        typer.Option(metavar="NUMBER|FILE", help="Only so many, drawn at random, or those in a file."),
    ] = "",
    seed: SeedOption = 0,
    json: JsonRecordsOption = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder for TREC runs and qrels; default: beside the records.")
    ] = None,
    read: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="KEY=VALUE", help="As for `auscult train`. Repeatable."),
    ] = None,
    by: Annotated[list[Grouping] | None, typer.Option(help="Also print results by this. Repeatable.")] = None,
    track: Annotated[
        TrackName | None, typer.Option(help="What a model was trained on, if its folder does not say.")
    ] = None,
    precision: PrecisionOption = "float32",
    fuse: FuseOption = None,
    parent: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="For a folder in BEIR's layout: a regular expression, such as '(.+)-[0-9]+'. Passages whose ids "
            "share its first group are one document. Default: those with the same `parent` in their metadata.",
        ),
    ] = "",
) -> None:
    """Rank a corpus's queries with models and measure the rankings; or measure a TREC run.

    Ties count against a model. The corpus `notes:NOTES` makes queries from your own notes.

    Example: `auscult evaluate medquad -m bm25 -m default --json out/medquad.json`, or
    `auscult evaluate their.run.gz out/medquad-runs/medquad.qrels`
    """
    console = Console()
    typed = _list_typed(context)
    if qrels is not None:
        others = [name for name in typed if name not in ("CORPUS", "QRELS")]
        if others:
            raise ConfigError("a run and qrels alone", f"{others[0]} beside them", f"leave {others[0]} out")
        run_table(Path(corpus), qrels).print_to(console)
        return
    if not model:
        remedy = "try: auscult evaluate medquad --model bm25, or auscult evaluate RUN QRELS"
        raise ConfigError("a corpus and at least one --model", "none", remedy)
    if len(set(model)) != len(model):
        raise ConfigError("different models", f"'{max(model, key=model.count)}' twice", "name each once")
    _refuse_without_effect(typed, corpus, model)
    folder = runs if runs is not None else json.with_name(f"{json.stem}-runs") if json is not None else None
    if json is not None:
        check_records(json)
    if folder is not None:
        check_folder(folder)
    ranked, depth = _parse_protocol(protocol) if protocol else (None, _DEPTH)
    comparison, task = compare_named(
        corpus,
        model,
        protocol=ranked,
        depth=depth,
        split=split,
        queries=queries,
        seed=seed,
        track=track.value if track else None,
        precision=precision,
        fuse=fuse or (),
        labeller=note_reading(read).labeller() if makes_queries(corpus) else None,
        parent=parent,
    )
    if folder is not None:
        write_runs(folder, task, comparison)
    if json is not None:
        write_records(json, comparison.records)
    print_comparison(console, comparison, [each.value.replace("-", " ") for each in by or ()])
    for path in (json, folder):
        if path is not None:
            console.print(f"Written: {escape(str(path))}", soft_wrap=True)


def compare_named(
    corpus: str,
    models: Sequence[str],
    *,
    protocol: Protocol | None = None,
    depth: int = _DEPTH,
    split: str = "test",
    queries: str = "",
    seed: int = 0,
    track: str | None = None,
    precision: Precision = "float32",
    fuse: Sequence[str] = (),
    labeller: NoteLabeller | None = None,
    parent: str = "",
) -> tuple[Comparison, Task]:
    """Open corpus and models and compare them, with progress bars; see `evaluate` for the options.

    Without a protocol, the corpus's candidates are ranked, or all passages if it has none (`searches_all`).
    """
    number, ids = _parse_subset(queries)
    with progress_bars() as progress:
        encoded = progress.add_task("documents", total=None, visible=False)

        def documents_done(count: int) -> None:
            progress.update(encoded, completed=count, visible=True)

        # Open by name first: a wrong name should fail before minutes of reading and ranking.
        opened = open_with_parents(corpus, parent) if parent else open_corpus(corpus, labeller=labeller)
        protocol = protocol or ("end-to-end" if searches_all(opened) else "rerank")
        entered = open_entries(
            [Entry(model=name) for name in models],
            corpus,
            split=split,
            track=track,
            precision=precision,
            progress=documents_done,
        )
        ensembles = ensembles_of(fuse, entered.by_name, protocol)
        reading = progress.add_task(f"reading {escape(corpus)}", total=None)
        task = build_task(opened, protocol, split=split, number=number, ids=ids, seed=seed)
        progress.update(reading, total=len(task.documents), completed=len(task.documents))
        progress.update(encoded, total=len(task.documents))
        comparison = compare_models(
            task, entered.contenders, ensembles=ensembles, depth=depth, progress=query_bars(progress)
        )
    return comparison, task


def print_comparison(console: Console, comparison: Comparison, groupings: Sequence[str] = ()) -> None:
    """Print measured beside published figures, match rates, and figures by group."""
    tables = result_tables(comparison.records)
    matches = match_table(comparison.records)
    tables += [matches] if matches.rows else []
    tables += [group_table(record, by) for by in groupings for record in comparison.records]
    for table in tables:
        table.print_to(console)


def _list_typed(context: typer.Context) -> list[str]:
    """Return the names of the options and arguments on the command line."""
    return [
        max(param.opts, key=len) if param.param_type_name == "option" else param.name.upper()
        for param in context.command.params
        if param.name and (source := context.get_parameter_source(param.name)) and source.name == "COMMANDLINE"
    ]


def _refuse_without_effect(typed: Sequence[str], corpus: str, models: Sequence[str]) -> None:
    """Check that no option is given that would change nothing.

    Raises:
        ConfigError: One is given.
    """
    learned = not all(map(is_untrained, models))
    needed = {
        "--track": ("a --model that has learned", learned),
        "--precision": ("a --model that has learned", learned),
        "--read": ("notes:NOTES as the corpus", makes_queries(corpus)),
    }
    for option, (what, has_effect) in needed.items():
        if option in typed and not has_effect:
            raise ConfigError(what, f"{option} without", f"leave {option} out")


def _parse_protocol(text: str) -> tuple[Protocol, int]:
    """Parse `--protocol`. Return the protocol and how many passages an end-to-end ranking keeps."""
    name, colon, depth = text.partition(":")
    if text == "rerank":
        return "rerank", _DEPTH
    if name == "end-to-end" and (not colon or (depth.isdecimal() and int(depth) >= 10)):
        return "end-to-end", int(depth) if colon else _DEPTH
    expected = "--protocol rerank, end-to-end, or end-to-end:N that keeps at least 10 passages"
    raise ConfigError(expected, f"'{text}'", "choose one of them")


def _parse_subset(queries: str) -> tuple[int | None, list[str] | None]:
    """Return the number of queries, or their ids."""
    if not queries:
        return None, None
    if queries.lstrip("+-").isdecimal():
        return int(queries), None
    try:
        lines = Path(queries).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("a text file of query ids", f"{queries}: {error}", "write one query id a line") from None
    return None, [line.strip() for line in lines if line.strip()]
